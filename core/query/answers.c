#include "core/query/answers.h"

#include <stdatomic.h>

#include "core/query/programs.h"
#include "core/query/scrambled.h"

#include "core/run/cell_file.h"
#include "core/smtlib/token.h"

/* -- what a fact answered ---------------------------------------------------------------------------------------- */

static enum verdict expected_at(const struct case_info *info, size_t i)
{
        return i < info->n_expected ? info->expected[i] : VERDICT_UNKNOWN;
}

static bool contradict(char a, char b)
{
        return a != b && a != '?' && b != '?';
}

/* A letter for each line of `result`: s, u, or ? for anything else, and for an answer that may be another question's. */
static void letters_of(const struct fact *f, struct buffer *ret)
{
        struct slice rest = SLICE(f->results.data, f->results.size), line;

        for (uint64_t i = 1; slice_next_line(&rest, &line); i++) {
                bool is_certain = f->uncertain_from == 0 || i < f->uncertain_from;

                buffer_adds(ret, is_certain && text_is(line, verdict_name(VERDICT_SAT))     ? "s"
                                 : is_certain && text_is(line, verdict_name(VERDICT_UNSAT)) ? "u"
                                                                                            : "?");
        }
}

bool answers_contradict(const struct fact *f, const struct case_info *info)
{
        cleanup_buffer struct buffer letters = {0};

        letters_of(f, &letters);
        for (size_t i = 0; i < letters.size; i++) {
                enum verdict expected = expected_at(info, i);

                if (contradict(letters.data[i], expected == VERDICT_SAT ? 's' : expected == VERDICT_UNSAT ? 'u' : '?'))
                        return true;
        }
        return false;
}

void answers_judge(struct fact *f, const struct case_info *info)
{
        if (fact_moment(f) <= info->status_set) /* its samples were judged by another status */
                f->wrong = false;
        f->wrong |= answers_contradict(f, info);
}

/* The letters of the questions whose status is unknown, or was set and may be replaced. Empty if there are none. */
static void disputable(const struct fact *f, const struct case_info *info, struct buffer *ret)
{
        bool any = false;

        letters_of(f, ret);
        for (size_t i = 0; i < ret->size; i++) {
                if (expected_at(info, i) != VERDICT_UNKNOWN && info->status_set == 0)
                        ret->data[i] = '?';
                any |= ret->data[i] != '?';
        }
        if (!any)
                ret->size = 0;
}

/* The first question with two different answers, else SIZE_MAX. `query`: only that one, 1, 2, …; 0: any. */
static size_t first_difference(struct slice a, struct slice b, uint32_t query)
{
        const char *x = a.data, *y = b.data;

        for (size_t i = query > 0 ? query - 1 : 0; i < MIN(a.size, b.size) && (query == 0 || i < query); i++)
                if (contradict(x[i], y[i]))
                        return i;
        return SIZE_MAX;
}

/* -- rows -------------------------------------------------------------------------------------------------------- */

/* The prefix of a case's rows, or of one group of them if letters are given. */
static void said_prefix(uint32_t info, struct slice letters, char ret[NOTE_KEY_SIZE])
{
        struct digest d;

        digest_of(letters.data, letters.size, &d);
        snprintf(ret, NOTE_KEY_SIZE, "said/%08" PRIx32 "/%.*s%s", info, letters.size > 0 ? 16 : 0, digest_text(&d).s, letters.size > 0 ? "/" : "");
}

static void disputed_row(uint32_t info, char ret[NOTE_KEY_SIZE])
{
        snprintf(ret, NOTE_KEY_SIZE, "disputed/%08" PRIx32, info);
}

