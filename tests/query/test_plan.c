/* What builds will cost. Builds are put by hand, and noted as build_records.c does. */
#include "tests/support/toy_workspace.h"

#include "core/query/plan.h"

static struct workspace *w;
static struct solver *solver;
static struct plan *plan;

/* Eight units; all include core.h, two of them include leaf.h by way of middle.h. The commits are named by what they change; behind them are one that
 * changes nothing a build sees, and two that change a unit each. */
static const char make_repository[] =
        "git init -q -b main repo; cd repo; mkdir -p src/inner; touch src/core.h src/inner/leaf.h; "
        "echo '#include <inner/leaf.h>' >src/middle.h; for i in $(seq 8); do echo '  # include \"core.h\"' >src/u$i.c; done; "
        "for i in 1 2; do echo '#include \"../src/middle.h\" // leaf' >>src/u$i.c; done; "
        "step() { for f; do echo '/**/' >>src/$f; done; commit \"$tag\"; git tag \"$tag\"; }; "
        "commit first; git tag first; tag=u3; step u3.c; tag=u4; step u4.c; tag=leaf; step inner/leaf.h; tag=core; step core.h; "
        "tag=u5; step u5.c; "
        "echo >README; commit docs; git tag docs; tag=c0; step u1.c; tag=c1; step u2.c";

static void world(void)
{
        static const char recipe[] =
                "[solver]\npaths = src\nbuild = cp src/u1.c prog\nbuild = chmod +x prog\noutput = prog\nrun = {bin} {case}\n";

        shell(make_repository);
        toy_workspace(recipe, &w, &solver);
        assert_ok(plan_new(w, solver, &plan));
}

static void end(void)
{
        plan = plan_free(plan);
        solver = solver_unref(solver);
        w = workspace_close(w);
}

static uint32_t commit_of(const char *revision)
{
        uint32_t number;

        assert_ok(history_resolve(solver->history, revision, &number));
        return number;
}

struct putting {
        struct digest key;
        struct plan_note note;
        struct build_record record;
        struct buffer encoded;
        unsigned times;
};

static int put_in(void *user, struct store_txn *t)
{
        struct putting *p = user;
        int r = store_put(t, TABLE_BUILDS, SLICE(p->key.bytes, DIGEST_SIZE), SLICE(p->encoded.data, p->encoded.size));

        for (unsigned i = 0; r == 0 && i < p->times; i++)
                r = plan_note_put(t, &p->note, &p->record);
        return r;
}

static void built_again(const char *revision, double seconds, bool ok, unsigned times)
{
        static char name[] = "prog", reason[] = "no";
        struct build_output output = {.name = name, .executable = true};
        struct putting p = {.times = times,
                            .record = {.ok = ok,
                                       .clean = true,
                                       .duration_ns = (uint64_t)(seconds * 1e9),
                                       .reason = ok ? NULL : reason,
                                       .outputs = &output,
                                       .n_outputs = ok}};
        cleanup_file FILE *program = fopen("program", "w+");

        fputs(revision, program);
        fflush(program);
        assert_ok(programs_put(workspace_programs(w), fileno(program), NULL, &output.id, &output.size));
        if (ok)
                assert_ok(build_record_note_program(&p.record));
        assert_ok(build_key(solver->history, commit_of(revision), solver->recipe, &p.key));
        assert_ok(build_record_encode(&p.record, &p.encoded));
        plan_note_begin(w, solver, commit_of(revision), &p.note);
        assert_ok(store_update(workspace_store(w), put_in, &p));
        buffer_done(&p.encoded);
        free(p.record.programs);
        assert_ok(plan_refresh(plan));
}

static void built(const char *revision, double seconds, bool ok)
{
        built_again(revision, seconds, ok, 1);
}

static void drop_program(const char *text)
{
        struct digest id;

        digest_of(text, strlen(text), &id);
        assert_ok(programs_remove(workspace_programs(w), &id, 1, NULL));
}

static struct plan_cost cost(const char *revision)
{
        struct plan_cost c;

        assert_ok(plan_build(plan, commit_of(revision), &c));
        return c;
}

START_TEST(test_costs_follow_what_is_compiled)
{
        world();
        ck_assert_int_eq(cost("first").basis, PLAN_UNKNOWN);
        built("first", 100, true); /* all eight */
        ck_assert_int_eq(cost("first").basis, PLAN_DONE);
        ck_assert(cost("first").seconds == 0);
        ck_assert_int_eq(cost("u3").basis, PLAN_GUESSED); /* an eighth */
        ck_assert_double_eq_tol(cost("u3").seconds, 12.5, 1e-6);
        built("u3", 16, true);
        built("u4", 16, true);
        ck_assert_int_eq(cost("leaf").basis, PLAN_MEASURED); /* 4 s, and 12 s a unit */
        ck_assert_double_eq_tol(cost("leaf").seconds, 28, 1e-6);
        ck_assert_double_lt(cost("leaf").deviation, 1e-6);
        ck_assert_double_eq_tol(cost("core").seconds, 100, 1e-6);
        ck_assert_double_eq_tol(cost("u5").seconds, 100, 1e-6); /* core.h is between */
        built("core", 200, true);
        ck_assert_double_gt(cost("leaf").deviation, 1);
        ck_assert_double_lt(cost("u5").seconds, cost("leaf").seconds); /* one unit behind, two before */
        end();
}
END_TEST

START_TEST(test_what_is_known_costs_nothing)
{
        world();
        built("u5", 80, true);
        ck_assert_int_eq(cost("docs").basis, PLAN_DONE); /* the same build */
        built("leaf", 1, false);
        ck_assert_int_eq(cost("leaf").basis, PLAN_DONE);         /* that it fails is an answer */
        ck_assert_double_eq_tol(cost("core").seconds, 10, 1e-6); /* and its time says nothing */
        drop_program("u5");                                      /* as gc does: it took so long the last time */
        ck_assert_int_eq(cost("u5").basis, PLAN_MEASURED);
        ck_assert_double_eq_tol(cost("u5").seconds, 80, 1e-6);
        end();
}
END_TEST

START_TEST(test_only_the_last_builds_count)
{
        world();
        built("first", 8000, true);
        built("u3", 1000, true);
        built_again("u4", 7, true, 300); /* the machine is another one now */
        ck_assert_double_eq_tol(cost("leaf").seconds, 7, 1e-6);
        end();
}
END_TEST

/* What builds of the engine leave is what the plan goes by. */
START_TEST(test_builds_are_noted)
{
        static const char *const revisions[] = {"u3", "u4", "leaf"};
        struct engine *e;

        world();
        assert_ok(workspace_engine(w, NULL, &e));
        for (size_t i = 0; i < ARRAY_SIZE(revisions); i++) {
                struct query *q;
                struct value *v;

                assert_ok(query_build(w, solver, commit_of(revisions[i]), &q));
                assert_ok(engine_get(e, q, PRIORITY_PERSON, false, -1, &v));
                ck_assert(((struct build_value *)v)->record->ok);
                value_unref(v);
                query_unref(q);
                assert_ok(plan_refresh(plan));
                ck_assert_int_eq(cost(revisions[i]).basis, PLAN_DONE);
                ck_assert_int_eq(cost("core").basis, i < 2 ? PLAN_GUESSED : PLAN_MEASURED);
        }
        ck_assert_double_gt(cost("core").seconds, 0);
        engine_close(e);
        end();
}
END_TEST

SUITE("plan", test_costs_follow_what_is_compiled, test_what_is_known_costs_nothing, test_only_the_last_builds_count,
      test_builds_are_noted)
