#include "tests/support/test.h"

#include <math.h>

#include "cache/base/random.h"
#include "core/study/compare/comparison.h"

#define CASES 100

static struct comparison_pair pairs[CASES][COMPARISON_PAIRS];
static struct comparison_case cases[CASES];
static struct comparison_judgement judgements[CASES];

static struct comparison_run run(enum verdict v, double seconds)
{
        return (struct comparison_run){.is_known = true, .verdict = v, .seconds = seconds, .limit = 10, .effort = NAN};
}

static enum comparison_change change_of(struct comparison_run before, struct comparison_run after)
{
        struct comparison_case c = {.run = {before, after}};
        struct comparison_judgement j;

        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        return j.change;
}

START_TEST(test_answers_come_first)
{
        struct comparison_run sat = run(VERDICT_SAT, 1), unsat = run(VERDICT_UNSAT, 1), timeout = run(VERDICT_TIMEOUT, 10),
                              unknown = run(VERDICT_UNKNOWN, 0.1), wrong = sat, none = {.effort = NAN};

        wrong.is_wrong = true;
        ck_assert_int_eq(change_of(sat, none), COMPARISON_UNKNOWN);
        ck_assert_int_eq(change_of(sat, wrong), COMPARISON_WRONG);
        ck_assert_int_eq(change_of(timeout, wrong), COMPARISON_WRONG);
        ck_assert_int_eq(change_of(wrong, unsat), COMPARISON_RIGHT);
        ck_assert_int_eq(change_of(wrong, wrong), COMPARISON_SAME);
        ck_assert_int_eq(change_of(sat, unsat), COMPARISON_CONTRADICTION);
        ck_assert_int_eq(change_of(sat, timeout), COMPARISON_LOST);
        ck_assert_int_eq(change_of(sat, unknown), COMPARISON_LOST);
        ck_assert_int_eq(change_of(sat, run(VERDICT_CRASH, 0.1)), COMPARISON_LOST);
        ck_assert_int_eq(change_of(timeout, sat), COMPARISON_GAINED);
        ck_assert_int_eq(change_of(timeout, unknown), COMPARISON_SAME);
        ck_assert_int_eq(change_of(sat, sat), COMPARISON_UNDECIDED);
}
END_TEST

START_TEST(test_a_timeout_near_the_limit_may_be_noise)
{
        ck_assert_int_eq(change_of(run(VERDICT_SAT, 9.8), run(VERDICT_TIMEOUT, 10)), COMPARISON_UNDECIDED);
        ck_assert_int_eq(change_of(run(VERDICT_TIMEOUT, 10), run(VERDICT_SAT, 9.8)), COMPARISON_UNDECIDED);
}
END_TEST

/* In pairs a run without an answer counts as the limit, though it ended before; a table shows that, and their ratio beside it. */
START_TEST(test_the_ratio_is_that_of_the_seconds_shown)
{
        struct comparison_pair p[10];
        struct comparison_case c = {.run = {run(VERDICT_UNKNOWN, 1), run(VERDICT_SAT, 2)}, .pairs = p, .n_pairs = 10};
        struct comparison_judgement j;

        for (size_t i = 0; i < 10; i++)
                p[i] = (struct comparison_pair){{10, 2}};
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_GAINED);
        ck_assert_double_eq_tol(j.ratio, comparison_seconds(&c, 1) / comparison_seconds(&c, 0), 1e-9);
        ck_assert_double_eq_tol(j.ratio, 0.2, 1e-9);
}
END_TEST

/* One version has no answer in `lost[side]` of the ten pairs. */
static enum comparison_change change_of_doubted(size_t lost_before, size_t lost_after)
{
        struct comparison_pair p[10];
        struct comparison_case c = {
                .run = {run(VERDICT_SAT, 1), run(VERDICT_UNKNOWN, 1)}, .doubts = true, .pairs = p, .n_pairs = 10};
        struct comparison_judgement j;

