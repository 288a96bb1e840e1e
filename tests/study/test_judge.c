#include "tests/support/test.h"

#include <math.h>

#include "cache/base/random.h"
#include "core/study/judge/judge.h"

#define CASES 100
#define LIMIT 10

static struct judge_pair pairs[CASES][JUDGE_PAIRS];
static struct judge_case cases[CASES];
static struct judgement judged;
static const struct judge_options by_time = {.measure = JUDGE_TIME, .most_pairs = JUDGE_PAIRS};

static enum judge_change change_of_set(void)
{
        return judged.set.by[judged.options.measure].change;
}

static struct judge_run run(enum verdict v, double seconds)
{
        return (struct judge_run){.is_known = true,
                                  .verdict = v,
                                  .limit = LIMIT,
                                  .seconds = seconds,
                                  .cpu_seconds = NAN,
                                  .memory = NAN,
                                  .effort = NAN};
}

static struct judge_run with_effort(double seconds, double effort)
{
        struct judge_run r = run(VERDICT_SAT, seconds);

        r.effort = effort;
        return r;
}

static struct judge_run wrong_run(enum verdict v)
{
        struct judge_run r = run(v, 1);

        r.is_wrong = true;
        return r;
}

static void setup(void)
{
        for (size_t i = 0; i < CASES; i++)
                cases[i] = (struct judge_case){.pairs = pairs[i]};
}

static void look_at(size_t n, const struct judge_options *options)
{
        judgement_done(&judged);
        judge(cases, n, options, &judged);
}

/* One case of so many equal pairs. */
static const struct judged_case *judge_pairs(size_t n, struct judge_run before, struct judge_run after)
{
        setup();
        cases[0].n_pairs = n;
        for (size_t i = 0; i < n; i++)
                pairs[0][i] = (struct judge_pair){{before, after}};
        look_at(1, &by_time);
        return &judged.cases[0];
}

static enum judge_change change_of(size_t n, struct judge_run before, struct judge_run after)
{
        return judge_pairs(n, before, after)->change;
}

/* -- answers ------------------------------------------------------------------------------------------------------ */

START_TEST(test_answers_are_facts)
{
        struct judge_run sat = run(VERDICT_SAT, 1), unsat = run(VERDICT_UNSAT, 1), timeout = run(VERDICT_TIMEOUT, LIMIT),
                         none = {0};

        ck_assert_int_eq(change_of(1, sat, none), JUDGE_UNKNOWN);
        ck_assert_int_eq(change_of(0, sat, sat), JUDGE_UNKNOWN);
        ck_assert_int_eq(change_of(1, sat, wrong_run(VERDICT_UNSAT)), JUDGE_WRONG);
        ck_assert_int_eq(change_of(1, timeout, wrong_run(VERDICT_UNSAT)), JUDGE_WRONG);
        ck_assert_int_eq(change_of(1, wrong_run(VERDICT_SAT), unsat), JUDGE_RIGHT);
        ck_assert_int_eq(change_of(1, wrong_run(VERDICT_SAT), wrong_run(VERDICT_SAT)), JUDGE_SAME);
        ck_assert_int_eq(change_of(1, sat, unsat), JUDGE_CONTRADICTION);
        ck_assert_int_eq(change_of(1, timeout, run(VERDICT_UNKNOWN, 1)), JUDGE_SAME);
        ck_assert_uint_eq(judged.cases[0].wanted, 0);
}
END_TEST

START_TEST(test_a_wrong_answer_under_any_seed)
{
        judge_pairs(5, run(VERDICT_SAT, 1), run(VERDICT_SAT, 1));
        pairs[0][3].run[1] = wrong_run(VERDICT_UNSAT);
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_WRONG);
        ck_assert_uint_eq(judged.set.wrong[1], 1);
        ck_assert_uint_eq(judged.set.verdicts[1][VERDICT_SAT], 0);
        pairs[0][3].run[1] = run(VERDICT_UNSAT, 1); /* of one version it is another answer than before */
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_CONTRADICTION);
}
END_TEST

START_TEST(test_a_version_that_contradicts_itself_improves_nothing)
{
        for (int side = 0; side < 2; side++) {
                judge_pairs(5, run(VERDICT_UNKNOWN, 1), run(VERDICT_UNKNOWN, 1));
                for (size_t i = 0; i < 5; i++)
                        pairs[0][i].run[side] = run(i % 2 ? VERDICT_SAT : VERDICT_UNSAT, 1);
                look_at(1, &by_time);
                ck_assert_int_eq(judged.cases[0].change, JUDGE_CONTRADICTION);
        }
}
END_TEST

START_TEST(test_a_wrong_answer_of_one_version_alone)
{
        judge_pairs(1, wrong_run(VERDICT_UNSAT), (struct judge_run){0});
        ck_assert_uint_eq(judged.set.wrong[0], 1);
        ck_assert_uint_eq(judged.set.compared, 0);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNKNOWN);
}
END_TEST

START_TEST(test_one_lost_answer_proves_nothing)
{
        const struct judged_case *c = judge_pairs(1, run(VERDICT_SAT, 1), run(VERDICT_TIMEOUT, LIMIT));

        ck_assert_int_eq(c->change, JUDGE_UNDECIDED);
        ck_assert_uint_eq(c->wanted, 5);
        ck_assert_uint_eq(c->flips[0], 1);
        ck_assert_double_eq_tol(c->by[JUDGE_TIME].ratio, LIMIT, 1e-9);
}
END_TEST

