/* Learners: what every selector and every allocation keeps to, those of tests/bench, too; the formulas of those that have one; and that they do learn. */
#include "core/portfolio/learner.h"

#include "core/portfolio/hardness.h"
#include "tests/bench/baselines.h"
#include "tests/portfolio/synthetic.h"

#define LIMIT 60.0

static struct learner *make(const char *selector, const char *allocation, size_t arms, size_t features, unsigned seed)
{
        struct learner *l = NULL;
        struct method m;

        ck_assert(baseline_method(selector, allocation, &m));
        assert_ok(learner_new(&(struct learner_settings){.method = &m, .limit = LIMIT, .seed = test_seed(seed)}, arms, features, &l));
        return l;
}

static bool has_plan(const char *selector)
{
        struct method m;

        return baseline_method(selector, "schedule", &m);
}

/* Runs a query of the table; the arm tried first, or -1. Checks what holds for every learner. */
static int run_query(struct learner *l, const struct run_table *t, size_t query, bool pausing, struct attempt *attempts)
{
        double left = LIMIT;
        struct step step;
        int first = -1, turns[8] = {0};
        bool solved = false;

        memset(attempts, 0, t->arms * sizeof(*attempts));
        learner_begin(l, &t->values[query * t->features]);
        while (!solved && learner_next(l, attempts, &step)) {
                struct attempt *a;

                ck_assert_uint_lt(step.arm, t->arms);
                a = &attempts[step.arm];
                ck_assert(step.until > a->seconds);
                ck_assert(step.until - a->seconds <= left * (1 + 1e-6));
                ck_assert(a->ending == ENDING_NONE || (pausing && a->ending == ENDING_STOPPED));
                ck_assert_int_lt(turns[step.arm]++, pausing ? 1000 : 1);
                left += a->seconds;
                *a = run_table_run(t, query, step.arm, step.until);
                left -= a->seconds;
                solved = a->ending == ENDING_SOLVED;
                if (first < 0)
                        first = (int)step.arm;
        }
        learner_end(l, attempts);
        return first;
}

START_TEST(test_every_combination)
{
        cleanup_run_table struct run_table *t = two_kinds(1, 150, LIMIT);
        struct attempt attempts[3];
        unsigned tried = 0;

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++)
                for (const struct baseline_allocation *a = baseline_allocations; a->name; a++) {
                        cleanup_learner struct learner *l = NULL;
                        bool plan = strcmp(a->name, "schedule") == 0;
                        struct method m;

                        if (!baseline_method(s->name, a->name, &m))
                                continue;
                        l = make(s->name, a->name, t->arms, t->features, 3);
                        for (size_t q = 0; q < t->queries; q++)
                                run_query(l, t, q, plan, attempts);
                        tried++;
                }
        ck_assert_uint_eq(tried, 9 * 5 + 2);
}
END_TEST

/* The last arm gets what is left, and an arm's share is as section 5 of the paper has it. */
START_TEST(test_shares)
{
        static const double x = 1;
        struct attempt attempts[3] = {0};
        cleanup_learner struct learner *l = make("fixed", "expo", 3, 1, 1);
        double lambda = 3 / LIMIT, share = -log(.05 + exp(-lambda * LIMIT)) / lambda;
        struct step step;

        learner_begin(l, &x);
        ck_assert(learner_next(l, attempts, &step));
        ck_assert_uint_eq(step.arm, 0);
        ck_assert_double_eq_tol(step.until, share, 1e-9);
        attempts[0] = (struct attempt){ENDING_STOPPED, share};
        ck_assert(learner_next(l, attempts, &step));
        ck_assert_uint_eq(step.arm, 1);
        ck_assert_double_eq_tol(step.until, LIMIT - share, 1e-9);
        attempts[1] = (struct attempt){ENDING_SOLVED, 2};
        learner_end(l, attempts);

        /* the first rate is worth one sample of 20 s; the second arm solved one in 2 s */
        memset(attempts, 0, sizeof(attempts));
        learner_begin(l, &x);
        ck_assert(learner_next(l, attempts, &step) && step.arm == 0);
        attempts[0] = (struct attempt){ENDING_FAILED, 1};
        ck_assert(learner_next(l, attempts, &step) && step.arm == 1);
        lambda = 2 / (20.0 + 2);
        ck_assert_double_eq_tol(step.until, -log(.05 + exp(-lambda * LIMIT)) / lambda, 1e-9);
        attempts[1] = (struct attempt){ENDING_FAILED, 1};
        ck_assert(learner_next(l, attempts, &step) && step.arm == 2 && step.until == LIMIT - 2);
}
END_TEST

