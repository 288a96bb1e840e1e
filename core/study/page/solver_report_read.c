/* Reads the report's data: cases, the measured commits, and a table of both. */
#include "core/query/answers.h"
#include "core/query/cell_answer.h"
#include "core/query/resolved_cell.h"
#include "core/study/judge/judge.h"
#include "core/study/page/solver_report_internal.h"

void report_done(struct report *r)
{
        for (size_t i = 0; i < r->n_columns; i++) {
                free(r->columns[i].subject);
                free(r->columns[i].author);
                buffer_done(&r->columns[i].tags);
        }
        free(r->columns);
        free(r->cells);
        for (size_t i = 0; i < r->n_seeds; i++)
                free(r->by_seed[i]);
        free(r->by_seed);
        free(r->steps);
        free(r->commits);
        free(r->of_commit);
        commit_order_unref(r->order);
        ref_list_unref(r->refs);
        case_selection_done(&r->cases);
        buffer_done(&r->left_out);
        buffer_done(&r->not_started);
        *r = (struct report){0};
}

void report_newer(struct report *r, int64_t seconds)
{
        r->newest = MAX(r->newest, seconds);
}

/* -- cases -------------------------------------------------------------------------------------------------------- */

static int read_cases(struct report *r)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        size_t n, every;
        int e = r->options->set ? sets_get(workspace_sets(r->workspace), r->options->set, &set) : 0;

        if (e < 0)
                return e;
        if (set)
                report_newer(r, set->changed);
        e = cases_select_set(r->workspace, r->options->set, &r->cases);
        if (e < 0)
                return e == -ENOENT ? 0 : e; /* an empty set */
        case_selection_keep(&r->cases, r->solver->recipe->format);
        n = r->all_cases = r->cases.n;
        every = n > REPORT_CASES ? (n + REPORT_CASES - 1) / REPORT_CASES : 1; /* keeps every second, third … of a larger set */
        r->cases.n = 0;
        for (size_t i = 0; i < n; i++) {
                report_newer(r, r->cases.list[i]->added);
                if (i % every == 0)
                        r->cases.list[r->cases.n++] = r->cases.list[i];
                else
                        case_info_unref(r->cases.list[i]);
        }
        if (every > 1)
                report_left_out(r, "%zu of the %zu cases are shown, one in %zu; 'solverfs report %s --set SET' makes a page of a set.", r->cases.n, n,
                                every, r->solver->recipe->name);
        return 0;
}

/* -- the commits that are measured -------------------------------------------------------------------------------- */

/* Ends program_runs() with 1 at the first run. */
static int any_run(void *, const struct digest *, struct fact *)
{
        return 1;
}

struct finding_commits {
        struct report *report;
        struct digest *programs; /* owned; of every commit */
        uint32_t n_programs;
        uint32_t *line_at; /* owned; of every commit: its place on the line, or NOT_SHOWN */
        uint32_t last;     /* index of the last measured commit on the line, or NOT_SHOWN */
};

/* Adds a commit if anything is measured of its program. A commit with its first parent's program is part of that one's entry. */
static int add_commit(struct finding_commits *f, uint32_t place)
{
        struct report *r = f->report;
        uint32_t number = r->order->list[place], at = f->line_at[number], same = NOT_SHOWN;
        const struct cell cell = {.solver = r->solver, .commit = number};
        struct commit c;
        int e;

        if (number >= f->n_programs || digest_is_zero(&f->programs[number]))
                return 0;
        e = history_commit(r->solver->history, number, &c);
        if (e < 0)
                return e;
        if (c.first_parent < f->n_programs && c.first_parent < r->order->n && digest_equal(&f->programs[c.first_parent], &f->programs[number]))
                same = r->of_commit[c.first_parent];
        if (same != NOT_SHOWN && (at == NOT_SHOWN || same == f->last)) { /* on the line only if no other program is between */
                r->of_commit[number] = same;
                if (at != NOT_SHOWN) {
                        r->commits[same].line_to = at;
                        r->commits[same].last = c.oid;
                }
                return 0;
        }
        e = program_runs(r->workspace, &cell, &f->programs[number], any_run, NULL);
        if (e <= 0)
                return e;
        r->of_commit[number] = (uint32_t)r->n_commits;
        if (at != NOT_SHOWN)
                f->last = (uint32_t)r->n_commits;
        r->commits[r->n_commits++] = (struct report_commit){.number = number,
                                                            .place = place,
                                                            .line_from = at,
                                                            .line_to = at,
                                                            .on_line = at != NOT_SHOWN,
                                                            .column = NOT_SHOWN,
                                                            .program = f->programs[number],
                                                            .commit = c,
                                                            .last = c.oid};
        return 0;
}

