/* history.svg: a case along the history. */
#include <math.h>

#include "core/report/plot.h"
#include "core/study/steps/case_history.h"
#include "core/study/base/verdict_plot.h"

#define MEGABYTE 1e6
#define LOG_FROM 8.0 /* values that differ by more than this factor get a logarithmic axis */

/* -- points -- */

/* The measure of the steps, in the unit of the picture. */
static double value_of(const struct case_history *h, const struct fact *f)
{
        const struct cell cell = {.solver = h->solver, .cpu_ns = h->cpu_ns};

        return fact_amount(&cell, f, h->measure) / (h->measure == JUDGE_MEMORY ? MEGABYTE : 1);
}

static const char *unit_of(const struct case_history *h)
{
        return h->measure == JUDGE_TIME ? " s" : h->measure == JUDGE_MEMORY ? " MB" : "";
}

static void tooltip_of(const struct case_history *h, size_t i, struct buffer *ret)
{
        const struct case_point *p = &h->list[i];
        cleanup_buffer struct buffer message = {0};
        struct commit c;

        if (history_commit(h->solver->history, p->commit, &c) < 0)
                return;
        buffer_addf(ret, "%.12s, %.10s: %s, %.3g%s", full_sha(h->solver, p->commit).s, format_date(c.committed).s,
                    verdict_plot_name(p->fact->verdict, p->fact->wrong), value_of(h, p->fact), unit_of(h));
        if (history_text(h->solver->history, p->commit, COMMIT_MESSAGE, &message) == 0 && message.size > 0)
                buffer_addf(ret, "\n%.*s", (int)strcspn(message.data, "\n"), message.data);
}

/* The line through the commits on the line of first parents. */
static void draw_line(const struct case_history *h, const uint32_t *place, struct plot *p)
{
        struct plot_series *s = plot_series(p, PLOT_LINE, NULL);

        plot_unmarked(s);
        for (size_t i = 0; i < h->n; i++)
                if (h->list[i].on_line && h->list[i].fact)
                        plot_point(s, place[h->list[i].commit], value_of(h, h->list[i].fact), NULL);
}

/* A series for each occurring answer, so that the legend names only these. */
static void draw_points(const struct case_history *h, const uint32_t *place, struct plot *p)
{
        for (size_t turn = 0; turn < N_VERDICT_PLOTS; turn++) {
                enum verdict_plot k = verdict_plot_order[turn];
                struct plot_series *s = NULL;

                for (size_t i = 0; i < h->n; i++) {
                        cleanup_buffer struct buffer tooltip = {0};
                        const struct fact *f = h->list[i].fact;

                        if (!f || verdict_plot_of(f->verdict, f->wrong) != k)
                                continue;
                        if (!s) {
                                s = plot_series(p, PLOT_SCATTER, verdict_plot_name(f->verdict, f->wrong));
                                plot_style(s, k);
                        }
                        tooltip_of(h, i, &tooltip);
                        plot_point(s, place[h->list[i].commit], value_of(h, f), tooltip.data);
                }
        }
}

/* -- culprits and steps -- */

static bool is_culprit(const struct case_history *h, uint32_t commit)
{
        for (size_t i = 0; i < h->n_culprits; i++)
                if (h->culprits[i] == commit)
                        return true;
        return false;
}

/* The culprits. A step at a culprit is left out in draw_steps(): the step only gives the measured commits around it. */
static void draw_culprits(const struct case_history *h, const uint32_t *place, struct plot *p)
{
        for (size_t i = 0; i < h->n_culprits; i++) {
                char label[32];

                snprintf(label, sizeof(label), "culprit %.8s", full_sha(h->solver, h->culprits[i]).s);
                plot_rule_x(p, place[h->culprits[i]] - 0.5, label, "responsible, compared with the commit before it");
        }
}

/* The answer came or went, or its time changed: the words of a comparison. */
static const char *word_of(const struct case_history *h, const struct step *s)
{
        if (isnan(s->before))
                return "gained";
        if (isnan(s->after))
                return "lost";
        return judge_change_name(s->is_slower ? JUDGE_MORE : JUDGE_LESS, h->measure);
}

static const char *level_of(const struct case_history *h, double value, char ret[32])
{
        if (isnan(value))
                return "no answer";
        snprintf(ret, 32, "%.3g%s", h->measure == JUDGE_MEMORY ? value / MEGABYTE : value, unit_of(h));
        return ret;
}

