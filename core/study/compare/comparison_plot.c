/* scatter.svg and cactus.svg, as SMT papers print them. */
#include <math.h>

#include "core/report/plot.h"
#include "core/study/compare/comparison_report.h"
#include "core/study/base/stat.h"
#include "core/study/base/verdict_plot.h"

#define LEAST      0.001 /* seconds; what takes less is drawn there */
#define LEAST_SPAN 40    /* times from one end of a scatter plot's axis to the other: the diagonals of ten are seen */

#define NOTHING "no case is measured with both"

static bool is_solved(const struct comparison_run *r)
{
        return verdict_is_decided(r->verdict) && !r->is_wrong;
}

static bool is_compared(const struct comparison_case *c)
{
        return c->run[0].is_known && c->run[1].is_known;
}

static int title_of(const struct comparing_table *t, struct buffer *ret)
{
        int r = comparing_label(&t->options->version[1], ret);

        buffer_adds(ret, " against ");
        if (r == 0)
                r = comparing_label(&t->options->version[0], ret);
        buffer_addf(ret, ", %zu case%s", t->summary.compared, t->summary.compared == 1 ? "" : "s");
        if (t->options->set)
                buffer_addf(ret, " of %s", t->options->set);
        if (t->options->machine) {
                buffer_adds(ret, ", on ");
                buffer_add_printable(ret, t->options->machine);
        }
        return r < 0 ? r : buffer_error(ret);
}

/* -- scatter ------------------------------------------------------------------------------------------------------ */

/* A case without an answer stands on the border. */
static double place_of(const struct comparison_case *c, int side)
{
        return is_solved(&c->run[side]) ? fmax(comparison_seconds(c, side), LEAST) : c->run[side].limit;
}

/* A wrong answer before all; then the answer that either gave; then how the second one ended. */
static enum verdict_plot colour_of(const struct comparison_case *c, const char **ret_name)
{
        const struct comparison_run *shown = &c->run[1];

        for (int side = 0; side < 2; side++)
                if (is_solved(&c->run[side]))
                        shown = &c->run[side];
        for (int side = 0; side < 2; side++)
                if (c->run[side].is_wrong)
                        shown = &c->run[side];
        *ret_name = verdict_plot_name(shown->verdict, shown->is_wrong);
        return verdict_plot_of(shown->verdict, shown->is_wrong);
}

static void add_point(const struct comparing_table *t, size_t i, struct plot_series *s)
{
        const struct comparison_case *c = &t->cases[i];
        const struct comparison_judgement *j = &t->judgements[i];
        cleanup_buffer struct buffer tooltip = {0};

        buffer_addf(&tooltip, "%u ", t->options->cases[i]->id);
        buffer_add_printable(&tooltip, t->options->cases[i]->name);
        buffer_addf(&tooltip, ": %s %.3g s, %s %.3g s", verdict_name(c->run[0].verdict), comparison_seconds(c, 0),
                    verdict_name(c->run[1].verdict), comparison_seconds(c, 1));
        if (comparison_is_regression(j->change) || comparison_is_improvement(j->change))
                buffer_addf(&tooltip, ": %s", comparison_change_name(j->change));
        plot_point(s, place_of(c, 0), place_of(c, 1), tooltip.data);
}

static void add_points(const struct comparing_table *t, struct plot *p)
{
        for (size_t turn = 0; turn < N_VERDICT_PLOTS; turn++) {
                enum verdict_plot k = verdict_plot_order[turn];
                struct plot_series *s = NULL;

                for (size_t i = 0; i < t->options->n; i++) {
                        const char *name;

                        if (!is_compared(&t->cases[i]) || colour_of(&t->cases[i], &name) != k)
                                continue;
                        if (!s) {
                                s = plot_series(p, PLOT_SCATTER, name);
                                plot_style(s, k);
                        }
                        add_point(t, i, s);
                }
        }
}

struct extent {
        double low, high; /* seconds of all that is drawn */
        double limit[2];  /* the longest */
        bool unsolved[2];
};

static struct extent extent_of(const struct comparing_table *t)
{
        struct extent e = {.low = INFINITY};

        for (size_t i = 0; i < t->options->n; i++) {
                const struct comparison_case *c = &t->cases[i];

                if (!is_compared(c))
                        continue;
                for (int side = 0; side < 2; side++) {
                        e.low = fmin(e.low, place_of(c, side));
                        e.high = fmax(e.high, place_of(c, side));
                        e.limit[side] = fmax(e.limit[side], c->run[side].limit);
                        e.unsolved[side] |= !is_solved(&c->run[side]);
                }
        }
        return e;
}

