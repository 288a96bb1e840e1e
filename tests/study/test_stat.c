#include "tests/support/test.h"

#include <math.h>

#include "cache/base/random.h"
#include "core/study/base/stat.h"

#define assert_near(a, b, tolerance)                                                                               \
        do {                                                                                                       \
                double near_a = (a), near_b = (b);                                                                 \
                ck_assert_msg(fabs(near_a - near_b) <= (tolerance), "%s is %.12g, not %.12g", #a, near_a, near_b); \
        } while (0)

START_TEST(test_medians)
{
        const double odd[] = {5, 1, 9}, even[] = {4, 1, 3, 2}, ties[] = {2, 2, 2, 7}, far[] = {1, INFINITY, INFINITY};

        ck_assert_double_eq(stat_median(odd, 3), 5);
        ck_assert_double_eq(stat_median(even, 4), 2.5);
        ck_assert_double_eq(stat_lower_median(even, 4), 2);
        ck_assert_double_eq(stat_median(ties, 4), 2);
        ck_assert(isinf(stat_median(far, 3)));
        ck_assert(isnan(stat_median(odd, 0)));
}
END_TEST

/* Twice the mid-rank of |d[i]| among all. */
static unsigned rank2(const double *d, size_t n, size_t i)
{
        unsigned below = 0, equal = 0;

        for (size_t j = 0; j < n; j++) {
                below += fabs(d[j]) < fabs(d[i]);
                equal += fabs(d[j]) == fabs(d[i]);
        }
        return 2 * below + equal + 1;
}

/* Every sign pattern of the differences that are not zero. */
static void signed_rank_by_hand(const double *d, size_t n, double *less, double *greater)
{
        unsigned observed = 0, at_most = 0, at_least = 0, all = 0;

        for (size_t i = 0; i < n; i++)
                observed += d[i] > 0 ? rank2(d, n, i) : 0;
        for (unsigned pattern = 0; pattern < 1u << n; pattern++) {
                unsigned sum = 0;
                bool counted = true;

                for (size_t i = 0; i < n; i++) {
                        if (d[i] == 0)
                                counted &= !(pattern >> i & 1);
                        else if (pattern >> i & 1)
                                sum += rank2(d, n, i);
                }
                if (!counted)
                        continue;
                all++;
                at_most += sum <= observed;
                at_least += sum >= observed;
        }
        *less = (double)at_most / all;
        *greater = (double)at_least / all;
}

START_TEST(test_signed_rank_equals_enumeration)
{
        struct random random;

        random_seed(&random, test_seed(1));
        for (int round = 0; round < 300; round++) {
                size_t n = 1 + random_below(&random, 10);
                double x[10], y[10] = {0}, less, greater;
                struct stat_test t;

                for (size_t i = 0; i < n; i++) /* few values: ties and zeros abound */
                        x[i] = (double)random_below(&random, 9) - 4;
                stat_signed_rank(x, y, n, &t);
                signed_rank_by_hand(x, n, &less, &greater);
                ck_assert(t.exact);
                assert_near(t.less, less, 1e-12);
                assert_near(t.greater, greater, 1e-12);
                assert_near(t.p, fmin(1, 2 * fmin(less, greater)), 1e-12);
        }
}
END_TEST

/* Wilcoxon and Wilcox (1964), table 2: the largest sums of the smaller rank sum with a two-sided p of at most 0.05. */
START_TEST(test_signed_rank_critical_values)
{
        static const struct {
                size_t n;
                unsigned critical;
        } table[] = {{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {15, 25}, {20, 52}, {25, 89}};

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                for (unsigned over = 0; over < 2; over++) {
                        unsigned left = table[i].critical + over;
                        double x[32], y[32] = {0};
                        struct stat_test t;

                        for (size_t k = table[i].n; k > 0; k--) { /* positive ranks that sum to `left` */
                                bool positive = k <= left;

                                x[k - 1] = positive ? (double)k : -(double)k;
                                left -= positive ? (unsigned)k : 0;
                        }
                        stat_signed_rank(x, y, table[i].n, &t);
                        ck_assert_double_eq(t.statistic, table[i].critical + over);
                        ck_assert_msg((t.p <= 0.05) == !over, "n %zu, sum %g: p %g", table[i].n, t.statistic, t.p);
                }
        }
}
END_TEST

/* As a set of many cases that both versions solve at once: the few others decide. */
START_TEST(test_signed_rank_of_a_million_zeros)
{
        size_t n = 1000000;
        cleanup_free double *x = calloc(n, sizeof(*x)), *y = calloc(n, sizeof(*y));
        struct stat_test t;

        for (size_t i = 0; i < 10; i++)
                x[i] = (double)(i + 1);
        stat_signed_rank(x, y, n, &t);
        ck_assert(t.exact);
        ck_assert_uint_eq(t.n, 10);
        ck_assert_double_eq_tol(t.greater, 0x1p-10, 1e-12);
}
END_TEST

START_TEST(test_signed_rank_of_nothing)
{
        const double x[] = {1, 2, INFINITY};
        struct stat_test t;

        stat_signed_rank(x, x, 3, &t);
        ck_assert_double_eq(t.p, 1);
        ck_assert_uint_eq(t.n, 0);
        stat_signed_rank(NULL, NULL, 0, &t);
        ck_assert_double_eq(t.p, 1);
}
END_TEST

/* Every choice of nx of the n values. */
static void mann_whitney_by_hand(const double *v, size_t nx, size_t n, double *u, double *less, double *greater)
{
        unsigned at_most = 0, at_least = 0, all = 0;

        for (int pass = 0; pass < 2; pass++) {
                for (unsigned choice = 0; choice < 1u << n; choice++) {
                        double sum = 0;

                        if ((size_t)__builtin_popcount(choice) != nx || (pass == 0 && choice != (1u << nx) - 1))
                                continue;
                        for (size_t i = 0; i < n; i++)
                                for (size_t j = 0; j < n; j++)
                                        if ((choice >> i & 1) && !(choice >> j & 1))
                                                sum += v[i] > v[j] ? 1 : v[i] == v[j] ? 0.5 : 0;
                        if (pass == 0) {
                                *u = sum;
                                continue;
                        }
                        all++;
                        at_most += sum <= *u;
                        at_least += sum >= *u;
                }
        }
        *less = (double)at_most / all;
        *greater = (double)at_least / all;
}

START_TEST(test_mann_whitney_equals_enumeration)
{
        struct random random;

        random_seed(&random, test_seed(2));
        for (int round = 0; round < 200; round++) {
                size_t nx = 1 + random_below(&random, 5), ny = 1 + random_below(&random, 5);
                double v[10], u = 0, less, greater;
                struct stat_test t;

                for (size_t i = 0; i < nx + ny; i++)
                        v[i] = (double)random_below(&random, 6);
                stat_mann_whitney(v, nx, v + nx, ny, &t);
                mann_whitney_by_hand(v, nx, nx + ny, &u, &less, &greater);
                ck_assert_double_eq(t.statistic, u);
                assert_near(t.less, less, 1e-12);
                assert_near(t.greater, greater, 1e-12);
        }
}
END_TEST

/* Mann and Whitney (1947) and later tables: U at most this has a two-sided p of at most 0.05. */
START_TEST(test_mann_whitney_critical_values)
{
        static const struct {
                size_t n;
                unsigned critical;
        } table[] = {{4, 0}, {5, 2}, {6, 5}, {7, 8}, {8, 13}, {10, 23}, {15, 64}, {20, 127}};

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                for (unsigned over = 0; over < 2; over++) {
                        size_t n = table[i].n;
                        unsigned left = table[i].critical + over;
                        double x[20], y[20];
                        struct stat_test t;

                        for (size_t k = 0; k < n; k++)
                                y[k] = (double)(2 * k + 2);
                        for (size_t k = n; k-- > 0;) { /* x[k] above `above` of the y: a partition of U */
                                unsigned above = MIN(left, (unsigned)n);

                                x[k] = 2 * above + 1 + (double)k / 100;
                                left -= above;
                        }
                        stat_mann_whitney(x, n, y, n, &t);
                        ck_assert_double_eq(t.statistic, table[i].critical + over);
                        ck_assert_msg((t.p <= 0.05) == !over, "n %zu, U %g: p %g", n, t.statistic, t.p);
                }
        }
}
END_TEST

