/* scatter.svg, memory-scatter.svg and cactus.svg, as SMT papers print them. */
#include <math.h>

#include "core/study/compare/comparison_report.h"
#include "core/study/base/stat.h"
#include "core/study/base/verdict_plot.h"

#define LEAST      0.001 /* seconds; shorter times are drawn there */
#define LEAST_SPAN 40    /* least ratio between the ends of a scatter plot's axis: the diagonals of ten are visible */

#define NAMED_FROM 2  /* cases farther from the diagonal than this ratio are labelled */
#define NAMED_MOST 8

#define NOTHING "no case is measured with both"

static bool is_solved(const struct comparing_table *t, size_t i, int side)
{
        return judge_is_solved(&t->cases[i].pairs[0], side);
}

#define TITLE_PIXELS 10 /* at most, for a title's average character */

/* A plot of n cases, in CSS pixels; 0: as wide and high as plots are. */
static struct plot *new_plot(const struct comparing_table *t, size_t n, unsigned width, unsigned height)
{
        const size_t long_title = strlen(t->label[1]) + strlen(t->label[0]) + strlen(" against , 100 cases");
        cleanup_buffer struct buffer title = {0};

        if (TITLE_PIXELS * long_title <= (width > 0 ? width : 720)) /* plot_new()'s; else the names are on the axes alone */
                buffer_addf(&title, "%s against %s, ", t->label[1], t->label[0]);
        buffer_addf(&title, "%zu case%s", n, n == 1 ? "" : "s");
        if (t->options->set)
                buffer_addf(&title, " of %s", t->options->set);
        if (t->options->machine) {
                buffer_adds(&title, ", on ");
                buffer_add_printable(&title, t->options->machine);
        }
        return plot_new(title.data, width, height);
}

/* -- scatter ------------------------------------------------------------------------------------------------------ */

/* A scatter plot: of each case's seconds, or of its megabytes. */
struct scatter {
        const struct comparing_table *table;
        bool is_memory;
        double farthest[NAMED_MOST]; /* distances of the labelled changes, the largest first; 0: none */
};

static bool is_drawn(const struct scatter *of, size_t i)
{
        const struct comparing_table *t = of->table;

        return judge_is_compared(&t->cases[i]) && (!of->is_memory || (is_solved(t, i, 0) && is_solved(t, i, 1)));
}

static double limit_of(const struct comparing_table *t, size_t i)
{
        return judge_limit(&t->cases[i].pairs[0]);
}

static double megabytes(const struct comparing_table *t, size_t i, int side)
{
        double median = t->judgement.cases[i].by[JUDGE_MEMORY].median[side];

        return fmax(isnan(median) ? t->cases[i].pairs[0].run[side].memory : median, 1) / 1e6;
}

/* A case's coordinate on a version's axis. A case without an answer is on the border, the limit. */
static double coordinate(const struct scatter *of, size_t i, int side)
{
        const struct comparing_table *t = of->table;

        if (of->is_memory)
                return megabytes(t, i, side);
        return is_solved(t, i, side) ? fmax(comparing_seconds(t, i, side), LEAST) : limit_of(t, i);
}

/* A wrong answer first; then an answer of either side; then the end of the second one. */
static enum verdict_plot colour_of(const struct comparing_table *t, size_t i, const char **ret_name)
{
        const struct judge_pair *pair = &t->cases[i].pairs[0];
        int shown = 1;

        for (int side = 0; side < 2; side++)
                if (is_solved(t, i, side))
                        shown = side;
        for (int side = 0; side < 2; side++)
                if (pair->run[side].is_wrong)
                        shown = side;
        *ret_name = verdict_plot_name(judge_verdict(pair, shown), pair->run[shown].is_wrong);
        return verdict_plot_of(judge_verdict(pair, shown), pair->run[shown].is_wrong);
}

/* A case's distance from the diagonal, as a logarithm. */
static double distance(const struct scatter *of, size_t i)
{
        return fabs(log(coordinate(of, i, 1) / coordinate(of, i, 0)));
}

static bool is_change(enum judge_change c)
{
        return judge_is_regression(c) || judge_is_improvement(c);
}

static enum judge_measure measure_of(const struct scatter *of)
{
        return of->is_memory ? JUDGE_MEMORY : JUDGE_TIME;
}

