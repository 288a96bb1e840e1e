/* Reductions as facts: of findings of every kind, between programs of the machine that are shell scripts and tell how long they take. */
#include "core/study/observation/finding.h"

#include <ctype.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "core/recipe/recipe_keys.h"
#include "core/smtlib/print.h"
#include "core/weaken/weaken.h"
#include "tests/support/toy_workspace.h"

static struct workspace *w;
static struct engine *e;
static struct solver *solver;

/* What a program says of an input with a check-sat; it sees the input as $case. */
static void program(const char *name, const char *says)
{
        cleanup_free char *text = NULL;

        ck_assert_int_gt(asprintf(&text, "#!/bin/sh\nfor case; do :; done\ngrep -q check-sat \"$case\" || exit 0\n%s\n", says), 0);
        assert_ok(write_file_atomic(name, text, strlen(text), 0755));
        ck_assert_int_eq(chmod(name, 0755), 0);
}

static void world(void)
{
        static const char recipe[] = "[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\ntimeout = 5s\n";

        shell("git init -q -b main repo; cd repo; echo >a; commit first");
        toy_workspace(recipe, &w, &solver);
        assert_ok(workspace_engine(w, &(struct engine_options){.cores = 2, .grace_ns = NSEC_PER_MSEC}, &e));
        program("plain", "echo unsat");
}

static void end(void)
{
        e = engine_close(e);
        solver = solver_unref(solver);
        w = workspace_close(w);
}

static const char input[] = "; found by hand\n(set-logic QF_SLIA)\n(declare-fun long () String)\n(declare-fun other () String)\n"
                            "(assert (= other \"nothing of interest\"))\n"
                            "(assert (or (= other \"\") (< 3 (str.len (str.++ long \"abc\")))))\n(check-sat)\n(exit)\n";
static const char smallest[] = "(assert (< 0 (str.len \"\")))\n(check-sat)\n";

/* In full, of a program in the test's folder. */
static char *version_of(const char *name)
{
        cleanup_version struct version *v = NULL;
        cleanup_free char *path = realpath(name, NULL), *text = NULL;

        ck_assert_int_gt(asprintf(&text, "exec:'%s'", path), 0);
        assert_ok(version_parse(w, solver, text, -1, &v));
        return strdup(v->text);
}

static struct observation *finding(enum observation_kind kind, const char *text, const char *reference, const char *target)
{
        struct observation *f = observation_new();

        f->kind = kind;
        f->solver = solver->number;
        f->number = 7;
        f->timeout = 2;
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string(text), &f->case_id));
        free(f->reference);
        free(f->target);
        f->reference = reference ? version_of(reference) : strdup("");
        f->target = version_of(target);
        return f;
}

static struct query *query_of(const struct observation *f, uint64_t most_ns)
{
        struct query *q;

        assert_ok(finding_query_reduced(w, solver, f, most_ns, 0, &q));
        return q;
}

static void assert_reduced(struct observation *f, const char *text, const char *implied, enum interest interest)
{
        cleanup(query_unrefp) struct query *q = query_of(f, 0);
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_reduction struct reduction known = {0};
        const struct reduction *r;

        assert_error(finding_reduced(w, solver, f, &known), ENOENT);
        assert_ok(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v));
        r = &((struct reduced_value *)v)->reduction;
        ck_assert_str_eq(r->text.data, text);
        ck_assert_str_eq(r->implied.data ? r->implied.data : "", implied);
        ck_assert(r->is_minimal);
        ck_assert_int_eq(r->interest, interest);
        ck_assert_uint_gt(r->tests, 2);
        ck_assert_int_eq(r->reduced[SIDE_TARGET].verdict, r->input[SIDE_TARGET].verdict);
        ck_assert_int_eq(r->reduced[SIDE_REFERENCE].verdict, r->input[SIDE_REFERENCE].verdict);
        assert_ok(finding_reduced(w, solver, f, &known)); /* as it was stored */
        ck_assert_str_eq(known.text.data, text);
        ck_assert_uint_eq(known.tests, r->tests);
        ck_assert_str_eq(known.input[SIDE_TARGET].end, r->input[SIDE_TARGET].end);
        observation_unref(f);
}

