#include "core/query/answers.h"

#include "core/run/cell_file.h"

/* -- what a fact answered ---------------------------------------------------------------------------------------- */

static enum verdict expected_at(const struct case_info *info, size_t i)
{
        return i < info->n_expected ? info->expected[i] : VERDICT_UNKNOWN;
}

static bool line_is(const char *line, size_t n, enum verdict v)
{
        const char *name = verdict_name(v);

        return strlen(name) == n && memcmp(line, name, n) == 0;
}

/* A letter for each line of `result`: s, u, or ? for all else. */
static void letters_of(const struct fact *f, struct buffer *ret)
{
        const char *at = f->results.data, *end = at ? at + f->results.size : NULL;

        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
                size_t n = (size_t)(stop - at);

                buffer_adds(ret, line_is(at, n, VERDICT_SAT) ? "s" : line_is(at, n, VERDICT_UNSAT) ? "u" : "?");
                at = stop + 1;
        }
}

bool answers_contradict(const struct fact *f, const struct case_info *info)
{
        cleanup_buffer struct buffer letters = {0};

        letters_of(f, &letters);
        for (size_t i = 0; i < letters.size; i++) {
                enum verdict expected = expected_at(info, i);

                if ((letters.data[i] == 's' && expected == VERDICT_UNSAT) || (letters.data[i] == 'u' && expected == VERDICT_SAT))
                        return true;
        }
        return false;
}

/* The letters where the status is unknown. Empty when there are none: nothing can be disputed. */
static void disputable(const struct fact *f, const struct case_info *info, struct buffer *ret)
{
        bool any = false;

        letters_of(f, ret);
        for (size_t i = 0; i < ret->size; i++) {
                if (expected_at(info, i) != VERDICT_UNKNOWN)
                        ret->data[i] = '?';
                any |= ret->data[i] != '?';
        }
        if (!any)
                ret->size = 0;
}

/* The first question that two give different answers to; SIZE_MAX. */
static size_t first_difference(struct slice a, struct slice b)
{
        const char *x = a.data, *y = b.data;

        for (size_t i = 0; i < MIN(a.size, b.size); i++)
                if ((x[i] == 's' && y[i] == 'u') || (x[i] == 'u' && y[i] == 's'))
                        return i;
        return SIZE_MAX;
}

/* -- rows -------------------------------------------------------------------------------------------------------- */

#define ROW_SIZE 128

static void wrong_row(struct slice fact_key, char ret[ROW_SIZE])
{
        char name[33];

        noted_name(fact_key, name);
        snprintf(ret, ROW_SIZE, "wrong/%s", name);
}

static void said_prefix(uint32_t info, char ret[ROW_SIZE])
{
        snprintf(ret, ROW_SIZE, "said/%08" PRIx32 "/", info);
}

static void said_group(uint32_t info, struct slice letters, char ret[ROW_SIZE])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        digest_of(letters.data, letters.size, &d);
        digest_hex(&d, hex);
        snprintf(ret, ROW_SIZE, "said/%08" PRIx32 "/%.16s/", info, hex);
}

static void disputed_row(uint32_t info, char ret[ROW_SIZE])
{
        snprintf(ret, ROW_SIZE, "disputed/%08" PRIx32, info);
}

static int drop(struct store_txn *t, const char *row)
{
        int r = store_has(t, TABLE_META, slice_string(row)) ? store_delete(t, TABLE_META, slice_string(row)) : 0;

        return r == -ENOENT ? 0 : r;
}

struct row { /* the first one that was found */
        char key[ROW_SIZE];
        struct buffer value;
};

static void row_done(struct row *r)
{
        buffer_done(&r->value);
}
#define cleanup_row cleanup(row_done)

static int take_row(void *user, struct slice key, struct slice value)
{
        struct row *r = user;

        if (key.size >= ROW_SIZE)
                return 0;
        snprintf(r->key, sizeof(r->key), "%.*s", (int)key.size, (const char *)key.data);
        buffer_done(&r->value);
        buffer_add(&r->value, value.data, value.size);
        return buffer_error(&r->value) < 0 ? -ENOMEM : 1;
}

/* The next row from `r->key` on; 1, or 0 when there is none. */
static int next_row(struct store_txn *t, const char *prefix, struct row *r)
{
        char from[ROW_SIZE];

        snprintf(from, sizeof(from), "%s", r->key);
        return store_each(t, TABLE_META, slice_string(prefix), slice_string(from), true, take_row, r);
}

