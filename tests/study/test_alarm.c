/* What watches keep: alarms, one for a cause, told once; and what they have seen of each branch. */
#include "tests/support/kept_observation.h"
#include "tests/support/toy_workspace.h"

#include <math.h>

#include "core/study/watch/alarm.h"
#include "core/study/watch/watching.h"

static struct workspace *w;

static void open_store(void)
{
        if (access("store", F_OK) < 0)
                assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
}

static void reopen(void)
{
        w = workspace_close(w);
        open_store();
}

/* -- judging ------------------------------------------------------------------------------------------------------ */

static struct fact fact_of(enum verdict v, double wall, double cpu, bool wrong, bool disturbed)
{
        return (struct fact){.refs = 1,
                             .verdict = v,
                             .wall_ns = (uint64_t)(wall * 1e9),
                             .cpu_ns = (uint64_t)(cpu * 1e9),
                             .wrong = wrong,
                             .disturbed = disturbed};
}

static uint32_t last_of(enum observation_series series, uint32_t solver)
{
        uint32_t n;

        assert_ok(observations_last(w, series, solver, &n));
        return n;
}

START_TEST(test_suspicions)
{
        static const struct {
                enum verdict before, after;
                double wall[2], cpu[2];
                bool wrong[2], disturbed[2];
                enum verdict status;
                enum observation_kind kind;
        } table[] = {
                {VERDICT_SAT, VERDICT_SAT, {1, 1.1}, {1, 1.1}, {0}, {0}, VERDICT_UNKNOWN, N_OBSERVATION_KINDS},
                {VERDICT_SAT, VERDICT_SAT, {1, 1.3}, {1, 1.3}, {0}, {0}, VERDICT_UNKNOWN, ALARM_SLOWER},
                {VERDICT_SAT, VERDICT_SAT, {1.3, 1}, {1.3, 1}, {0}, {0}, VERDICT_UNKNOWN, N_OBSERVATION_KINDS},
                {VERDICT_SAT, VERDICT_SAT, {0.001, 0.009}, {0.001, 0.009}, {0}, {0}, VERDICT_UNKNOWN, N_OBSERVATION_KINDS}, /* 8 ms */
                {VERDICT_SAT, VERDICT_SAT, {2, 2}, {1, 2}, {0}, {true, false}, VERDICT_SAT, ALARM_SLOWER}, /* hidden by others */
                {VERDICT_SAT, VERDICT_SAT, {2, 2}, {1, 2}, {0}, {0}, VERDICT_SAT, N_OBSERVATION_KINDS},
                {VERDICT_SAT, VERDICT_TIMEOUT, {1, 5}, {1, 5}, {0}, {0}, VERDICT_UNKNOWN, ALARM_LOST},
                {VERDICT_SAT, VERDICT_CRASH, {1, 0.1}, {1, 0.1}, {0}, {0}, VERDICT_UNKNOWN, ALARM_LOST},
                {VERDICT_TIMEOUT, VERDICT_CRASH, {5, 0.1}, {5, 0.1}, {0}, {0}, VERDICT_UNKNOWN, N_OBSERVATION_KINDS},
                {VERDICT_TIMEOUT, VERDICT_SAT, {5, 1}, {5, 1}, {0}, {0}, VERDICT_UNKNOWN, N_OBSERVATION_KINDS},
                {VERDICT_SAT, VERDICT_UNSAT, {1, 1}, {1, 1}, {0}, {0}, VERDICT_UNKNOWN, ALARM_CONTRADICTION},
                {VERDICT_SAT, VERDICT_UNSAT, {1, 1}, {1, 1}, {false, true}, {0}, VERDICT_SAT, ALARM_WRONG},
                {VERDICT_UNKNOWN, VERDICT_UNSAT, {1, 1}, {1, 1}, {false, true}, {0}, VERDICT_SAT, ALARM_WRONG},
                {VERDICT_UNSAT, VERDICT_UNSAT, {1, 9}, {1, 9}, {true, true}, {0}, VERDICT_SAT, N_OBSERVATION_KINDS},
                {VERDICT_UNSAT, VERDICT_SAT, {1, 9}, {1, 9}, {true, false}, {0}, VERDICT_SAT, N_OBSERVATION_KINDS}, /* right now */
        };

        const struct recipe recipe = {.effort = (char *[]){NULL}};

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                struct fact before =
                        fact_of(table[i].before, table[i].wall[0], table[i].cpu[0], table[i].wrong[0], table[i].disturbed[0]);
                struct fact after =
                        fact_of(table[i].after, table[i].wall[1], table[i].cpu[1], table[i].wrong[1], table[i].disturbed[1]);
                struct case_info info = {.status = table[i].status};
                bool alone = watch_suspicion(&recipe, NULL, &after, &info) == ALARM_WRONG;

                ck_assert_msg(watch_suspicion(&recipe, &before, &after, &info) == table[i].kind, "row %zu", i);
                ck_assert_msg(alone == table[i].wrong[1], "row %zu, with nothing before", i);
                before.uncertain_from = 1; /* it can be wrong, but contradicts nothing */
                ck_assert_msg(watch_suspicion(&recipe, &before, &after, &info) == (table[i].kind == ALARM_CONTRADICTION ? N_OBSERVATION_KINDS : table[i].kind),
                              "row %zu, behind an error", i);
        }
}
END_TEST

