/* The report's steps: cases that got slower or faster, and the commits around each step. */
#include "core/query/resolved_cell.h"
#include "core/study/steps/case_history.h"
#include "core/study/page/solver_report_internal.h"

/* -- finding them -------------------------------------------------------------------------------------------------- */

struct series { /* of one case: its measured commits on the line, in order */
        const struct report_commit **commits; /* owned */
        struct step_point *points;            /* owned, with the outcomes of each */
        size_t n;
};

static void series_done(struct series *s)
{
        for (size_t i = 0; i < s->n; i++)
                free((void *)s->points[i].by_seed);
        free(s->commits);
        free(s->points);
}
#define cleanup_series cleanup(series_done)

static struct series series_with_room(size_t most)
{
        return (struct series){.commits = allocate(most, sizeof(const struct report_commit *)), .points = allocate(most, sizeof(struct step_point))};
}

/* Takes ownership of the outcomes. */
static void series_add(struct series *s, const struct report_commit *c, const struct localize_outcome *by_seed, size_t n)
{
        s->commits[s->n] = c;
        s->points[s->n++] = (struct step_point){by_seed, n};
}

static struct localize_outcome outcome_of(const struct report_cell *c)
{
        return run_outcome((enum verdict)c->verdict, c->is_wrong, (double)c->seconds);
}

/* Adds the shown commits with a result of the case, each with its runs under the seeds 1, 2, … up to the first missing one. */
static void add_columns(const struct report *r, size_t case_index, struct series *s)
{
        for (size_t k = 0; k < r->n_columns; k++) {
                const struct report_cell *cell = report_cell(r, k, case_index);
                struct localize_outcome *by_seed;
                size_t n = 0;

                if (!cell->is_known || !r->columns[k].of->on_line)
                        continue;
                by_seed = allocate(1 + r->n_seeds, sizeof(*by_seed));
                by_seed[n++] = outcome_of(cell);
                for (; n <= r->n_seeds && r->by_seed[n - 1][k * r->cases.n + case_index].is_known; n++)
                        by_seed[n] = outcome_of(&r->by_seed[n - 1][k * r->cases.n + case_index]);
                series_add(s, r->columns[k].of, by_seed, n);
        }
}

/* Adds all that the store has of a case at a commit. -ENOENT: nothing is known of it. */
static int add_commit(const struct report *r, size_t case_index, const struct report_commit *c, struct series *s)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell = {.solver = r->solver, .commit = c->number, .info = r->cases.list[case_index]};
        struct localize_outcome *by_seed = NULL;
        struct digest build;
        size_t n = 0;
        int e = build_key(r->solver->history, c->number, r->solver->recipe, &build);

        if (e == 0)
                e = run_find_built(r->workspace, &cell, &build, true, &f);
        if (e == 0)
                e = case_outcomes(r->workspace, &cell, &build, f, JUDGE_TIME, &by_seed, &n);
        if (e == 0)
                series_add(s, c, by_seed, n);
        return e;
}

/* The series again, with all that is measured between the commits of each step; takes the outcomes. */
static int add_between(const struct report *r, size_t case_index, struct series *coarse, const struct steps *steps, struct series *s)
{
        size_t next = 0;
        int e = 0;

        for (size_t i = 0; i < coarse->n && e == 0; i++) {
                bool is_after_step = next < steps->n && steps->list[next].at == i;

                for (const struct report_commit *c = is_after_step ? coarse->commits[i - 1] + 1 : coarse->commits[i]; c < coarse->commits[i]; c++) {
                        if (c->on_line && c->column == NOT_SHOWN)
                                e = add_commit(r, case_index, c, s);
                        if (e < 0 && e != -ENOENT)
                                return e;
                        e = 0;
                }
                next += is_after_step;
                series_add(s, coarse->commits[i], steal_pointer(coarse->points[i].by_seed), coarse->points[i].n);
        }
        return e;
}