/* To behind the row's group, or behind the row itself. */
static void skip_group(struct row *r)
{
        char *slash = strrchr(r->key, '/');

        if (slash)
                strcpy(slash, "0"); /* the character behind '/' */
}

static void skip_row(struct row *r)
{
        size_t n = strlen(r->key);

        if (n + 1 < sizeof(r->key))
                strcpy(r->key + n, "0");
}

/* Its letters, behind the cell. */
static struct slice letters_in(const struct row *r)
{
        return r->value.size < NOTED_SIZE ? SLICE("", 0) : SLICE(r->value.data + NOTED_SIZE, r->value.size - NOTED_SIZE);
}

/* -- noting ------------------------------------------------------------------------------------------------------ */

/* Takes out what the fact said before under other letters, and sees whether others contradict it. */
static int look_at_groups(struct store_txn *t, uint32_t info, const char *fact, struct slice letters, bool *ret_disputed)
{
        cleanup_row struct row row = {0};
        char prefix[ROW_SIZE], same[ROW_SIZE];
        int r;

        said_prefix(info, prefix);
        said_group(info, letters, same);
        while ((r = next_row(t, prefix, &row)) == 1) {
                char *slash = strrchr(row.key, '/'), its[ROW_SIZE + 40];
                bool is_same = letters.size > 0 && strncmp(row.key, same, strlen(same)) == 0;

                snprintf(its, sizeof(its), "%.*s/%s", (int)(slash - row.key), row.key, fact);
                *ret_disputed |= first_difference(letters, letters_in(&row)) != SIZE_MAX;
                skip_group(&row);
                r = is_same ? 0 : drop(t, its);
                if (r < 0)
                        return r;
        }
        return r;
}

static int note_said(struct store_txn *t, const struct noted_fact *f)
{
        cleanup_buffer struct buffer letters = {0}, note = {0};
        const struct case_info *info = f->cell->info;
        char fact[33], group[ROW_SIZE], row[ROW_SIZE + 40];
        bool disputed = false;
        int r;

        disputable(f->fact, info, &letters);
        r = buffer_error(&letters);
        noted_name(f->key, fact);
        if (r == 0)
                r = look_at_groups(t, info->id, fact, SLICE(letters.data, letters.size), &disputed);
        if (r < 0 || letters.size == 0)
                return r;
        said_group(info->id, SLICE(letters.data, letters.size), group);
        snprintf(row, sizeof(row), "%s%s", group, fact);
        r = noted_encode(f, SLICE(letters.data, letters.size), &note);
        if (r == 0)
                r = store_put(t, TABLE_META, slice_string(row), SLICE(note.data, note.size));
        if (r < 0 || !disputed)
                return r;
        disputed_row(info->id, row);
        return store_put(t, TABLE_META, slice_string(row), SLICE("", 0));
}

int answers_note(struct store_txn *t, const struct noted_fact *f)
{
        cleanup_buffer struct buffer note = {0};
        char row[ROW_SIZE];
        int r;

        wrong_row(f->key, row);
        if (f->fact->wrong || answers_contradict(f->fact, f->cell->info)) {
                r = noted_encode(f, SLICE("", 0), &note);
                if (r == 0)
                        r = store_put(t, TABLE_META, slice_string(row), SLICE(note.data, note.size));
        } else {
                r = drop(t, row);
        }
        return r < 0 ? r : note_said(t, f);
}

void answers_log(struct workspace *w, const struct noted_fact *f)
{
        cleanup_buffer struct buffer line = {0};

        if (f->fact->wrong || answers_contradict(f->fact, f->cell->info)) {
                wrong_line(f->cell, f->fact, &line);
                if (buffer_error(&line) == 0)
                        log_info("%s: %s", answer_alarm_name(ANSWER_WRONG), line.data);
        } else if (f->cell->info->status == VERDICT_UNKNOWN && dispute_find(w, f->cell->info->id, &line) == 1)
                log_info("%s: %s", answer_alarm_name(ANSWER_CONTRADICTION), line.data);
}

const char *answer_alarm_name(enum answer_alarm a)
{
        return a == ANSWER_WRONG ? "WRONG ANSWER" : "CONTRADICTION";
}

/* -- telling ----------------------------------------------------------------------------------------------------- */

