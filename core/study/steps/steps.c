#include "core/study/steps/steps.h"

#include "core/study/localize/localize_internal.h"
#include "core/study/base/stat.h"

/* How many changes are expected along a history: solvers' cases go up and down several times (the paper's Fig. 7). */
#define RATE 3.0
/* A point that may as well lie begins no stretch. */
#define DECIDED 0.98

void steps_done(struct steps *s)
{
        free(s->list);
        *s = (struct steps){0};
}

const char *step_shape_name(enum step_shape s)
{
        static const char *const names[] = {
                [STEP_STEADY] = "steady",
                [STEP_MONOTONIC_SINGLE] = "monotonic, single-dominant",
                [STEP_MONOTONIC_MULTI] = "monotonic, multi-dominant",
                [STEP_NONMONOTONIC_SINGLE] = "non-monotonic, single-dominant",
                [STEP_NONMONOTONIC_MULTI] = "non-monotonic, multi-dominant",
        };

        return names[s];
}

/* All show one level: then no change is in them, however much they may lie. */
static bool is_level(const struct sighting *s, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (memcmp(s[i].counts, s[0].counts, sizeof(s[0].counts)) != 0)
                        return false;
        return true;
}

/* Every point is a place of its own; every gap is as likely to hold a change. 1: they are of one level, and nothing more is known of them. */
static int read_levels(const struct step_point *points, size_t n, double minimum_ratio, struct sighting **ret)
{
        struct fact *facts = calloc(n, sizeof(*facts));
        struct test series = {.facts = facts, .n_facts = n};
        struct sighting *s = calloc(n, sizeof(*s));
        int r = facts && s ? 0 : -ENOMEM;

        for (size_t i = 0; r == 0 && i < n; i++)
                facts[i].outcome = points[i].outcome;
        if (r == 0)
                r = thresholds_of_series(&series, minimum_ratio);
        for (size_t i = 0; r == 0 && i < n; i++) {
                s[i] = (struct sighting){.place = i, .n = 1, .prior = 1.0 / (double)n};
                s[i].counts[level_of(&series.thresholds, &points[i].outcome)] = 1;
        }
        free(facts);
        if (r < 0) {
                free(s);
                return r;
        }
        *ret = s;
        if (is_level(s, n))
                return 1;
        posterior(s, n, RATE, noise_before);
        return 0;
}

static int likeliest(const struct sighting *s)
{
        int top = 0;

        for (int k = 1; k < N_LEVELS; k++)
                if (s->level[k] > s->level[top])
                        top = k;
        return top;
}

/* The median of the points in [from, to) that show the level of their stretch; NaN when that is "broken". */
static double stretch_median(const struct step_point *points, const struct sighting *s, size_t from, size_t to, int level,
                             double *room)
{
        size_t n = 0;

        for (size_t i = from; i < to; i++)
                if (s[i].counts[level] > 0)
                        room[n++] = points[i].outcome.seconds;
        stat_sort(room, n);
        return level == LEVEL_BROKEN ? NAN : stat_median(room, n);
}

static enum step_shape shape_of(const struct steps *s)
{
        double low = INFINITY, high = -INFINITY;
        size_t dominant = 0;

        for (size_t i = 0; i < s->n; i++) {
                low = fmin(low, fmin(s->list[i].before, s->list[i].after)); /* fmin() and fmax() pass over NaN */
                high = fmax(high, fmax(s->list[i].before, s->list[i].after));
        }
        for (size_t i = 0; i < s->n; i++) {
                double size = s->list[i].after - s->list[i].before;

                dominant += s->list[i].is_slower && !(size < (high - low) / 3); /* broken: NaN, which is no less */
        }
        if (s->slower == 0)
                return STEP_STEADY;
        if (s->faster == 0)
                return dominant > 1 ? STEP_MONOTONIC_MULTI : STEP_MONOTONIC_SINGLE;
        return dominant > 1 ? STEP_NONMONOTONIC_MULTI : STEP_NONMONOTONIC_SINGLE;
}

int steps_find(const struct step_point *points, size_t n, double minimum_ratio, struct steps *ret)
{
        cleanup_free struct sighting *s = NULL;
        cleanup_free double *room = calloc(n + 1, sizeof(*room));
        size_t from = 0, old = 0, at; /* where the stretch begins, and its last point that is decided */
        int r;

        *ret = (struct steps){0};
        if (n == 0)
                return 0;
        if (!room)
                return -ENOMEM;
        r = read_levels(points, n, minimum_ratio > 1 ? minimum_ratio : 1.2, &s);
        if (r != 0)
                return MIN(r, 0);
        for (size_t i = 1; i < n; i++) {
                int before = likeliest(&s[old]), after = likeliest(&s[i]);

                if (s[i].level[after] < DECIDED)
                        continue;
                if (before == after) {
                        old = i;
                        continue;
                }
                at = old + 1; /* somewhere between two points that are decided: where a change is likeliest */
                for (size_t k = old + 1; k < i; k++)
                        if (s[k].change > s[at - 1].change)
                                at = k + 1;
                if (list_grow(ret->list, ret->n) < 0)
                        return -ENOMEM;
                ret->list[ret->n++] = (struct step){.at = at,
                                                    .is_slower = after > before,
                                                    .before = stretch_median(points, s, from, at, before, room),
                                                    .confidence = s[old].level[before] * s[i].level[after]};
                if (ret->n > 1)
                        ret->list[ret->n - 2].after = ret->list[ret->n - 1].before;
                ret->slower += after > before;
                ret->faster += after < before;
                from = at;
                old = i;
        }
        if (ret->n > 0)
                ret->list[ret->n - 1].after = stretch_median(points, s, from, n, likeliest(&s[old]), room);
        ret->shape = shape_of(ret);
        return 0;
}