/* Where the exact distribution ends the approximation goes on without a step: one value more changes p by little. */
START_TEST(test_approximations_join)
{
        double x[STAT_UNTIED + 1], y[STAT_EXACT + 1] = {0}, exact;
        struct stat_test t;

        for (size_t i = 0; i <= STAT_EXACT; i++)
                x[i] = i == STAT_EXACT ? 0.5 : i % 3 == 0 ? -(double)i - 1 : (double)i + 1;
        stat_signed_rank(x, y, STAT_EXACT, &t);
        ck_assert(t.exact);
        exact = t.p;
        stat_signed_rank(x, y, STAT_EXACT + 1, &t);
        ck_assert(!t.exact);
        assert_near(log(t.p), log(exact), 0.3);
        for (size_t i = 0; i <= STAT_UNTIED; i++)
                x[i] = (double)(i * 7 % 121) + (i < 60 ? 19.5 : 0);
        stat_mann_whitney(x, 60, x + 60, 60, &t);
        ck_assert(t.exact);
        exact = t.p;
        stat_mann_whitney(x, 60, x + 60, 61, &t);
        ck_assert(!t.exact);
        assert_near(log(t.p), log(exact), 0.3);
        x[0] = x[1] = x[2]; /* with ties, the bound is lower */
        stat_mann_whitney(x, 18, x + 60, 18, &t);
        ck_assert(t.exact);
        exact = t.p;
        stat_mann_whitney(x, 18, x + 60, 19, &t);
        ck_assert(!t.exact);
        assert_near(log(t.p), log(exact), 0.4);
}
END_TEST

