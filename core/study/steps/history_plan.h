/* The order in which the commits of a history are measured: coarse to fine, so that a measurement that is stopped early has seen all of it roughly.
 *
 * A history is a line of n commits, oldest first, numbered from 0. Pure; not for several threads at a time. */
#pragma once

#include "core/study/localize/localize.h"

/* Every `step`-th commit counted back from the newest, and the oldest: newest, oldest, the middle, the middles of the halves, and so on. As many
 * as *ret_n; free(). */
void history_grid(size_t n, size_t step, size_t **ret, size_t *ret_n);
/* The step at which a line has about `points` commits on its grid; at least 1. */
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

/* Two outcomes differ when one is solved and the other is not, or when their times differ by a fifth (and by 10 ms). The judge's floor (JUDGE_FLOOR) is
 * lower: it is for many pairs of runs, and these are single runs of unknown noise. */
#define HISTORY_RATIO 1.2
bool history_differs(const struct localize_outcome *a, const struct localize_outcome *b);

/* Where to look next at one case: the middle of each gap between two measured neighbours that differ, of its longest stretch of open commits where some do
 * not build. In order; *ret_n = 0: nothing lies between two that differ but commits that do not build. free(). */
void history_halve(const struct history_cell *cells, size_t n, size_t **ret, size_t *ret_n);