/* Counts the commits that cannot be built: a build is known, and no program. */
static int count_unbuildable(struct finding_commits *f)
{
        cleanup_free uint32_t *known = NULL;
        size_t n = 0;
        int r = commits_known(f->report->workspace, f->report->solver, NULL, &known, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;

                if (known[i] < f->n_programs && digest_is_zero(&f->programs[known[i]]) &&
                    build_find(f->report->workspace, f->report->solver, known[i], WITHOUT_LOG, &record) == 0 && !record->ok) {
                        f->report->unbuildable++;
                        report_newer(f->report, record->started);
                }
        }
        return r;
}

static int find_commits(struct report *r)
{
        struct finding_commits f = {.report = r, .last = NOT_SHOWN};
        int e = commit_programs(r->workspace, r->solver, &f.programs, &f.n_programs, NULL);

        f.line_at = allocate(r->order->n, sizeof(*f.line_at));
        r->of_commit = allocate(r->order->n, sizeof(*r->of_commit));
        r->commits = allocate(r->order->n, sizeof(*r->commits));
        for (size_t i = 0; i < r->order->n; i++)
                f.line_at[i] = r->of_commit[i] = NOT_SHOWN;
        for (uint32_t i = 0; i < r->order->n_line; i++)
                f.line_at[r->order->line[i]] = i;
        for (uint32_t i = 0; e == 0 && i < r->order->n; i++)
                e = add_commit(&f, i);
        if (e == 0)
                e = count_unbuildable(&f);
        free(f.programs);
        free(f.line_at);
        return e;
}

/* -- the commits that are shown ----------------------------------------------------------------------------------- */

struct report_commit *report_commit_of(const struct report *r, uint32_t number)
{
        uint32_t index = number < r->order->n ? r->of_commit[number] : NOT_SHOWN;

        return index == NOT_SHOWN ? NULL : &r->commits[index];
}

/* Marks a commit as shown; make_columns() numbers the columns. True: it was not yet. */
static bool show(struct report_commit *c)
{
        bool is_new = c && c->column == NOT_SHOWN;

        if (is_new)
                c->column = 0;
        return is_new;
}

/* Chooses first, last and tags, then evenly from the others as many as there is room for. */
static void choose_commits(struct report *r)
{
        const size_t most = r->cases.n * REPORT_COMMITS > REPORT_CELLS ? REPORT_CELLS / r->cases.n : REPORT_COMMITS;
        size_t kept = 0, others, shown = 0, k = 0; /* k: of the others so far; shown: those of them that are */

        if (r->n_commits <= most) {
                for (size_t i = 0; i < r->n_commits; i++)
                        show(&r->commits[i]);
                return;
        }
        kept += show(&r->commits[0]) + show(&r->commits[r->n_commits - 1]);
        for (size_t i = r->refs->n; i-- > 0 && kept < most / 2;) /* the last by name are mostly the newest */
                if (r->refs->list[i].kind == REF_TAG)
                        kept += show(report_commit_of(r, r->refs->list[i].commit));
        others = r->n_commits - kept;
        for (size_t i = 0; i < r->n_commits; i++)
                if (r->commits[i].column == NOT_SHOWN && ++k * (most - kept) / others > shown)
                        shown += show(&r->commits[i]);
        report_left_out(r, "%zu of the %zu measured programs are in the plots and in the table of commits. Steps are looked for among all of them.",
                        kept + shown, r->n_commits);
}

