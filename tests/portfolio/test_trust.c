/* Arms that answer against a case's :status, in the order in which this may come to light. The arms' runs are given, so that no solver is needed. */
#include "cache/store/store.h"
#include "core/portfolio/learned.h"
#include "core/portfolio/learner_internal.h"
#include "core/portfolio/portfolio_internal.h"

#include "tests/support/test.h"

static struct workspace *w;
static struct portfolio *p;

static void world(void)
{
        char liar[] = "liar: /bin/true {case}", second[] = "second: /bin/false {case}", *const arms[] = {liar, second, NULL};

        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(portfolio_add(w, "p", arms, (const char *const[]){NULL}));
        assert_ok(portfolio_open(w, "p", &p));
}

/* The arm has run alone on a case that says it is unsat, and answered sat. */
static void lies(size_t arm, const char *name)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        const struct trial_run run = {.attempt = {ENDING_SOLVED, .1}, .verdict = VERDICT_SAT};
        cleanup_free char *text = format_string("; %s\n(set-info :status unsat)\n(check-sat)\n", name);
        uint32_t id;

        assert_ok(cases_add_unlisted(workspace_cases(w), name, slice_string(text), &id));
        assert_ok(cases_get(workspace_cases(w), id, &info));
        assert_ok(arm_keep(w, p, &p->arms[arm], info, &run));
        assert_ok(query_arm(w, p, arm, info, &q));
        assert_ok(q->type->find(q, &v));
}

static size_t excluded(void)
{
        cleanup_buffer struct buffer b = {0};
        size_t n = 0;

        assert_ok(portfolio_print_arms(w, p, &b));
        for (const char *at = b.data; (at = strstr(at, "asked no more")); at++)
                n++;
        return n;
}

static void end(void)
{
        p = portfolio_unref(p);
        w = workspace_close(w);
}

START_TEST(test_second_lie_stays_when_first_is_doubted)
{
        world();
        lies(0, "first");
        lies(0, "elsewhere");
        ck_assert_uint_eq(excluded(), 1);
        lies(1, "first"); /* a liar is no witness for another one */
        ck_assert_uint_eq(excluded(), 2);
        end();
}
END_TEST

START_TEST(test_wrong_statuses_cost_no_place)
{
        world();
        for (int i = 0; i < 3; i++) {
                char name[] = {(char)('a' + i), '\0'};

                lies((size_t)i % 2, name);
                lies((size_t)(i + 1) % 2, name);
        }
        ck_assert_uint_eq(excluded(), 0);
        end();
}
END_TEST

START_TEST(test_wrong_statuses_seen_in_turn_cost_no_place)
{
        world();
        lies(0, "a");
        lies(0, "b");
        ck_assert_uint_eq(excluded(), 1);
        lies(1, "a");
        lies(1, "b");
        ck_assert_uint_eq(excluded(), 0);
        end();
}
END_TEST

/* Each arm was noted wrong on a case of its own when this one was asked. The other arms' answers then made both statuses doubtful. */
START_TEST(test_case_without_an_arm_is_asked_again)
{
        cleanup_trial struct trial *t = trial_new(2), *there = NULL;
        cleanup_buffer struct buffer score = {0};
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        world();
        lies(0, "a");
        lies(1, "b");
        ck_assert_uint_eq(excluded(), 2);
        assert_ok(cases_add_unlisted(workspace_cases(w), "c", slice_string("(check-sat)\n"), &t->case_id));
        assert_ok(cases_get(workspace_cases(w), t->case_id, &info));
        t->winner = 2;
        t->verdict = VERDICT_UNKNOWN;
        assert_ok(trial_put(w, p, info, t, &there));
        assert_ok(trial_find(w, p, t->case_id, &there));
        lies(1, "a");
        lies(0, "b");
        ck_assert_uint_eq(excluded(), 0);
        there = trial_free(there);
        assert_error(trial_find(w, p, t->case_id, &there), ENOENT);
        assert_ok(portfolio_print_score(w, p, &score));
        ck_assert_ptr_null(strstr(score.data, "taken back"));
        end();
}
END_TEST

START_TEST(test_dimacs_that_an_older_version_gave_to_no_command_is_asked_again)
{
        cleanup_trial struct trial *t = trial_new(2), *there = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        world();
        assert_ok(cases_add_unlisted(workspace_cases(w), "c.cnf", slice_string("p cnf 1 1\n1 0\n"), &t->case_id));
        assert_ok(cases_get(workspace_cases(w), t->case_id, &info));
        t->winner = 2;
        t->verdict = VERDICT_UNKNOWN;
        t->n_turns = 1;
        t->turns = allocate(1, sizeof(*t->turns));
        t->runs[0] = (struct trial_run){{ENDING_FAILED, .1}, VERDICT_ERROR, false};
        assert_ok(trial_put(w, p, info, t, &there));
        assert_ok(trial_find(w, p, t->case_id, &there));
        there = trial_free(there);
        t->runs[0].attempt.seconds = 0;
        assert_ok(portfolio_reset(w, "p"));
        p = portfolio_unref(p);
        assert_ok(portfolio_open(w, "p", &p));
        assert_ok(trial_put(w, p, info, t, &there));
        assert_error(trial_find(w, p, t->case_id, &there), ENOENT);
        end();
}
END_TEST