        for (size_t i = 0; i < 10; i++)
                p[i] = (struct comparison_pair){
                        {i < lost_before ? 10 : 1 + 0.01 * (double)i, 9 - i < lost_after ? 10 : 1.09 - 0.01 * (double)i}};
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        return j.change;
}

START_TEST(test_a_lost_answer_that_is_doubted_needs_pairs)
{
        struct comparison_case c = {.run = {run(VERDICT_SAT, 1), run(VERDICT_UNKNOWN, 1)}, .doubts = true};
        struct comparison_judgement j;

        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED);
        ck_assert_uint_gt(j.wanted, 0);
        ck_assert_int_eq(change_of_doubted(0, 10), COMPARISON_LOST);
        ck_assert_int_eq(change_of_doubted(0, 1), COMPARISON_UNDECIDED);
        ck_assert_int_eq(change_of_doubted(2, 3), COMPARISON_UNDECIDED);
}
END_TEST

/* The one run that is kept got no answer by chance; the pairs did, and are slower. */
START_TEST(test_pairs_say_whether_it_is_lost_or_slower)
{
        struct comparison_pair p[10];
        struct comparison_case c = {
                .run = {run(VERDICT_SAT, 1), run(VERDICT_UNKNOWN, 1)}, .doubts = true, .pairs = p, .n_pairs = 10};
        struct comparison_judgement j;

        for (size_t i = 0; i < 10; i++)
                p[i] = (struct comparison_pair){{1 + 0.01 * (double)i, i == 3 ? 10 : 5}};
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_SLOWER);
}
END_TEST

START_TEST(test_effort)
{
        struct comparison_case c = {.run = {run(VERDICT_SAT, 1), run(VERDICT_SAT, 1)}};
        struct comparison_judgement j;

        c.run[0].effort = 1000;
        c.run[1].effort = 1100;
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_SLOWER);
        ck_assert(j.by_effort);
        ck_assert_double_eq(j.ratio, 1.1);
        ck_assert_uint_eq(j.wanted, 0);
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, true, &j)); /* time alone */
        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED);
        c.run[1].effort = 1020; /* within the floor: time decides */
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED);
        c.run[1].effort = 1100;
        c.run[1].seconds = 0.4; /* more conflicts in less than half of the time are no slowdown */
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED);
        c.run[1].effort = 500;
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_FASTER);
}
END_TEST

/* Ten pairs of a doubted case whose effort is `before` and `after`, and `vary` more in every second run of either. */
static struct comparison_judgement judge_doubted_effort(double before, double after, double vary, size_t n)
{
        struct comparison_pair p[10];
        struct comparison_case c = {.run = {run(VERDICT_SAT, 1), run(VERDICT_SAT, 1)}, .doubts = true, .pairs = p, .n_pairs = n};
        struct comparison_judgement j;

        for (size_t i = 0; i < n; i++)
                p[i] = (struct comparison_pair){.seconds = {1 + 0.01 * (double)i, 1.09 - 0.01 * (double)i},
                                                .effort = {before + (i % 2 ? vary : 0), after + (i % 2 ? 0 : vary)}};
        c.run[0].effort = before;
        c.run[1].effort = after + vary;
        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        return j;
}

START_TEST(test_an_effort_that_is_doubted_needs_pairs)
{
        struct comparison_judgement j = judge_doubted_effort(1000, 1500, 0, 0);

        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED); /* one run each */
        ck_assert_uint_eq(j.wanted, 5);
        j = judge_doubted_effort(1000, 1500, 0, 5); /* it repeats */
        ck_assert_int_eq(j.change, COMPARISON_SLOWER);
        ck_assert(j.by_effort);
        ck_assert_double_eq(j.ratio, 1.5);
        j = judge_doubted_effort(1000, 1000, 500, 10); /* the same two numbers by turns on both sides */
        ck_assert_int_eq(j.change, COMPARISON_UNDECIDED);
        ck_assert(j.by_effort);
        j = judge_doubted_effort(1000, 2000, 100, 10); /* more in each pair, whatever it varies by */
        ck_assert_int_eq(j.change, COMPARISON_SLOWER);
        ck_assert(j.by_effort);
        ck_assert_double_gt(j.low, 1.5);
        ck_assert_uint_eq(j.pairs, 10);
}
END_TEST

