/* Findings made from a comparison: localized, reduced, marked, exported and imported like a campaign's findings. Threads: any. */
#pragma once

#include "core/study/compare/comparing.h"
#include "core/study/observation/observation.h"

#define COMPARED_ORIGIN "compare" /* in place of a campaign's name */

struct findings_compared {
        size_t added, known; /* known: the case was this finding already */
        size_t queries;      /* not kept: single queries of scripts with several */
};
/* Keeps each case that became slower (took more of the measure), or is not solved any more, by the judgement of a finished comparison. The pairs are
 * the evidence, and the case itself is the input. -EINVAL with a sentence: the measure is JUDGE_PACE, the versions are of two solvers, or the
 * comparison had one seed. Other errors: those of store.h. */
int findings_add_compared(struct workspace *w, const struct comparing_table *t, struct findings_compared *ret);