START_TEST(test_lost_and_gained_over_seeds)
{
        struct judge_run timeout = run(VERDICT_TIMEOUT, LIMIT), crash = run(VERDICT_CRASH, 0.01);

        ck_assert_int_eq(change_of(12, run(VERDICT_SAT, 1), timeout), JUDGE_LOST);
        ck_assert_uint_eq(judged.set.flips[0], 12);
        ck_assert_double_eq(judged.set.flips_p, 1); /* one case, however often it was run */
        ck_assert_int_eq(change_of(12, crash, run(VERDICT_UNSAT, 1)), JUDGE_GAINED);
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_TIME].median[0], LIMIT,
                                1e-9); /* not the hundredth of a second that the crash took */
        for (size_t i = 0; i < 12; i++)
                pairs[0][i] = (struct judge_pair){
                        {run(VERDICT_SAT, 1 + 0.01 * (double)i), i < 3 ? timeout : run(VERDICT_SAT, 5 + 0.01 * (double)i)}};
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE); /* most seeds still have an answer */
        ck_assert_uint_eq(judged.cases[0].flips[0], 3);
}
END_TEST

/* The p of the flips is that of the cases: pairs of one case prove nothing about others, however many were run. */
START_TEST(test_flips_are_counted_by_case)
{
        static const size_t n[] = {24, 5, 8, 12, 5, 6, 3}, gained[] = {0, 0, 1, 5, 2, 3, 3}; /* of n; the others are lost */
        struct judge_run sat = run(VERDICT_SAT, 1), timeout = run(VERDICT_TIMEOUT, LIMIT);

        setup();
        for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
                cases[i].n_pairs = n[i];
                for (size_t k = 0; k < n[i]; k++)
                        pairs[i][k] = k < gained[i] ? (struct judge_pair){{timeout, sat}} : (struct judge_pair){{sat, timeout}};
        }
        look_at(ARRAY_SIZE(n), &by_time);
        ck_assert_uint_eq(judged.set.flips[0], 49);
        ck_assert_uint_eq(judged.set.flips[1], 14);
        ck_assert_uint_eq(judged.set.flipped[0], 5);
        ck_assert_uint_eq(judged.set.flipped[1], 1);
        ck_assert_double_eq_tol(judged.set.flips_p, 2 * 7 / 64.0, 1e-12);
}
END_TEST

/* Its times vary, so no test of five pairs shows it. */
START_TEST(test_an_answer_lost_in_every_pair)
{
        struct judge_run sat = run(VERDICT_SAT, 1), crash = run(VERDICT_CRASH, 0.01), timeout = run(VERDICT_TIMEOUT, LIMIT);
        struct judge_options o = by_time;

        o.most_pairs = 5;
        judge_pairs(5, sat, crash);
        for (size_t i = 0; i < 5; i++)
                pairs[0][i].run[0].seconds += 0.01 * (double)i;
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_LOST);
        for (size_t i = 0; i < 5; i++)
                pairs[0][i].run[0].seconds = 0.99 * LIMIT; /* a crash counts as hardly more */
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_LOST);
        for (size_t i = 0; i < 5; i++)
                pairs[0][i] = (struct judge_pair){{run(i % 2 ? VERDICT_UNKNOWN : VERDICT_ERROR, 1), run(VERDICT_UNSAT, 1 + 0.01 * (double)i)}};
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_GAINED);
        cases[0].n_pairs = 4;
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        cases[0].n_pairs = 5;
        pairs[0][3].run[0] = timeout; /* near the limit, an answer comes and goes by chance */
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        pairs[0][3].run[0] = run(VERDICT_UNSAT, 1);
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
}
END_TEST

/* A flip each way is chaos. */
START_TEST(test_answers_that_come_and_go)
{
        struct judge_run sat = run(VERDICT_SAT, 1), timeout = run(VERDICT_TIMEOUT, LIMIT);

        judge_pairs(24, sat, sat);
        for (size_t i = 0; i < 24; i++)
                pairs[0][i] = (struct judge_pair){{i % 2 ? sat : timeout, i % 3 ? sat : timeout}};
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        ck_assert_uint_gt(judged.cases[0].flips[0], 0);
        ck_assert_uint_gt(judged.cases[0].flips[1], 0);
}
END_TEST

START_TEST(test_limits_that_differ)
{
        struct judge_run before = run(VERDICT_SAT, 7), after = run(VERDICT_TIMEOUT, 5);

        after.limit = 5;
        ck_assert_int_eq(change_of(12, before, after), JUDGE_SAME); /* in 5 s neither solves it */
        ck_assert_uint_eq(judged.set.verdicts[0][VERDICT_TIMEOUT], 1);
        ck_assert_uint_eq(judged.set.verdicts[0][VERDICT_SAT], 0);
        before.seconds = 4;
        ck_assert_int_eq(change_of(12, before, after), JUDGE_LOST);
        ck_assert_double_eq_tol(judged.set.par2[1], 10, 1e-9);
}
END_TEST