static void keep_steps(struct report *r, size_t case_index, const struct series *s, const struct steps *steps)
{
        for (size_t i = 0; i < steps->n; i++) {
                const struct step *step = &steps->list[i];

                list_add(r->steps, r->n_steps, (struct report_step){.case_index = (uint32_t)case_index,
                                                                    .before = s->commits[step->at - 1],
                                                                    .after = s->commits[step->at],
                                                                    .is_slower = step->is_slower,
                                                                    .seconds_before = step->before,
                                                                    .seconds_after = step->after});
        }
}

/* The steps among the shown commits. If some commits differ without a step, and the solver has no seeds, they are found again with all repetitions. */
static int find_coarse(const struct report *r, size_t case_index, struct series *coarse, struct steps *steps)
{
        int e = 0;

        *coarse = series_with_room(r->n_columns);
        add_columns(r, case_index, coarse);
        steps_find(coarse->points, coarse->n, steps);
        if (steps->n_apart == 0 || r->solver->recipe->seed)
                return 0;
        steps_done(steps);
        series_done(coarse);
        *coarse = series_with_room(r->n_columns);
        for (size_t k = 0; k < r->n_columns && (e == 0 || e == -ENOENT); k++) /* -ENOENT: removed meanwhile */
                if (report_cell(r, k, case_index)->is_known && r->columns[k].of->on_line)
                        e = add_commit(r, case_index, r->columns[k].of, coarse);
        if (e < 0 && e != -ENOENT)
                return e;
        steps_find(coarse->points, coarse->n, steps);
        return 0;
}

/* First among the shown commits; then, with the measured ones between the two sides of each step, again. */
int report_find_steps(struct report *r)
{
        int e = 0;

        for (size_t i = 0; i < r->cases.n && e == 0; i++) {
                cleanup_series struct series coarse = {0}, fine = {0};
                cleanup_steps struct steps steps = {0}, again = {0};

                e = find_coarse(r, i, &coarse, &steps);
                if (e < 0 || steps.n == 0 || r->n_commits == r->n_columns) {
                        keep_steps(r, i, &coarse, &steps);
                        continue;
                }
                fine = series_with_room(r->n_commits);
                e = add_between(r, i, &coarse, &steps, &fine);
                steps_find(fine.points, fine.n, &again);
                keep_steps(r, i, &fine, &again);
        }
        return e;
}

/* -- the table: a row for all steps of one direction between the same two commits ---------------------------------- */

static double ratio_of(const struct report_step *s)
{
        double ratio;

        if (isnan(s->seconds_after) || isnan(s->seconds_before)) /* an answer was lost, or gained */
                return INFINITY;
        ratio = s->seconds_after / s->seconds_before;
        return s->is_slower ? ratio : 1 / ratio;
}

static int by_commit(const void *a, const void *b)
{
        const struct report_step *x = a, *y = b;

        return ORDER(y->after, x->after) /* newest first */
            ?: ORDER(y->before, x->before)
            ?: ORDER(y->is_slower, x->is_slower)
            ?: ORDER(ratio_of(y), ratio_of(x))
            ?: ORDER(x->case_index, y->case_index);
}

/* True if no commit is between the two stretches of programs. */
static bool is_one_commit(const struct report_step *s)
{
        return s->before->line_to + 1 == s->after->line_from;
}

static void add_commits(const struct report *r, const struct report_step *s, struct buffer *b)
{
        if (!is_one_commit(s)) {
                report_add_version(r, oid_text(&s->before->last), b);
                buffer_adds(b, "..");
        }
        report_add_version(r, oid_text(&s->after->commit.oid), b);
        if (!is_one_commit(s))
                buffer_addf(b, " (%u commits)", s->after->line_from - s->before->line_to);
}

#define CASES_SHOWN 20 /* of a row */