static void add_cell(struct buffer *b, const struct cell *cell)
{
        struct commit c = {0};

        history_commit(cell->solver->history, cell->commit, &c);
        buffer_addf(b, "%s %.12s", cell->solver->recipe->name, git_oid_tostr_s(&c.oid));
        if (cell->has_seed)
                buffer_addf(b, " (seed %" PRIu64 ")", cell->seed);
}

static void add_case(struct buffer *b, const struct case_info *info)
{
        buffer_addf(b, "case %" PRIu32 " (", info->id);
        buffer_add_printable(b, info->name);
        buffer_adds(b, ")");
}

/* With several check-sat: those expected, as `result` has those given. */
static void add_expected(struct buffer *b, const struct case_info *info)
{
        for (size_t i = 0; i < info->n_expected; i++)
                buffer_addf(b, "%s%s", i > 0 ? "," : "", verdict_name(info->expected[i]));
        if (info->n_expected == 0)
                buffer_adds(b, verdict_name(info->status));
}

void wrong_line(const struct cell *cell, const struct fact *f, struct buffer *ret)
{
        add_cell(ret, cell);
        if (answers_contradict(f, cell->info)) {
                buffer_adds(ret, " says ");
                cell_results(f, ret);
        } else {
                buffer_adds(ret, " contradicted itself between samples"); /* the chosen one is right, another is not */
        }
        buffer_adds(ret, " on ");
        add_case(ret, cell->info);
        buffer_adds(ret, ", whose status is ");
        add_expected(ret, cell->info);
}

/* The first of a group that still says so. 1 when there is one. */
static int find_witness(struct workspace *w, const char *group, struct noted_cell *ret)
{
        cleanup_row struct row row = {0};

        for (;;) {
                cleanup_buffer struct buffer letters = {0};
                cleanup_txn struct store_txn *t = NULL;
                int r = store_read(workspace_store(w), &t);

                if (r == 0)
                        r = next_row(t, group, &row);
                t = store_end(t);
                if (r <= 0)
                        return r;
                r = noted_open(w, SLICE(row.value.data, row.value.size), ret);
                if (r == 0) {
                        disputable(ret->fact, ret->cell.info, &letters);
                        if (buffer_error(&letters) == 0 && letters.size == letters_in(&row).size &&
                            memcmp(letters.data, letters_in(&row).data, letters.size) == 0)
                                return 1;
                }
                noted_done(ret);
                if (r < 0 && r != -ENOENT)
                        return r;
                skip_row(&row);
        }
}

struct group {
        char prefix[ROW_SIZE];
        struct buffer letters;
};

struct groups {
        struct group *list;
        size_t n;
};

static void groups_done(struct groups *g)
{
        for (size_t i = 0; i < g->n; i++)
                buffer_done(&g->list[i].letters);
        free(g->list);
}

