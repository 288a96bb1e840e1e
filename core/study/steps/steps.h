/* Where along a measured history a case got slower, and where faster: its levels, as core/study/judge sees them, and the steps between them.
 *
 * A step is a shift that holds over seeds. Where commits have a run each, of one seed, it takes four commits on either side; commits that only
 * differ from the one before at that seed are told apart from steps. Pure; any thread. */
#pragma once

#include "core/study/localize/localize.h"

struct step_point { /* one measured commit, oldest first */
        const struct localize_outcome *by_seed; /* [n] under seeds 0, 1, …; n > 0 */
        size_t n;
};

struct step {
        size_t at;            /* the first point after it; the change lies between it and the point before */
        bool is_slower;       /* into "broken" (unknown, crash, error) counts as slower */
        double before, after; /* medians of the stretches on both sides, seconds; NaN: broken */
        double p;
};

/* The paper's four shapes (5.4, Fig. 5). A slowdown dominates when it is at least a third of the difference between the fastest and the
 * slowest stretch. */
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
        size_t slower, faster; /* how many of each */
        enum step_shape shape;
        size_t *apart; /* points at no step that differ from the one before (history_differs()) at the first seed */
        size_t n_apart;
};
void steps_done(struct steps *s);
#define cleanup_steps cleanup(steps_done)

/* Differences below HISTORY_RATIO (history_plan.h) are none. */
void steps_find(const struct step_point *points, size_t n, struct steps *ret);
