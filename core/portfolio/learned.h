/* Learners that were told the trials of a portfolio (struct trial: the portfolio on one case). The workspace keeps them between cases, so that a
 * learner is told each trial once. Each running case has a learner to itself. Threads: any. */
#pragma once

#include "core/portfolio/portfolio.h"

struct learned {
        struct learner *learner; /* owned; ask it, but tell it nothing */
        uint32_t next;           /* the number of the first trial that it was not told */
        /* private */
        struct digest epoch;
        uint64_t taken_back; /* trials_taken_back() when it was last told trials */
        struct learned *older;
};

/* Takes a learner that was told all trials of the epoch, and leaves out the arms that were wrong. It is the caller's until learned_give(). */
int learned_take(struct workspace *w, const struct portfolio *p, struct learned **ret);
void learned_give(struct workspace *w, struct learned *l);