static void add_cases(const struct report *r, const struct report_step *s, size_t n, struct buffer *b)
{
        if (n > 1)
                buffer_addf(b, "<details><summary>%zu cases</summary><ul>", n);
        for (size_t i = 0; i < n && i < CASES_SHOWN; i++) {
                const struct case_info *info = r->cases.list[s[i].case_index];
                struct short_text before = html_seconds(s[i].seconds_before), after = html_seconds(s[i].seconds_after);
                cleanup_buffer struct buffer path = {0};

                buffer_adds(b, n > 1 ? "<li>" : "");
                html_link(b, report_path(r, &path, "cases/%u/history.svg", info->id), info->name);
                buffer_addf(b, ": %s → %s", isnan(s[i].seconds_before) ? "no answer" : before.s, isnan(s[i].seconds_after) ? "no answer" : after.s);
                buffer_adds(b, n > 1 ? "</li>" : "");
        }
        if (n > CASES_SHOWN)
                buffer_addf(b, "<li>and %zu more</li>", n - CASES_SHOWN);
        if (n > 1)
                buffer_adds(b, "</ul></details>");
}

static void add_row(const struct report *r, struct html_table *t, const struct report_step *s, size_t n, struct buffer *b)
{
        cleanup_free char *subject = NULL, *author = NULL;
        struct short_text ratio = html_ratio(ratio_of(s));

        report_commit_texts(r->solver, s->after->number, &subject, &author);
        html_row_begin(b, t);
        html_cell_begin(b, t);
        add_commits(r, s, b);
        html_cell_end(b, t);
        html_cell(b, t, report_date(s->after->commit.committed).s);
        report_cell_direction(t, s->is_slower, s->is_slower ? "slower" : "faster", b);
        html_cell_number(b, t, ratio_of(s), isinf(ratio_of(s)) ? (s->is_slower ? "lost" : "gained") : ratio.s);
        html_cell_count(b, t, n);
        html_cell_begin(b, t);
        add_cases(r, s, n, b);
        html_cell_end(b, t);
        html_cell(b, t, is_one_commit(s) ? subject : "");
        html_cell(b, t, is_one_commit(s) ? author : "");
        html_row_end(b);
}

void report_write_steps(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"commit", HTML_LINE, false}, {"date", HTML_LINE, true},   {"direction", HTML_TEXT, false},
                                                     {"largest", HTML_NUMBER, false}, {"cases", HTML_NUMBER, true}, {"which", HTML_WIDE, false},
                                                     {"subject", HTML_WIDE, true},    {"author", HTML_TEXT, true}};
        cleanup_free struct report_step *list = allocate(r->n_steps, sizeof(*list));
        struct html_table t = {.caption = "Steps and their commits", .columns = columns, .n = ARRAY_SIZE(columns)};
        size_t rows = 0;

        buffer_adds(b, "<section id=\"steps\"><h2>Steps</h2>\n");
        if (r->n_steps == 0) {
                buffer_adds(b, "<p>No case got slower or faster between the commits that are measured.</p></section>\n");
                return;
        }
        memcpy(list, r->steps, r->n_steps * sizeof(*list));
        sort_list(list, r->n_steps, sizeof(*list), by_commit);
        buffer_adds(b, "<p>Where cases got slower or faster along first parents, newest first. Two commits stand for the range between them, where not "
                       "every commit is measured.</p>\n");
        html_table_begin(b, &t);
        for (size_t i = 0, n; i < r->n_steps; i += n, rows++) {
                const struct report_step *first = &list[i], *s = first + 1;

                for (n = 1; i + n < r->n_steps && s->after == first->after && s->before == first->before && s->is_slower == first->is_slower; s++)
                        n++;
                if (rows < REPORT_ROWS)
                        add_row(r, &t, &list[i], n, b);
        }
        html_table_end(b);
        buffer_adds(b, "</section>\n");
        if (rows > REPORT_ROWS)
                report_left_out(r, "The table of steps has the newest %d of %zu rows; 'solverfs steps %s CASE' prints all of a case.", REPORT_ROWS, rows,
                                r->solver->recipe->name);
}