START_TEST(test_the_same_program)
{
        judge_pairs(1, run(VERDICT_SAT, 1), run(VERDICT_SAT, 1));
        cases[0].is_same_program = true;
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_SAME);
        ck_assert_uint_eq(judged.cases[0].wanted, 0);
        ck_assert_double_eq(judged.cases[0].by[JUDGE_TIME].ratio, 1);
        ck_assert_int_eq(change_of_set(), JUDGE_SAME);
        ck_assert_double_eq(judged.set.by[JUDGE_TIME].ratio.mean, 1);
}
END_TEST

/* -- one case ----------------------------------------------------------------------------------------------------- */

/* Fills case i: times around one second by `sigma` over seeds, of their own or shared, with noise; the second version takes `ratio` of the first. */
static void draw(struct random *r, size_t i, size_t n, double sigma, bool shared, double noise, double ratio)
{
        cases[i].n_pairs = n;
        for (size_t k = 0; k < n; k++) {
                double draws[2] = {sigma * random_normal(r), sigma * random_normal(r)};

                for (int side = 0; side < 2; side++)
                        pairs[i][k].run[side] = run(VERDICT_SAT, 0.1 * exp(draws[shared ? 0 : side] + noise * random_normal(r)) *
                                                                         (side ? ratio : 1));
                for (int side = 0; side < 2; side++)
                        pairs[i][k].run[side].limit = 1e6;
        }
}

START_TEST(test_slower_under_the_same_draws)
{
        struct random r;
        const struct judge_shift *s;

        random_seed(&r, 1);
        setup();
        draw(&r, 0, 24, 1, true, 0.05, 1.5);
        look_at(1, &by_time);
        s = &judged.cases[0].by[JUDGE_TIME];
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
        ck_assert_str_eq(judge_change_name(JUDGE_MORE, JUDGE_TIME), "slower");
        ck_assert(s->low < 1.5 && 1.5 < s->high && s->high / s->low < 1.15);
        ck_assert_double_eq_tol(s->ratio, 1.5, 0.1);
        ck_assert(s->p < 1e-6);
        ck_assert_uint_eq(judged.cases[0].wanted, 0);
        draw(&r, 0, 24, 1, true, 0.05, 0.5);
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_LESS);
}
END_TEST

/* The same with draws of their own: a wide interval, and nothing of a tenth is shown. */
START_TEST(test_own_draws_need_more)
{
        struct random r;

        random_seed(&r, 2);
        setup();
        draw(&r, 0, 24, 1, false, 0.05, 1.1);
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        ck_assert(judged.cases[0].by[JUDGE_TIME].high / judged.cases[0].by[JUDGE_TIME].low > 2);
        draw(&r, 0, 24, 1, false, 0.05, 10);
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
}
END_TEST

/* Five pairs, then the looks, as far as they may go; what is between two looks waits for the next. */
START_TEST(test_wanted)
{
        static const size_t looks[] = {5, 8, 12, 18, 24, 32, 40, 50, 60, 0};
        struct random r;
        struct judge_options o = by_time;

        random_seed(&r, 3);
        setup();
        draw(&r, 0, JUDGE_PAIRS, 0.1, false, 0, 1.04); /* near the floor, on the wrong side: never decided at once */
        for (size_t i = 0, n = 1; n > 0; i++, n = judged.cases[0].wanted) {
                cases[0].n_pairs = n;
                look_at(1, &by_time);
                ck_assert_msg(judged.cases[0].wanted == looks[i] || judged.cases[0].wanted == 0, "%zu pairs: %zu", n,
                              judged.cases[0].wanted);
                ck_assert(i > 0 || judged.cases[0].wanted == 5);
        }
        cases[0].n_pairs = 1;
        for (size_t most = 2; most <= 5; most++) {
                o.most_pairs = most;
                look_at(1, &o);
                ck_assert_uint_eq(judged.cases[0].wanted, most);
        }
        draw(&r, 0, 7, 1, true, 0.05, 3); /* plain, but the next look is at eight */
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        ck_assert_uint_eq(judged.cases[0].wanted, 8);
        o.most_pairs = 7;
        look_at(1, &o);
        ck_assert_uint_eq(judged.cases[0].wanted, 0);
}
END_TEST

START_TEST(test_quiet_cases_stop_at_once)
{
        struct random r;

        random_seed(&r, 4);
        setup();
        for (size_t i = 0; i < 20; i++)
                draw(&r, i, 5, 0, false, 0.005, 1);
        look_at(20, &by_time);
        for (size_t i = 0; i < 20; i++) {
                ck_assert_int_eq(judged.cases[i].change, JUDGE_SAME);
                ck_assert_uint_eq(judged.cases[i].wanted, 0);
        }
        ck_assert_int_eq(change_of_set(), JUDGE_SAME);
        ck_assert_uint_eq(judged.set.wanted, 0);
}
END_TEST

/* 5 % and 1 ms. */
START_TEST(test_the_floor)
{
        struct random r;

        random_seed(&r, 5);
        setup();
        draw(&r, 0, 60, 0, true, 0.001, 1.03);
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_SAME);
        ck_assert(judged.cases[0].by[JUDGE_TIME].p < 1e-6);
        draw(&r, 0, 60, 0, true, 0.001, 1.5);
        for (size_t i = 0; i < 60; i++)
                for (int side = 0; side < 2; side++)
                        pairs[0][i].run[side].seconds /= 100; /* 1 ms and 1.5 ms */
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_SAME);
}
END_TEST