/* A comparison of thousands of cases has that many pairs in all. */
START_TEST(test_many_values)
{
        size_t n = 100000;
        cleanup_free double *x = allocate(n, sizeof(*x)), *y = allocate(n, sizeof(*y));
        struct stat_test t;

        for (size_t i = 0; i < n; i++) {
                x[i] = (double)(i + 1);
                y[i] = 0;
        }
        stat_signed_rank(x, y, n, &t);
        ck_assert_double_eq(t.statistic, (double)n * (double)(n + 1) / 2);
        ck_assert(t.greater < 1e-100 && t.less == 1);
        for (size_t i = 0; i < n; i += 2) /* as many up as down */
                x[i] = -x[i];
        stat_signed_rank(x, y, n, &t);
        ck_assert_double_gt(t.p, 0.5);
        for (size_t i = 0; i < n; i++) {
                x[i] = (double)i;
                y[i] = -(double)i - 1;
        }
        stat_mann_whitney(x, n, y, n, &t);
        ck_assert_double_eq(t.statistic, (double)n * (double)n);
        ck_assert(t.greater < 1e-100 && t.less == 1);
}
END_TEST

/* The tails of samples without ties are those of the tests, and of tables. */
START_TEST(test_tails)
{
        for (size_t nx = 1; nx <= 30; nx += 7)
                for (size_t ny = 1; ny <= 30; ny += 6) {
                        cleanup_free double *tails = stat_mann_whitney_tails(nx, ny);
                        double x[30], y[30];
                        size_t u = (nx * ny + 1) / 3, left = u;
                        struct stat_test t;

                        for (size_t k = 0; k < ny; k++)
                                y[k] = 2.0 * (double)k + 2;
                        for (size_t k = nx; k-- > 0;) {
                                size_t above = MIN(left, ny);

                                x[k] = 2.0 * (double)above + 1 + (double)k / 100;
                                left -= above;
                        }
                        stat_mann_whitney(x, nx, y, ny, &t);
                        ck_assert_double_eq(t.statistic, (double)u);
                        assert_near(tails[u], t.less, 1e-12);
                        assert_near(tails[nx * ny], 1, 1e-12);
                }
        {
                cleanup_free double *two = stat_mann_whitney_tails(60, 60), *signs = stat_signed_rank_tails(60);

                assert_near(log(two[0]), lgamma(61) + lgamma(61) - lgamma(121), 1e-10); /* 1 of 120! / 60! / 60! */
                assert_near(two[1800] + two[1799], 1, 1e-9);                            /* symmetric */
                assert_near(two[1400], stat_normal_cdf(-399.5 / sqrt(60 * 60 * 121 / 12.0)), 5e-4);
                assert_near(log2(signs[0]), -60, 1e-9);
                assert_near(log2(signs[4] / signs[0]), log2(7), 1e-9); /* {}, 1, 2, 3, 12, 4, 13 */
                assert_near(signs[914] + signs[915], 1, 1e-12);
        }
}
END_TEST