/* Drops the fact's row in groups of other letters, and checks whether a group contradicts it. Reads one row of each group. */
static int look_at_groups(struct store_txn *t, const struct noted_fact *f, struct slice letters, bool *ret_disputed)
{
        char prefix[NOTE_KEY_SIZE], same[NOTE_KEY_SIZE];
        cleanup_note struct note row = {0};
        int r;

        said_prefix(f->cell->info->id, SLICE("", 0), prefix);
        said_prefix(f->cell->info->id, letters, same);
        while ((r = note_next(t, prefix, &row)) == 1) {
                char *end = strrchr(row.key, '/') + 1;

                *end = '\0'; /* now the prefix of its group */
                *ret_disputed |= first_difference(letters, note_rest(&row), 0) != SIZE_MAX;
                r = letters.size > 0 && strcmp(row.key, same) == 0 ? 0 : note_set(t, row.key, f, false, SLICE("", 0));
                if (r < 0)
                        return r;
                end[-1] = '0'; /* past the group: the character after '/' */
        }
        return r;
}

static int note_said(struct store_txn *t, const struct noted_fact *f)
{
        cleanup_buffer struct buffer b = {0};
        const struct case_info *info = f->cell->info;
        char row[NOTE_KEY_SIZE];
        struct slice letters;
        bool is_disputed = false;
        int r;

        disputable(f->fact, info, &b);
        letters = SLICE(b.data ?: "", b.size);
        r = look_at_groups(t, f, letters, &is_disputed);
        if (r < 0 || letters.size == 0)
                return r;
        said_prefix(info->id, letters, row);
        r = note_set(t, row, f, true, letters);
        if (r < 0 || !is_disputed)
                return r;
        disputed_row(info->id, row);
        return store_put(t, TABLE_META, slice_string(row), SLICE("", 0));
}

static bool is_wrong(const struct noted_fact *f)
{
        return f->fact->wrong || answers_contradict(f->fact, f->cell->info);
}

int answers_note(struct store_txn *t, const struct noted_fact *f)
{
        return note_set(t, "wrong/", f, is_wrong(f), SLICE("", 0)) ?: note_said(t, f);
}

void answers_log(struct workspace *w, const struct noted_fact *f)
{
        cleanup_buffer struct buffer line = {0};

        if (is_wrong(f)) {
                wrong_line(f->cell, f->fact, &line);
                log_info("%s: %s", answer_alarm_name(ANSWER_WRONG), line.data);
        } else if (dispute_find(w, f->cell->info, f->fact, &line) == 1)
                log_info("%s: %s", answer_alarm_name(ANSWER_CONTRADICTION), line.data);
}

const char *answer_alarm_name(enum answer_alarm a)
{
        return a == ANSWER_WRONG ? "WRONG ANSWER" : "CONTRADICTION";
}

/* -- telling ----------------------------------------------------------------------------------------------------- */

static void add_cell(struct buffer *b, const struct cell *cell)
{
        buffer_addf(b, "%s %s", cell->solver->recipe->name, commit_label(cell->solver, cell->commit).s);
        if (cell->has_seed)
                buffer_addf(b, " (seed %" PRIu64 ")", cell->seed);
        if (cell->machine) {
                buffer_adds(b, " (machine ");
                buffer_add_printable(b, cell->machine);
                buffer_adds(b, ")");
        }
}

static void add_case(struct buffer *b, const struct case_info *info)
{
        buffer_addf(b, "case %" PRIu32 " (", info->id);
        buffer_add_printable(b, info->name);
        buffer_adds(b, ")");
}

void wrong_line(const struct cell *cell, const struct fact *f, struct buffer *ret)
{
        const struct case_info *info = cell->info;

        add_cell(ret, cell);
        if (answers_contradict(f, info)) {
                buffer_adds(ret, " says ");
                cell_results(f, ret);
        } else {
                buffer_adds(ret, " contradicted itself between samples"); /* the chosen sample is right, another is not */
        }
        buffer_adds(ret, " on ");
        add_case(ret, info);
        buffer_adds(ret, ", whose status is ");
        for (size_t i = 0; i < info->n_expected; i++) /* as `result` has those given */
                buffer_addf(ret, "%s%s", i > 0 ? "," : "", verdict_name(info->expected[i]));
        if (info->n_expected == 0)
                buffer_adds(ret, verdict_name(info->status));
}