START_TEST(test_time_left_over)
{
        static const double x = 1;
        struct attempt attempts[3] = {0};
        cleanup_learner struct learner *l = make("fixed", "constant", 3, 1, 1);
        struct step step;

        learner_begin(l, &x);
        ck_assert(learner_next(l, attempts, &step) && step.arm == 0 && step.until == LIMIT / 3);
        attempts[0] = (struct attempt){ENDING_FAILED, 1};
        ck_assert(learner_next(l, attempts, &step) && step.arm == 1 && step.until == LIMIT / 3);
        attempts[1] = (struct attempt){ENDING_STOPPED, LIMIT / 3};
        ck_assert(learner_next(l, attempts, &step) && step.arm == 2);
        ck_assert_double_eq_tol(step.until, LIMIT - 1 - LIMIT / 3, 1e-9);
        attempts[2] = (struct attempt){ENDING_STOPPED, LIMIT - 1 - LIMIT / 3};
        ck_assert(!learner_next(l, attempts, &step));
}
END_TEST

/* The steps of all queries, in one number. */
static double fingerprint(struct learner *l, const struct run_table *t, size_t from, bool pausing)
{
        struct attempt attempts[3];
        double ret = 0;

        for (size_t q = from; q < t->queries; q++) {
                ret = ret * 1.0001 + run_query(l, t, q, pausing, attempts);
                for (size_t a = 0; a < t->arms; a++)
                        ret += attempts[a].seconds * (double)(a + 1);
        }
        return ret;
}

START_TEST(test_same_seed_same_steps)
{
        cleanup_run_table struct run_table *t = two_kinds(2, 60, LIMIT);

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++) {
                cleanup_learner struct learner *a = make(s->name, NULL, t->arms, t->features, 5),
                                               *b = make(s->name, NULL, t->arms, t->features, 5);
                bool plan = has_plan(s->name);

                ck_assert(fingerprint(a, t, 0, plan) == fingerprint(b, t, 0, plan));
        }
}
END_TEST

/* A learner that is told what another one saw goes on as that one. */
START_TEST(test_told_again)
{
        cleanup_run_table struct run_table *t = two_kinds(4, 80, LIMIT);

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++) {
                cleanup_learner struct learner *a = make(s->name, NULL, t->arms, t->features, 5),
                                               *b = make(s->name, NULL, t->arms, t->features, 5);
                bool plan = has_plan(s->name);
                struct attempt attempts[3];

                for (size_t q = 0; q < 40; q++) {
                        run_query(a, t, q, plan, attempts);
                        learner_begin(b, &t->values[q * t->features]);
                        learner_end(b, attempts);
                }
                ck_assert_msg(fingerprint(a, t, 40, plan) == fingerprint(b, t, 40, plan), "%s", s->name);
        }
}
END_TEST

/* Told by its expectations alone, and asked about queries that never end in between, a learner still goes on as the other one. */
START_TEST(test_expectations_and_queries_without_end)
{
        cleanup_run_table struct run_table *t = two_kinds(9, 200, LIMIT);

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++) {
                cleanup_learner struct learner *a = make(s->name, NULL, t->arms, t->features, 5),
                                               *b = make(s->name, NULL, t->arms, t->features, 5);
                size_t n = learner_expected(a, NULL);
                cleanup_free double *expected = calloc(n + 1, sizeof(*expected));
                bool plan = has_plan(s->name);
                struct attempt attempts[3], none[3] = {0};
                struct step step;

                for (size_t q = 0; q < 150; q++) {
                        const double *other = &t->values[(q * 7 + 3) % t->queries * t->features];

                        learner_begin(b, other);
                        ck_assert(learner_next(b, none, &step));
                        run_query(a, t, q, plan, attempts);
                        learner_expected(a, expected);
                        learner_tell(b, &t->values[q * t->features], n > 0 ? expected : NULL, attempts);
                }
                ck_assert_msg(fingerprint(a, t, 150, plan) == fingerprint(b, t, 150, plan), "%s", s->name);
        }
}
END_TEST