/* Log-normal times of all cases; the first `planted` have the ratio. */
static void make_cases(uint64_t seed, double sigma, size_t planted, double ratio)
{
        struct random r;

        random_seed(&r, seed);
        for (size_t i = 0; i < CASES; i++) {
                for (size_t k = 0; k < COMPARISON_PAIRS; k++)
                        pairs[i][k] = (struct comparison_pair){
                                {exp(sigma * random_normal(&r)), (i < planted ? ratio : 1) * exp(sigma * random_normal(&r))}};
                cases[i] = (struct comparison_case){
                        .run = {run(VERDICT_SAT, pairs[i][0].seconds[0]), run(VERDICT_SAT, pairs[i][0].seconds[1])},
                        .pairs = pairs[i]};
        }
}

/* Gives each case the pairs it wants, until none wants any. How many there were in all. */
static size_t judge_to_the_end(size_t most)
{
        size_t all = 0;

        for (bool again = true; again;) {
                again = false;
                assert_ok(comparison_judge(cases, CASES, most, false, judgements));
                for (size_t i = 0; i < CASES; i++) {
                        ck_assert_uint_le(judgements[i].wanted, most);
                        again |= judgements[i].wanted > cases[i].n_pairs;
                        cases[i].n_pairs = MAX(cases[i].n_pairs, judgements[i].wanted);
                }
        }
        for (size_t i = 0; i < CASES; i++)
                all += cases[i].n_pairs;
        return all;
}

START_TEST(test_no_change_is_reported_where_there_is_none)
{
        unsigned alarmed = 0;

        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct comparison_summary s;

                make_cases(seed, 0.03, 0, 1);
                judge_to_the_end(COMPARISON_PAIRS);
                assert_ok(comparison_summarize(cases, judgements, CASES, &s));
                alarmed += s.regressions + s.improvements > 0;
        }
        ck_assert_uint_le(alarmed, 4); /* 1 of 100 is promised at most; five or more would come in one of 270 */
}
END_TEST

START_TEST(test_changes_are_found)
{
        size_t found = 0, right_way = 0;

        for (uint64_t seed = 1; seed <= 40; seed++) {
                make_cases(seed, 0.03, 5, seed % 2 ? 1.1 : 1 / 1.1);
                ck_assert_uint_lt(judge_to_the_end(COMPARISON_PAIRS), 15 * CASES);
                for (size_t i = 0; i < 5; i++) {
                        found += judgements[i].change == COMPARISON_SLOWER || judgements[i].change == COMPARISON_FASTER;
                        right_way += judgements[i].change == (seed % 2 ? COMPARISON_SLOWER : COMPARISON_FASTER);
                        if (judgements[i].change == COMPARISON_SLOWER)
                                ck_assert(judgements[i].low > 1 && judgements[i].ratio > 1.05 && judgements[i].p < 0.001);
                }
        }
        ck_assert_uint_ge(found, 190); /* of 200 */
        ck_assert_uint_eq(found, right_way);
}
END_TEST

START_TEST(test_five_steady_pairs_are_enough_for_the_same)
{
        make_cases(1, 0.005, 0, 1);
        ck_assert_uint_eq(judge_to_the_end(COMPARISON_PAIRS), 5 * CASES);
        for (size_t i = 0; i < CASES; i++)
                ck_assert_int_eq(judgements[i].change, COMPARISON_SAME);
}
END_TEST

START_TEST(test_pairs_are_bounded)
{
        make_cases(1, 0.03, 5, 1.5);
        ck_assert_uint_eq(judge_to_the_end(0), 0);
        ck_assert_uint_le(judge_to_the_end(7), 7 * CASES);
        for (size_t i = 0; i < CASES; i++)
                ck_assert(!comparison_is_regression(judgements[i].change)); /* seven pairs cannot say so */
}
END_TEST

