/* Findings made of what a comparison showed: localized, reduced, marked, exported and imported like what a campaign found. Threads: any. */
#pragma once

#include "core/study/compare/comparing.h"
#include "core/study/observation/observation.h"

#define COMPARED_ORIGIN "compare" /* where a campaign's name stands otherwise */

struct findings_compared {
        size_t added, known; /* known: these bytes are a finding already */
        size_t queries;      /* not kept: queries of scripts, whose bytes ask more than that */
};
/* Keeps each case that became slower (took more of the measure), or is not solved any more, by the judgement of a finished comparison; its pairs are the evidence, and its input is the case
 * itself. -EINVAL with a sentence: the measure is the pace, the versions are of two solvers, or it was at one seed. Else store.h's errors. */
int findings_add_compared(struct workspace *w, const struct comparing_table *t, struct findings_compared *ret);