START_TEST(test_a_slowdown)
{
        struct observation *f;

        world();
        program("slow", "grep -q str.len \"$case\" && echo 'lasts 0.4' >&2; echo unsat");
        f = finding(FINDING_SLOWDOWN, input, "plain", "slow");
        observation_add_runs(f, f->reference, VERDICT_UNSAT, (const double[]){0.02}, 1);
        observation_add_runs(f, f->target, VERDICT_UNSAT, (const double[]){0.4}, 1);
        assert_reduced(f, smallest, "", INTEREST_SLOW);
        end();
}
END_TEST

/* The same of the solver's own count, and of memory; the time is the same. */
START_TEST(test_more_effort_and_memory)
{
        static const char recipe[] =
                "[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\ntimeout = 5s\neffort = conflicts: ([0-9]+)\n";
        cleanup_reduction struct reduction known = {0};
        struct recipe *another;
        struct observation *f;
        struct solver *other;

        shell("git init -q -b main repo; cd repo; echo >a; commit first");
        toy_workspace(recipe, &w, &solver);
        assert_ok(workspace_engine(w, &(struct engine_options){.cores = 2, .grace_ns = NSEC_PER_MSEC}, &e));
        program("plain", "echo 'conflicts: 1000' >&2; echo unsat");
        program("busy", "grep -q str.len \"$case\" && echo 'conflicts: 9000' >&2 || echo 'conflicts: 1000' >&2; echo unsat");
        program("greedy", "grep -q str.len \"$case\" && dd if=/dev/zero of=/dev/null bs=40000000 count=1 2>/dev/null; echo unsat");
        f = finding(FINDING_SLOWDOWN, input, "plain", "busy");
        f->measure = JUDGE_EFFORT;
        assert_reduced(f, smallest, "", INTEREST_SLOW);
        another = recipe_copy(solver->recipe); /* by another count it is another question */
        set_string(&another->effort[0], "decisions: ([0-9]+)");
        other = solver_with(solver, another);
        f = finding(FINDING_SLOWDOWN, input, "plain", "busy");
        f->measure = JUDGE_EFFORT;
        assert_error(finding_reduced(w, other, f, &known), ENOENT);
        assert_ok(finding_reduced(w, solver, f, &known));
        observation_unref(f);
        solver_unref(other);
        f = finding(FINDING_SLOWDOWN, input, "plain", "greedy");
        f->measure = JUDGE_MEMORY;
        assert_reduced(f, smallest, "", INTEREST_SLOW);
        end();
}
END_TEST

/* What does not take more is no finding by that measure. */
START_TEST(test_no_more_effort)
{
        struct observation *f;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        world();
        program("same", "echo unsat # as plain");
        f = finding(FINDING_SLOWDOWN, input, "plain", "same");
        f->measure = JUDGE_MEMORY;
        q = query_of(f, 0);
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "does not take more"));
        observation_unref(f);
        end();
}
END_TEST

START_TEST(test_answers_and_crashes)
{
        world();
        program("wrong", "grep -q str.len \"$case\" && echo sat || echo unsat");
        program("unsure", "grep -q str.len \"$case\" && echo unknown || echo unsat");
        program("broken", "grep -q str.len \"$case\" && { echo \"bad length at 0x$$\" >&2; kill -SEGV $$; }; echo unsat");
        assert_reduced(finding(FINDING_SOUNDNESS, input, "plain", "wrong"), smallest, "", INTEREST_ANSWERS);
        assert_reduced(finding(FINDING_REGRESSION, input, "plain", "unsure"), smallest, "", INTEREST_ANSWERS);
        assert_reduced(finding(FINDING_CRASH, input, NULL, "broken"), smallest, "", INTEREST_CRASH);
        end();
}
END_TEST