/* The rows of a case, group by group. */
static int read_said(struct workspace *w, uint32_t info, struct notes *ret)
{
        char prefix[NOTE_KEY_SIZE];

        said_prefix(info, SLICE("", 0), prefix);
        return notes_read(w, prefix, ret);
}

static size_t group_end(const struct notes *said, size_t i)
{
        const char *key = said->list[i].key;
        size_t size = (size_t)(strrchr(key, '/') + 1 - key);

        while (i < said->n && strncmp(said->list[i].key, key, size) == 0)
                i++;
        return i;
}

static bool is_of(const struct noted_cell *n, const struct solver *of)
{
        return !of || n->cell.solver->number == of->number;
}

/* Finds the first row of row i's group whose cell still gives that answer, of that solver if not NULL. 1 if found. */
static int find_witness(struct workspace *w, const struct notes *said, size_t i, const struct solver *of, struct noted_cell *ret)
{
        for (const size_t end = group_end(said, i); i < end; i++) {
                const struct slice noted = note_rest(&said->list[i]);
                cleanup_buffer struct buffer letters = {0};
                int r = noted_open(w, &said->list[i], ret);

                if (r == 0)
                        disputable(ret->fact, ret->cell.info, &letters);
                if (r == 0 && is_of(ret, of) && same_bytes(letters, noted))
                        return 1;
                noted_done(ret);
                if (r < 0 && r != -ENOENT && r != -ENODATA)
                        return r;
        }
        return 0;
}

static void dispute_line(const struct noted_cell *a, const struct noted_cell *b, size_t question, struct buffer *ret)
{
        cleanup_buffer struct buffer letters = {0};
        bool first_says_sat;

        letters_of(a->fact, &letters);
        first_says_sat = question < letters.size && letters.data[question] == 's';
        add_case(ret, a->cell.info);
        buffer_adds(ret, ": ");
        add_cell(ret, &a->cell);
        buffer_addf(ret, " says %s, ", verdict_name(first_says_sat ? VERDICT_SAT : VERDICT_UNSAT));
        add_cell(ret, &b->cell);
        buffer_addf(ret, " says %s", verdict_name(first_says_sat ? VERDICT_UNSAT : VERDICT_SAT));
        if (letters.size > 1)
                buffer_addf(ret, " of its question %zu", question + 1);
        buffer_adds(ret, ": one of them is wrong");
}

/* 1, and the line, if groups i and k contradict each other and have a witness each. One of the witnesses is by `of`, whichever group has it. */
static int find_pair(struct workspace *w, const struct notes *said, size_t i, size_t k, uint32_t query, const struct solver *of, struct buffer *ret)
{
        cleanup_noted struct noted_cell a = {0}, b = {0};
        size_t question = first_difference(note_rest(&said->list[i]), note_rest(&said->list[k]), query);
        int r;

        if (question == SIZE_MAX)
                return 0;
        if ((r = find_witness(w, said, i, of, &a)) == 1)
                r = find_witness(w, said, k, NULL, &b);
        else if (r == 0 && of && (r = find_witness(w, said, k, of, &b)) == 1)
                r = find_witness(w, said, i, NULL, &a);
        if (r == 1 && a.cell.info->status_set != 0 && a.cell.info->status != VERDICT_UNKNOWN)
                return 0; /* one of them is wrong, and told so */
        if (r == 1)
                dispute_line(&a, &b, question, ret);
        return r;
}

