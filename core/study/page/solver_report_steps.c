/* The report's steps: where cases got slower and faster, and between which commits. */
#include "core/query/run_finder.h"
#include "core/study/steps/case_history.h"
#include "core/study/page/solver_report_internal.h"

/* -- finding them -------------------------------------------------------------------------------------------------- */

struct series { /* of one case: its measured commits on the line, in order */
        const struct report_commit **commits; /* owned */
        struct step_point *points;            /* owned, with the outcomes of each */
        size_t n, room;
};

static void series_done(struct series *s)
{
        for (size_t i = 0; i < s->n; i++)
                free((void *)s->points[i].by_seed);
        free(s->commits);
        free(s->points);
}
#define cleanup_series cleanup(series_done)

/* `room` for all that is added. */
static int series_make(struct series *s, size_t room)
{
        s->commits = calloc(room + 1, sizeof(*s->commits));
        s->points = calloc(room + 1, sizeof(*s->points));
        s->room = room;
        return s->commits && s->points ? 0 : -ENOMEM;
}

/* Takes the outcomes. */
static void series_add(struct series *s, const struct report_commit *c, const struct localize_outcome *by_seed, size_t n)
{
        assert(s->n < s->room);
        s->commits[s->n] = c;
        s->points[s->n++] = (struct step_point){by_seed, n};
}

static struct localize_outcome outcome_of(const struct report_cell *c)
{
        return run_outcome((enum verdict)c->verdict, c->is_wrong, (double)c->seconds);
}

static int add_columns(const struct report *r, size_t case_index, struct series *s)
{
        for (size_t k = 0; k < r->n_columns; k++) {
                const struct report_cell *cell = report_cell(r, k, case_index);
                struct localize_outcome *by_seed;
                size_t n = 0;

                if (!cell->is_known || !r->columns[k].of->on_line)
                        continue;
                by_seed = calloc(1 + r->n_seeds, sizeof(*by_seed));
                if (!by_seed)
                        return -ENOMEM;
                by_seed[n++] = outcome_of(cell);
                for (; n <= r->n_seeds && r->by_seed[n - 1][k * r->cases.n + case_index].is_known; n++)
                        by_seed[n] = outcome_of(&r->by_seed[n - 1][k * r->cases.n + case_index]);
                series_add(s, r->columns[k].of, by_seed, n);
        }
        return 0;
}

/* All that the store has of a case at a commit. -ENOENT: nothing is known of it. */
static int read_commit(const struct report *r, size_t case_index, const struct report_commit *c, struct localize_outcome **ret, size_t *ret_n)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell = {.solver = r->solver, .commit = c->number, .info = r->cases.list[case_index]};
        struct digest build;
        int e = build_key(r->solver->history, c->number, r->solver->recipe, &build);

        if (e == 0)
                e = run_find_built(r->workspace, &cell, &build, true, &f);
        return e < 0 ? e : case_outcomes(r->workspace, &cell, &build, f, JUDGE_TIME, ret, ret_n);
}

/* The columns with their repetitions, which are read one by one: where a first look shows commits that are apart. */
static int add_repeated(const struct report *r, size_t case_index, struct series *s)
{
        for (size_t k = 0; k < r->n_columns; k++) {
                struct localize_outcome *by_seed = NULL;
                size_t n = 0;
                int e;

                if (!report_cell(r, k, case_index)->is_known || !r->columns[k].of->on_line)
                        continue;
                e = read_commit(r, case_index, r->columns[k].of, &by_seed, &n);
                if (e < 0)
                        return e == -ENOENT ? 0 : e;
                series_add(s, r->columns[k].of, by_seed, n);
        }
        return 0;
}

/* The series again, with all that is measured between the commits of each step; takes the outcomes. */
static int add_between(const struct report *r, size_t case_index, struct series *coarse, const struct steps *steps, struct series *s)
{
        size_t next = 0;
        int e = 0;

        for (size_t i = 0; i < coarse->n && e == 0; i++) {
                bool is_after_step = next < steps->n && steps->list[next].at == i;

                for (const struct report_commit *c = is_after_step ? coarse->commits[i - 1] + 1 : coarse->commits[i]; c < coarse->commits[i]; c++) {
                        struct localize_outcome *by_seed = NULL;
                        size_t n = 0;

                        if (!c->on_line || c->column != NOT_SHOWN)
                                continue;
                        e = read_commit(r, case_index, c, &by_seed, &n);
                        if (e == 0)
                                series_add(s, c, by_seed, n);
                        else if (e != -ENOENT)
                                return e;
                }
                next += is_after_step;
                series_add(s, coarse->commits[i], steal_pointer(coarse->points[i].by_seed), coarse->points[i].n);
        }
        return e;
}