/* The same on both axes, so that the diagonals are straight; wide enough for all of them. A limit is a border where something stands on it. */
static void set_ranges(const struct comparing_table *t, struct plot *p)
{
        struct extent e = extent_of(t);
        double low, high;

        if (!isfinite(e.low))
                return;
        low = pow(10, floor(log10(e.low)));
        high = fmax(1.6 * e.high, LEAST_SPAN * low);
        plot_range_x(p, low, high);
        plot_range_y(p, low, high);
        if (e.unsolved[0])
                plot_rule_x(p, e.limit[0], e.unsolved[1] ? NULL : "no answer", "the time limit of the first version: what has no answer stands here");
        if (e.unsolved[1])
                plot_rule_y(p, e.limit[1], "no answer", "the time limit of the second version: what has no answer stands here");
}

/* Cases that neither solves stand on one point. */
static size_t unsolved_by_both(const struct comparing_table *t)
{
        size_t n = 0;

        for (size_t i = 0; i < t->options->n; i++)
                n += is_compared(&t->cases[i]) && !is_solved(&t->cases[i].run[0]) && !is_solved(&t->cases[i].run[1]);
        return n;
}

static void add_note(const struct comparing_table *t, struct plot *p)
{
        size_t unsolved = unsolved_by_both(t);
        char text[160];
        int n;

        if (t->summary.compared == 0) {
                plot_note(p, NOTHING);
                return;
        }
        n = snprintf(text, sizeof(text), "slower above the diagonal; %zu regression%s, %zu improvement%s",
                     t->summary.regressions, t->summary.regressions == 1 ? "" : "s", t->summary.improvements,
                     t->summary.improvements == 1 ? "" : "s");
        if (unsolved > 0)
                snprintf(text + n, sizeof(text) - (size_t)n, "; neither solves %zu", unsolved);
        plot_note(p, text);
}

int comparison_plot_scatter(const struct comparing_table *t, unsigned width, struct buffer *ret)
{
        cleanup_buffer struct buffer title = {0}, x = {0}, y = {0};
        cleanup_plot struct plot *p = NULL;
        int r = title_of(t, &title);

        if (r == 0)
                r = comparing_label(&t->options->version[0], &x);
        if (r == 0)
                r = comparing_label(&t->options->version[1], &y);
        buffer_adds(&x, ", seconds");
        buffer_adds(&y, ", seconds");
        if (r < 0 || buffer_error(&x) < 0 || buffer_error(&y) < 0)
                return r < 0 ? r : -ENOMEM;
        p = plot_new(title.data, width, width + 40);
        plot_axis_x(p, x.data, PLOT_LOG);
        plot_axis_y(p, y.data, PLOT_LOG);
        set_ranges(t, p);
        plot_diagonal(p, 1, NULL);
        plot_diagonal(p, 10, "10×");
        plot_diagonal(p, 0.1, "0.1×");
        add_points(t, p);
        add_note(t, p);
        return plot_write(p, ret);
}

/* -- cactus ------------------------------------------------------------------------------------------------------- */

static int add_curve(const struct comparing_table *t, int side, struct plot *p, double *room)
{
        cleanup_buffer struct buffer label = {0};
        struct plot_series *s;
        size_t n = 0;
        int r = comparing_label(&t->options->version[side], &label);

        if (r < 0)
                return r;
        for (size_t i = 0; i < t->options->n; i++)
                if (is_compared(&t->cases[i]) && is_solved(&t->cases[i].run[side]))
                        room[n++] = fmax(comparison_seconds(&t->cases[i], side), LEAST);
        stat_sort(room, n);
        buffer_addf(&label, ": %zu solved", n);
        if (buffer_error(&label) < 0)
                return -ENOMEM;
        s = plot_series(p, PLOT_LINE, label.data);
        for (size_t i = 0; i < n; i++)
                plot_point(s, (double)i + 1, room[i], NULL);
        return 0;
}

int comparison_plot_cactus(const struct comparing_table *t, struct buffer *ret)
{
        cleanup_buffer struct buffer title = {0};
        cleanup_free double *room = calloc(t->options->n + 1, sizeof(*room));
        cleanup_plot struct plot *p = NULL;
        double limit = 0;
        int r = room ? title_of(t, &title) : -ENOMEM;

        if (r < 0)
                return r;
        p = plot_new(title.data, 0, 0);
        plot_axis_x(p, "cases solved", PLOT_COUNT);
        plot_axis_y(p, "seconds for each", PLOT_LOG);
        plot_range_x(p, 0, NAN);
        for (size_t i = 0; i < t->options->n; i++)
                if (is_compared(&t->cases[i]))
                        limit = fmax(limit, fmax(t->cases[i].run[0].limit, t->cases[i].run[1].limit));
        if (limit > 0 && t->summary.verdicts[0][VERDICT_TIMEOUT] + t->summary.verdicts[1][VERDICT_TIMEOUT] > 0)
                plot_rule_y(p, limit, "time limit", NULL);
        r = add_curve(t, 0, p, room);
        if (r == 0)
                r = add_curve(t, 1, p, room);
        if (t->summary.compared == 0)
                plot_note(p, NOTHING);
        return r < 0 ? r : plot_write(p, ret);
}