static struct observation *implication(enum observation_kind kind, const char *target)
{
        static const char decided[] = "(declare-fun x () Int)\n(declare-fun y () Int)\n(assert (= y 12345))\n"
                                      "(assert (and (< x y) (= x 17)))\n(check-sat)\n",
                          implied[] = "(declare-fun x () Int)\n(declare-fun y () Int)\n(assert (= y 12345))\n"
                                      "(assert (and (< x y) (>= x 17)))\n(check-sat)\n";
        struct observation *f = finding(kind, implied, NULL, target);

        assert_ok(cases_add_unlisted(workspace_cases(w), "decided.smt2", slice_string(decided), &f->decided_id));
        free(f->chain);
        f->chain = strdup("le-ge\tweaken\t3/0@00000001\nnum-eq-ge\tweaken\t3/1@0000002a\n");
        return f;
}

START_TEST(test_an_implication_is_reduced_with_what_it_follows_from)
{
        world();
        program("unsure", "grep -q '(>= ' \"$case\" && echo unknown || echo sat");
        program("wrong", "grep -q '(>= ' \"$case\" && echo unsat || echo sat");
        assert_reduced(implication(FINDING_IMPLICATION, "unsure"), "(assert (= 0 0))\n(check-sat)\n",
                       "(assert (>= 0 0))\n(check-sat)\n", INTEREST_IMPLICATION);
        assert_reduced(implication(FINDING_SOUNDNESS, "wrong"), "(assert (= 0 0))\n(check-sat)\n",
                       "(assert (>= 0 0))\n(check-sat)\n", INTEREST_IMPLICATION);
        end();
}
END_TEST

/* The line of rules.tsv by which a script becomes one with `made` in it, under the next such seed. */
static char *step_to(const char *text, const char *rule, const char *made, unsigned seed)
{
        cleanup_weaken struct weaken *weaken = NULL;
        cleanup_script struct script *before = NULL;

        assert_ok(weaken_new(NULL, 0, &weaken));
        assert_ok(script_read(slice_string(text), NULL, &before));
        for (;; seed++) {
                cleanup_free char *line = format_string("%s@%08x\n", rule, seed);
                cleanup_weaken_step struct weaken_step step = {0};
                cleanup_script struct script *after = NULL;
                cleanup_buffer struct buffer b = {0};

                assert_ok(weaken_step_parse(weaken, slice_string(line), &step));
                if (weaken_apply(weaken, before, &step, NULL, &after) < 0 || script_print(after, NULL, &b) < 0 || !strstr(b.data, made))
                        continue;
                return steal_pointer(line);
        }
}

/* The rule's parameter is drawn from the terms of the formula. A product of two constants is outside of the logic, so the search took none. */
START_TEST(test_an_implication_stays_within_its_logic)
{
        static const char decided[] = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(assert (= x (+ y 5)))\n(check-sat)\n",
                          implied[] = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(assert (= (* x 5) (* (+ y 5) 5)))\n(check-sat)\n";

        world();
        program("unsure", "grep -q 'QF_LIA' \"$case\" && grep -q '(\\* [xy]' \"$case\" && echo unknown || echo sat");
        for (unsigned from = 1; from <= 121; from += 40) {
                cleanup_observation struct observation *f = finding(FINDING_IMPLICATION, implied, NULL, "unsure");
                cleanup(query_unrefp) struct query *q = NULL;
                cleanup(value_unrefp) struct value *v = NULL;
                const struct buffer *made;
                const char *product;

                assert_ok(cases_add_unlisted(workspace_cases(w), "decided.smt2", slice_string(decided), &f->decided_id));
                free(f->chain);
                f->chain = step_to(decided, "eq-scale\tweaken\t3", "(* x 5)", from);
                q = query_of(f, 0);
                assert_ok(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v));
                made = &((struct reduced_value *)v)->reduction.implied;
                product = strstr(made->data, "(* ");
                ck_assert_msg(product && !isalpha((unsigned char)product[strlen("(* x ")]), "%s: %s", f->chain, made->data);
        }
        end();
}
END_TEST