/* Slower by 1.5 %, which is no change; a single seed that is slower by chance does not make it one. */
START_TEST(test_an_outlier_is_no_change)
{
        struct random r;

        random_seed(&r, 5);
        setup();
        draw(&r, 0, 24, 0, true, 0.001, 1.015);
        pairs[0][7].run[1].seconds *= 12;
        look_at(1, &by_time);
        ck_assert(judged.cases[0].by[JUDGE_TIME].p < 1e-5);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
}
END_TEST

/* Faster by 2 %, but far slower under two seeds: together that is no difference of less than 5 %. */
START_TEST(test_seeds_apart_are_not_the_same)
{
        struct random r;

        random_seed(&r, 6);
        setup();
        draw(&r, 0, 24, 0, true, 0.001, 0.98);
        for (size_t i = 0; i < 24; i += 12)
                pairs[0][i].run[1].seconds *= 6;
        look_at(1, &by_time);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
}
END_TEST

/* Slower by much under a third of the seeds: the middle pairs hardly show it, their mean does, and its ratio is shown. */
START_TEST(test_slower_under_some_seeds)
{
        struct random r;
        const struct judge_shift *s;

        random_seed(&r, 7);
        setup();
        draw(&r, 0, 24, 0, true, 0.001, 1.01);
        for (size_t i = 0; i < 24; i += 3)
                pairs[0][i].run[1].seconds *= 6;
        look_at(1, &by_time);
        s = &judged.cases[0].by[JUDGE_TIME];
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
        ck_assert_double_eq_tol(s->ratio, 1.01 * pow(6, 1.0 / 3), 0.02);
        ck_assert(1 < s->low && s->low < s->ratio && s->ratio < s->high);
}
END_TEST

/* A pair without one of its runs, and seeds without the measure, are passed over. */
START_TEST(test_what_is_missing)
{
        struct random r;

        random_seed(&r, 6);
        setup();
        draw(&r, 0, 24, 0, true, 0.01, 2);
        for (size_t i = 0; i < 24; i++)
                for (int side = 0; side < 2; side++)
                        pairs[0][i].run[side].memory = i % 2 ? 1e6 * (double)(i + (size_t)side) : NAN;
        pairs[0][5].run[0].is_known = false;
        pairs[0][7].run[1].seconds = NAN;
        look_at(1, &by_time);
        ck_assert_uint_eq(judged.cases[0].pairs, 23);
        ck_assert_uint_eq(judged.cases[0].by[JUDGE_TIME].pairs, 22);
        ck_assert_uint_eq(judged.cases[0].by[JUDGE_MEMORY].pairs, 11);
        ck_assert_uint_eq(judged.cases[0].by[JUDGE_EFFORT].pairs, 0);
        ck_assert_int_eq(judged.cases[0].by[JUDGE_EFFORT].change, JUDGE_UNKNOWN);
        ck_assert(isnan(judged.cases[0].by[JUDGE_EFFORT].ratio) && isnan(judged.cases[0].by[JUDGE_CPU_TIME].p));
        ck_assert_int_eq(judged.set.by[JUDGE_EFFORT].change, JUDGE_UNKNOWN);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
        cases[0].n_pairs = 5;
        pairs[0][2].run[0].seconds = NAN; /* four of five are there: it goes on */
        look_at(1, &by_time);
        ck_assert_uint_eq(judged.cases[0].wanted, 8);
}
END_TEST

/* -- measures ----------------------------------------------------------------------------------------------------- */

/* A count that is the same under five seeds is no chance; four may be. */
START_TEST(test_a_constant_decides)
{
        const struct judge_options by_effort = {.measure = JUDGE_EFFORT, .most_pairs = JUDGE_PAIRS};

        judge_pairs(5, with_effort(1, 1000), with_effort(1, 1100));
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
        ck_assert_str_eq(judge_change_name(JUDGE_MORE, JUDGE_EFFORT), "more");
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_EFFORT].ratio, 1.1, 1e-9);
        ck_assert_double_eq(judged.cases[0].by[JUDGE_EFFORT].p, 0);
        cases[0].n_pairs = 4;
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        judge_pairs(5, with_effort(1, 0), with_effort(1, 50000));
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_MORE);
        judge_pairs(5, with_effort(1, 1000), with_effort(1, 1010)); /* below the floor */
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_SAME);
        judge_pairs(5, with_effort(1, 1000), with_effort(1, 1100));
        pairs[0][2].run[1].effort = 1200; /* not the same under all seeds */
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
}
END_TEST

