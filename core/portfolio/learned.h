/* Learners that know the trials of a portfolio. They stay in the workspace between cases, so that each trial is told once. Each running case has a
 * learner to itself. Threads: any. */
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

/* Takes a learner that was told all trials of the epoch. It is the caller's until learned_give(). */
int learned_take(struct workspace *w, const struct portfolio *p, struct learned **ret);
void learned_give(struct workspace *w, struct learned *l);