/* It names no dialect itself, and the solver reads the names of before 2.6 only. */
START_TEST(test_the_dialect_of_the_recipe)
{
        static const char recipe[] = "[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\ntimeout = 5s\ndialect = 2.5\n";
        static const char decided[] = "(declare-fun x () Int)\n(declare-fun s () String)\n(assert (= s \"abc\"))\n"
                                      "(assert (= x (str.to.int s)))\n(check-sat)\n",
                          implied[] = "(declare-fun x () Int)\n(declare-fun s () String)\n(assert (= s \"abc\"))\n"
                                      "(assert (>= x (str.to.int s)))\n(check-sat)\n";
        struct observation *f;

        shell("git init -q -b main repo; cd repo; echo >a; commit first");
        toy_workspace(recipe, &w, &solver);
        assert_ok(workspace_engine(w, &(struct engine_options){.cores = 2, .grace_ns = NSEC_PER_MSEC}, &e));
        program("plain", "echo sat");
        program("old", "grep -q 'str.to_int' \"$case\" && echo '(error)' && exit; grep -q '(>= .*(str.to.int' \"$case\" && echo unknown || echo sat");
        f = finding(FINDING_IMPLICATION, implied, NULL, "old");
        assert_ok(cases_add_unlisted(workspace_cases(w), "decided.smt2", slice_string(decided), &f->decided_id));
        set_string(&f->chain, "num-eq-ge\tweaken\t3@0000002a\n");
        assert_reduced(f, "(assert (= 0 (str.to.int \"\")))\n(check-sat)\n", "(assert (>= 0 (str.to.int \"\")))\n(check-sat)\n", INTEREST_IMPLICATION);
        assert_reduced(finding(FINDING_REGRESSION, implied, "plain", "old"), "(assert (>= 0 (str.to.int \"\")))\n(check-sat)\n", "", INTEREST_ANSWERS);
        end();
}
END_TEST

/* A session that has no time leaves both texts as they were; the next one with more gives both anew. */
START_TEST(test_an_implication_goes_on)
{
        cleanup(query_unrefp) struct query *hasty = NULL, *patient = NULL;
        cleanup(value_unrefp) struct value *first = NULL, *second = NULL;
        const struct reduction *r;
        struct observation *f;

        world();
        program("unsure", "grep -q '(>= ' \"$case\" && echo unknown || echo sat");
        f = implication(FINDING_IMPLICATION, "unsure");
        hasty = query_of(f, 1);
        assert_ok(engine_get(e, hasty, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &first));
        r = &((struct reduced_value *)first)->reduction;
        ck_assert(!r->is_minimal);
        ck_assert_ptr_nonnull(strstr(r->implied.data, "(>= x 17)"));
        patient = query_of(f, 0);
        assert_ok(engine_get(e, patient, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &second));
        r = &((struct reduced_value *)second)->reduction;
        ck_assert_str_eq(r->text.data, "(assert (= 0 0))\n(check-sat)\n");
        ck_assert_str_eq(r->implied.data, "(assert (>= 0 0))\n(check-sat)\n");
        observation_unref(f);
        end();
}
END_TEST

/* -- its end, and before ---------------------------------------------------------------------------------------------- */

static struct observation *unsure(void)
{
        program("unsure", "grep -q str.len \"$case\" && echo unknown || echo unsat");
        return finding(FINDING_REGRESSION, input, "plain", "unsure");
}

static void look(void *user, const struct job_view *j)
{
        *(uint64_t *)user = MAX(*(uint64_t *)user, j->done);
}

static void *cancel_when_smaller(void *cancel)
{
        uint64_t done = 0;

        while (done == 0) {
                usleep(1000);
                engine_each_job(e, look, &done);
        }
        eventfd_write(*(int *)cancel, 1);
        return NULL;
}

