/* Steps from the levels of a history (judge_levels()). There a broken run is a value above all others. */
#include "core/study/steps/steps.h"

#include <math.h>

#include "core/study/judge/judge.h"
#include "core/study/steps/history_plan.h"

#define BROKEN 2 /* a broken run counts as this many times the slowest one */

void steps_done(struct steps *s)
{
        free(s->list);
        free(s->apart);
        *s = (struct steps){0};
}

const char *step_shape_name(enum step_shape s)
{
        static const char *const names[] = {"steady", "monotonic, single-dominant", "monotonic, multi-dominant", "non-monotonic, single-dominant",
                                            "non-monotonic, multi-dominant"};

        return names[s];
}

static enum step_shape shape_of(const struct steps *s)
{
        double low = INFINITY, high = -INFINITY;
        size_t dominant = 0;

        for (size_t i = 0; i < s->n; i++) {
                low = fmin(low, fmin(s->list[i].before, s->list[i].after)); /* fmin() and fmax() ignore NaN */
                high = fmax(high, fmax(s->list[i].before, s->list[i].after));
        }
        for (size_t i = 0; i < s->n; i++) {
                double size = s->list[i].after - s->list[i].before;

                dominant += s->list[i].is_slower && !(size < (high - low) / 3); /* broken: NaN, which compares as not less */
        }
        if (s->slower == 0)
                return STEP_STEADY;
        if (s->faster == 0)
                return dominant > 1 ? STEP_MONOTONIC_MULTI : STEP_MONOTONIC_SINGLE;
        return dominant > 1 ? STEP_NONMONOTONIC_MULTI : STEP_NONMONOTONIC_SINGLE;
}

/* The slowest run that is not broken. */
static double slowest(const struct step_point *points, size_t n)
{
        double most = 1e-3; /* at least a millisecond, also if all are broken */

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < points[i].n; k++)
                        if (points[i].by_seed[k].answer != LOCALIZE_BROKEN)
                                most = fmax(most, points[i].by_seed[k].value);
        return most;
}

static void find_levels(const struct step_point *points, size_t n, struct judge_levels *ret)
{
        const double broken = BROKEN * slowest(points, n);
        cleanup_free struct judge_build *builds = allocate(n, sizeof(*builds));
        cleanup_free double *values = NULL;
        size_t total = 0, at = 0;

        for (size_t i = 0; i < n; i++)
                total += points[i].n;
        values = allocate(total, sizeof(*values));
        for (size_t i = 0; i < n; i++) {
                builds[i] = (struct judge_build){.values = values + at, .n = points[i].n};
                for (size_t k = 0; k < points[i].n; k++) {
                        const struct localize_outcome *o = &points[i].by_seed[k];

                        values[at++] = o->answer == LOCALIZE_BROKEN ? broken : fmax(o->value, 1e-6); /* judge_levels() takes logarithms */
                }
        }
        judge_levels(builds, n, HISTORY_RATIO, ret);
}

/* True if most of the level's runs are broken. */
static bool is_broken(const struct step_point *points, const struct judge_level *l)
{
        size_t broken = 0, n = 0;

        for (size_t i = l->from; i < l->to; i++)
                for (size_t k = 0; k < points[i].n; k++, n++)
                        broken += points[i].by_seed[k].answer == LOCALIZE_BROKEN;
        return 2 * broken > n;
}

/* The level for readers: not above its slowest run, such as a time limit, though broken runs count as more. NaN: broken. */
static double shown_level(const struct step_point *points, const struct judge_level *l)
{
        return is_broken(points, l) ? NAN : fmin(l->mean, slowest(points + l->from, l->to - l->from));
}

void steps_find(const struct step_point *points, size_t n, struct steps *ret)
{
        cleanup_judge_levels struct judge_levels levels = {0};
        size_t next = 1;

        if (n > 0)
                find_levels(points, n, &levels);
        *ret = (struct steps){.list = allocate(levels.n, sizeof(*ret->list)), .apart = allocate(n, sizeof(*ret->apart))};
        for (size_t i = 1; i < n; i++)
                if (next < levels.n && levels.list[next].from == i) {
                        const struct judge_level *before = &levels.list[next - 1], *after = &levels.list[next++];
                        bool is_slower = after->shift > 0;

                        ret->list[ret->n++] = (struct step){.at = i,
                                                            .is_slower = is_slower,
                                                            .before = shown_level(points, before),
                                                            .after = shown_level(points, after),
                                                            .p = after->p};
                        ret->slower += is_slower;
                        ret->faster += !is_slower;
                } else if (history_differs(&points[i - 1].by_seed[0], &points[i].by_seed[0])) {
                        ret->apart[ret->n_apart++] = i;
                }
        ret->shape = shape_of(ret);
}
