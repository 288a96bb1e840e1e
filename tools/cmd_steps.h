/* Shared by the files of solverfs steps. */
#pragma once

#include "words.h"

#include "core/study/steps/case_history.h"

/* One case per culprit, measured before and after every culprit (SPRFinder, section 6.1), under as many seeds as the judge's first look wants. */
#define AT_CULPRITS_RUNS 5
struct at_culprits {
        /* options */
        struct workspace *workspace;
        struct solver *solver;
        char *const *words; /* CASE...; none: of each culprit the case that it slowed down most */
        size_t n_words;
        bool has_seed;
        uint64_t seed, timeout; /* timeout 0: the one the case was found with, or the recipe's */
        int signals;

        /* found out; owned */
        uint32_t *line; /* the culprits and the commits before them, in the order of the history */
        size_t n_line;
        struct case_selection cases;
        uint64_t *wall_ns;   /* of each case */
        struct fact **facts; /* [line][cases][AT_CULPRITS_RUNS]; refs; NULL: not measured */
};
int at_culprits_measure(struct at_culprits *a); /* a status */
/* The measured history of a case. */
int at_culprits_history(const struct at_culprits *a, size_t i, struct case_history *ret);
void at_culprits_done(struct at_culprits *a);
