/* Shared by the files of solverfs steps. */
#pragma once

#include "words.h"

#include "core/study/steps/case_history.h"

/* One case per culprit, measured before and after every culprit (SPRFinder, section 6.1): three times each, as there are few points and each of
 * them has to be sure. */
#define AT_CULPRITS_SAMPLES 3
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
        struct fact **facts; /* [line][cases][samples]; refs; NULL: not measured */
};
int at_culprits_measure(struct at_culprits *a); /* a status */
/* The measured history of a case; each sample is a point. */
int at_culprits_history(const struct at_culprits *a, size_t i, struct case_history *ret);
void at_culprits_done(struct at_culprits *a);