/* -- alarms ------------------------------------------------------------------------------------------------------- */

#define COMMIT "1111111111111111111111111111111111111111"
#define BEFORE "2222222222222222222222222222222222222222"

static int add(enum observation_kind kind, const char *commit, const char *before, uint32_t id, double factor, uint32_t *ret_number)
{
        cleanup_observation struct observation *a = observation_new();
        int r;

        ck_assert_ptr_nonnull(a);
        a->solver = 3;
        a->kind = kind;
        a->found = a->changed = 1700000000;
        set_string(&a->target, commit);
        set_string(&a->reference, before);
        set_string(&a->subject, "what was done");
        for (uint32_t i = 0; i < 2 && id != 0; i++) {
                observation_add_case_runs(a, id + i, before, VERDICT_SAT, (const double[]){0.25}, 1);
                observation_add_case_runs(a, id + i, commit, VERDICT_SAT, (const double[]){0.25 * factor * (i + 1)}, 1);
        }
        r = observation_add(w, a);
        *ret_number = a->number;
        return r;
}

START_TEST(test_a_cause_is_told_once)
{
        uint32_t number;

        open_store();
        ck_assert_int_eq(add(ALARM_SLOWER, COMMIT, BEFORE, 7, 4, &number), 0);
        ck_assert_uint_eq(number, 1);
        ck_assert_int_eq(add(ALARM_SLOWER, COMMIT, BEFORE, 9, 8, &number), 1); /* another case: the same cause */
        ck_assert_uint_eq(number, 1);
        ck_assert_int_eq(add(ALARM_UNBUILDABLE, COMMIT, BEFORE, 0, 0, &number), 0);
        ck_assert_uint_eq(number, 2);
        reopen();
        ck_assert_int_eq(add(ALARM_UNBUILDABLE, COMMIT, BEFORE, 0, 0, &number), 1);
        ck_assert_uint_eq(number, 2);
        ck_assert_uint_eq(last_of(OF_WATCHES, 3), 2);
        ck_assert_uint_eq(last_of(OF_WATCHES, 2), 0);
        workspace_close(w);
}
END_TEST

START_TEST(test_wrong_answers_are_told_once_a_case)
{
        uint32_t number;

        open_store();
        ck_assert_int_eq(add(ALARM_WRONG, COMMIT, "", 7, 1, &number), 0); /* no commit is responsible */
        ck_assert_int_eq(add(ALARM_WRONG, BEFORE, "", 7, 1, &number), 1);
        ck_assert_int_eq(add(ALARM_WRONG, COMMIT, BEFORE, 7, 1, &number), 0); /* right meanwhile, and then wrong again */
        ck_assert_uint_eq(number, 2);
        ck_assert_int_eq(add(ALARM_WRONG, COMMIT, BEFORE, 20, 1, &number), 1);
        ck_assert_int_eq(add(ALARM_WRONG, BEFORE, "", 20, 1, &number), 1); /* its cause is known by now */
        ck_assert_uint_eq(number, 2);
        ck_assert_int_eq(add(ALARM_CONTRADICTION, BEFORE, "", 20, 1, &number), 0);
        ck_assert_uint_eq(number, 3);
        workspace_close(w);
}
END_TEST

