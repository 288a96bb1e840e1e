/* The order in which the commits of a history are measured: coarse to fine, so that a measurement stopped early covers the whole history coarsely.
 *
 * A history is a line of n commits, oldest first, numbered from 0. Pure; one thread at a time. */
#pragma once

#include "core/study/localize/localize.h"

/* Every `step`-th commit counted back from the newest, and the oldest, in the order: newest, oldest, the middle, the middles of the halves, and so on.
 * free(). */
void history_grid(size_t n, size_t step, size_t **ret, size_t *ret_n);
/* The step that gives a line a grid of about `points` commits; at least 1. */
size_t history_step(size_t n, size_t points);

enum history_seen {
        HISTORY_OPEN, /* not asked yet */
        HISTORY_MEASURED,
        HISTORY_UNBUILDABLE,
};
struct history_cell { /* a case on a commit */
        enum history_seen seen;
        struct localize_outcome outcome; /* when measured */
};

/* Two outcomes differ when one is solved and the other is not, when one is sat and the other unsat, or when their times differ by a fifth (and by 10 ms).
 * The judge's floor (JUDGE_FLOOR) is lower: it is for many pairs of runs, and these are single runs of unknown noise. */
#define HISTORY_RATIO 1.2
bool history_differs(const struct localize_outcome *a, const struct localize_outcome *b);

/* The next commits for one case: the middle of each gap between two measured neighbours that differ; if some commits in a gap do not build, the middle of
 * its longest stretch of open ones. In order; *ret_n = 0: only unbuildable commits are left between neighbours that differ. free(). */
void history_halve(const struct history_cell *cells, size_t n, size_t **ret, size_t *ret_n);