/* A case's change by the numbers that are drawn, whatever measure was asked for; of times, also by its answers. */
static enum judge_change change_of(const struct scatter *of, size_t i)
{
        const struct judged_case *c = &of->table->judgement.cases[i];
        bool is_by_answer = c->change != JUDGE_MORE && c->change != JUDGE_LESS && is_change(c->change);

        return is_by_answer && !of->is_memory ? c->change : c->by[measure_of(of)].change;
}

/* Changes are labelled if they are far from the diagonal, and among the few farthest ones. */
static void find_farthest(struct scatter *of)
{
        for (size_t i = 0; i < of->table->options->n; i++) {
                double d = is_drawn(of, i) && is_change(change_of(of, i)) ? distance(of, i) : 0;

                for (size_t k = 0; k < NAMED_MOST && d >= log(NAMED_FROM); k++)
                        if (d > of->farthest[k]) {
                                double next = of->farthest[k];

                                of->farthest[k] = d;
                                d = next;
                        }
        }
}

static void add_point(const struct scatter *of, size_t i, struct plot_series *s)
{
        const struct comparing_table *t = of->table;
        cleanup_buffer struct buffer tooltip = {0};
        const char *unit = of->is_memory ? "MB" : "s";
        enum judge_change change = change_of(of, i);

        buffer_addf(&tooltip, "%u ", t->options->cases[i]->id);
        buffer_add_printable(&tooltip, t->options->cases[i]->name);
        buffer_addf(&tooltip, ": %s %.3g %s, %s %.3g %s", verdict_name(judge_verdict(&t->cases[i].pairs[0], 0)),
                    of->is_memory ? megabytes(t, i, 0) : comparing_seconds(t, i, 0), unit,
                    verdict_name(judge_verdict(&t->cases[i].pairs[0], 1)),
                    of->is_memory ? megabytes(t, i, 1) : comparing_seconds(t, i, 1), unit);
        if (is_change(change))
                buffer_addf(&tooltip, ": %s", judge_change_name(change, measure_of(of)));
        plot_point(s, coordinate(of, i, 0), coordinate(of, i, 1), tooltip.data);
        if (is_change(change) && distance(of, i) >= fmax(of->farthest[NAMED_MOST - 1], log(NAMED_FROM))) {
                cleanup_buffer struct buffer name = {0};

                buffer_add_printable(&name, basename(t->options->cases[i]->name));
                plot_label(s, name.data);
        }
}

static void add_points(const struct scatter *of, struct plot *p)
{
        for (size_t turn = 0; turn < N_VERDICT_PLOTS; turn++) {
                enum verdict_plot k = verdict_plot_order[turn];
                struct plot_series *s = NULL;

                for (size_t i = 0; i < of->table->options->n; i++) {
                        const char *name;

                        if (!is_drawn(of, i) || colour_of(of->table, i, &name) != k)
                                continue;
                        if (!s) {
                                s = plot_series(p, PLOT_SCATTER, name);
                                plot_style(s, k);
                        }
                        add_point(of, i, s);
                }
        }
}

struct extent {
        double low, high; /* of everything drawn */
        double limit;     /* the longest */
        bool unsolved[2];
};

static struct extent extent_of(const struct scatter *of)
{
        struct extent e = {.low = INFINITY};

        for (size_t i = 0; i < of->table->options->n; i++) {
                if (!is_drawn(of, i))
                        continue;
                for (int side = 0; side < 2; side++) {
                        e.low = fmin(e.low, coordinate(of, i, side));
                        e.high = fmax(e.high, coordinate(of, i, side));
                        e.limit = fmax(e.limit, limit_of(of->table, i));
                        e.unsolved[side] |= !is_solved(of->table, i, side);
                }
        }
        return e;
}

/* Both axes have the same range, wide enough for all diagonals, which are straight then. A limit is a border if some case is on it. */
static void set_ranges(const struct scatter *of, struct plot *p)
{
        struct extent e = extent_of(of);
        double low, high;

        if (!isfinite(e.low))
                return;
        low = pow(10, floor(log10(e.low)));
        high = fmax(1.6 * e.high, LEAST_SPAN * low);
        plot_range_x(p, low, high);
        plot_range_y(p, low, high);
        if (e.unsolved[0])
                plot_rule_x(p, e.limit, e.unsolved[1] ? NULL : "no answer", "the time limit of the first version: what has no answer stands here");
        if (e.unsolved[1])
                plot_rule_y(p, e.limit, "no answer", "the time limit of the second version: what has no answer stands here");
}