START_TEST(test_alarms_are_kept)
{
        cleanup_buffer struct buffer factor = {0};
        cleanup_observation struct observation *a = NULL;
        cleanup_observations struct observations all = {0};
        uint32_t number;

        open_store();
        add(ALARM_SLOWER, COMMIT, BEFORE, 7, 2.5, &number);
        assert_ok(observation_set_told(w, 3, 1, 1700000001));
        assert_ok(observation_set_mark(w, OF_WATCHES, 3, 1, MARK_FIXED, "http://x/1"));
        ck_assert_int_eq(observation_set_told(w, 3, 2, 5), -ENOENT);
        ck_assert_int_eq(observation_set_mark(w, OF_WATCHES, 3, 2, MARK_FIXED, ""), -ENOENT);
        w = workspace_close(w);
        shell("rm -r store/lmdb"); /* the index can be thrown away */
        open_store();
        assert_ok(observation_get(w, OF_WATCHES, 3, 1, &a));
        ck_assert_int_eq(a->kind, ALARM_SLOWER);
        ck_assert_int_eq(a->mark, MARK_FIXED);
        ck_assert_int_eq(a->told, 1700000001);
        ck_assert_int_gt(a->changed, 1700000000);
        ck_assert_str_eq(a->url, "http://x/1");
        ck_assert_uint_eq(a->n_runs, 4);
        ck_assert_uint_eq(a->case_id, 8); /* the worst first */
        ck_assert_uint_eq(alarm_case(a, 0)->case_id, 8);
        ck_assert(fabs(alarm_factor(alarm_case(a, 0)) - 5) < 1e-9 && fabs(alarm_case(a, 0)->amounts[0] - 0.25) < 1e-9);
        ck_assert_ptr_null(alarm_case(a, 2));
        alarm_print_factor(a, alarm_case(a, 0), &factor);
        ck_assert_str_eq(factor.data, "5.00");
        add(ALARM_LOST, COMMIT, BEFORE, 7, 1, &number);
        assert_ok(observations_read(w, 3, "alarms", &all));
        ck_assert_uint_eq(all.n, 2);
        ck_assert(all.list[0]->told != 0 && all.list[1]->told == 0);
        workspace_close(w);
}
END_TEST

/* Cases with a factor come first, in whatever order they are given. */
START_TEST(test_the_worst_case)
{
        static const struct {
                uint32_t id;
                enum verdict before;
                double after;
        } cases[] = {{5, VERDICT_SAT, 3}, {1, VERDICT_SAT, 2}, {3, VERDICT_UNKNOWN, 1}};
        static const size_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

        open_store();
        for (size_t k = 0; k < ARRAY_SIZE(orders); k++) {
                cleanup_observation struct observation *a = observation_new();
                char commit[] = COMMIT;

                commit[0] = (char)('a' + k);
                a->solver = 3;
                a->kind = ALARM_WRONG;
                set_string(&a->target, commit);
                set_string(&a->reference, BEFORE);
                for (size_t i = 0; i < 3; i++) {
                        const size_t at = orders[k][i];

                        observation_add_case_runs(a, cases[at].id, BEFORE, cases[at].before, (const double[]){1}, 1);
                        observation_add_case_runs(a, cases[at].id, commit, VERDICT_SAT, &cases[at].after, 1);
                }
                assert_ok(observation_add(w, a));
                for (size_t i = 0; i < 3; i++)
                        ck_assert_msg(alarm_case(a, i)->case_id == cases[i].id, "order %zu: case %u is at %zu", k, alarm_case(a, i)->case_id, i);
                ck_assert_uint_eq(a->case_id, 5);
        }
        workspace_close(w);
}
END_TEST