START_TEST(test_sign_test)
{
        assert_near(stat_sign_test(0, 0), 1, 0);
        assert_near(stat_sign_test(3, 3), 1, 0);
        assert_near(stat_sign_test(5, 0), 2 / 32.0, 1e-12);
        assert_near(stat_sign_test(1, 7), 2 * 9 / 256.0, 1e-12);
        assert_near(stat_sign_test(7, 1), 2 * 9 / 256.0, 1e-12);
        assert_near(stat_sign_test(4, 5), 1, 1e-12);
        assert_near(log2(stat_sign_test(200, 0)), -199, 1e-9);
}
END_TEST

START_TEST(test_normal_quantiles)
{
        assert_near(stat_normal_quantile(0.5), 0, 1e-12);
        assert_near(stat_normal_quantile(0.975), 1.959963984540054, 1e-9);
        assert_near(stat_normal_quantile(0.025), -1.959963984540054, 1e-12);
        assert_near(stat_normal_quantile(1e-10), -6.361340902404, 1e-9);
}
END_TEST

START_TEST(test_false_alarms_are_as_rare_as_promised)
{
        struct random random;
        unsigned alarms = 0;
        const unsigned rounds = 4000;

        random_seed(&random, test_seed(3));
        for (unsigned i = 0; i < rounds; i++) {
                double x[12], y[12];
                struct stat_test t;

                for (size_t k = 0; k < 12; k++) {
                        x[k] = exp(0.1 * random_normal(&random));
                        y[k] = exp(0.1 * random_normal(&random));
                }
                stat_signed_rank(x, y, 12, &t);
                alarms += t.p <= 0.05;
        }
        ck_assert_msg(alarms <= rounds * 0.06, "%u false alarms of %u", alarms, rounds);
}
END_TEST

START_TEST(test_t_quantiles)
{
        assert_near(stat_t_quantile(0.975, 1), 12.7062, 1e-4);
        assert_near(stat_t_quantile(0.975, 4), 2.776445, 1e-6);
        assert_near(stat_t_quantile(0.95, 10), 1.812461, 1e-6);
        assert_near(stat_t_quantile(0.005, 30), -2.749996, 1e-6);
        assert_near(stat_t_quantile(0.5, 7), 0, 1e-6);
        assert_near(stat_normal_cdf(1.959963985), 0.975, 1e-9);
}
END_TEST

/* stat_shift_sorted() of pairs, and of two samples, in any order, with exact tails where there are. */
static int shift(const double *x, const double *y, size_t n, double confidence, struct stat_shift *ret)
{
        cleanup_free double *room = calloc(n + 1, sizeof(*room)), *tails = n <= STAT_EXACT ? stat_signed_rank_tails(n) : NULL;

        if (!room || (n <= STAT_EXACT && !tails))
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                room[i] = x[i] - y[i];
        stat_sort(room, n);
        *ret = stat_shift_sorted(room, n, confidence, tails);
        return 0;
}

static int shift_unpaired(const double *x, size_t nx, const double *y, size_t ny, double confidence, struct stat_shift *ret)
{
        bool exact = nx + ny <= STAT_UNTIED;
        cleanup_free double *room = calloc(nx + ny + 1, sizeof(*room)), *tails = exact ? stat_mann_whitney_tails(nx, ny) : NULL;

        if (!room || (exact && !tails))
                return -ENOMEM;
        for (size_t i = 0; i < nx + ny; i++)
                room[i] = i < nx ? x[i] : y[i - nx];
        stat_sort(room, nx);
        stat_sort(room + nx, ny);
        *ret = stat_shift_sorted_unpaired(room, nx, room + nx, ny, confidence, tails);
        return 0;
}

