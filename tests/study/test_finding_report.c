/* The commits responsible in a finding's report, as far as the search for them has come. */
#include "core/study/observation/finding_localized.h"
#include "core/study/observation/finding_report.h"

#include "tests/support/toy_workspace.h"

static struct workspace *w;
static struct solver *solver;
static struct observation *f;
static char commits[4][GIT_OID_HEXSZ + 1]; /* oldest first */

/* A solver of four commits, and a finding between the first and the last. */
static void world(enum observation_kind kind)
{
        static const char recipe[] = "[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\ntimeout = 5s\n";
        struct commit c;

        shell("git init -q -b main repo; cd repo; for i in 1 2 3 4; do echo $i >a; commit $i; done");
        toy_workspace(recipe, &w, &solver);
        for (uint32_t i = 0; i < 4; i++) {
                assert_ok(history_commit(solver->history, i, &c));
                git_oid_tostr(commits[i], sizeof(commits[i]), &c.oid);
        }
        f = observation_new();
        f->kind = kind;
        f->solver = solver->number;
        f->timeout = 1.5;
        f->is_cpu_time = true;
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string("(check-sat)\n"), &f->case_id));
        assert_ok(observation_set(&f->origin, "nightly"));
        assert_ok(observation_set(&f->reference, commits[0]));
        assert_ok(observation_set(&f->target, commits[3]));
        assert_ok(observation_add_runs(f, f->reference, VERDICT_SAT, (const double[]){0.25}, 1));
        assert_ok(observation_add_runs(f, f->target, kind == FINDING_SPR ? VERDICT_TIMEOUT : VERDICT_UNKNOWN, (const double[]){1.5}, 1));
        assert_ok(observation_add(w, f));
}

static void end(void)
{
        f = observation_unref(f);
        solver = solver_unref(solver);
        w = workspace_close(w);
}

/* Keeps what a search came to: that the change is one of the last n commits (0: there is none). */
static void localized(size_t n, const char *flag)
{
        cleanup(query_unrefp) struct query *q = NULL;
        char range[2 * GIT_OID_HEXSZ + 3];
        json_t *list = json_array(), *among = json_array(), *result;

        for (size_t i = 4 - n; i < 4; i++)
                json_array_append_new(among, json_string(commits[i]));
        if (n == 1)
                snprintf(range, sizeof(range), "%s", commits[3]);
        else
                snprintf(range, sizeof(range), "%.*s..%.*s", GIT_OID_HEXSZ, commits[3 - n], GIT_OID_HEXSZ, commits[3]);
        if (n > 0)
                json_array_append_new(list, json_pack("{ss sO ss sf sf sb si}", "commit", range, "commits", among, "subject", "4", "seconds_before",
                                                      0.25, "seconds_after", 1.5, "slowdown", true, "pairs", 0));
        json_decref(among);
        result = json_pack("{ss so}", "state", n > 0 ? "found" : "no culprit", "culprits", list);
        if (flag)
                json_object_set_new(result, flag, json_true());
        assert_ok(finding_query_localized(w, solver, f, &q));
        assert_ok(study_value_put(w, &q->key, result));
        json_decref(result);
}

static void assert_says(const char *format, ...) printf_like(1, 2);
static void assert_says(const char *format, ...)
{
        cleanup_buffer struct buffer report = {0};
        char text[500];
        va_list ap;

        va_start(ap, format);
        vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        assert_ok(finding_report(w, solver, f, &report));
        ck_assert_msg(strstr(report.data, text), "'%s' is not in:\n%s", text, report.data);
}

static void assert_is_silent(const char *text)
{
        cleanup_buffer struct buffer report = {0};

        assert_ok(finding_report(w, solver, f, &report));
        ck_assert_msg(!strstr(report.data, text), "'%s' is in:\n%s", text, report.data);
}

START_TEST(test_nothing_is_known)
{
        world(FINDING_SPR);
        assert_is_silent("responsible");
        assert_says("Each run had 1.5s of CPU time and");
        end();
}
END_TEST

START_TEST(test_a_search_that_is_not_finished)
{
        world(FINDING_SPR);
        localized(3, "unfinished");
        assert_says("| one of 3 (`git log %.12s..%.12s`) | 0.250 | 1.500 |", commits[0], commits[3]);
        assert_says("not finished: they are not yet verified. `solverfs localize toy --reference %s --target %s --timeout 1500ms --clock cpu spr/%u` goes on",
                    commits[0], commits[3], f->number);
        localized(1, "unfinished");
        assert_says("| `%.12s` (4) | 0.250 |", commits[3]);
        assert_says("not yet verified");
        end();
}
END_TEST

START_TEST(test_a_search_for_a_lost_answer)
{
        world(FINDING_REGRESSION);
        localized(2, "unfinished");
        assert_says("Since one of 2 (`git log %.12s..%.12s`).", commits[1], commits[3]);
        assert_says("not yet verified. The command of the campaign `nightly` goes on with it.");
        end();
}
END_TEST

START_TEST(test_one_that_others_disturbed)
{
        world(FINDING_SPR);
        localized(0, "disturbed");
        assert_is_silent("## Commits responsible");
        assert_says("while others had the core");
        assert_says("`solverfs localize toy");
        end();
}
END_TEST

START_TEST(test_a_finished_one)
{
        world(FINDING_SPR);
        localized(1, NULL);
        assert_says("| `%.12s` (4) | 0.250 |", commits[3]);
        assert_is_silent("goes on");
        localized(2, NULL); /* those between cannot be built */
        assert_says("| one of 2 (`git log %.12s..%.12s`) |", commits[1], commits[3]);
        end();
}
END_TEST

SUITE("finding_report", test_nothing_is_known, test_a_search_that_is_not_finished, test_a_search_for_a_lost_answer, test_one_that_others_disturbed,
      test_a_finished_one)
