/* Small-sample statistics: medians, rank tests, the shift of two samples.
 *
 * The tests are exact, given the ties (the permutation distribution of the mid-ranks): the signed ranks up to STAT_EXACT values, Mann and Whitney's
 * up to STAT_UNTIED, with ties up to STAT_TIED. Above that they use the normal approximation with corrections for ties and continuity. Samples are not
 * modified and hold no NaN. An infinity (a timeout of unknown length) is an ordinary largest value for the median and the rank tests. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define STAT_EXACT  60
#define STAT_UNTIED 120
#define STAT_TIED   36

void stat_sort(double *x, size_t n);                  /* ascending */
double stat_median(const double *x, size_t n);       /* the mean of the middle two when n is even; NaN when n is 0 */
double stat_lower_median(const double *x, size_t n); /* the lower of the middle two: a measured value */

struct stat_test {
        double statistic; /* see each test */
        double p;         /* two-sided: twice the smaller of the following, at most 1 */
        double less;      /* p of a statistic this small or smaller: small when x tends to lie below y */
        double greater;   /* p of a statistic this large or larger */
        size_t n;         /* pairs that differ, or values in all */
        bool exact;
};

/* Wilcoxon's signed-rank test of the pairs (x[i], y[i]), zeros ranked and then left out (Pratt, 1959). The statistic is the sum of the ranks
 * of the positive x - y. Give it logarithms where ratios matter. Two infinities of one sign are a zero. */
void stat_signed_rank(const double *x, const double *y, size_t n, struct stat_test *ret);

/* Mann and Whitney's test of two independent samples. The statistic is U: how many pairs have x > y, ties counting a half. */
void stat_mann_whitney(const double *x, size_t nx, const double *y, size_t ny, struct stat_test *ret);

/* Two-sided p of the exact sign test (McNemar's), for numbers of changes in both directions. */
double stat_sign_test(size_t up, size_t down);

/* ret[s] is the chance that the statistic is s or less, of samples without ties: s is up to n(n + 1)/2 for the signed ranks, up to nx·ny for Mann and
 * Whitney's U (by Gauss's binomial coefficients; Andrews, The Theory of Partitions, 3.2). free(). */
double *stat_signed_rank_tails(size_t n);
double *stat_mann_whitney_tails(size_t nx, size_t ny);
/* The same for n <= STAT_EXACT pairs, or for two samples of n each; made once, and never to be freed. */
const double *stat_tails(size_t n, bool paired);

/* The shift of x[i] over y[i]: the median of the means of all pairs of differences (Hodges and Lehmann, 1963), and the interval of the shifts that
 * the signed-rank test does not reject at 1 - confidence (Hollander, Wolfe and Chicken, 3.3). Outliers hardly affect it. All values are finite. With
 * too few pairs for the confidence the interval is (-inf, inf). */
struct stat_shift {
        double shift, low, high;
};
/* `differences` are ascending. `tails`: stat_signed_rank_tails(n); NULL: approximate. */
struct stat_shift stat_shift_sorted(const double *differences, size_t n, double confidence, const double *tails);
/* The same of two independent samples, each sorted: the median of all differences x[i] - y[k], and the interval of Mann and Whitney's test (3.4, 4.2). */
struct stat_shift stat_shift_sorted_unpaired(const double *x, size_t nx, const double *y, size_t ny, double confidence, const double *tails);

/* Benjamini and Hochberg's (1995) step-up rule: the largest p that is still a discovery if a share `q` of the discoveries may be false; -1: none. If
 * nothing differs at all, the chance of any discovery is at most `q`. */
void stat_discoveries(const double *p, size_t n, double q, double *ret_largest);

/* Quantile of Student's t with `df` > 0 degrees of freedom, 0 < p < 1. */
double stat_t_quantile(double p, double df);
double stat_t_p(double t, double df); /* two-sided */
double stat_normal_cdf(double z);
double stat_normal_quantile(double p); /* 0 < p < 1; exact to 1e-12 for small p, to 1e-9 for small 1 - p */