static int groups_of(struct workspace *w, uint32_t info, struct groups *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_row struct row row = {0};
        char prefix[ROW_SIZE];
        int r = store_read(workspace_store(w), &t);

        said_prefix(info, prefix);
        while (r == 0 && (r = next_row(t, prefix, &row)) == 1) {
                struct group *g;

                if (list_grow(ret->list, ret->n) < 0)
                        return -ENOMEM;
                g = &ret->list[ret->n++];
                *g = (struct group){0};
                snprintf(g->prefix, sizeof(g->prefix), "%.*s", (int)(strrchr(row.key, '/') + 1 - row.key), row.key);
                buffer_add(&g->letters, letters_in(&row).data, letters_in(&row).size);
                skip_group(&row);
                r = buffer_error(&g->letters);
        }
        return r;
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

int dispute_find(struct workspace *w, uint32_t info, struct buffer *ret)
{
        cleanup(groups_done) struct groups g = {0};
        char row[ROW_SIZE];
        bool marked;
        int r;

        {
                cleanup_txn struct store_txn *t = NULL;

                r = store_read(workspace_store(w), &t);
                if (r < 0)
                        return r;
                disputed_row(info, row);
                marked = store_has(t, TABLE_META, slice_string(row));
        }
        r = marked ? groups_of(w, info, &g) : 0;
        for (size_t i = 0; r == 0 && i < g.n; i++) {
                for (size_t k = i + 1; r == 0 && k < g.n; k++) {
                        const struct buffer *x = &g.list[i].letters, *y = &g.list[k].letters;
                        size_t question = first_difference(SLICE(x->data, x->size), SLICE(y->data, y->size));
                        cleanup_noted struct noted_cell a = {0}, b = {0};

                        if (question == SIZE_MAX)
                                continue;
                        r = find_witness(w, g.list[i].prefix, &a);
                        if (r == 1)
                                r = find_witness(w, g.list[k].prefix, &b);
                        if (r < 1)
                                continue;
                        dispute_line(&a, &b, question, ret);
                        r = buffer_error(ret);
                        return r < 0 ? r : 1;
                }
        }
        return r < 0 ? r : 0;
}

/* Rows are collected first: what is told of them is asked of other tables, and transactions do not nest. */
struct collected {
        struct row *list;
        size_t n;
};

static void collected_done(struct collected *c)
{
        for (size_t i = 0; i < c->n; i++)
                row_done(&c->list[i]);
        free(c->list);
}

static int collect_one(void *user, struct slice key, struct slice value)
{
        struct collected *c = user;
        int r;

        if (list_grow(c->list, c->n) < 0)
                return -ENOMEM;
        c->list[c->n] = (struct row){0};
        r = take_row(&c->list[c->n++], key, value);
        return r < 0 ? r : 0;
}

static int collect(struct workspace *w, const char *prefix, struct collected *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : store_each(t, TABLE_META, slice_string(prefix), SLICE("", 0), true, collect_one, ret);
}

static int tell(wrong_answer_fn fn, void *user, enum answer_alarm a, const struct buffer *line)
{
        int r = buffer_error(line);

        return r < 0 ? r : fn(user, a, line->data);
}

static int tell_wrong(struct workspace *w, wrong_answer_fn fn, void *user)
{
        cleanup(collected_done) struct collected c = {0};
        int r = collect(w, "wrong/", &c);

        for (size_t i = 0; r == 0 && i < c.n; i++) {
                cleanup_buffer struct buffer line = {0};
                cleanup_noted struct noted_cell n = {0};

                r = noted_open(w, SLICE(c.list[i].value.data, c.list[i].value.size), &n);
                if (r == 0 && n.fact->wrong) {
                        wrong_line(&n.cell, n.fact, &line);
                        r = tell(fn, user, ANSWER_WRONG, &line);
                } else if (r == -ENOENT || r == -ESTALE) {
                        r = 0;
                }
        }
        return r;
}

static int tell_disputes(struct workspace *w, wrong_answer_fn fn, void *user)
{
        cleanup(collected_done) struct collected c = {0};
        int r = collect(w, "disputed/", &c);

        for (size_t i = 0; r == 0 && i < c.n; i++) {
                cleanup_buffer struct buffer line = {0};
                unsigned id;

                if (sscanf(c.list[i].key, "disputed/%x", &id) == 1 && (r = dispute_find(w, id, &line)) == 1)
                        r = tell(fn, user, ANSWER_CONTRADICTION, &line);
        }
        return r;
}

int wrong_answers(struct workspace *w, wrong_answer_fn fn, void *user)
{
        int r = tell_wrong(w, fn, user);

        return r != 0 ? r : tell_disputes(w, fn, user);
}

/* -- a status that became known ---------------------------------------------------------------------------------- */

static int renote_in(void *user, struct store_txn *t)
{
        return answers_note(t, user);
}

int answers_look_again(struct workspace *w, uint32_t info)
{
        cleanup(collected_done) struct collected c = {0};
        char prefix[ROW_SIZE];
        int r;

        said_prefix(info, prefix);
        r = collect(w, prefix, &c);
        for (size_t i = 0; r == 0 && i < c.n; i++) {
                cleanup_noted struct noted_cell n = {0};
                uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];
                struct commit commit;

                r = noted_open(w, SLICE(c.list[i].value.data, c.list[i].value.size), &n);
                if (r == 0)
                        r = run_key(w, &n.cell, run);
                if (r == 0)
                        r = history_commit(n.cell.solver->history, n.cell.commit, &commit);
                if (r == 0) {
                        fact_key(run, &n.fact->limits, key);
                        r = store_update(
                                workspace_store(w), renote_in,
                                &(struct noted_fact){
                                        .cell = &n.cell, .commit = commit.oid, .key = SLICE(key, sizeof(key)), .fact = n.fact});
                }
                if (r == -ENOENT || r == -ESTALE)
                        r = 0;
        }
        return r;
}
