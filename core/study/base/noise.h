/* How much the same version varies on the same input, and from which difference on a slowdown is no chance (SPRFinder, section 5.2, Table 1).
 *
 * A case's difference is its slowest run less its fastest. Cases that no run decided (a timeout, an unknown, a crash each time) say nothing and are
 * counted apart; a case that some runs decided and others did not has at least the difference that is seen.
 *
 * Pure functions; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All runs of one case. */
struct noise_case {
        double mean, difference; /* seconds */
        bool is_decided;         /* by one run at least */
        bool is_mixed;           /* not by all of them */
};
struct noise_case noise_of(const double *seconds, const bool *decided, size_t n);

/* All cases of one version. */
struct noise {
        size_t cases, undecided, mixed; /* cases: those that were decided */
        double mean, mean_difference, most_difference;
};
void noise_add(struct noise *sum, const struct noise_case *c); /* begins all zero */
/* The threshold to look for regressions with: twice the largest difference, rounded up to two digits, and no less than 0.1 s. NaN without cases. */
double noise_threshold(const struct noise *sum);