static int draw_steps(const struct case_history *h, const uint32_t *place, struct plot *p)
{
        cleanup_steps struct steps steps = {0};
        cleanup_free size_t *points = NULL;
        int r = 0;

        case_history_steps(h, &steps, &points);
        for (size_t i = 0; r == 0 && i < steps.n; i++) {
                const struct step *s = &steps.list[i];
                uint32_t before = h->list[points[s->at - 1]].commit, after = h->list[points[s->at]].commit;
                const struct commit_sha sha = full_sha(h->solver, after);
                char label[32], tooltip[160], levels[2][32];
                struct commit c;

                if (is_culprit(h, after))
                        continue;
                r = history_commit(h->solver->history, after, &c);
                snprintf(label, sizeof(label), "%s %.8s", word_of(h, s), sha.s);
                snprintf(tooltip, sizeof(tooltip), "%s %s %.12s: %s before, %s after", word_of(h, s),
                         r == 0 && c.first_parent == before ? "since" : "between the commit measured before it and", sha.s,
                         level_of(h, s->before, levels[0]), level_of(h, s->after, levels[1]));
                plot_rule_x(p, ((double)place[before] + place[after]) / 2, label, tooltip);
        }
        return r;
}

/* -- the picture -- */

struct extent {
        double low, high; /* in the unit of the picture */
        size_t timeouts, unbuildable, disturbed;
        uint64_t limit_ns; /* the longest limit of those */
};

static struct extent extent_of(const struct case_history *h)
{
        struct extent e = {.low = INFINITY};

        for (size_t i = 0; i < h->n; i++) {
                const struct fact *f = h->list[i].fact;

                e.unbuildable += !f;
                if (!f)
                        continue;
                e.low = fmin(e.low, value_of(h, f));
                e.high = fmax(e.high, value_of(h, f));
                e.disturbed += f->disturbed;
                e.timeouts += f->verdict == VERDICT_TIMEOUT;
                if (f->verdict == VERDICT_TIMEOUT)
                        e.limit_ns = MAX(e.limit_ns, f->wall_ns);
        }
        return e;
}

static void add_notes(const struct case_history *h, const struct extent *e, struct plot *p)
{
        cleanup_buffer struct buffer b = {0};
        struct commit a, z;

        if (h->n == 0) {
                plot_note(p, "nothing is measured of this case yet: solverfs history SOLVER CASE measures");
                return;
        }
        if (history_commit(h->solver->history, h->list[0].commit, &a) < 0 ||
            history_commit(h->solver->history, h->list[h->n - 1].commit, &z) < 0)
                return;
        buffer_addf(&b, "%.8s (%.10s) to %.8s (%.10s); %zu measured", full_sha(h->solver, h->list[0].commit).s, format_date(a.committed).s,
                    full_sha(h->solver, h->list[h->n - 1].commit).s, format_date(z.committed).s, h->n - e->unbuildable);
        if (e->unbuildable > 0)
                buffer_addf(&b, ", %zu cannot be built", e->unbuildable);
        if (e->disturbed > 0)
                buffer_addf(&b, ", %zu disturbed (drawn without what they waited)", e->disturbed);
        plot_note(p, b.data);
}

int case_history_plot(const struct case_history *h, const uint32_t *place, struct buffer *ret)
{
        static const char *const units[] = {[JUDGE_TIME] = "seconds", [JUDGE_MEMORY] = "megabytes", [JUDGE_EFFORT] = "effort"};
        struct extent e = extent_of(h);
        cleanup_buffer struct buffer title = {0};
        cleanup_plot struct plot *p = NULL;
        bool is_log = e.low > 0 && e.high > LOG_FROM * e.low;
        int r;

        buffer_addf(&title, "%s on ", h->solver->recipe->name);
        buffer_add_printable(&title, h->info->name);
        p = plot_new(title.data, 0, 0);
        plot_axis_x(p, "commits along the history", PLOT_COUNT);
        plot_axis_y(p, units[h->measure], is_log ? PLOT_LOG : PLOT_LINEAR);
        if (!is_log)
                plot_range_y(p, 0, NAN);
        if (e.timeouts > 0 && h->measure == JUDGE_TIME)
                plot_rule_y(p, (double)e.limit_ns / 1e9, "time limit", NULL);
        r = draw_steps(h, place, p);
        if (r < 0)
                return r;
        draw_culprits(h, place, p);
        draw_line(h, place, p);
        draw_points(h, place, p);
        add_notes(h, &e, p);
        plot_write(p, ret);
        return 0;
}
