#include "tests/support/test.h"

#include <math.h>

#include "cache/base/random.h"
#include "core/study/steps/steps.h"

#define MOST 600

static struct localize_outcome runs[MOST];
static struct step_point points[MOST];
static size_t n_points;

static void add_point(struct localize_outcome o)
{
        runs[n_points] = o;
        points[n_points] = (struct step_point){&runs[n_points], 1};
        n_points++;
}

/* Appends so many points of about these seconds. */
static void stretch(struct random *r, size_t n, double seconds)
{
        for (size_t i = 0; i < n; i++)
                add_point((struct localize_outcome){.answer = LOCALIZE_SOLVED, .value = seconds * exp(0.05 * random_normal(r)), .effort = NAN});
}

static struct steps found_in(void)
{
        struct steps s;

        steps_find(points, n_points, &s);
        return s;
}

START_TEST(test_four_shapes)
{
        static const struct {
                double levels[5];
                enum step_shape shape;
                size_t slower, faster;
        } table[] = {
                {{1, 1, 1, 1, 1}, STEP_STEADY, 0, 0},
                {{10, 10, 1, 1, 1}, STEP_STEADY, 0, 1},
                {{1, 1, 10, 10, 10}, STEP_MONOTONIC_SINGLE, 1, 0},
                {{1, 5.5, 5.5, 10, 10}, STEP_MONOTONIC_MULTI, 2, 0},
                {{1, 10, 10, 1, 1}, STEP_NONMONOTONIC_SINGLE, 1, 1},
                {{1, 10, 1, 10, 1}, STEP_NONMONOTONIC_MULTI, 2, 2},
        };
        struct random r;

        random_seed(&r, test_seed(1));
        for (size_t k = 0; k < ARRAY_SIZE(table); k++) {
                cleanup_steps struct steps s = {0};

                n_points = 0;
                for (size_t i = 0; i < 5; i++)
                        stretch(&r, 12, table[k].levels[i]);
                s = found_in();
                ck_assert_msg(s.shape == table[k].shape, "%zu: %s", k, step_shape_name(s.shape));
                ck_assert_uint_eq(s.slower, table[k].slower);
                ck_assert_uint_eq(s.faster, table[k].faster);
                for (size_t i = 0; i < s.n; i++) {
                        ck_assert_uint_eq(s.list[i].at % 12, 0);
                        ck_assert((s.list[i].after > s.list[i].before) == s.list[i].is_slower);
                        ck_assert_double_lt(s.list[i].p, 0.01);
                }
        }
}
END_TEST

START_TEST(test_an_outlier_is_no_step)
{
        cleanup_steps struct steps s = {0};
        struct random r;

        random_seed(&r, test_seed(2));
        n_points = 0;
        stretch(&r, 20, 1);
        stretch(&r, 1, 10); /* alone among its like */
        stretch(&r, 20, 1);
        stretch(&r, 30, 10);
        stretch(&r, 1, 1);
        stretch(&r, 30, 10);
        s = found_in();
        ck_assert_uint_eq(s.n, 1);
        ck_assert_uint_eq(s.list[0].at, 41);
        ck_assert_double_eq_tol(s.list[0].before, 1, 0.1);
        ck_assert_double_eq_tol(s.list[0].after, 10, 1);
}
END_TEST

/* Of series without a step, 5 % noise and 5 % outliers, few are said to have one. */
START_TEST(test_false_alarms)
{
        struct random r;
        unsigned alarms = 0;

        random_seed(&r, test_seed(3));
        for (unsigned round = 0; round < 400; round++) {
                cleanup_steps struct steps s = {0};

                n_points = 0;
                for (size_t i = 0; i < 40; i++)
                        stretch(&r, 1, random_uniform(&r) < 0.05 ? 3 : 1);
                s = found_in();
                alarms += s.n > 0;
        }
        ck_assert_msg(alarms <= 10, "%u of 400 have a step", alarms);
}
END_TEST

START_TEST(test_crashes_are_a_level)
{
        cleanup_steps struct steps s = {0};
        struct random r;

        random_seed(&r, test_seed(4));
        n_points = 0;
        stretch(&r, 10, 1);
        stretch(&r, 10, 0.01);
        for (size_t i = 10; i < 20; i++)
                runs[i].answer = LOCALIZE_BROKEN;
        stretch(&r, 10, 1);
        s = found_in();
        ck_assert_uint_eq(s.n, 2);
        ck_assert(s.list[0].is_slower && isnan(s.list[0].after) && !s.list[1].is_slower && isnan(s.list[1].before));
}
END_TEST