/* 1: the case has a row in disputed/. */
static int is_disputed(struct workspace *w, uint32_t info)
{
        cleanup_txn struct store_txn *t = NULL;
        char row[NOTE_KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        disputed_row(info, row);
        return r < 0 ? r : store_has(t, TABLE_META, slice_string(row));
}

/* 1, and the line: two groups contradict each other, in that query unless it is 0, and both have a witness. */
static int find_dispute(struct workspace *w, uint32_t info, uint32_t query, const struct solver *of, struct buffer *ret)
{
        cleanup_notes struct notes said = {0};
        int r = is_disputed(w, info);

        r = r == 1 ? read_said(w, info, &said) : r;
        for (size_t i = 0; r == 0 && i < said.n; i = group_end(&said, i))
                for (size_t k = group_end(&said, i); r == 0 && k < said.n; k = group_end(&said, k))
                        r = find_pair(w, &said, i, k, query, of, ret);
        return r;
}

int dispute_find(struct workspace *w, const struct case_info *info, const struct fact *f, struct buffer *ret)
{
        cleanup_buffer struct buffer letters = {0};

        if (!f || f->wrong)
                return 0;
        disputable(f, info, &letters);
        return letters.size == 0 ? 0 : find_dispute(w, info->query > 0 ? info->whole : info->id, info->query, NULL, ret);
}

/* A row's value: the version, the numbers of solver and case, the seed, the limits, the commit. */
enum { SEED_AT = 1 + 4 + 4, SEED_SIZE = 1 + 8 };

/* By solver, case, commit and machine, whatever the version. */
static int compare_groups(const struct note *a, const struct note *b)
{
        const void *x = note_commit(a), *y = note_commit(b);

        if (!x || !y)
                return (x != NULL) - (y != NULL);
        return memcmp(a->value.data + 1, b->value.data + 1, SEED_AT - 1) ?: memcmp(x, y, GIT_OID_RAWSZ) ?:
               strcmp(note_machine(a) ?: "", note_machine(b) ?: "");
}

static int compare_seeds(const struct note *a, const struct note *b)
{
        return note_commit(a) && note_commit(b) ? memcmp(a->value.data + SEED_AT, b->value.data + SEED_AT, SEED_SIZE) : 0;
}

static int compare_cells(const void *a, const void *b)
{
        return compare_groups(a, b) ?: compare_seeds(a, b);
}

static atomic_flag told = ATOMIC_FLAG_INIT; /* that not all could be looked up */

/* The line of a commit and case: the first seed's answer, and how many other seeds are wrong; empty if none is any more. A seed has several rows: one for
 * the fact under each limit, and a cell's present fact may be any of them. */
static int group_line(struct workspace *w, const struct note *rows, size_t n, const struct solver *of, struct buffer *ret)
{
        const struct note *last = NULL; /* the row of the last wrong seed */
        bool has_seed = false;
        size_t n_seeds = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup_noted struct noted_cell c = {0};

                r = noted_open(w, &rows[i], &c);
                if (r == 0 && c.fact->wrong && is_of(&c, of) && (!last || compare_seeds(last, &rows[i]) != 0)) {
                        if (n_seeds++ == 0) {
                                wrong_line(&c.cell, c.fact, ret);
                                has_seed = c.cell.has_seed;
                        }
                        last = &rows[i];
                }
                if (r == -ENODATA && !atomic_flag_test_and_set(&told)) /* once: a mount looks often, and there may be many */
                        log_warning("not every wrong answer on record is told, as some cannot be looked up now: %s", error_message(r));
                r = r == -ENOENT || r == -ENODATA ? 0 : r;
        }
        if (n_seeds > 1)
                buffer_addf(ret, ", and under %zu %sseed%s", n_seeds - 1, has_seed ? "other " : "", n_seeds == 2 ? "" : "s");
        return r;
}

static int tell_wrong(struct workspace *w, const struct solver *of, wrong_answer_fn fn, void *user)
{
        cleanup_notes struct notes c = {0};
        int r = notes_read(w, "wrong/", &c);

        sort_list(c.list, c.n, sizeof(*c.list), compare_cells);
        for (size_t i = 0, end; r == 0 && i < c.n; i = end) {
                cleanup_buffer struct buffer line = {0};

                for (end = i + 1; end < c.n && compare_groups(&c.list[i], &c.list[end]) == 0;)
                        end++;
                r = group_line(w, &c.list[i], end - i, of, &line);
                if (r == 0 && line.size > 0)
                        r = fn(user, ANSWER_WRONG, line.data);
        }
        return r;
}

