/* Replays: scores worked out by hand, and what the options mean. */
#include "tests/bench/replay.h"

#include "tests/bench/baselines.h"
#include "tests/portfolio/synthetic.h"

static const char small[] = "query\tf1\ta_result\ta_seconds\tb_result\tb_seconds\n"
                            "q1\t1\tsat\t1\tsat\t5\n"       /* a first: 1 */
                            "q2\t2\ttimeout\t10\tsat\t2\n"  /* 5 of a, then 2 of b: 7 */
                            "q3\t3\terror\t0.5\tunsat\t9\n" /* 0.5 of a, then 9 of b, which has 9.5: 9.5 */
                            "q4\t4\ttimeout\t10\tsat\t6\n"; /* 5 of a, 5 of b: not solved */

static struct run_table *parse(const char *text)
{
        struct run_table *t = NULL;

        assert_ok(run_table_parse("small.tsv", slice_string(text), &t));
        return t;
}

static struct replay replay_of(const struct run_table *const *tables, size_t n, const struct method *method)
{
        return (struct replay){.tables = tables, .n = n, .seeds = 3, .learner = {.method = method, .limit = 10, .seed = test_seed(1)}};
}

/* Of tests/bench: what each does is known beforehand. */
static struct method method_of(const char *selector, const char *allocation)
{
        struct method m;

        ck_assert(baseline_method(selector, allocation, &m));
        return m;
}

START_TEST(test_by_hand)
{
        cleanup_run_table struct run_table *t = parse(small);
        const struct run_table *tables[] = {t};
        const struct method fixed = method_of("fixed", "constant");
        struct replay r = replay_of(tables, 1, &fixed);
        struct replay_score s;

        assert_ok(replay_run(&r, &s));
        ck_assert_uint_eq(s.queries, 4);
        ck_assert_double_eq_tol(s.par2.mean, 1 + 7 + 9.5 + 20, 1e-9);
        ck_assert_double_eq_tol(s.par2.deviation, 0, 1e-9);
        ck_assert_double_eq_tol(s.solved.mean, 3, 1e-9);
        ck_assert_double_eq_tol(s.first_best.mean, .25, 1e-9);
        ck_assert_double_eq_tol(s.turns.mean, 7 / 4.0, 1e-9);
        ck_assert_str_eq(s.best_arm_name, "b");
        ck_assert_double_eq_tol(s.best_arm_par2, 5 + 2 + 9 + 6, 1e-9);
        ck_assert_uint_eq(s.best_arm_solved, 4);
        ck_assert_double_eq_tol(s.virtual_best_par2, 1 + 2 + 9 + 6, 1e-9);
        ck_assert_uint_eq(s.virtual_best_solved, 4);
}
END_TEST

/* The arms of a later table are found by their names. */
START_TEST(test_columns_in_another_order)
{
        cleanup_run_table struct run_table *t = parse(small), *u = parse("query\tg\tb_result\tb_seconds\ta_result\ta_seconds\n"
                                                                         "q5\t1\ttimeout\t10\tsat\t3\n");
        const struct run_table *tables[] = {t, u};
        const struct method fixed = method_of("fixed", "constant");
        struct replay r = replay_of(tables, 2, &fixed);
        struct replay_score s;

        assert_ok(replay_run(&r, &s));
        ck_assert_uint_eq(s.queries, 5);
        ck_assert_double_eq_tol(s.par2.mean, 1 + 7 + 9.5 + 20 + 3, 1e-9);
        r.split = true;
        assert_ok(replay_run(&r, &s));
        ck_assert_double_eq_tol(s.par2.mean, 1 + 7 + 9.5 + 20 + 3, 1e-9);
}
END_TEST

