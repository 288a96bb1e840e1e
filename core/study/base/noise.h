/* The variation of one version on the same input, and the least difference that is a slowdown and not chance (SPRFinder's paper, 5.2, Table 1).
 *
 * A case's difference is its slowest run less its fastest. Cases that no run decided (a timeout, an unknown, a crash each time) prove nothing and are
 * counted apart; a case that only some runs decided has at least the observed difference.
 *
 * Pure functions; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All runs of one case. */
struct noise_case {
        double mean, difference; /* seconds */
        bool is_decided;         /* by at least one run */
        bool is_mixed;           /* not by all of them */
};
struct noise_case noise_of(const double *seconds, const bool *decided, size_t n);

/* All cases of one version. */
struct noise {
        size_t cases, undecided, mixed; /* cases: those that were decided */
        double mean, mean_difference, most_difference;
};
void noise_add(struct noise *sum, const struct noise_case *c); /* *sum is all zero before the first call */
/* The threshold for regressions: twice the largest difference, rounded up to two digits, and at least 0.1 s. NaN without cases. */
double noise_threshold(const struct noise *sum);
