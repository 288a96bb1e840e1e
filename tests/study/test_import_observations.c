/* Findings and alarms of a store, taken into another one. */
#include "tests/support/kept_observation.h"
#include "tests/support/toy_workspace.h"

#include "core/study/import/import_study.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding.h"
#include "core/study/observation/finding_compared.h"

static struct workspace *w;
static struct solver *solver;
static char commits[2][GIT_OID_HEXSZ + 1];

/* Two stores with one solver: "there" has a finding and an alarm. The ids of cases are others in each. */
static void world(void)
{
        struct workspace *there = NULL;
        struct commit c;
        uint32_t id, number;

        shell("git init -q -b main repo; cd repo; for i in 1 2; do echo $i >a; commit $i; done");
        toy_workspace("[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\n", &w, &solver);
        for (uint32_t i = 0; i < 2; i++) {
                assert_ok(history_commit(solver->history, i, &c));
                git_oid_tostr(commits[i], sizeof(commits[i]), &c.oid);
        }
        number = solver->number;
        solver = solver_unref(solver);
        w = workspace_close(w);
        shell("cp -r store there");
        assert_ok(workspace_open("there", 0, &there));
        assert_ok(cases_add_unlisted(workspace_cases(there), "a.smt2", slice_string("(assert true)\n"), &id));
        put_finding(there, number, id, commits[0], commits[1]);
        put_alarm(there, number, id, commits[0], commits[1]);
        assert_ok(cases_add_unlisted(workspace_cases(there), "b.smt2", slice_string("(assert false)\n"), &id));
        workspace_close(there);
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(workspace_solver(w, "toy", &solver));
        for (int i = 0; i < 5; i++) {
                char text[8];

                snprintf(text, sizeof(text), "; %d\n", i);
                assert_ok(cases_add_unlisted(workspace_cases(w), "other.smt2", slice_string(text), &id));
        }
}

static void take(struct study_import *ret)
{
        struct store_source source = {.here = w};

        assert_ok(source_open(&source, "there"));
        assert_ok(import_study(&source, ret));
        source_done(&source);
}

static void assert_finding(void)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_observation struct observation *f = NULL;

        assert_ok(observation_get(w, OF_CAMPAIGNS, solver->number, 1, &f));
        assert_ok(cases_get(workspace_cases(w), f->case_id, &info));
        ck_assert_str_eq(info->name, "a.smt2");
        ck_assert_str_eq(f->target, commits[1]);
        ck_assert_int_eq(f->mark, MARK_CONFIRMED);
        ck_assert(f->runs[1].case_id == f->case_id && f->runs[1].n == 2 && f->runs[1].amounts[0] > 10);
        ck_assert_double_eq(f->threshold, 10);
}

static void assert_alarm(void)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL, *other = NULL;
        cleanup_observation struct observation *a = NULL;

        assert_ok(observation_get(w, OF_WATCHES, solver->number, 1, &a));
        assert_ok(cases_get(workspace_cases(w), alarm_case(a, 0)->case_id, &info));
        assert_ok(cases_get(workspace_cases(w), alarm_case(a, 1)->case_id, &other));
        ck_assert_str_eq(info->name, "a.smt2");
        ck_assert_str_eq(other->name, "b.smt2");
        ck_assert_int_eq(a->told, a->found);
        ck_assert_int_eq(a->mark, MARK_REPORTED);
        ck_assert_str_eq(a->reason, "says unsat");
}

START_TEST(test_what_was_kept_before_is_taken)
{
        struct study_import report;

        world();
        take(&report);
        ck_assert(report.findings == 1 && report.alarms == 1 && report.absent == 0 && report.damaged == 0);
        assert_finding();
        assert_alarm();
        take(&report);
        ck_assert(report.findings == 0 && report.known_findings == 1 && report.alarms == 0 && report.known_alarms == 1);
        solver_unref(solver);
        workspace_close(w);
}
END_TEST

/* Keeps in the store there what a search found: nothing. */
static void localized_there(bool is_unfinished)
{
        cleanup_localized struct localized *result = localized_new();
        cleanup_observation struct observation *f = NULL;
        cleanup(query_unrefp) struct query *q = NULL;
        struct workspace *there = NULL;
        struct solver *s = NULL;

        assert_ok(workspace_open("there", 0, &there));
        assert_ok(workspace_solver(there, "toy", &s));
        assert_ok(observation_get(there, OF_CAMPAIGNS, s->number, 1, &f));
        assert_ok(finding_query_localized(there, s, f, &q));
        result->state = LOCALIZE_NO_CULPRIT;
        result->is_unfinished = is_unfinished;
        assert_ok(localized_put(there, s, &q->key, result));
        q = query_unref(q);
        solver_unref(s);
        workspace_close(there);
}