START_TEST(test_shift)
{
        /* Hollander, Wolfe and Chicken, Table 3.1 (Hamilton depression scale): estimate -0.46, 96 % interval (-0.786, -0.010). */
        const double x[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
                     y[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
        struct stat_shift s;

        assert_ok(shift(y, x, 9, 0.96, &s));
        assert_near(s.shift, -0.46, 1e-9);
        assert_near(s.low, -0.786, 1e-9);
        assert_near(s.high, -0.010, 1e-9);
        assert_ok(shift(y, x, 5, 0.95, &s)); /* five pairs cannot say that */
        ck_assert(isinf(s.low) && isinf(s.high));
        assert_ok(shift(y, x, 0, 0.95, &s));
        ck_assert(isnan(s.shift));
}
END_TEST

/* The median of all differences, the interval by the counting of them. */
START_TEST(test_shift_unpaired)
{
        struct random r;

        random_seed(&r, 5);
        for (int round = 0; round < 50; round++) {
                size_t nx = 1 + random_below(&r, 30), ny = 1 + random_below(&r, 30), m = 0, outside = 0;
                double x[30], y[30], all[900];
                cleanup_free double *tails = stat_mann_whitney_tails(nx, ny);
                struct stat_shift s;

                for (size_t i = 0; i < nx; i++)
                        x[i] = round % 2 ? random_normal(&r) : (double)random_below(&r, 5);
                for (size_t i = 0; i < ny; i++)
                        y[i] = round % 2 ? random_normal(&r) : (double)random_below(&r, 5);
                for (size_t i = 0; i < nx; i++)
                        for (size_t k = 0; k < ny; k++)
                                all[m++] = x[i] - y[k];
                stat_sort(all, m);
                while (tails[outside] <= 0.05)
                        outside++;
                assert_ok(shift_unpaired(x, nx, y, ny, 0.9, &s));
                assert_near(s.shift, stat_median(all, m), 1e-12);
                if (outside == 0) {
                        ck_assert(isinf(s.low) && isinf(s.high));
                        continue;
                }
                assert_near(s.low, all[outside - 1], 1e-12);
                assert_near(s.high, all[m - outside], 1e-12);
        }
}
END_TEST

/* How often the interval holds the truth, exact and (from 61 values on) approximate. */
START_TEST(test_shift_covers)
{
        static const size_t sizes[] = {8, 24, 64};
        struct random r;

        random_seed(&r, test_seed(3));
        for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
                unsigned held = 0;

                for (int i = 0; i < 2000; i++) {
                        double x[64], y[64];
                        struct stat_shift s;

                        for (size_t j = 0; j < sizes[k]; j++) {
                                x[j] = 1 + random_normal(&r);
                                y[j] = random_normal(&r);
                        }
                        assert_ok(shift(x, y, sizes[k], 0.95, &s));
                        held += s.low <= 1 && 1 <= s.high;
                }
                ck_assert_msg(held >= 1870 && held <= 1960, "%zu pairs: %u of 2000", sizes[k], held);
        }
}
END_TEST

START_TEST(test_discoveries)
{
        /* Benjamini and Hochberg (1995), 4.1: four of fifteen at 0.05. */
        const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                            0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
        double largest;

        stat_discoveries(p, ARRAY_SIZE(p), 0.05, &largest);
        ck_assert_double_eq(largest, 0.0095);
        stat_discoveries(p + 9, 6, 0.05, &largest);
        ck_assert_double_eq(largest, -1);
        stat_discoveries(p, 0, 0.05, &largest);
        ck_assert_double_eq(largest, -1);
}
END_TEST

SUITE("stat", test_tails, test_sign_test, test_normal_quantiles, test_shift_unpaired, test_shift, test_shift_covers, test_discoveries, test_medians, test_signed_rank_equals_enumeration,
      test_signed_rank_critical_values, test_signed_rank_of_a_million_zeros, test_signed_rank_of_nothing, test_mann_whitney_equals_enumeration,
      test_mann_whitney_critical_values, test_approximations_join, test_many_values, test_false_alarms_are_as_rare_as_promised, test_t_quantiles)