/* The count falls and the time rises: each says what it is, and their quotient, too. */
START_TEST(test_measures_beside_each_other)
{
        struct random r;
        const struct judged_case *c;

        random_seed(&r, 7);
        setup();
        draw(&r, 0, 24, 0.2, true, 0.01, 2);
        for (size_t i = 0; i < 24; i++)
                for (int side = 0; side < 2; side++) {
                        struct judge_run *run = &pairs[0][i].run[side];

                        run->cpu_seconds = run->seconds;
                        run->memory = 1e6 * (1 + 0.01 * random_normal(&r));
                        run->effort = (side ? 5e4 : 1e5) * (1 + 0.1 * random_normal(&r));
                }
        look_at(1, &by_time);
        c = &judged.cases[0];
        ck_assert_int_eq(c->by[JUDGE_TIME].change, JUDGE_MORE);
        ck_assert_int_eq(c->by[JUDGE_CPU_TIME].change, JUDGE_MORE);
        ck_assert_int_eq(c->by[JUDGE_MEMORY].change, JUDGE_SAME);
        ck_assert_int_eq(c->by[JUDGE_EFFORT].change, JUDGE_LESS);
        ck_assert_int_eq(c->by[JUDGE_PACE].change, JUDGE_MORE);
        ck_assert_double_eq_tol(c->by[JUDGE_PACE].ratio, 4, 0.5);
        ck_assert_str_eq(judge_change_name(JUDGE_LESS, JUDGE_MEMORY), "less");
        ck_assert_str_eq(judge_change_name(JUDGE_LESS, JUDGE_PACE), "faster");
}
END_TEST

/* A run that its CPU limit ended counts that limit as CPU time, and what it took as time; one without such a limit the time limit. */
START_TEST(test_limits_of_cpu_time)
{
        struct judge_run before = run(VERDICT_SAT, 0.9), after = run(VERDICT_TIMEOUT, 1.2);
        const struct judge_shift *s;

        before.cpu_seconds = 0.8;
        after.cpu_seconds = 1;
        before.cpu_limit = after.cpu_limit = 1;
        s = &judge_pairs(8, before, after)->by[JUDGE_CPU_TIME];
        ck_assert_double_eq_tol(s->ratio, 1 / 0.8, 1e-9);
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_TIME].ratio, 1.2 / 0.9, 1e-9);
        ck_assert_double_eq_tol(judged.set.par2[1], 2 * 1.2, 1e-9);
        after.cpu_limit = 0;
        s = &judge_pairs(8, before, after)->by[JUDGE_CPU_TIME];
        ck_assert_double_eq_tol(s->ratio, 1 / 0.8, 1e-9); /* the lesser of 1 s and none */
        before.seconds = 3; /* it slept: no answer is no faster than that */
        ck_assert_double_eq_tol(judge_pairs(8, before, after)->by[JUDGE_TIME].ratio, 1, 1e-9);
        before.cpu_limit = 0;
        s = &judge_pairs(8, before, after)->by[JUDGE_CPU_TIME];
        ck_assert_double_eq_tol(s->ratio, LIMIT / 0.8, 1e-9);
        after.cpu_limit = 0.5;
        judge_pairs(8, after, before); /* an answer after more CPU time than the other version may take */
        ck_assert_uint_eq(judged.cases[0].solved[1], 0);
}
END_TEST

START_TEST(test_the_median)
{
        judge_pairs(8, run(VERDICT_SAT, 1), run(VERDICT_SAT, 1));
        for (size_t i = 0; i < 4; i++)
                pairs[0][i].run[1].seconds = 9;
        look_at(1, &by_time);
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_TIME].median[0], 1, 1e-9);
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_TIME].median[1], 5, 1e-9);
}
END_TEST

/* Asked for by effort, an answer that is gone is lost all the same. */
START_TEST(test_lost_by_another_measure)
{
        const struct judge_options by_effort = {.measure = JUDGE_EFFORT, .most_pairs = JUDGE_PAIRS};

        judge_pairs(1, with_effort(1, 1000), run(VERDICT_TIMEOUT, LIMIT));
        look_at(1, &by_effort);
        ck_assert_uint_eq(judged.cases[0].wanted, 5);
        judge_pairs(18, with_effort(1, 1000), run(VERDICT_TIMEOUT, LIMIT));
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_LOST);
}
END_TEST

/* Lost, gained and their looks do not depend on the measure that is asked for, nor on the other measures of the runs. */
START_TEST(test_answers_by_every_measure)
{
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                for (size_t n = 5; n <= 12; n++)
                        for (int side = 0; side < 2; side++) {
                                const struct judge_options o = {.measure = m, .most_pairs = n};
                                enum judge_change expected = n < JUDGE_CASE_PAIRS ? JUDGE_UNDECIDED : side == 0 ? JUDGE_LOST : JUDGE_GAINED;

                                judge_pairs(n, run(VERDICT_TIMEOUT, LIMIT), run(VERDICT_TIMEOUT, LIMIT));
                                for (size_t i = 0; i < n; i++) {
                                        struct judge_run *solved = &pairs[0][i].run[side];

                                        *solved = with_effort(1 + 0.01 * (double)i, 1000);
                                        solved->cpu_seconds = solved->seconds;
                                        solved->memory = 1e8;
                                }
                                look_at(1, &o);
                                ck_assert_msg(judged.cases[0].change == expected, "%s, %zu pairs: %s", judge_measure_name(m), n,
                                              judge_change_name(judged.cases[0].change, m));
                        }
}
END_TEST