static void make_columns(struct report *r)
{
        size_t n = 0;

        for (size_t i = 0; i < r->n_commits; i++)
                n += r->commits[i].column != NOT_SHOWN;
        r->columns = allocate(n, sizeof(*r->columns));
        r->cells = allocate(n * r->cases.n, sizeof(*r->cells));
        for (size_t i = 0; i < r->n_commits; i++) {
                if (r->commits[i].column == NOT_SHOWN)
                        continue;
                r->commits[i].column = (uint32_t)r->n_columns;
                r->columns[r->n_columns++] = (struct report_column){.of = &r->commits[i]};
        }
}

/* -- cells -------------------------------------------------------------------------------------------------------- */

struct case_bytes { /* an entry of a list sorted by bytes; the digest is first for digest_compare() */
        struct digest sha256;
        uint32_t index; /* of the case with these bytes */
};

struct reading_column {
        struct report *report;
        const struct case_bytes *by_bytes;
        struct report_column *column; /* for the counts; NULL: not wanted */
        struct report_cell *cells;    /* of the column */
        size_t known;
        bool has_noted; /* that its program did not begin */
};

/* Sets the cell of the run's case, if it is one of the report's, and counts it for the column. */
static int add_run(void *user, const struct digest *sha256, struct fact *f)
{
        struct reading_column *c = user;
        const struct case_bytes wanted = {.sha256 = *sha256};
        const struct case_bytes *found = find_in_list(&wanted, c->by_bytes, c->report->cases.n, sizeof(wanted), digest_compare);
        struct report_cell *cell = found ? &c->cells[found->index] : NULL;

        if (!cell || cell->is_known)
                return 0;
        report_newer(c->report, fact_moment(f));
        if (f->not_started && c->column && !c->has_noted) {
                cleanup_buffer struct buffer line = {0};

                not_started_line(c->report->solver, c->column->of->number, f, &line);
                xml_addf(&c->report->not_started, "<li>%s</li>\n", line.data);
                c->has_noted = true;
        }
        *cell = (struct report_cell){.seconds = (float)fact_seconds(f),
                                     .is_known = true,
                                     .is_wrong = f->wrong || answers_contradict(f, c->report->cases.list[found->index]),
                                     .verdict = (uint8_t)f->verdict};
        c->known++;
        if (c->column) {
                c->column->measured++;
                c->column->wrong += cell->is_wrong;
        }
        return 0;
}

/* 1: something is known under this seed. */
static int read_seed(struct report *r, const struct case_bytes *by_bytes, unsigned seed)
{
        cleanup_free struct report_cell *cells = allocate(r->n_columns * r->cases.n, sizeof(*cells));
        struct reading_column c = {.report = r, .by_bytes = by_bytes};
        int e = 0;

        for (size_t i = 0; i < r->n_columns && e == 0; i++) {
                const struct cell cell = {.solver = r->solver, .commit = r->columns[i].of->number, .has_seed = true, .seed = seed};

                c.cells = cells + i * r->cases.n;
                e = program_runs(r->workspace, &cell, &r->columns[i].of->program, add_run, &c);
        }
        if (e < 0 || c.known == 0)
                return e;
        list_add(r->by_seed, r->n_seeds, steal_pointer(cells));
        return 1;
}