int wrong_answers(struct workspace *w, const struct solver *of, wrong_answer_fn fn, void *user)
{
        cleanup_notes struct notes c = {0};
        int r = tell_wrong(w, of, fn, user) ?: notes_read(w, "disputed/", &c);

        for (size_t i = 0; r == 0 && i < c.n; i++) {
                cleanup_buffer struct buffer line = {0};
                unsigned id;

                if (sscanf(c.list[i].key, "disputed/%x", &id) == 1 && (r = find_dispute(w, id, 0, of, &line)) == 1)
                        r = fn(user, ANSWER_CONTRADICTION, line.data);
        }
        return r;
}

/* -- a status that became known ---------------------------------------------------------------------------------- */

/* True if the rows of the fact that a row of said/ names are right: most are, where a status is said again. */
static bool is_noted(struct workspace *w, const struct note *note, const struct noted_cell *n)
{
        const struct noted_fact f = {.cell = &n->cell, .fact = n->fact};
        cleanup_txn struct store_txn *t = NULL;
        cleanup_buffer struct buffer letters = {0};
        char row[NOTE_KEY_SIZE];

        disputable(n->fact, n->cell.info, &letters);
        snprintf(row, sizeof(row), "wrong/%s", strrchr(note->key, '/') + 1);
        return same_bytes(SLICE(letters.data ?: "", letters.size), note_rest(note)) && store_read(workspace_store(w), &t) == 0 &&
               store_has(t, TABLE_META, slice_string(row)) == is_wrong(&f);
}

/* Writes the rows of the fact that a row names, by its case's present status. */
static int renote(struct workspace *w, const struct note *note)
{
        cleanup_noted struct noted_cell n = {0};
        struct store_update u = {.store = workspace_store(w)};
        uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];
        struct commit commit;
        int r = noted_open(w, note, &n)
            ?: run_key(w, &n.cell, run)
            ?: history_commit(n.cell.solver->history, n.cell.commit, &commit);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (is_noted(w, note, &n))
                return 0;
        fact_key(run, &n.fact->limits, key);
        while (store_update_begins(&u))
                u.r = answers_note(u.txn, &(struct noted_fact){.cell = &n.cell, .commit = commit.oid, .key = SLICE(key, sizeof(key)), .fact = n.fact});
        return u.r;
}

/* -ENODATA: one cannot be looked up now; the others are judged all the same. */
static int renote_all(struct workspace *w, uint32_t info)
{
        cleanup_notes struct notes c = {0};
        int r = read_said(w, info, &c), left = 0;

        for (size_t i = 0; r == 0 && i < c.n; i++) {
                r = renote(w, &c.list[i]);
                if (r == -ENODATA) {
                        left = r;
                        r = 0;
                }
        }
        return r ?: left;
}

int answers_look_again(struct workspace *w, uint32_t info)
{
        cleanup(case_info_unrefp) struct case_info *of = NULL;
        cleanup_free struct scrambled_input *made = NULL;
        size_t n = 0;
        int left = renote_all(w, info), r = left == -ENODATA ? 0 : left;

        r = r ?: cases_get(workspace_cases(w), info, &of) ?: scrambled_list(w, &of->sha256, &made, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *input = NULL;

                r = cases_find_digest(workspace_cases(w), &made[i].sha256, &input) ?: renote_all(w, input->id);
                left = r == -ENODATA ? r : left;
                r = r == -ENOENT || r == -ENODATA ? 0 : r;
        }
        return r < 0 ? r : left == -ENODATA ? errorf(left, "some answers cannot be looked up now, as an era names a revision that is not there") : 0;
}
