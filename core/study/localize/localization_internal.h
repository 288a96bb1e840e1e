/* Shared by localization.c (the search), localization_result.c (what it found) and localization_query.c. */
#pragma once

#include <math.h>

#include "core/study/localize/localization.h"

struct localization {
        struct localization_options options; /* owns refs on the solver and the cases */
        uint32_t fork;  /* localization_fork() */
        uint32_t start;
        struct localize_commit *commits;
        size_t *parents; /* of all commits, one after another */
        size_t n;
        struct localize *search;
        double run_seconds; /* of the last run, where its value is another */
        const struct localize_want *wants;
        size_t n_wants;
        struct answer {
                struct fact *fact; /* owns a ref */
                bool failed;       /* the commit cannot be built */
        } * answers; /* one a want, kept until all are there: the order in which they come must not count. NULL: nothing is asked */
        bool stopped;
        enum verdict *expected; /* by case: the first answer that was one; VERDICT_UNKNOWN: none yet */
        bool *disturbed;        /* by case: others had the core during some of its runs */
        size_t builds;
};

struct cell localization_cell(const struct localization_options *o, uint32_t commit, struct case_info *info);