START_TEST(test_amounts)
{
        ck_assert(judge_is_above(JUDGE_TIME, 1, 3.5, 2) && !judge_is_above(JUDGE_TIME, 1, 3, 2));
        ck_assert(judge_is_above(JUDGE_MEMORY, 100e6, 201e6, 2) && !judge_is_above(JUDGE_MEMORY, 100e6, 199e6, 2));
        /* Small processes are all alike. */
        ck_assert(!judge_is_above(JUDGE_MEMORY, 1e6, 15e6, 1.05) && !judge_is_above(JUDGE_MEMORY, 1e6, 30e6, 2) &&
                  judge_is_above(JUDGE_MEMORY, 1e6, 40e6, 2));
        ck_assert(!judge_is_above(JUDGE_EFFORT, 0, 90, 2) && judge_is_above(JUDGE_EFFORT, 0, 900, 2));
        /* On the scale every threshold is a difference. */
        ck_assert_double_eq(judge_scale(JUDGE_TIME, 0.25), 0.25);
        ck_assert_double_eq(judge_scale_threshold(JUDGE_TIME, 10), 10);
        ck_assert_double_eq(judge_scale(JUDGE_MEMORY, 4 * judge_least(JUDGE_MEMORY)), 2);
        ck_assert_double_eq(judge_scale(JUDGE_EFFORT, 0), 0);
        ck_assert_double_eq(judge_scale(JUDGE_EFFORT, NAN), 0);
        ck_assert_double_eq(judge_scale_threshold(JUDGE_EFFORT, 8), 3);
        ck_assert_str_eq(judge_amount_text(JUDGE_TIME, 0.1184).s, "0.118s");
        ck_assert_str_eq(judge_amount_text(JUDGE_MEMORY, 76.34e6).s, "76.3 MB");
        ck_assert_str_eq(judge_amount_text(JUDGE_EFFORT, 120345).s, "120345");
}
END_TEST

START_TEST(test_one_seed_proves_nothing)
{
        const struct judge_options o = {.measure = JUDGE_TIME, .most_pairs = 1},
                                   by_effort = {.measure = JUDGE_EFFORT, .most_pairs = 1};

        judge_pairs(1, with_effort(1, 1000), with_effort(9, 1100));
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_DIFFERS);
        ck_assert(!judge_is_regression(JUDGE_DIFFERS) && !judge_is_improvement(JUDGE_DIFFERS));
        ck_assert_double_eq_tol(judged.cases[0].by[JUDGE_TIME].ratio, 9, 1e-9);
        ck_assert_uint_eq(judged.cases[0].wanted, 0);
        ck_assert_uint_eq(judged.set.wanted, 0);
        ck_assert_int_eq(change_of_set(), JUDGE_UNDECIDED);
        look_at(1, &by_effort);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_DIFFERS);
        ck_assert(isnan(judged.cases[0].by[JUDGE_TIME].low) && isnan(judged.cases[0].by[JUDGE_TIME].high));
        ck_assert(isnan(judged.set.par2_difference.seeds.low) && isnan(judged.set.par2_difference.cases.high));
        judge_pairs(1, with_effort(1, 1000), with_effort(1.2, 1000)); /* noise may do that */
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_UNDECIDED);
        judge_pairs(1, run(VERDICT_SAT, 9), run(VERDICT_TIMEOUT, LIMIT));
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_DIFFERS);
        judge_pairs(1, run(VERDICT_SAT, 9), wrong_run(VERDICT_UNSAT));
        look_at(1, &o);
        ck_assert_int_eq(judged.cases[0].change, JUDGE_WRONG);
}
END_TEST

/* -- sets --------------------------------------------------------------------------------------------------------- */

START_TEST(test_a_set_that_changed_as_a_whole)
{
        struct random r;
        struct judge_options o = by_time;
        const struct judge_set_shift *s;

        random_seed(&r, 8);
        setup();
        o.n_families = 2;
        for (size_t i = 0; i < CASES; i++) {
                draw(&r, i, 12, 1, true, 0.05, i % 2 ? 1 : 1.2);
                cases[i].family = i % 2;
        }
        look_at(CASES, &o);
        ck_assert_int_eq(judged.families[0].by[JUDGE_TIME].change, JUDGE_MORE);
        ck_assert(!judge_is_regression(judged.families[1].by[JUDGE_TIME].change));
        ck_assert_uint_eq(judged.families[0].cases, 50);
        ck_assert_uint_eq(judged.families[0].pairs, 600);
        s = &judged.families[0].by[JUDGE_TIME];
        ck_assert(s->ratio.seeds.low < 1.2 && 1.2 < s->ratio.seeds.high && s->ratio.seeds.high / s->ratio.seeds.low < 1.02);
        ck_assert_int_eq(change_of_set(), JUDGE_MORE);
        ck_assert_uint_eq(judged.set.cases, CASES);
        ck_assert_uint_eq(judged.set.solved[0], CASES);
        ck_assert_double_eq_tol(judged.set.solved_mean[1], CASES, 1e-9);
        ck_assert(judged.set.par2_difference.mean > 0 && judged.set.par2_difference.seeds.low < judged.set.par2_difference.mean);
        ck_assert_double_eq_tol(judged.set.par2[1] - judged.set.par2[0], judged.set.par2_difference.mean, 1e-9);
}
END_TEST

/* All slower by 1.5 %, which is no change; a single run that is slower by chance does not make it one. */
START_TEST(test_an_outlier_is_no_change_of_a_set)
{
        struct random r;

        random_seed(&r, 9);
        setup();
        for (size_t i = 0; i < 4; i++)
                draw(&r, i, 6, 0, true, 0.001, 1.015);
        pairs[2][3].run[1].seconds *= 20;
        look_at(4, &by_time);
        ck_assert(judged.set.by[JUDGE_TIME].p < 0.01);
        ck_assert(judged.set.by[JUDGE_TIME].ratio.mean > 1.1);
        ck_assert_int_eq(change_of_set(), JUDGE_UNDECIDED);
}
END_TEST