START_TEST(test_split_forgets)
{
        cleanup_run_table struct run_table *t = two_kinds(1, 100, 10);
        const struct run_table *tables[] = {t, t, t};
        struct replay r = replay_of(tables, 3, NULL);
        struct replay_score together, split, one;

        assert_ok(replay_run(&r, &together));
        r.split = true;
        assert_ok(replay_run(&r, &split));
        r.n = 1;
        r.seeds = 10;
        assert_ok(replay_run(&r, &one));
        ck_assert_uint_eq(split.queries, 300);
        ck_assert(together.par2.mean < split.par2.mean);
        ck_assert(fabs(split.par2.mean - 3 * one.par2.mean) < 6 * one.par2.deviation);
}
END_TEST

START_TEST(test_deviation)
{
        cleanup_run_table struct run_table *t = two_kinds(1, 50, 10);
        const struct run_table *tables[] = {t};
        const struct method random = method_of("random", "constant");
        struct replay r = replay_of(tables, 1, &random);
        struct replay_score s, each;
        double x[3], mean = 0, squares = 0;

        assert_ok(replay_run(&r, &s));
        r.seeds = 1;
        for (unsigned i = 0; i < 3; i++) {
                r.learner.seed = test_seed(1) + i;
                assert_ok(replay_run(&r, &each));
                x[i] = each.par2.mean;
                mean += x[i] / 3;
        }
        for (unsigned i = 0; i < 3; i++)
                squares += (x[i] - mean) * (x[i] - mean);
        ck_assert(squares > 0);
        ck_assert_double_eq_tol(s.par2.mean, mean, 1e-6);
        ck_assert_double_eq_tol(s.par2.deviation, sqrt(squares / 2), 1e-6);
}
END_TEST

/* With two arms, each good at what the other is bad at, and a feature that tells: near the virtual best, and every part left out costs. */
START_TEST(test_default)
{
        cleanup_run_table struct run_table *t = two_kinds(5, 300, 10);
        const struct run_table *tables[] = {t};
        struct replay r = replay_of(tables, 1, NULL);
        struct replay_score s, blind, rigid;

        r.seeds = 5;
        assert_ok(replay_run(&r, &s));
        ck_assert_msg(s.par2.mean < s.best_arm_par2 / 4 && s.par2.mean < s.virtual_best_par2 * 1.6, "%f of %f and %f",
                      s.par2.mean, s.best_arm_par2, s.virtual_best_par2);
        r.learner.without = WITHOUT_FEATURES;
        assert_ok(replay_run(&r, &blind));
        ck_assert(blind.par2.mean > s.par2.mean);
        r.learner.without = WITHOUT_PAUSING;
        assert_ok(replay_run(&r, &rigid));
        ck_assert(rigid.par2.mean > s.par2.mean);
}
END_TEST

START_TEST(test_refused)
{
        cleanup_run_table struct run_table *t = parse(small),
                                           *other = parse("query\tf1\ta_result\ta_seconds\tc_result\tc_seconds\n"
                                                          "q\t1\tsat\t1\tsat\t1\n"),
                                           *wide = parse("query\tf1\tf2\ta_result\ta_seconds\tb_result\tb_seconds\n"
                                                         "q\t1\t1\tsat\t1\tsat\t1\n");
        const struct run_table *tables[] = {t, other}, *widths[] = {t, wide};
        struct replay r = replay_of(tables, 2, NULL);
        struct replay_score s;

        ck_assert_int_eq(replay_run(&r, &s), -EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "has no arm 'b'"));
        r.tables = widths;
        ck_assert_int_eq(replay_run(&r, &s), -EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "2 features"));
        r.n = 1;
        r.learner.limit = 20;
        ck_assert_int_eq(replay_run(&r, &s), -EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "'q2' timed out after 10 s"));
        r.learner.limit = 10;
        r.seeds = 0;
        ck_assert_int_eq(replay_run(&r, &s), -EINVAL);
        r.seeds = 1;
        r.n = 0;
        ck_assert_int_eq(replay_run(&r, &s), -EINVAL);
}
END_TEST

SUITE("replay", test_by_hand, test_columns_in_another_order, test_split_forgets, test_deviation, test_default,
      test_refused)