START_TEST(test_a_localization_that_was_finished_there_is_finished_here)
{
        static const bool were_unfinished[] = {true, false, true};
        struct study_import report;

        world();
        for (size_t i = 0; i < 3; i++) {
                cleanup_localized struct localized *here = NULL;
                cleanup_observation struct observation *f = NULL;

                localized_there(were_unfinished[i]);
                take(&report);
                assert_ok(observation_get(w, OF_CAMPAIGNS, solver->number, 1, &f));
                assert_ok(finding_localization(w, solver, f, &here));
                ck_assert_int_eq(localized_is_final(here), i > 0);
        }
        solver_unref(solver);
        workspace_close(w);
}
END_TEST

START_TEST(test_a_search_that_builds_ended_there_goes_on_here)
{
        cleanup_localized struct localized *result = localized_new(), *here = NULL;
        struct digest key = {{7}};

        world();
        result->state = LOCALIZE_FOUND;
        result->failed = 1;
        assert_ok(localized_put(w, solver, &key, result));
        assert_ok(localized_get(w, solver, &key, &here));
        ck_assert(!localized_is_final(here));
        solver_unref(solver);
        workspace_close(w);
}
END_TEST

START_TEST(test_a_finding_of_no_campaign_keeps_its_machine)
{
        cleanup_observation struct observation *f = observation_new(), *kept = NULL;
        struct workspace *there = NULL;
        struct study_import report;
        char machine[PATH_SIZE];

        world();
        assert_ok(workspace_open("there", 0, &there));
        assert_ok(cases_add_unlisted(workspace_cases(there), "c.smt2", slice_string("(assert (= 1 1))\n"), &f->case_id));
        f->kind = FINDING_SLOWDOWN;
        f->solver = solver->number;
        f->machine = "depot";
        set_string(&f->origin, COMPARED_ORIGIN);
        set_string(&f->reference, commits[0]);
        set_string(&f->target, commits[1]);
        assert_ok(observation_add(there, f));
        workspace_close(there);
        take(&report);
        ck_assert_uint_eq(report.findings, 2);
        assert_ok(observation_get(w, OF_CAMPAIGNS, solver->number, 1, &kept));
        ck_assert(!finding_is_elsewhere(w, "toy", kept, machine));
        kept = observation_unref(kept);
        assert_ok(observation_get(w, OF_CAMPAIGNS, solver->number, 2, &kept));
        ck_assert(finding_is_elsewhere(w, "toy", kept, machine));
        ck_assert_str_eq(machine, "depot");
        solver_unref(solver);
        workspace_close(w);
}
END_TEST

/* Another store may hold any bytes: a name of a campaign with "../" would put files outside of this store. */
START_TEST(test_a_campaign_whose_name_is_a_path_is_left_out)
{
        static const char *const names[] = {"../../../escaped", ".hidden", "good"};
        cleanup_campaign_settings struct campaign_settings settings = {0};
        struct workspace *there = NULL;
        struct study_import report;
        char folder[PATH_SIZE];

        world();
        assert_ok(workspace_open("there", 0, &there));
        campaign_settings_new(&settings);
        set_string(&settings.target, commits[1]);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                set_string(&settings.name, names[i]);
                assert_ok(campaign_put_settings(there, solver->number, &settings));
                assert_ok(campaign_put_status(there, solver->number, names[i], &(struct campaign_status){.begun = (int64_t)i}));
        }
        workspace_close(there);
        take(&report);
        ck_assert(report.campaigns + report.known_campaigns == 1 && report.damaged == 2 && report.findings == 1);
        ck_assert(access("escaped", F_OK) < 0 && access("store/campaigns/toy/good", F_OK) == 0);
        assert_error(campaign_get(w, solver->number, names[0], NULL, &(struct campaign_status){0}), ENOENT);
        assert_error(campaign_folder(w, "toy", names[0], folder), EINVAL); /* a finding's origin may be any bytes, too */
        solver_unref(solver);
        workspace_close(w);
}
END_TEST

SUITE("import_observations", test_what_was_kept_before_is_taken, test_a_localization_that_was_finished_there_is_finished_here,
      test_a_search_that_builds_ended_there_goes_on_here, test_a_finding_of_no_campaign_keeps_its_machine, test_a_campaign_whose_name_is_a_path_is_left_out)