START_TEST(test_less_than_a_millisecond_is_no_change)
{
        make_cases(1, 0.01, CASES, 1.2);
        for (size_t i = 0; i < CASES; i++)
                for (size_t k = 0; k < COMPARISON_PAIRS; k++)
                        for (int side = 0; side < 2; side++)
                                pairs[i][k].seconds[side] *= 0.002;
        judge_to_the_end(COMPARISON_PAIRS);
        for (size_t i = 0; i < CASES; i++)
                ck_assert_int_eq(judgements[i].change, COMPARISON_SAME);
}
END_TEST

START_TEST(test_one_program_is_the_same)
{
        struct comparison_case c = {.run = {run(VERDICT_SAT, 1), run(VERDICT_SAT, 1)}, .is_same_program = true};
        struct comparison_judgement j;

        assert_ok(comparison_judge(&c, 1, COMPARISON_PAIRS, false, &j));
        ck_assert_int_eq(j.change, COMPARISON_SAME);
        ck_assert_uint_eq(j.wanted, 0);
}
END_TEST

START_TEST(test_summary)
{
        struct comparison_case table[] = {
                {.run = {run(VERDICT_SAT, 1), run(VERDICT_SAT, 2)}},      {.run = {run(VERDICT_UNSAT, 2), run(VERDICT_UNSAT, 1)}},
                {.run = {run(VERDICT_TIMEOUT, 10), run(VERDICT_SAT, 3)}}, {.run = {run(VERDICT_SAT, 1), run(VERDICT_UNSAT, 1)}},
                {.run = {run(VERDICT_SAT, 1), {.effort = NAN}}},
        };
        struct comparison_judgement j[ARRAY_SIZE(table)];
        struct comparison_summary s;

        table[3].run[1].is_wrong = true;
        assert_ok(comparison_judge(table, ARRAY_SIZE(table), 0, false, j));
        assert_ok(comparison_summarize(table, j, ARRAY_SIZE(table), &s));
        ck_assert_uint_eq(s.cases, 5);
        ck_assert_uint_eq(s.compared, 4);
        ck_assert_uint_eq(s.known[0], 5);
        ck_assert_uint_eq(s.solved[0], 3);
        ck_assert_uint_eq(s.solved[1], 3);
        ck_assert_uint_eq(s.wrong[1], 1);
        ck_assert_uint_eq(s.verdicts[1][VERDICT_UNSAT], 1);
        ck_assert_uint_eq(s.verdicts[0][VERDICT_TIMEOUT], 1);
        ck_assert_double_eq(s.par2[0], (1 + 2 + 20 + 1) / 4.0);
        ck_assert_double_eq(s.par2[1], (2 + 1 + 3 + 20) / 4.0);
        ck_assert_uint_eq(s.both, 2);
        ck_assert_double_eq_tol(s.ratio, 1, 1e-12);
        ck_assert(s.low < 1 && s.high > 1);
        ck_assert_uint_eq(s.regressions, 1);
        ck_assert_uint_eq(s.improvements, 1);
        ck_assert_int_lt(comparison_order(&j[3], &j[0]), 0); /* wrong before all */
}
END_TEST

SUITE("comparison", test_answers_come_first, test_a_timeout_near_the_limit_may_be_noise, test_the_ratio_is_that_of_the_seconds_shown,
      test_a_lost_answer_that_is_doubted_needs_pairs, test_pairs_say_whether_it_is_lost_or_slower, test_effort,
      test_an_effort_that_is_doubted_needs_pairs, test_no_change_is_reported_where_there_is_none, test_changes_are_found,
      test_five_steady_pairs_are_enough_for_the_same, test_pairs_are_bounded, test_less_than_a_millisecond_is_no_change,
      test_one_program_is_the_same, test_summary)