/* How often, over the last hundred queries, the arm of the query's kind is tried first. */
static unsigned right_ones(const char *selector, const char *allocation)
{
        cleanup_run_table struct run_table *t = two_kinds(7, 300, LIMIT);
        cleanup_learner struct learner *l = make(selector, allocation, t->arms, t->features, 1);
        bool plan = has_plan(selector) && !allocation;
        struct attempt attempts[3];
        unsigned ret = 0;

        for (size_t q = 0; q < t->queries; q++) {
                int first = run_query(l, t, q, plan, attempts);

                if (q >= 200)
                        ret += first == (t->values[q * t->features] > 20 ? 1 : 0);
        }
        return ret;
}

START_TEST(test_features_are_learned_from)
{
        ck_assert_uint_ge(right_ones("survival", NULL), 90);
        ck_assert_uint_ge(right_ones("10nn", "expo"), 90);
        ck_assert_uint_ge(right_ones("1nn", "expo"), 85);
        ck_assert_uint_ge(right_ones("linucb", "constant"), 90);
        ck_assert_uint_ge(right_ones("neural", "constant"), 90);
        ck_assert_uint_le(right_ones("static", NULL), 75);
        ck_assert_uint_le(right_ones("random", "constant"), 50);
}
END_TEST

/* An arm that always gives up comes last for those that count what happened. */
START_TEST(test_a_broken_arm_is_avoided)
{
        cleanup_run_table struct run_table *t = two_kinds(8, 300, LIMIT);

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++) {
                cleanup_learner struct learner *l = make(s->name, NULL, t->arms, t->features, 1);
                bool plan = has_plan(s->name);
                struct attempt attempts[3];
                unsigned broken = 0, most = 3;

                if (strcmp(s->name, "random") == 0 || strcmp(s->name, "fixed") == 0)
                        continue;
                if (strcmp(s->name, "exp3") == 0 || strcmp(s->name, "epsilon") == 0) /* which never stop to explore */
                        most = 25;
                for (size_t q = 0; q < t->queries; q++) {
                        int first = run_query(l, t, q, plan, attempts);

                        broken += q >= 200 && first == 2;
                }
                ck_assert_msg(broken <= most, "%s: %u of 100", s->name, broken);
        }
}
END_TEST

/* An arm that only gets what another one failed at is not thought worse than it is: here it is four times as fast, and what it gets
 * is the hardest. */
START_TEST(test_hardness_is_not_the_arms_fault)
{
        struct hardness h;
        struct attempt seen[400][2];
        static double predicted[400];
        struct random r;

        random_seed(&r, test_seed(3));
        hardness_init(&h, 2, LIMIT);
        for (size_t i = 0; i < ARRAY_SIZE(predicted); i++) {
                double slow = exp(1 + 1.5 * random_normal(&r)), fast = slow / 4 * exp(.2 * random_normal(&r));
                struct attempt attempts[2] = {{ENDING_SOLVED, slow}, {ENDING_NONE, 0}};

                if (slow > 4) {
                        attempts[0] = (struct attempt){ENDING_STOPPED, 4};
                        attempts[1] = fast < 50 ? (struct attempt){ENDING_SOLVED, fast} : (struct attempt){ENDING_STOPPED, 50};
                }
                memcpy(seen[i], attempts, sizeof(attempts));
        }
        h.variance = 1.5 * 1.5; /* which its user keeps up to date */
        hardness_fit(&h, &seen[0][0], ARRAY_SIZE(seen), predicted, 50);
        ck_assert_msg(h.arm[0].location - h.arm[1].location > log(4) - .4 && h.arm[0].location - h.arm[1].location < log(4) + .4, "%f and %f",
                      h.arm[0].location, h.arm[1].location);
        hardness_done(&h);
}
END_TEST