/* Eight pairs of each case prove little for it; those of all do, and then the cases follow where they are plain enough. The others want more. */
START_TEST(test_cases_follow_their_set)
{
        struct random r;
        size_t followers = 0;

        random_seed(&r, 9);
        setup();
        for (size_t i = 0; i < CASES; i++)
                draw(&r, i, 8, 0.5, false, 0.05, 1.5);
        look_at(CASES, &by_time);
        ck_assert_int_eq(change_of_set(), JUDGE_MORE);
        ck_assert(judged.set.by[JUDGE_TIME].is_even);
        ck_assert_uint_eq(judged.set.wanted, 0);
        for (size_t i = 0; i < CASES; i++) {
                const struct judge_shift *s = &judged.cases[i].by[JUDGE_TIME];

                followers += s->follows_set;
                ck_assert(judged.cases[i].wanted == 0 || (judged.cases[i].wanted == 12 && !s->follows_set));
                ck_assert(!s->follows_set || (s->p <= 0.01 && judged.cases[i].change == JUDGE_MORE));
        }
        ck_assert_uint_gt(followers, 0);
}
END_TEST

/* A solver without seeds: a pair is a repetition, and each case one throw. A hundred throws are no shift of the set, however small the noise is. */
START_TEST(test_repetitions_are_one_throw_of_a_case)
{
        unsigned alarms = 0;

        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < CASES; i++)
                        draw(&r, i, 5, 0, true, 0.02, exp(random_normal(&r)));
                look_at(CASES, &by_time);
                alarms += change_of_set() != JUDGE_UNDECIDED;
                ck_assert(!judged.set.by[JUDGE_TIME].is_even);
                ck_assert(judged.set.by[JUDGE_TIME].ratio.cases.high / judged.set.by[JUDGE_TIME].ratio.cases.low >
                          judged.set.by[JUDGE_TIME].ratio.seeds.high / judged.set.by[JUDGE_TIME].ratio.seeds.low);
        }
        ck_assert_msg(alarms <= 1, "%u of 100", alarms);
}
END_TEST

START_TEST(test_nothing_to_judge)
{
        look_at(0, &by_time);
        ck_assert_int_eq(change_of_set(), JUDGE_UNKNOWN);
        ck_assert(isnan(judged.set.par2[0]));
        setup();
        look_at(3, &by_time); /* cases without pairs */
        ck_assert_uint_eq(judged.set.cases, 3);
        ck_assert_uint_eq(judged.set.compared, 0);
        ck_assert_uint_eq(judged.set.changes[JUDGE_UNKNOWN], 3);
        ck_assert(isnan(judged.set.by[JUDGE_TIME].ratio.mean));
}
END_TEST

START_TEST(test_order)
{
        struct judged_case slower = {.change = JUDGE_MORE}, worse = {.change = JUDGE_MORE}, wrong = {.change = JUDGE_WRONG},
                           same = {.change = JUDGE_SAME};

        slower.by[JUDGE_TIME].ratio = 1.2;
        worse.by[JUDGE_TIME].ratio = 3;
        wrong.by[JUDGE_TIME].ratio = same.by[JUDGE_TIME].ratio = NAN;
        ck_assert_int_lt(judge_order(&wrong, &worse, JUDGE_TIME), 0);
        ck_assert_int_lt(judge_order(&worse, &slower, JUDGE_TIME), 0);
        ck_assert_int_lt(judge_order(&slower, &same, JUDGE_TIME), 0);
        ck_assert_int_eq(judge_order(&same, &same, JUDGE_TIME), 0);
        for (int c = 0; c < N_JUDGE_CHANGES; c++)
                ck_assert_ptr_nonnull(judge_change_name((enum judge_change)c, JUDGE_TIME));
        for (int m = 0; m < N_JUDGE_MEASURES; m++)
                ck_assert_ptr_nonnull(judge_measure_name((enum judge_measure)m));
}
END_TEST

/* -- many comparisons --------------------------------------------------------------------------------------------- */

/* Asks for pairs as they are wanted, of n cases that are drawn; the most pairs of one. */
static size_t play_on(size_t n, const struct judge_options *o)
{
        size_t most = 0;
        bool again = true;

        while (again) {
                again = false;
                look_at(n, o);
                for (size_t i = 0; i < n; i++) {
                        again |= judged.cases[i].wanted > cases[i].n_pairs;
                        cases[i].n_pairs = MAX(cases[i].n_pairs, judged.cases[i].wanted);
                        most = MAX(most, cases[i].n_pairs);
                }
        }
        return most;
}

static size_t play_by(size_t n, const struct judge_options *o)
{
        for (size_t i = 0; i < n; i++)
                cases[i].n_pairs = 1;
        return play_on(n, o);
}

static size_t play(size_t n)
{
        return play_by(n, &by_time);
}