/* Reads the cells of all columns, and drops columns without any; then the runs under the seeds 1, 2, … up to the first without a run. */
static int read_cells(struct report *r)
{
        cleanup_free struct case_bytes *by_bytes = allocate(r->cases.n, sizeof(*by_bytes));
        size_t kept = 0;
        int more = r->solver->recipe->seed ? 1 : 0;

        for (size_t i = 0; i < r->cases.n; i++)
                by_bytes[i] = (struct case_bytes){r->cases.list[i]->sha256, (uint32_t)i};
        sort_list(by_bytes, r->cases.n, sizeof(*by_bytes), digest_compare);
        for (size_t i = 0; i < r->n_columns; i++) {
                struct reading_column c = {.report = r, .by_bytes = by_bytes, .column = &r->columns[i], .cells = &r->cells[kept * r->cases.n]};
                const struct cell cell = {.solver = r->solver, .commit = r->columns[i].of->number};
                int e = program_runs(r->workspace, &cell, &r->columns[i].of->program, add_run, &c);

                if (e < 0)
                        return e;
                r->columns[i].of->column = r->columns[i].measured > 0 ? (uint32_t)kept : NOT_SHOWN;
                if (r->columns[i].measured > 0) /* if none of these cases is measured, the next column replaces this one */
                        r->columns[kept++] = r->columns[i];
        }
        r->n_columns = kept;
        for (unsigned seed = 1; more == 1 && seed < JUDGE_PAIRS; seed++)
                more = read_seed(r, by_bytes, seed);
        return MIN(more, 0);
}

/* -- the texts and the score of a column -------------------------------------------------------------------------- */

static void add_tags(struct report *r)
{
        for (size_t i = 0; i < r->refs->n; i++) {
                const struct ref *ref = &r->refs->list[i];
                const struct report_commit *c = ref->kind == REF_TAG ? report_commit_of(r, ref->commit) : NULL;
                struct buffer *tags = c && c->column != NOT_SHOWN ? &r->columns[c->column].tags : NULL;

                if (!tags)
                        continue;
                if (tags->size > 0)
                        buffer_adds(tags, ", ");
                xml_add_allowed(tags, ref->name);
        }
}

/* Scores each column over the cases that were measured there. */
static void score_columns(struct report *r)
{
        size_t before = NOT_SHOWN;

        for (size_t k = 0; k < r->n_columns; k++) {
                struct report_column *c = &r->columns[k];
                double sum = 0;

                c->is_comparable = c->of->on_line && before != NOT_SHOWN;
                for (size_t i = 0; i < r->cases.n; i++) {
                        const struct report_cell *cell = report_cell(r, k, i);

                        c->is_comparable &= before == NOT_SHOWN || cell->is_known == report_cell(r, before, i)->is_known;
                        c->solved += cell_is_solved(cell);
                        if (cell->is_known)
                                sum += cell_is_solved(cell) ? (double)cell->seconds : 2 * r->limit;
                }
                c->par2 = sum / (double)c->measured;
                before = c->of->on_line ? k : before;
        }
}

int report_read(struct report *r)
{
        struct history *h = r->solver->history;
        uint32_t n = history_count(h);
        struct recipe_limits limits;
        struct commit newest;
        int e = read_cases(r);

        cell_limits(&(struct cell){.solver = r->solver}, &limits);
        r->limit = (double)limits.wall_ns / 1e9;
        if (n > 0 && history_commit(h, n - 1, &newest) == 0) /* the page says how many commits there are, and which tags */
                report_newer(r, newest.indexed);
        if (e == 0)
                e = history_order(h, &r->order);
        if (e == 0)
                e = history_refs(h, &r->refs);
        if (e == 0)
                e = find_commits(r);
        if (e < 0)
                return e;
        choose_commits(r);
        make_columns(r);
        e = read_cells(r);
        if (e < 0)
                return e;
        score_columns(r);
        add_tags(r);
        for (size_t i = 0; i < r->n_columns; i++)
                report_commit_texts(r->solver, r->columns[i].of->number, &r->columns[i].subject, &r->columns[i].author);
        return 0;
}