static void add_note(const struct scatter *of, size_t drawn, struct plot *p)
{
        const struct comparing_table *t = of->table;
        size_t unsolved = 0; /* by both: these cases share one point */
        size_t regressions = 0, improvements = 0;
        char text[160];
        int n;

        for (size_t i = 0; i < t->options->n; i++) {
                if (!is_drawn(of, i))
                        continue;
                unsolved += !is_solved(t, i, 0) && !is_solved(t, i, 1);
                regressions += judge_is_regression(change_of(of, i));
                improvements += judge_is_improvement(change_of(of, i));
        }
        if (drawn == 0) {
                plot_note(p, t->judgement.set.compared > 0 ? "no case is solved by both" : NOTHING);
                return;
        }
        n = snprintf(text, sizeof(text), "%s above the diagonal; %zu regression%s, %zu improvement%s", of->is_memory ? "more" : "slower", regressions,
                     regressions == 1 ? "" : "s", improvements, improvements == 1 ? "" : "s");
        if (unsolved > 0)
                snprintf(text + n, sizeof(text) - (size_t)n, "; neither solves %zu", unsolved);
        plot_note(p, text);
}

void comparison_plot_scatter(const struct comparing_table *t, bool is_memory, unsigned width, struct buffer *ret)
{
        struct scatter of = {.table = t, .is_memory = is_memory};
        const char *unit = is_memory ? "MB" : "seconds";
        cleanup_free char *x = format_string("%s, %s", t->label[0], unit), *y = format_string("%s, %s", t->label[1], unit);
        cleanup_plot struct plot *p = NULL;
        size_t drawn = 0;

        for (size_t i = 0; i < t->options->n; i++)
                drawn += is_drawn(&of, i);
        p = new_plot(t, drawn, width, width + 40);
        plot_axis_x(p, x, PLOT_LOG);
        plot_axis_y(p, y, PLOT_LOG);
        set_ranges(&of, p);
        plot_diagonal(p, 1, NULL);
        plot_diagonal(p, 10, "10×");
        plot_diagonal(p, 0.1, "0.1×");
        find_farthest(&of);
        add_points(&of, p);
        add_note(&of, drawn, p);
        plot_write(p, ret);
}

/* -- cactus ------------------------------------------------------------------------------------------------------- */

void comparison_plot_curve(struct plot *p, const char *name, double *seconds, size_t n)
{
        struct plot_series *s = plot_series(p, PLOT_LINE, name);

        plot_axis_x(p, "cases solved", PLOT_COUNT);
        plot_axis_y(p, "seconds for each", PLOT_LOG);
        plot_range_x(p, 0, NAN);
        stat_sort(seconds, n);
        for (size_t i = 0; i < n; i++)
                plot_point(s, (double)i + 1, fmax(seconds[i], LEAST), NULL);
}

static void add_curve(const struct comparing_table *t, int side, struct plot *p)
{
        cleanup_free double *seconds = allocate(t->options->n + 1, sizeof(*seconds));
        cleanup_free char *label = NULL;
        size_t n = 0;

        for (size_t i = 0; i < t->options->n; i++)
                if (judge_is_compared(&t->cases[i]) && is_solved(t, i, side))
                        seconds[n++] = comparing_seconds(t, i, side);
        label = format_string("%s: %zu solved", t->label[side], n);
        comparison_plot_curve(p, label, seconds, n);
}

void comparison_plot_cactus(const struct comparing_table *t, struct buffer *ret)
{
        cleanup_plot struct plot *p = new_plot(t, t->judgement.set.compared, 0, 0);
        double limit = 0;

        for (size_t i = 0; i < t->options->n; i++)
                if (judge_is_compared(&t->cases[i]))
                        limit = fmax(limit, limit_of(t, i));
        if (limit > 0 && t->judgement.set.verdicts[0][VERDICT_TIMEOUT] + t->judgement.set.verdicts[1][VERDICT_TIMEOUT] > 0)
                plot_rule_y(p, limit, "time limit", NULL);
        for (int side = 0; side < 2; side++)
                add_curve(t, side, p);
        if (t->judgement.set.compared == 0)
                plot_note(p, NOTHING);
        plot_write(p, ret);
}
