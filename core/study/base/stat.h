/* Small-sample statistics: medians, rank tests, the confidence interval of a ratio.
 *
 * The tests are exact, given the ties that are there (the permutation distribution of the mid-ranks), up to STAT_EXACT values; above that they
 * use the normal approximation with corrections for ties and continuity. No sample is modified, nothing is global. Samples hold no NaN; an
 * infinity (a timeout of unknown length) is an ordinary largest value for the median and the rank tests.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define STAT_EXACT 60

void stat_sort(double *x, size_t n);                  /* ascending */
double stat_median(const double *x, size_t n);       /* the mean of the middle two when n is even; NaN when n is 0 */
double stat_lower_median(const double *x, size_t n); /* the lower of the two: a value that was measured */

struct stat_test {
        double statistic; /* see each test */
        double p;         /* two-sided: twice the smaller of the following, at most 1 */
        double less;      /* p of a statistic this small or smaller: small when x tends to lie below y */
        double greater;   /* p of a statistic this large or larger */
        size_t n;         /* pairs that differ, or values in all */
        bool exact;
};

/* Wilcoxon's signed-rank test of the pairs (x[i], y[i]), zeros ranked and then left out (Pratt, 1959). The statistic is the sum of the ranks
 * of the positive x - y. Give it logarithms where ratios matter. Two infinities of one sign are a zero. 0, -ENOMEM. */
int stat_signed_rank(const double *x, const double *y, size_t n, struct stat_test *ret);

/* Mann and Whitney's test of two independent samples. The statistic is U: how many pairs have x > y, ties counting a half. 0, -ENOMEM. */
int stat_mann_whitney(const double *x, size_t nx, const double *y, size_t ny, struct stat_test *ret);

/* The geometric mean of the ratios after[i] / before[i] of n pairs with its confidence interval, by Student's t on their logarithms.
 * All values are positive and finite. With n = 1 the interval is (0, inf). */
struct stat_ratio {
        double mean, low, high;
};
struct stat_ratio stat_ratio(const double *before, const double *after, size_t n, double confidence);

/* By how much x[i] tends to lie above y[i]: the median of the means of all two differences (Hodges and Lehmann, 1963), and the interval that the
 * signed-rank test does not reject at 1 - confidence (Hollander, Wolfe and Chicken, 3.3). Outliers hardly move it. All values are finite. Few pairs
 * cannot give a high confidence: then the interval is (-inf, inf). 0, -ENOMEM. */
struct stat_shift {
        double shift, low, high;
};
int stat_shift(const double *x, const double *y, size_t n, double confidence, struct stat_shift *ret);

/* Benjamini and Hochberg's (1995) step-up rule: the largest p that is still a discovery when a share `q` of the discoveries may be false, or -1 when
 * there is none. When nothing differs at all, the chance of any discovery is at most `q`. 0, -ENOMEM. */
int stat_discoveries(const double *p, size_t n, double q, double *ret_largest);

/* Quantile of Student's t with `df` > 0 degrees of freedom, 0 < p < 1. */
double stat_t_quantile(double p, double df);
double stat_normal_cdf(double z);
