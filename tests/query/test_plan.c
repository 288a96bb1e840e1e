/* What builds will cost. Builds are put by hand, and noted as query_build.c does. */
#include "tests/support/git_shell.h"

#include "core/query/plan.h"

static struct workspace *w;
static struct solver *solver;
static struct plan *plan;

/* Forty commits c0 … c39, each another build; behind them one that changes nothing a build sees. */
static void world(void)
{
        static const char recipe[] =
                "[solver]\npaths = src\nbuild = cp src/a prog\nbuild = chmod +x prog\noutput = prog\nrun = {bin} {case}\n";
        struct recipe **list;
        size_t n;

        shell("git init -q -b main repo; cd repo; mkdir src; for i in $(seq 0 39); do echo $i >src/a; commit c$i; git tag c$i; "
              "done; "
              "echo >README; commit docs; git tag docs");
        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(recipe_parse(recipe, "test", "toy", &list, &n));
        assert_ok(workspace_add_solver(w, list, n, "repo", NULL));
        recipe_list_free(list, n);
        assert_ok(workspace_solver(w, "toy", &solver));
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
        assert_ok(programs_remove(workspace_programs(w), &id));
}

static struct plan_cost cost(const char *revision)
{
        struct plan_cost c;

        assert_ok(plan_build(plan, commit_of(revision), &c));
        return c;
}

START_TEST(test_costs_follow_the_distance)
{
        world();
        ck_assert_int_eq(cost("c0").basis, PLAN_UNKNOWN);
        built("c10", 100, true); /* the first: from nothing */
        ck_assert_int_eq(cost("c10").basis, PLAN_DONE);
        ck_assert(cost("c10").seconds == 0);
        ck_assert_int_eq(cost("c11").basis, PLAN_GUESSED); /* nothing else was seen */
        ck_assert_double_eq_tol(cost("c11").seconds, 100, 1e-6);
        built("c11", 4, true); /* neighbours */
        built("c12", 6, true);
        ck_assert_int_eq(cost("c13").basis, PLAN_MEASURED);
        ck_assert_double_eq_tol(cost("c13").seconds, 5, 1e-6);
        ck_assert_double_eq_tol(cost("c13").deviation, 1.41421356, 1e-6);
        ck_assert_double_eq_tol(cost("c9").seconds, 5, 1e-6); /* to either side */
        built("c28", 40, true);                               /* sixteen away */
        ck_assert_int_eq(cost("c20").basis, PLAN_GUESSED);    /* eight away: between */
        ck_assert(cost("c20").seconds > 5 && cost("c20").seconds < 40);
        ck_assert(cost("c20").seconds > cost("c14").seconds);
        end();
}
END_TEST

START_TEST(test_what_is_known_costs_nothing)
{
        world();
        built("c39", 10, true);
        ck_assert_int_eq(cost("docs").basis, PLAN_DONE); /* the same build */
        built("c20", 1, false);
        ck_assert_int_eq(cost("c20").basis, PLAN_DONE);         /* that it fails is an answer */
        ck_assert_double_eq_tol(cost("c21").seconds, 10, 1e-6); /* and its time says nothing */
        drop_program("c39");                                    /* as gc does: it took ten seconds the last time */
        ck_assert_int_eq(cost("c39").basis, PLAN_MEASURED);
        ck_assert_double_eq_tol(cost("c39").seconds, 10, 1e-6);
        end();
}
END_TEST

START_TEST(test_assumed_builds_make_their_neighbours_cheap)
{
        world();
        built("c0", 100, true);
        built("c1", 5, true);
        ck_assert_double_gt(cost("c30").seconds, 20);
        assert_ok(plan_assume_built(plan, commit_of("c29")));
        assert_ok(plan_assume_built(plan, commit_of("c29")));
        ck_assert_double_eq_tol(cost("c30").seconds, 5, 1e-6);
        ck_assert_double_eq_tol(cost("c28").seconds, 5, 1e-6);
        end();
}
END_TEST

START_TEST(test_only_the_last_builds_count)
{
        world();
        built("c0", 1000, true);
        built("c1", 900, true);
        built_again("c1", 7, true, 300); /* the machine is another one now */
        ck_assert_double_eq_tol(cost("c2").seconds, 7, 1e-6);
        end();
}
END_TEST

/* What builds of the engine leave is what the plan goes by. */
START_TEST(test_builds_are_noted)
{
        static const char *const revisions[] = {"c5", "c6", "c7"};
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
                ck_assert_int_eq(cost("c8").basis, i < 2 ? PLAN_GUESSED : PLAN_MEASURED);
        }
        ck_assert_double_gt(cost("c8").seconds, 0);
        engine_close(e);
        end();
}
END_TEST

SUITE("plan", test_costs_follow_the_distance, test_what_is_known_costs_nothing, test_assumed_builds_make_their_neighbours_cheap,
      test_only_the_last_builds_count, test_builds_are_noted)
