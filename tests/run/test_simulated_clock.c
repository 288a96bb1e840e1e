#include "tests/support/test.h"

#include "core/run/simulated_clock.h"

static const struct recipe_limits limits = {.wall_ns = 2 * NSEC_PER_SEC};

static struct execute_result ended(const char *out, const char *err)
{
        return (struct execute_result){.end = END_EXIT,
                                       .wall_ns = 77,
                                       .system_ns = 5,
                                       .waited_ns = 66,
                                       .doubt = DOUBT_PAUSE,
                                       .out = {.data = out, .size = strlen(out)},
                                       .out_size = strlen(out),
                                       .err = {.data = err, .size = strlen(err)}};
}

START_TEST(test_a_run_lasts_as_long_as_it_says)
{
        cleanup(execute_result_done) struct execute_result r = ended("sat\n", "warning: it lasts 9\nlasts 0.5\nlasts 0.25\nlasts");

        simulated_clock_apply(&limits, &r);
        ck_assert_uint_eq(r.wall_ns, NSEC_PER_SEC / 4);
        ck_assert_uint_eq(r.user_ns + r.system_ns, r.wall_ns);
        ck_assert_uint_eq(r.waited_ns, 0);
        ck_assert_int_eq(r.doubt, DOUBT_NONE);
        ck_assert_uint_eq(r.out_size, 4);
}
END_TEST

START_TEST(test_one_that_says_nothing_is_short)
{
        cleanup(execute_result_done) struct execute_result r = ended("sat\n", "");

        simulated_clock_apply(&limits, &r);
        ck_assert_uint_eq(r.wall_ns, NSEC_PER_MSEC);
        ck_assert_int_eq(r.end, END_EXIT);
}
END_TEST

START_TEST(test_beyond_the_limit_nothing_was_printed)
{
        cleanup(execute_result_done) struct execute_result r = ended("sat\n", "lasts 20\n");

        simulated_clock_apply(&limits, &r);
        ck_assert_int_eq(r.end, END_TIMEOUT);
        ck_assert_uint_eq(r.wall_ns, limits.wall_ns);
        ck_assert_uint_eq(r.out.size + r.out_size, 0);
}
END_TEST

START_TEST(test_of_two_limits_the_lower_one_counts)
{
        struct recipe_limits both = {.wall_ns = 9 * NSEC_PER_SEC, .cpu_ns = 3 * NSEC_PER_SEC};
        cleanup(execute_result_done) struct execute_result r = ended("sat\n", "lasts 5");

        simulated_clock_apply(&both, &r);
        ck_assert_int_eq(r.end, END_TIMEOUT);
        ck_assert_uint_eq(r.wall_ns, both.cpu_ns);
}
END_TEST

START_TEST(test_cpu_time_may_be_another)
{
        struct recipe_limits both = {.wall_ns = 9 * NSEC_PER_SEC, .cpu_ns = 3 * NSEC_PER_SEC};
        cleanup(execute_result_done) struct execute_result short_one = ended("sat\n", "lasts 8 cpu 0.5\n"), long_one = ended("sat\n", "lasts 8 cpu 6\n");

        simulated_clock_apply(&both, &short_one);
        ck_assert_int_eq(short_one.end, END_EXIT);
        ck_assert_uint_eq(short_one.wall_ns, 8 * NSEC_PER_SEC);
        ck_assert_uint_eq(short_one.user_ns, NSEC_PER_SEC / 2);
        simulated_clock_apply(&both, &long_one);
        ck_assert_int_eq(long_one.end, END_TIMEOUT);
        ck_assert_uint_eq(long_one.user_ns, both.cpu_ns);
        ck_assert_uint_eq(long_one.wall_ns, 4 * NSEC_PER_SEC); /* it was half way */
}
END_TEST

SUITE("simulated_clock", test_cpu_time_may_be_another, test_a_run_lasts_as_long_as_it_says, test_one_that_says_nothing_is_short, test_beyond_the_limit_nothing_was_printed,
      test_of_two_limits_the_lower_one_counts)