static int keep_steps(struct report *r, size_t case_index, const struct series *s, const struct steps *steps)
{
        for (size_t i = 0; i < steps->n; i++) {
                const struct step *step = &steps->list[i];

                if (list_grow(r->steps, r->n_steps) < 0)
                        return -ENOMEM;
                r->steps[r->n_steps++] = (struct report_step){.case_index = (uint32_t)case_index,
                                                              .before = s->commits[step->at - 1],
                                                              .after = s->commits[step->at],
                                                              .is_slower = step->is_slower,
                                                              .seconds_before = step->before,
                                                              .seconds_after = step->after};
        }
        return 0;
}

/* The steps of the columns. */
static int find_coarse(const struct report *r, size_t case_index, struct series *coarse, struct steps *steps)
{
        int e = series_make(coarse, r->n_columns);

        if (e == 0)
                e = add_columns(r, case_index, coarse);
        if (e == 0)
                e = steps_find(coarse->points, coarse->n, 0, steps);
        if (e < 0 || steps->n_apart == 0 || r->solver->recipe->seed)
                return e;
        steps_done(steps);
        series_done(coarse);
        *coarse = (struct series){0};
        e = series_make(coarse, r->n_columns);
        if (e == 0)
                e = add_repeated(r, case_index, coarse);
        return e < 0 ? e : steps_find(coarse->points, coarse->n, 0, steps);
}

static int find_in_case(struct report *r, size_t case_index, bool hides)
{
        cleanup_series struct series coarse = {0}, fine = {0};
        cleanup_steps struct steps steps = {0}, again = {0};
        int e = find_coarse(r, case_index, &coarse, &steps);

        if (e < 0 || steps.n == 0 || !hides)
                return e < 0 ? e : keep_steps(r, case_index, &coarse, &steps);
        e = series_make(&fine, r->n_commits);
        if (e == 0)
                e = add_between(r, case_index, &coarse, &steps, &fine);
        if (e == 0)
                e = steps_find(fine.points, fine.n, 0, &again);
        return e < 0 ? e : keep_steps(r, case_index, &fine, &again);
}

int report_find_steps(struct report *r)
{
        int e = 0;

        for (size_t i = 0; i < r->cases.n && e == 0; i++)
                e = find_in_case(r, i, r->n_commits > r->n_columns);
        return e;
}

/* -- showing them: a row for all steps of one direction between the same two commits ---------------------------------- */

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

        if (x->after != y->after)
                return x->after > y->after ? -1 : 1; /* newest first */
        if (x->before != y->before)
                return x->before > y->before ? -1 : 1;
        if (x->is_slower != y->is_slower)
                return y->is_slower - x->is_slower;
        if (ratio_of(x) != ratio_of(y))
                return ratio_of(x) > ratio_of(y) ? -1 : 1;
        return (x->case_index > y->case_index) - (x->case_index < y->case_index);
}

static bool is_one_row(const struct report_step *x, const struct report_step *y)
{
        return x->after == y->after && x->before == y->before && x->is_slower == y->is_slower;
}

/* No commit lies between the two stretches of programs. */
static bool is_one_commit(const struct report_step *s)
{
        return s->before->line_to + 1 == s->after->line_from;
}

static int add_commits(const struct report *r, const struct report_step *s, struct buffer *b)
{
        int e = 0;

        if (!is_one_commit(s)) {
                e = report_add_commit(r, s->before->number, b);
                buffer_adds(b, "..");
        }
        if (e == 0)
                e = report_add_commit(r, s->after->number, b);
        if (!is_one_commit(s))
                buffer_addf(b, " (%u commits)", s->after->line_from - s->before->line_to);
        return e;
}

#define CASES_SHOWN 20 /* of a row */

static void add_case(const struct report *r, const struct report_step *s, struct buffer *b)
{
        const struct case_info *info = r->cases.list[s->case_index];
        struct html_number before = html_seconds(s->seconds_before), after = html_seconds(s->seconds_after);
        cleanup_buffer struct buffer path = {0};

        html_link(b, report_path(r, &path, "cases/%u/history.svg", info->id), info->name);
        buffer_addf(b, ": %s → %s", isnan(s->seconds_before) ? "no answer" : before.s, isnan(s->seconds_after) ? "no answer" : after.s);
}