START_TEST(test_note_of_an_older_store_counts)
{
        uint8_t key[TRIAL_KEY_SIZE];

        world();
        assert_ok(store_set(workspace_store(w), TABLE_PORTFOLIOS, trial_key(key, &p->epoch, 'w', 1), slice_string("case 1: second says sat")));
        ck_assert_uint_eq(excluded(), 1);
        end();
}
END_TEST

START_TEST(test_case_of_an_unreadable_trial_is_answered_again)
{
        cleanup_trial struct trial *t = trial_new(2), *there = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        uint8_t key[TRIAL_KEY_SIZE];

        world();
        assert_ok(cases_add_unlisted(workspace_cases(w), "c", slice_string("(check-sat)\n"), &t->case_id));
        assert_ok(cases_get(workspace_cases(w), t->case_id, &info));
        t->winner = 2;
        t->verdict = VERDICT_UNKNOWN;
        t->n_turns = 1;
        t->turns = allocate(1, sizeof(*t->turns));
        assert_ok(trial_put(w, p, info, t, &there));
        assert_ok(store_set(workspace_store(w), TABLE_PORTFOLIOS, trial_key(key, &p->epoch, 't', t->number), slice_string("~")));
        assert_error(trial_find(w, p, t->case_id, &there), ENOENT);
        assert_ok(trial_put(w, p, info, t, &there));
        assert_ok(trial_find(w, p, t->case_id, &there));
        end();
}
END_TEST

/* Nobody sets the verdict of a run that is stopped at the limit. */
START_TEST(test_run_that_was_stopped_is_a_timeout)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct trial_run run = {.verdict = VERDICT_SAT}, known = {0};
        uint32_t id;

        world();
        run.attempt = (struct attempt){ENDING_STOPPED, (double)p->wall_ns / NSEC_PER_SEC};
        assert_ok(cases_add_unlisted(workspace_cases(w), "c", slice_string("(check-sat)\n"), &id));
        assert_ok(cases_get(workspace_cases(w), id, &info));
        assert_ok(arm_keep(w, p, &p->arms[0], info, &run));
        assert_ok(arm_known(w, p, &p->arms[0], info, &known));
        ck_assert_int_eq(known.verdict, VERDICT_TIMEOUT);
        end();
}
END_TEST

static size_t learned_from(void)
{
        struct learned *l;
        size_t n;

        assert_ok(learned_take(w, p, &l));
        n = l->learner->n;
        learned_give(w, l);
        return n;
}

/* Features of the same number, but not the same ones. An older record has only their number. */
START_TEST(test_trials_with_other_features_are_passed_over)
{
        static const char *const names[] = {"a", "b", "c"};

        world();
        for (uint32_t i = 0; i < 3; i++) {
                cleanup_trial struct trial *t = trial_new(2), *there = NULL;
                cleanup(case_info_unrefp) struct case_info *info = NULL;
                cleanup_free char *text = format_string("; %s\n(check-sat)\n", names[i]);

                assert_ok(cases_add_unlisted(workspace_cases(w), names[i], slice_string(text), &t->case_id));
                assert_ok(cases_get(workspace_cases(w), t->case_id, &info));
                t->winner = 2;
                t->verdict = VERDICT_UNKNOWN;
                t->n_features = portfolio_n_features();
                t->features = allocate(t->n_features, sizeof(*t->features));
                t->features_id += i == 1;
                assert_ok(trial_put(w, p, info, t, &there));
                if (i == 2) {
                        const size_t at = 1 + 4 + 4 + 8 + 1 + 4 + 8 + 4 + 8 * t->n_features; /* of features_id */
                        uint8_t key[TRIAL_KEY_SIZE], *bytes;
                        cleanup_blob struct blob b = {0};

                        trial_key(key, &p->epoch, 't', t->number);
                        assert_ok(store_fetch(workspace_store(w), TABLE_PORTFOLIOS, SLICE(key, sizeof(key)), &b));
                        bytes = allocate(b.size, 1);
                        memcpy(bytes, b.data, at);
                        memcpy(bytes + at, (const uint8_t *)b.data + at + 8, b.size - at - 8);
                        bytes[0] = 2;
                        assert_ok(store_set(workspace_store(w), TABLE_PORTFOLIOS, SLICE(key, sizeof(key)), SLICE(bytes, b.size - 8)));
                        free(bytes);
                }
        }
        ck_assert_uint_eq(learned_from(), 2);
        end();
}
END_TEST

SUITE("trust", test_trials_with_other_features_are_passed_over,
      test_run_that_was_stopped_is_a_timeout, test_case_of_an_unreadable_trial_is_answered_again, test_case_without_an_arm_is_asked_again,
      test_dimacs_that_an_older_version_gave_to_no_command_is_asked_again, test_note_of_an_older_store_counts,
      test_second_lie_stays_when_first_is_doubted, test_wrong_statuses_cost_no_place, test_wrong_statuses_seen_in_turn_cost_no_place)
