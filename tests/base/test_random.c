/* Random numbers: the published sequence, moments and shapes of the distributions, edges. Seeds are fixed unless
 * $SOLVERFS_TEST_SEED is set, and each bound is some five deviations wide. */
#include "cache/base/random.h"

#include <math.h>

#include "tests/support/test.h"

#define DRAWS 200000

/* The first outputs of the authors' own xoshiro256++ for the state 1, 2, 3, 4. */
START_TEST(test_published_sequence)
{
        struct random r = {{1, 2, 3, 4}};
        static const uint64_t expected[] = {41943041,
                                            58720359,
                                            UINT64_C(3588806011781223),
                                            UINT64_C(3591011842654386),
                                            UINT64_C(9228616714210784205),
                                            UINT64_C(9973669472204895162)};

        for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                ck_assert_uint_eq(random_bits(&r), expected[i]);
}
END_TEST

START_TEST(test_seeds_are_unrelated)
{
        struct random a, b;
        unsigned same = 0;

        random_seed(&a, 0);
        random_seed(&b, 0);
        for (int i = 0; i < 100; i++)
                ck_assert_uint_eq(random_bits(&a), random_bits(&b));
        random_seed(&a, 0);
        random_seed(&b, 1);
        for (int i = 0; i < 64 * 100; i++)
                same += (random_bits(&a) & 1) == (random_bits(&b) & 1);
        ck_assert_uint_ge(same, 3000);
        ck_assert_uint_le(same, 3400);
        random_seed_part(&a, 7, 1);
        random_seed_part(&b, 7, 2);
        ck_assert_uint_ne(random_bits(&a), random_bits(&b));
}
END_TEST

START_TEST(test_below)
{
        struct random r;
        unsigned count[6] = {0};

        random_seed(&r, test_seed(3));
        for (int i = 0; i < 60000; i++)
                count[random_below(&r, 6)]++;
        for (int i = 0; i < 6; i++) {
                ck_assert_uint_gt(count[i], 9600);
                ck_assert_uint_lt(count[i], 10400);
        }
        for (int i = 0; i < 100; i++) {
                ck_assert_uint_eq(random_below(&r, 1), 0);
                ck_assert_uint_lt(random_below(&r, UINT64_C(0xffffffffffffffff)), UINT64_C(0xffffffffffffffff));
        }
}
END_TEST

static double draw_normal(struct random *r, double a, double b)
{
        return random_normal(r);
}
static double draw_uniform(struct random *r, double a, double b)
{
        return random_uniform(r);
}

/* Mean and variance within five standard errors of what the textbooks say. */
START_TEST(test_moments)
{
        static const struct {
                const char *name;
                double (*draw)(struct random *r, double a, double b);
                double a, b, mean, variance, fourth; /* fourth central moment over the variance's square */
        } rows[] = {
                {"uniform", draw_uniform, 0, 0, .5, 1.0 / 12, 1.8},
                {"normal", draw_normal, 0, 0, 0, 1, 3},
                {"beta 1 1", random_beta, 1, 1, .5, 1.0 / 12, 1.8},
                {"beta 2 5", random_beta, 2, 5, 2.0 / 7, 10.0 / 49 / 8, 2.88},
                {"beta .5 .5", random_beta, .5, .5, .5, .125, 1.5},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct random r;
                double sum = 0, squares = 0, mean, variance;

                random_seed(&r, test_seed(11 + i));
                for (int n = 0; n < DRAWS; n++) {
                        double x = rows[i].draw(&r, rows[i].a, rows[i].b);

                        ck_assert(isfinite(x));
                        sum += x;
                        squares += x * x;
                }
                mean = sum / DRAWS;
                variance = squares / DRAWS - mean * mean;
                ck_assert_msg(fabs(mean - rows[i].mean) < 5 * sqrt(rows[i].variance / DRAWS), "%s: mean %f", rows[i].name, mean);
                ck_assert_msg(fabs(variance - rows[i].variance) < 5 * rows[i].variance * sqrt((rows[i].fourth - 1) / DRAWS),
                              "%s: variance %f", rows[i].name, variance);
        }
}
END_TEST

/* Kolmogorov and Smirnov: moments alone would not notice a wrong shape. */
START_TEST(test_shape_of_beta)
{
        static double draws[DRAWS];
        struct random r;
        double worst = 0;

        random_seed(&r, test_seed(5));
        for (int i = 0; i < DRAWS; i++)
                draws[i] = random_beta(&r, 2, 3);
        qsort(draws, DRAWS, sizeof(*draws), compare_doubles);
        for (int i = 0; i < DRAWS; i++) {
                double x = draws[i], below = x * x * (6 - 8 * x + 3 * x * x);

                worst = fmax(worst, fabs(below - (i + .5) / DRAWS));
        }
        ck_assert_msg(worst < 3 / sqrt(DRAWS), "distance %f", worst);
}
END_TEST

START_TEST(test_extreme_shapes)
{
        struct random r;

        random_seed(&r, test_seed(1));
        for (int i = 0; i < 10000; i++) {
                double tiny = random_beta(&r, 1e-300, 1e-300), low = random_beta(&r, 1e-9, 1e9), high = random_beta(&r, 1e9, 1);

                ck_assert(tiny >= 0 && tiny <= 1);
                ck_assert(low >= 0 && low < 1e-6);
                ck_assert(high > .999 && high <= 1);
        }
}
END_TEST

START_TEST(test_shuffle)
{
        struct random r;
        unsigned seen[6] = {0};

        random_seed(&r, test_seed(9));
        for (int i = 0; i < 6000; i++) {
                uint32_t list[] = {0, 1, 2};

                random_shuffle(&r, list, 3);
                ck_assert_uint_eq(list[0] + list[1] + list[2], 3);
                ck_assert_uint_ne(list[0], list[1]);
                seen[2 * list[0] + (list[1] > list[2])]++;
        }
        for (int i = 0; i < 6; i++) {
                ck_assert_uint_gt(seen[i], 850);
                ck_assert_uint_lt(seen[i], 1150);
        }
        random_shuffle(&r, NULL, 0);
}
END_TEST

SUITE("random", test_published_sequence, test_seeds_are_unrelated, test_below, test_moments, test_shape_of_beta,
      test_extreme_shapes, test_shuffle)