START_TEST(test_few_points)
{
        cleanup_steps struct steps none = {0}, one = {0};
        struct random r;

        random_seed(&r, test_seed(5));
        n_points = 0;
        none = found_in();
        ck_assert_uint_eq(none.n, 0);
        stretch(&r, 1, 1);
        one = found_in();
        ck_assert_uint_eq(one.n, 0);
        ck_assert_int_eq(one.shape, STEP_STEADY);
}
END_TEST

/* The releases of a solver: as many levels as there are, each a build. One run of each shows none of it, but that they are apart. */
START_TEST(test_each_release_may_be_a_level)
{
        static const double levels[] = {0.13, 0.71, 0.02, 1.27, 0.77, 1.55};
        static struct localize_outcome under[6][5];
        cleanup_steps struct steps one = {0}, five = {0};
        struct random r;

        random_seed(&r, test_seed(6));
        n_points = 0;
        for (size_t i = 0; i < 6; i++) {
                stretch(&r, 1, levels[i]);
                for (size_t k = 0; k < 5; k++)
                        under[i][k] = (struct localize_outcome){.answer = LOCALIZE_SOLVED, .value = levels[i] * exp(0.05 * random_normal(&r)), .effort = NAN};
        }
        one = found_in();
        ck_assert_uint_eq(one.n, 0);
        ck_assert_uint_eq(one.n_apart, 5);
        for (size_t i = 0; i < 6; i++)
                points[i] = (struct step_point){under[i], 5};
        five = found_in();
        ck_assert_uint_eq(five.n, 5);
        ck_assert_uint_eq(five.n_apart, 0);
        ck_assert_uint_eq(five.slower, 3);
        for (size_t i = 0; i < 5; i++) {
                ck_assert_uint_eq(five.list[i].at, i + 1);
                ck_assert_double_eq_tol(five.list[i].after, levels[i + 1], 0.2 * levels[i + 1]);
        }
}
END_TEST

/* Most seeds are a little faster, and the others far slower: the whole is slower, and so are its numbers. */
START_TEST(test_slower_under_some_seeds)
{
        static struct localize_outcome under[2][24];
        cleanup_steps struct steps s = {0};
        struct random r;

        random_seed(&r, 7);
        for (size_t i = 0; i < 2; i++) {
                for (size_t k = 0; k < 24; k++)
                        under[i][k] = (struct localize_outcome){.answer = LOCALIZE_SOLVED,
                                                                .value = (i == 0 ? 1 : k < 10 ? 20 : 0.97) * exp(0.01 * random_normal(&r)),
                                                                .effort = NAN};
                points[i] = (struct step_point){under[i], 24};
        }
        n_points = 2;
        s = found_in();
        ck_assert_uint_eq(s.n, 1);
        ck_assert_uint_eq(s.slower, 1);
        ck_assert(s.list[0].is_slower && s.list[0].before < s.list[0].after);
}
END_TEST

/* Runs without an answer count as slow ones, but no level is above the slowest run of its stretch: a time limit. */
START_TEST(test_no_level_above_its_runs)
{
        static struct localize_outcome under[2][25];
        cleanup_steps struct steps s = {0};
        struct random r;

        random_seed(&r, 8);
        for (size_t i = 0; i < 2; i++) {
                for (size_t k = 0; k < 25; k++)
                        under[i][k] = i == 0 ? (struct localize_outcome){.answer = LOCALIZE_SOLVED,
                                                                                .value = 0.06 * exp(0.05 * random_normal(&r)),
                                                                                .effort = NAN}
                                             : (struct localize_outcome){.answer = LOCALIZE_TIMEOUT, .value = 0.5, .effort = NAN};
                points[i] = (struct step_point){under[i], 25};
        }
        under[1][24].answer = LOCALIZE_BROKEN;
        n_points = 2;
        s = found_in();
        ck_assert_uint_eq(s.n, 1);
        ck_assert_double_eq_tol(s.list[0].before, 0.06, 0.005);
        ck_assert_double_eq(s.list[0].after, 0.5);
}
END_TEST

SUITE("steps", test_no_level_above_its_runs, test_each_release_may_be_a_level, test_four_shapes, test_an_outlier_is_no_step, test_false_alarms,
      test_crashes_are_a_level, test_few_points, test_slower_under_some_seeds)