static void put_answered(void *user, int r, struct value *v, const char *reason)
{
        (void)v;
        (void)reason;
        *(_Atomic int *)user = r == 0 ? 1 : r;
}

static void await(_Atomic int *answer)
{
        for (int i = 0; i < 250000 && *answer == 0; i++)
                usleep(1000);
        ck_assert_int_eq(*answer, 1);
}

START_TEST(test_nothing_of_a_cancelled_one_is_lost)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_reduction struct reduction rest = {0};
        struct observation *f;
        pthread_t canceller;
        int cancel = eventfd(0, EFD_CLOEXEC);

        world();
        program("slowly", "sleep 0.1; echo unsat");
        program("unsure", "grep -q str.len \"$case\" && echo unknown || echo unsat");
        f = finding(FINDING_REGRESSION, input, "slowly", "unsure");
        q = query_of(f, 0);
        pthread_create(&canceller, NULL, cancel_when_smaller, &cancel);
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, cancel, &v), ECANCELED);
        pthread_join(canceller, NULL);
        e = engine_close(e); /* it has ended */
        assert_ok(reduction_find(q, &rest));
        ck_assert(!rest.has_ended);
        ck_assert_uint_lt(rest.text.size, strlen(input));
        assert_error(q->type->find(q, &v), ENOENT);
        assert_ok(workspace_engine(w, NULL, &e));
        assert_ok(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v));
        ck_assert_str_eq(((struct reduced_value *)v)->reduction.text.data, smallest);
        ck_assert_uint_gt(((struct reduced_value *)v)->reduction.tests, rest.tests);
        ck_assert_uint_eq(((struct reduced_value *)v)->reduction.before, strlen(input));
        close(cancel);
        observation_unref(f);
        end();
}
END_TEST

/* The text that an earlier session kept is not interesting any more. It has as many bytes as the input, which still is. */
START_TEST(test_a_kept_text_that_does_not_show_gives_way_to_the_input)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_reduction struct reduction kept = {.interest = INTEREST_ANSWERS, .has_reference = true};
        cleanup_buffer struct buffer encoded = {0};
        struct store_update u = {0};
        struct observation *f;

        world();
        f = unsure();
        q = query_of(f, 0);
        buffer_adds(&kept.text, input);
        memcpy(strstr(kept.text.data, "str.len"), "str.not", 7);
        assert_ok(reduction_encode(&kept, &encoded));
        u.store = workspace_store(w);
        while (store_update_begins(&u))
                u.r = store_put(u.txn, TABLE_REDUCED, SLICE(q->key.bytes, DIGEST_SIZE), SLICE(encoded.data, encoded.size));
        assert_ok(u.r);
        assert_ok(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v));
        ck_assert_str_eq(((struct reduced_value *)v)->reduction.text.data, smallest);
        observation_unref(f);
        end();
}
END_TEST

START_TEST(test_what_ended_by_its_time_answers_who_allows_no_more)
{
        cleanup(query_unrefp) struct query *hasty = NULL, *patient = NULL;
        cleanup(value_unrefp) struct value *first = NULL, *second = NULL, *again = NULL;
        struct engine_counters before, after;
        uint64_t replaced;
        struct observation *f;

        world();
        f = unsure();
        hasty = query_of(f, 1);
        patient = query_of(f, 0);
        assert_ok(engine_get(e, hasty, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &first));
        ck_assert(!((struct reduced_value *)first)->reduction.is_minimal);
        ck_assert_str_eq(((struct reduced_value *)first)->reduction.text.data, input);
        replaced = runs_remeasured(w);
        assert_ok(engine_get(e, patient, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &second));
        ck_assert_str_eq(((struct reduced_value *)second)->reduction.text.data, smallest);
        ck_assert_uint_gt(runs_remeasured(w), replaced); /* mounts are told */
        engine_counters(e, &before);
        assert_ok(engine_get(e, hasty, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &again));
        engine_counters(e, &after);
        ck_assert_uint_eq(after.started, before.started);
        ck_assert_str_eq(((struct reduced_value *)again)->reduction.text.data, smallest);
        observation_unref(f);
        end();
}
END_TEST

