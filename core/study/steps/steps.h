/* The steps of a case along a measured history, where it got slower or faster: changes between the levels that core/study/judge finds.
 *
 * A step is a shift that holds over seeds. If each commit has one run, of one seed, a step needs four commits on either side; commits without a step
 * that differ from the one before at the first seed are listed apart. Pure; any thread. */
#pragma once

#include "core/study/localize/localize.h"

struct step_point { /* one measured commit, oldest first */
        const struct localize_outcome *by_seed; /* [n] under seeds 0, 1, …; n > 0 */
        size_t n;
};

struct step {
        size_t at;            /* the first point after the step; the change is between it and the point before */
        bool is_slower;       /* a step to "broken" (unknown, crash, error) counts as slower */
        double before, after; /* the levels on both sides: geometric means in seconds, at most the slowest run of the level; NaN: broken */
        double p;
};

/* The four shapes of SPRFinder's paper (5.4, Fig. 5), and a fifth without a slowdown. Single or multi: how many slowdowns dominate. A slowdown
 * dominates when it is at least a third of the difference between the fastest and the slowest level. */
enum step_shape {
        STEP_STEADY, /* no slowdown */
        STEP_MONOTONIC_SINGLE,
        STEP_MONOTONIC_MULTI,
        STEP_NONMONOTONIC_SINGLE,
        STEP_NONMONOTONIC_MULTI,
};
const char *step_shape_name(enum step_shape s);

struct steps {
        struct step *list;
        size_t n;
        size_t slower, faster; /* counts */
        enum step_shape shape;
        size_t *apart; /* points without a step that differ from the one before at the first seed (history_differs()) */
        size_t n_apart;
};
void steps_done(struct steps *s);
#define cleanup_steps cleanup(steps_done)

/* Ignores differences below HISTORY_RATIO (history_plan.h). */
void steps_find(const struct step_point *points, size_t n, struct steps *ret);