START_TEST(test_features_that_are_not_known)
{
        static const double features[][3] = {{NAN, 1, 0}, {1, NAN, -5}, {INFINITY, 0, 1e300}, {NAN, NAN, NAN}, {0, 0, 0}};

        for (const struct baseline_selector *s = baseline_selectors; s->name; s++)
                for (const struct baseline_allocation *a = baseline_allocations; a->name; a++) {
                        cleanup_learner struct learner *l = NULL;
                        struct method m;

                        if (!baseline_method(s->name, a->name, &m))
                                continue;
                        l = make(s->name, a->name, 3, 3, 1);
                        for (size_t i = 0; i < 60; i++) {
                                struct attempt attempts[3] = {0};
                                struct step step;
                                double used = 0;

                                learner_begin(l, features[i % ARRAY_SIZE(features)]);
                                while (learner_next(l, attempts, &step)) {
                                        ck_assert_msg(isfinite(step.until) && step.until <= LIMIT * (1 + 1e-9), "%s %s: %f",
                                                      s->name, a->name, step.until);
                                        used += step.until - attempts[step.arm].seconds;
                                        attempts[step.arm] =
                                                (struct attempt){i % 3 == step.arm ? ENDING_SOLVED : ENDING_STOPPED, step.until};
                                        if (i % 3 == step.arm)
                                                break;
                                }
                                ck_assert(used <= LIMIT * (1 + 1e-6));
                                learner_end(l, attempts);
                        }
                }
}
END_TEST

START_TEST(test_one_arm_and_all_failing)
{
        for (const struct baseline_selector *s = baseline_selectors; s->name; s++) {
                cleanup_learner struct learner *one = make(s->name, NULL, 1, 0, 1), *two = make(s->name, NULL, 2, 0, 1);

                for (int i = 0; i < 20; i++) {
                        struct attempt attempts[2] = {0};
                        struct step step;
                        unsigned steps = 0;

                        learner_begin(one, NULL);
                        while (learner_next(one, attempts, &step))
                                attempts[0] = (struct attempt){ENDING_STOPPED, step.until};
                        ck_assert_double_eq_tol(attempts[0].seconds, LIMIT, 1e-6); /* it has all of the time */
                        learner_end(one, attempts);

                        memset(attempts, 0, sizeof(attempts));
                        learner_begin(two, NULL);
                        while (learner_next(two, attempts, &step) && ++steps < 100)
                                attempts[step.arm] = (struct attempt){ENDING_FAILED, .01};
                        ck_assert_uint_eq(steps, 2); /* each once, and then there is none left */
                        learner_end(two, attempts);
                }
        }
}
END_TEST

START_TEST(test_refused)
{
        static const struct {
                struct learner_settings settings;
                size_t arms;
                const char *says;
        } rows[] = {
                {{.limit = 60}, 0, "a portfolio needs at least one arm"},
                {{.limit = 0}, 2, "the limit of a query"},
                {{.limit = NAN}, 2, "the limit of a query"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct learner *l = NULL;

                ck_assert_int_eq(learner_new(&rows[i].settings, rows[i].arms, 1, &l), -EINVAL);
                ck_assert_ptr_null(l);
                ck_assert_msg(strncmp(error_message(-EINVAL), rows[i].says, strlen(rows[i].says)) == 0, "%s",
                              error_message(-EINVAL));
        }
}
END_TEST

SUITE("learner", test_every_combination, test_shares, test_time_left_over, test_same_seed_same_steps,
      test_told_again, test_expectations_and_queries_without_end, test_features_are_learned_from, test_a_broken_arm_is_avoided, test_hardness_is_not_the_arms_fault,
      test_features_that_are_not_known, test_one_arm_and_all_failing, test_refused)