START_TEST(test_chaos_is_no_change)
{
        unsigned alarms = 0;

        for (uint64_t seed = 1; seed <= 60; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < 40; i++)
                        draw(&r, i, JUDGE_PAIRS, 1, seed % 2, 0.05, 1);
                play(40);
                alarms += judged.set.regressions + judged.set.improvements > 0 ||
                          judge_is_regression(change_of_set()) || judge_is_improvement(change_of_set());
        }
        ck_assert_msg(alarms <= 3, "%u of 60", alarms);
}
END_TEST

START_TEST(test_one_slower_case_is_found)
{
        unsigned found = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < 40; i++)
                        draw(&r, i, JUDGE_PAIRS, 1, false, 0.05, i == 7 ? 4 : 1);
                play(40);
                found += judged.cases[7].change == JUDGE_MORE;
        }
        ck_assert_msg(found >= 19, "%u of 20", found);
}
END_TEST

/* All cases by 10 % under the same draws: five pairs of each are enough for the set, and some more for each of them. */
START_TEST(test_a_slower_set_is_found_early)
{
        size_t found = 0, sum = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < CASES; i++)
                        draw(&r, i, JUDGE_PAIRS, 1, true, 0.05, 1.1);
                for (size_t i = 0; i < CASES; i++)
                        cases[i].n_pairs = 5;
                look_at(CASES, &by_time);
                ck_assert_int_eq(change_of_set(), JUDGE_MORE);
                play_on(CASES, &by_time);
                found += judged.set.regressions;
                sum += judged.set.pairs;
        }
        ck_assert_msg(found >= 19 * CASES, "%zu of %d cases", found, 20 * CASES);
        ck_assert_msg(sum <= 12 * 20 * CASES, "%.1f pairs a case", (double)sum / (20 * CASES));
}
END_TEST

/* Three cases that are slower by one factor are three regressions, also if two of them have more pairs from before. */
START_TEST(test_an_even_slowdown_is_one_of_each_case)
{
        for (uint64_t seed = 1; seed <= 20; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < 3; i++)
                        draw(&r, i, JUDGE_PAIRS, 0.4, true, 0.02, 1.9);
                ck_assert_uint_le(play(3), 12);
                ck_assert_uint_eq(judged.set.regressions, 3);
                ck_assert_int_eq(change_of_set(), JUDGE_MORE);
                cases[0].n_pairs = cases[1].n_pairs = 24;
                cases[2].n_pairs = 5;
                play_on(3, &by_time);
                ck_assert_uint_le(cases[2].n_pairs, 12);
                ck_assert_uint_eq(judged.set.regressions, 3);
        }
}
END_TEST

/* If no number of pairs is likely to show the set's change of a single case, the cases end with the set. */
START_TEST(test_cases_in_chaos_end_with_their_set)
{
        struct random r;
        size_t most;

        random_seed(&r, 1);
        setup();
        for (size_t i = 0; i < CASES; i++)
                draw(&r, i, JUDGE_PAIRS, 1, false, 0.05, 1.2);
        most = play(CASES);
        ck_assert_int_eq(change_of_set(), JUDGE_MORE);
        ck_assert_msg(most < 24, "%zu pairs", most);
        ck_assert_uint_lt(judged.set.regressions, CASES / 10);
}
END_TEST

/* Ten formulas are not worth sixty pairs. */
START_TEST(test_small_sets_end_early)
{
        const struct judge_options small = {.measure = JUDGE_TIME, .most_pairs = JUDGE_PAIRS, .most_wanted = judge_usual_pairs(10)};
        size_t sum = 0;

        for (uint64_t seed = 1; seed <= 20; seed++) {
                struct random r;

                random_seed(&r, seed);
                setup();
                for (size_t i = 0; i < 10; i++)
                        draw(&r, i, JUDGE_PAIRS, 1, false, 0.05, 1);
                play_by(10, &small);
                sum += judged.set.pairs;
                ck_assert_uint_eq(judged.set.wanted, 0);
        }
        ck_assert_msg(sum <= 24 * 10 * 20, "%.1f pairs a case", (double)sum / 200);
}
END_TEST

SUITE("judge", test_an_answer_lost_in_every_pair, test_answers_are_facts, test_a_wrong_answer_under_any_seed, test_a_version_that_contradicts_itself_improves_nothing,
      test_a_wrong_answer_of_one_version_alone,
      test_one_lost_answer_proves_nothing,
      test_lost_and_gained_over_seeds, test_flips_are_counted_by_case, test_answers_that_come_and_go, test_limits_that_differ, test_the_same_program,
      test_slower_under_the_same_draws, test_own_draws_need_more, test_wanted, test_quiet_cases_stop_at_once, test_the_floor, test_an_outlier_is_no_change,
      test_seeds_apart_are_not_the_same, test_slower_under_some_seeds,
      test_what_is_missing, test_a_constant_decides, test_measures_beside_each_other, test_limits_of_cpu_time, test_the_median, test_lost_by_another_measure,
      test_answers_by_every_measure, test_amounts,
      test_one_seed_proves_nothing, test_a_set_that_changed_as_a_whole, test_an_outlier_is_no_change_of_a_set, test_cases_follow_their_set,
      test_repetitions_are_one_throw_of_a_case, test_nothing_to_judge, test_order, test_chaos_is_no_change,
      test_one_slower_case_is_found, test_a_slower_set_is_found_early, test_an_even_slowdown_is_one_of_each_case, test_cases_in_chaos_end_with_their_set, test_small_sets_end_early)
