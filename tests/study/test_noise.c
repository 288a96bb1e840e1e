#include "tests/support/test.h"

#include <math.h>

#include "core/study/base/noise.h"

START_TEST(test_case)
{
        struct noise_case c = noise_of((const double[]){1, 3, 2}, (const bool[]){true, true, true}, 3);

        ck_assert_double_eq_tol(c.mean, 2, 1e-12);
        ck_assert_double_eq_tol(c.difference, 2, 1e-12);
        ck_assert(c.is_decided && !c.is_mixed);
        c = noise_of((const double[]){1, 20}, (const bool[]){true, false}, 2);
        ck_assert(c.is_decided && c.is_mixed);
        ck_assert_double_eq(c.difference, 19);
        c = noise_of((const double[]){20, 20}, (const bool[]){false, false}, 2);
        ck_assert(!c.is_decided && !c.is_mixed);
}
END_TEST

START_TEST(test_sum)
{
        struct noise n = {0};

        ck_assert(isnan(noise_threshold(&n)));
        noise_add(&n, &(struct noise_case){.mean = 1, .difference = 0.5, .is_decided = true});
        noise_add(&n, &(struct noise_case){.mean = 3, .difference = 1.5, .is_decided = true, .is_mixed = true});
        noise_add(&n, &(struct noise_case){.mean = 20, .difference = 9});
        ck_assert_uint_eq(n.cases, 2);
        ck_assert_uint_eq(n.undecided, 1);
        ck_assert_uint_eq(n.mixed, 1);
        ck_assert_double_eq_tol(n.mean, 2, 1e-12);
        ck_assert_double_eq_tol(n.mean_difference, 1, 1e-12);
        ck_assert_double_eq(n.most_difference, 1.5);
}
END_TEST

static double threshold_for(double difference)
{
        return noise_threshold(&(struct noise){.cases = 1, .most_difference = difference});
}

START_TEST(test_threshold)
{
        ck_assert_double_eq_tol(threshold_for(2.02), 4.1, 1e-9);
        ck_assert_double_eq_tol(threshold_for(1.5), 3.0, 1e-9);
        ck_assert_double_eq_tol(threshold_for(6.21), 13, 1e-9);
        ck_assert_double_eq_tol(threshold_for(0.0001), 0.1, 1e-9);
}
END_TEST

SUITE("noise", test_case, test_sum, test_threshold)