START_TEST(test_two_readers_one_reduction)
{
        cleanup(query_unrefp) struct query *one = NULL, *other = NULL;
        _Atomic int answers[2] = {0};
        struct engine_counters counters;
        struct ticket *tickets[2];
        struct observation *f;

        world();
        f = unsure();
        one = query_of(f, 0);
        other = query_of(f, 0);
        assert_ok(engine_ask(e, one, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, put_answered, &answers[0], &tickets[0]));
        assert_ok(engine_ask(e, other, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, put_answered, &answers[1], &tickets[1]));
        await(&answers[0]);
        await(&answers[1]);
        engine_counters(e, &counters);
        ck_assert_uint_eq(counters.started, 3); /* of both programs the builds, and the reduction */
        observation_unref(f);
        end();
}
END_TEST

/* -- what cannot be --------------------------------------------------------------------------------------------------- */

START_TEST(test_a_program_that_is_another_now)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        struct observation *f;

        world();
        f = unsure();
        q = query_of(f, 0);
        program("unsure", "echo sat");
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), ESTALE);
        ck_assert_ptr_nonnull(strstr(error_message(-ESTALE), "other bytes now"));
        observation_unref(f);
        end();
}
END_TEST

START_TEST(test_a_finding_that_does_not_show_again)
{
        cleanup(query_unrefp) struct query *q = NULL, *two = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_free char *slow = NULL;
        struct observation *f, *implied;

        world();
        program("right", "echo unsat");
        f = finding(FINDING_REGRESSION, input, "plain", "right");
        f->target[0] = 'e';
        q = query_of(f, 0);
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), EINVAL);
        program("sure", "echo sat");
        implied = implication(FINDING_IMPLICATION, "sure");
        two = query_of(implied, 0);
        assert_error(engine_get(e, two, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "behind the last rule"));
        program("slow", "grep -q '(>= ' \"$case\" && echo 'lasts 9' >&2; echo sat");
        set_string(&implied->target, slow = version_of("slow"));
        two = query_unref(two);
        two = query_of(implied, 0);
        assert_error(engine_get(e, two, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), EINVAL);
        ck_assert_msg(strstr(error_message(-EINVAL), "does not answer"), "%s", error_message(-EINVAL));
        implied->decided_id = 0;
        two = query_unref(two);
        assert_error(finding_query_reduced(w, solver, implied, 0, 0, &two), EINVAL);
        observation_unref(f);
        observation_unref(implied);
        end();
}
END_TEST

/* One that was unknown and is wrong now would be reduced to another one. */
START_TEST(test_a_finding_that_shows_something_else)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        struct observation *f;

        world();
        program("wrong", "echo sat");
        f = finding(FINDING_REGRESSION, input, "plain", "wrong");
        observation_add_runs(f, f->reference, VERDICT_UNSAT, (const double[]){0.02}, 1);
        observation_add_runs(f, f->target, VERDICT_UNKNOWN, (const double[]){0.02}, 1);
        q = query_of(f, 0);
        assert_error(engine_get(e, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, -1, &v), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "says sat, and said unknown when it was found"));
        observation_unref(f);
        end();
}
END_TEST

SUITE("reduction", test_a_slowdown, test_more_effort_and_memory, test_no_more_effort, test_answers_and_crashes,
      test_an_implication_is_reduced_with_what_it_follows_from, test_an_implication_stays_within_its_logic, test_the_dialect_of_the_recipe,
      test_an_implication_goes_on,
      test_nothing_of_a_cancelled_one_is_lost, test_a_kept_text_that_does_not_show_gives_way_to_the_input,
      test_what_ended_by_its_time_answers_who_allows_no_more,
      test_two_readers_one_reduction, test_a_program_that_is_another_now, test_a_finding_that_does_not_show_again,
      test_a_finding_that_shows_something_else)