/* All that an alarm has. */
START_TEST(test_an_alarm_is_read)
{
        cleanup_buffer struct buffer side = {0};

        open_store();
        put_alarm(w, 3, 7, BEFORE, COMMIT);
        for (int marked = 0; marked < 2; marked++) { /* a mark writes it anew */
                cleanup_observation struct observation *a = NULL;

                assert_ok(observation_get(w, OF_WATCHES, 3, 1, &a));
                ck_assert_int_eq(a->kind, ALARM_WRONG);
                ck_assert_int_eq(a->mark, marked ? MARK_FIXED : MARK_REPORTED);
                ck_assert(a->found == 1700000000 && a->told == 0 && (a->changed == 1700000002) == !marked);
                ck_assert_str_eq(a->origin, "main");
                ck_assert_str_eq(a->target, COMMIT);
                ck_assert_str_eq(a->reference, BEFORE);
                ck_assert_str_eq(a->subject, "what was done");
                ck_assert_str_eq(a->reason, "says unsat");
                ck_assert_str_eq(a->url, marked ? "http://x/2" : "http://x/1");
                ck_assert_uint_eq(a->case_id, 7);
                ck_assert(alarm_case(a, 0)[1].verdict == VERDICT_UNSAT && fabs(alarm_case(a, 0)[1].amounts[0] - 0.5) < 1e-9);
                ck_assert(alarm_case(a, 1)->case_id == 8 && alarm_case(a, 1)->n == 0 && !alarm_case(a, 2));
                side.size = 0;
                alarm_print_side(a, alarm_case(a, 1), &side);
                ck_assert_str_eq(side.data, "-");
                assert_ok(observation_set_mark(w, OF_WATCHES, 3, 1, MARK_FIXED, "http://x/2"));
        }
        ck_assert_int_eq(add(ALARM_WRONG, COMMIT, BEFORE, 7, 1, &(uint32_t){0}), 1); /* its cause is known */
        ck_assert_int_eq(add(ALARM_SLOWER, COMMIT, BEFORE, 7, 1, &(uint32_t){0}), 0);
        ck_assert_uint_eq(last_of(OF_WATCHES, 3), 2);
        workspace_close(w);
}
END_TEST

START_TEST(test_a_damaged_alarm_is_an_error)
{
        const uint8_t key[] = {'a', 0, 0, 0, 3, 0, 0, 0, 1};
        static const char *const texts[] = {"", "{", "[]", "{\"version\":1}", "{\"version\":2,\"kind\":99}"};
        struct observation *a = NULL;
        struct observations all;

        open_store();
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                assert_ok(store_set(workspace_store(w), TABLE_ALARMS, SLICE(key, sizeof(key)), slice_string(texts[i])));
                ck_assert_int_eq(observation_get(w, OF_WATCHES, 3, 1, &a), -EIO);
                ck_assert_int_eq(observations_read(w, 3, "alarms", &all), -EIO);
        }
        workspace_close(w);
}
END_TEST

/* -- branches ----------------------------------------------------------------------------------------------------- */

static struct solver *solver;

static void add_solver(void)
{
        shell("git init -q -b main repo; cd repo; for i in 1 2 3 4; do echo $i >a; commit $i; done; git branch old HEAD~2");
        toy_workspace("[solver]\nbuild = true\noutput = prog\nrun = {bin} {case}\n", &w, &solver);
}

static void end(void)
{
        solver_unref(solver);
        workspace_close(w);
}

/* The subject of a commit: one word here. */
static void subject_of(uint32_t commit, struct buffer *ret)
{
        cleanup_buffer struct buffer message = {0};

        assert_ok(history_text(solver->history, commit, COMMIT_MESSAGE, &message));
        buffer_addf(ret, " %.*s", (int)strcspn(message.data, "\n"), message.data);
}

/* Fetches; "main: 3 | 4 5" says that 4 and 5 are new on main, and compared with 3. */
static void assert_moved_of(const struct watched *of, bool done, uint32_t base, const char *expected)
{
        cleanup_watched struct watched_stretches found = {0};
        cleanup_buffer struct buffer text = {0};
        uint32_t n_new;

        assert_ok(history_update(solver->history, NULL, false, NULL, &n_new));
        assert_ok(watched_stretches(w, solver, of, &found));
        for (size_t i = 0; i < found.n; i++) {
                const struct watched_stretch *s = &found.list[i];

                buffer_addf(&text, "%s%s:", i > 0 ? "; " : "", s->branch);
                for (size_t k = 0; k < s->n_known; k++)
                        subject_of(s->known[k], &text);
                buffer_adds(&text, " |");
                for (size_t k = 0; k < s->n_fresh; k++)
                        subject_of(s->fresh[k], &text);
                if (s->was_rewound)
                        buffer_adds(&text, " back");
                if (done)
                        assert_ok(watched_stretch_done(w, solver, of, s,
                                                       base == COMMIT_NONE || s->n_fresh == 0 ? base : s->head - base));
        }
        ck_assert_str_eq(text.data ? text.data : "", expected);
}

