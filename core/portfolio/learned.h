/* Learners that know the trials of a portfolio. They stay with the workspace from case to case, so that each trial is told once. A case that runs
 * has one to itself. Threads: any. */
#pragma once

#include "core/portfolio/portfolio.h"

struct learned {
        struct learner *learner; /* owned; to be asked, and told nothing */
        uint32_t next;           /* the number of the first trial it has not been told */
        /* private */
        struct digest epoch;
        size_t features;
        uint64_t taken_back; /* trials_taken_back() then */
        struct learned *older;
};

/* A learner that was told all trials of the epoch. It is the caller's until learned_give(). */
int learned_take(struct workspace *w, const struct portfolio *p, size_t features, struct learned **ret);
void learned_give(struct workspace *w, struct learned *l);
