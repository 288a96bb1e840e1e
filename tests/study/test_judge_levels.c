#include "tests/support/test.h"

#include <math.h>

#include "cache/base/random.h"
#include "core/study/judge/judge.h"

#define MOST  200
#define SEEDS 10

static double values[MOST][SEEDS];
static struct judge_build builds[MOST];
static size_t n_builds;
static struct judge_levels levels;

/* Appends so many builds of one level under some seeds, with these draws of them and noise. */
static void stretch(struct random *r, size_t n, double level, size_t seeds, const double *draws, double noise)
{
        for (size_t i = 0; i < n; i++, n_builds++) {
                for (size_t s = 0; s < seeds; s++)
                        values[n_builds][s] = level * exp((draws ? draws[s] : 0) + noise * random_normal(r));
                builds[n_builds] = (struct judge_build){values[n_builds], seeds};
        }
}

static void draw(struct random *r, double *draws, double sigma)
{
        for (size_t s = 0; s < SEEDS; s++)
                draws[s] = sigma * random_normal(r);
}

static void look_at(void)
{
        judge_levels_done(&levels);
        judge_levels(builds, n_builds, 0, &levels);
        n_builds = 0;
}

START_TEST(test_every_build_may_be_a_level)
{
        static const double kissat[] = {0.13, 0.71, 0.02, 1.27, 0.77, 1.55};
        struct random r;

        random_seed(&r, 1);
        for (size_t i = 0; i < 6; i++)
                stretch(&r, 1, kissat[i], 5, NULL, 0.05);
        look_at();
        ck_assert_uint_eq(levels.n, 6);
        for (size_t i = 0; i < 6; i++) {
                ck_assert_uint_eq(levels.list[i].from, i);
                ck_assert_uint_eq(levels.list[i].to, i + 1);
                ck_assert_double_eq_tol(levels.list[i].mean, kissat[i], 0.1 * kissat[i]);
                ck_assert(i == 0 ? isnan(levels.list[i].p) : levels.list[i].p < 0.001);
        }
}
END_TEST

/* Somebody changes the search: all seeds draw anew, and every later build shows the same draws. That is no level. */
START_TEST(test_new_draws_are_no_level)
{
        unsigned alarms = 0;

        for (uint64_t seed = 1; seed <= 200; seed++) {
                double draws[SEEDS];
                struct random r;

                random_seed(&r, seed);
                for (size_t epoch = 0; epoch < 4; epoch++) {
                        draw(&r, draws, 1);
                        stretch(&r, 10, 1, SEEDS, draws, 0.02);
                }
                look_at();
                alarms += levels.n > 1;
        }
        ck_assert_msg(alarms <= 5, "%u of 200", alarms);
}
END_TEST

START_TEST(test_a_level_over_all_draws)
{
        double draws[SEEDS];
        struct random r;

        random_seed(&r, 3);
        draw(&r, draws, 1);
        stretch(&r, 17, 1, SEEDS, draws, 0.05);
        stretch(&r, 23, 1.2, SEEDS, draws, 0.05); /* the same draws: a fifth is plain */
        draw(&r, draws, 0.5);
        stretch(&r, 20, 12, SEEDS, draws, 0.05); /* others, and ten times as slow */
        look_at();
        ck_assert_uint_eq(levels.n, 3);
        ck_assert_uint_eq(levels.list[1].from, 17);
        ck_assert_uint_eq(levels.list[2].from, 40);
        ck_assert_uint_eq(levels.list[2].to, 60);
}
END_TEST

START_TEST(test_one_run_of_each_build)
{
        struct random r;

        random_seed(&r, 4);
        stretch(&r, 30, 1, 1, NULL, 0.05);
        stretch(&r, 1, 10, 1, NULL, 0.05); /* a single reading lies */
        stretch(&r, 30, 1, 1, NULL, 0.05);
        stretch(&r, 8, 2, 1, NULL, 0.05);
        stretch(&r, 40, 0.5, 1, NULL, 0.05);
        values[80][0] = NAN;
        look_at();
        ck_assert_uint_eq(levels.n, 3);
        ck_assert_uint_eq(levels.list[1].from, 61);
        ck_assert_uint_eq(levels.list[2].from, 69);
        ck_assert_double_eq_tol(levels.list[0].mean, 1, 0.05);
        ck_assert_double_eq_tol(levels.list[2].mean, 0.5, 0.05);
}
END_TEST

START_TEST(test_noise_has_no_levels)
{
        unsigned alarms = 0;

        for (uint64_t seed = 1; seed <= 300; seed++) {
                struct random r;

                random_seed(&r, seed);
                stretch(&r, 60, 1, 1, NULL, 0.1);
                look_at();
                alarms += levels.n > 1;
        }
        ck_assert_msg(alarms <= 8, "%u of 300", alarms);
}
END_TEST

/* A count is the same at every run; what is below the floor is no change. */
START_TEST(test_constants)
{
        struct random r;

        random_seed(&r, 6);
        stretch(&r, 3, 1000, 5, NULL, 0);
        stretch(&r, 1, 1100, 5, NULL, 0);
        stretch(&r, 3, 1110, 5, NULL, 0);
        look_at();
        ck_assert_uint_eq(levels.n, 2);
        ck_assert_uint_eq(levels.list[1].from, 3);
        ck_assert_double_eq(levels.list[1].p, 0);
}
END_TEST

START_TEST(test_few_builds)
{
        struct random r;

        random_seed(&r, 7);
        look_at();
        ck_assert_uint_eq(levels.n, 0);
        stretch(&r, 1, 3, 1, NULL, 0);
        look_at();
        ck_assert_uint_eq(levels.n, 1);
        ck_assert_double_eq_tol(levels.list[0].mean, 3, 1e-9);
        stretch(&r, 3, 1, 0, NULL, 0); /* nothing known */
        look_at();
        ck_assert_uint_eq(levels.n, 1);
        ck_assert(isnan(levels.list[0].mean));
        stretch(&r, 2, 1, 5, NULL, 0.02);
        stretch(&r, 1, 1, 0, NULL, 0); /* a gap */
        stretch(&r, 2, 9, 5, NULL, 0.02);
        look_at();
        ck_assert_uint_eq(levels.n, 2);
        judge_levels_done(&levels);
}
END_TEST

SUITE("judge_levels", test_every_build_may_be_a_level, test_new_draws_are_no_level, test_a_level_over_all_draws,
      test_one_run_of_each_build, test_noise_has_no_levels, test_constants, test_few_builds)