static void add_cases(const struct report *r, const struct report_step *s, size_t n, struct buffer *b)
{
        if (n > 1)
                buffer_addf(b, "<details><summary>%zu cases</summary><ul>", n);
        for (size_t i = 0; i < n && i < CASES_SHOWN; i++) {
                buffer_adds(b, n > 1 ? "<li>" : "");
                add_case(r, &s[i], b);
                buffer_adds(b, n > 1 ? "</li>" : "");
        }
        if (n > CASES_SHOWN)
                buffer_addf(b, "<li>and %zu more</li>", n - CASES_SHOWN);
        if (n > 1)
                buffer_adds(b, "</ul></details>");
}

static int add_row(const struct report *r, struct html_table *t, const struct report_step *s, size_t n, struct buffer *b)
{
        cleanup_free char *subject = NULL, *author = NULL;
        struct html_number ratio = html_ratio(ratio_of(s));
        struct commit c;
        int e = history_commit(r->solver->history, s->after->number, &c);

        if (e == 0)
                e = report_commit_texts(r->solver, s->after->number, &subject, &author);
        if (e < 0)
                return e;
        html_row_begin(b, t);
        html_cell_begin(b, t);
        e = add_commits(r, s, b);
        html_cell_end(b, t);
        html_cell(b, t, report_date(c.committed).s);
        report_cell_direction(t, s->is_slower, s->is_slower ? "slower" : "faster", b);
        html_cell_number(b, t, ratio_of(s), isinf(ratio_of(s)) ? (s->is_slower ? "lost" : "gained") : ratio.s);
        html_cell_count(b, t, n);
        html_cell_begin(b, t);
        add_cases(r, s, n, b);
        html_cell_end(b, t);
        html_cell(b, t, is_one_commit(s) ? subject : "");
        html_cell(b, t, is_one_commit(s) ? author : "");
        html_row_end(b);
        return e;
}

static size_t count_rows(const struct report_step *list, size_t n)
{
        size_t rows = 0;

        for (size_t i = 0; i < n; i++)
                rows += i == 0 || !is_one_row(&list[i - 1], &list[i]);
        return rows;
}

int report_write_steps(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"commit", HTML_LINE, false}, {"date", HTML_LINE, true},   {"direction", HTML_TEXT, false},
                                                     {"largest", HTML_NUMBER, false}, {"cases", HTML_NUMBER, true}, {"which", HTML_WIDE, false},
                                                     {"subject", HTML_WIDE, true},    {"author", HTML_TEXT, true}};
        cleanup_free struct report_step *list = calloc(r->n_steps + 1, sizeof(*list));
        struct html_table t = {.caption = "Steps and their commits", .columns = columns, .n = ARRAY_SIZE(columns)};
        size_t rows, written = 0;
        int e = 0;

        if (!list)
                return -ENOMEM;
        if (r->n_steps > 0)
                memcpy(list, r->steps, r->n_steps * sizeof(*list));
        sort_list(list, r->n_steps, sizeof(*list), by_commit);
        rows = count_rows(list, r->n_steps);
        buffer_adds(b, "<section id=\"steps\"><h2>Steps</h2>\n");
        if (rows == 0) {
                buffer_adds(b, "<p>No case got slower or faster between the commits that are measured.</p></section>\n");
                return buffer_error(b);
        }
        buffer_adds(b, "<p>Where cases got slower or faster along first parents, newest first. Two commits stand for the range between them, where not "
                       "every commit is measured.</p>\n");
        html_table_begin(b, &t);
        for (size_t i = 0, n; i < r->n_steps && written < REPORT_ROWS && e == 0; i += n, written++) {
                for (n = 1; i + n < r->n_steps && is_one_row(&list[i], &list[i + n]);)
                        n++;
                e = add_row(r, &t, &list[i], n, b);
        }
        html_table_end(b);
        buffer_adds(b, "</section>\n");
        if (rows > written)
                report_left_out(r, "The table of steps has the newest %zu of %zu rows; 'solverfs steps %s CASE' prints all of a case.", written, rows,
                                r->solver->recipe->name);
        return e < 0 ? e : buffer_error(b);
}