static void assert_moved(char *const *patterns, bool done, uint32_t base, const char *expected)
{
        assert_moved_of(&(struct watched){.patterns = patterns}, done, base, expected);
}

START_TEST(test_branches)
{
        add_solver();
        assert_moved(NULL, false, 0, "main: | 4"); /* a watch that was killed: it begins there again */
        shell("cd repo; echo 5 >a; commit 5");
        assert_moved(NULL, true, 0, "main: | 5");
        assert_moved(NULL, true, 0, "");
        shell("cd repo; echo 6 >a; commit 6; echo 7 >a; commit 7");
        assert_moved(NULL, true, 1, "main: 5 | 6 7"); /* as if only 6 could be built */
        shell("cd repo; echo 8 >a; commit 8");
        assert_moved(NULL, true, 0, "main: 6 7 | 8");
        shell("cd repo; git checkout -q old; echo o >a; commit o");
        assert_moved(NULL, true, 0, "old: 2 | o");
        shell("cd repo; git checkout -q -b new; echo n >a; commit n; git checkout -q main");
        assert_moved(NULL, true, 0, "new: o | n"); /* since it left a branch that was seen */
        shell("cd repo; git branch -q -D new; git branch topic main");
        assert_moved(NULL, true, 0, "topic: 8 |");
        shell("cd repo; git reset -q --hard HEAD~2; echo f >a; commit f");
        assert_moved(NULL, true, 0, "main: 6 | f"); /* forced: compared with where the lines part */
        shell("cd repo; git reset -q --hard HEAD~1");
        assert_moved(NULL, true, COMMIT_NONE, "main: | back");
        shell("cd repo; echo g >a; commit g");
        assert_moved(NULL, true, 0, "main: 6 | g");
        shell("cd repo; git checkout -q --orphan alone; echo x >a; commit x");
        assert_moved(NULL, true, 0, "alone: | x");
        end();
}
END_TEST

START_TEST(test_chosen_branches)
{
        char pattern[] = "o*", *patterns[] = {pattern, NULL};

        add_solver();
        assert_moved(patterns, true, 0, "old: | 2");
        shell("cd repo; echo 5 >a; commit 5; git checkout -q old; echo o >a; commit o");
        assert_moved(patterns, true, COMMIT_NONE, "old: 2 | o; main: |"); /* noted, not measured */
        shell("cd repo; git checkout -q main; echo 6 >a; commit 6");
        assert_moved(patterns, true, COMMIT_NONE, "main: |");
        end();
}
END_TEST

/* Several watches of a solver by turns, in whatever order: each sees all commits. */
START_TEST(test_watches_of_other_branches_or_cases)
{
        char o[] = "o*", m[] = "m*", *of_old[] = {o, NULL}, *of_main[] = {m, NULL};
        const struct watched watches[] = {{.patterns = of_main}, {.patterns = of_old}, {0}, {.set = "smoke"}, {.set = "smoke", .patterns = of_old}};
        static const char *const begins[] = {"main: | 4", "old: | 2", "main: | 4", "main: | 4", "old: | 2"};
        static const char *const goes_on[] = {"main: 4 | 5; old: |", "main: |; old: 2 | o", "main: 4 | 5; old: 2 | o", "main: 4 | 5; old: 2 | o",
                                              "main: |; old: 2 | o"};

        add_solver();
        assert_moved_of(&watches[1], false, 0, begins[1]); /* killed while it began */
        for (size_t i = 0; i < ARRAY_SIZE(watches); i++)
                assert_moved_of(&watches[i], true, 0, begins[i]);
        shell("cd repo; git checkout -q old; echo o >a; commit o; git checkout -q main; echo 5 >a; commit 5");
        for (size_t i = 0; i < ARRAY_SIZE(watches); i++)
                assert_moved_of(&watches[i], true, COMMIT_NONE, goes_on[i]);
        end();
}
END_TEST

SUITE("alarm", test_suspicions, test_a_cause_is_told_once, test_wrong_answers_are_told_once_a_case, test_alarms_are_kept,
      test_the_worst_case, test_an_alarm_is_read, test_a_damaged_alarm_is_an_error, test_branches, test_chosen_branches, test_watches_of_other_branches_or_cases)
