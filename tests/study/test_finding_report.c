/* The commits responsible in a finding's report, as far as the search for them has come. */
#include <malloc.h>
#include <math.h>

#include "core/study/observation/culprits.h"
#include "core/study/observation/finding.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding_compared.h"

#include "tests/support/toy_workspace.h"

static struct workspace *w;
static struct solver *solver;
static struct observation *f;
static char commits[4][GIT_OID_HEXSZ + 1]; /* oldest first */

static const char *last_subject = "4";

/* A solver of four commits, and a finding between the first and the last. */
static void world(enum observation_kind kind)
{
        static const char recipe[] = "[solver]\nbuild = cp a prog\noutput = prog\nrun = {bin} {case}\ntimeout = 5s\n";
        char script[200];
        struct commit c;

        snprintf(script, sizeof(script), "git init -q -b main repo; cd repo; for i in 1 2 3 '%s'; do echo $i >a; commit \"$i\"; done", last_subject);
        shell(script);
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
        set_string(&f->origin, "nightly");
        set_string(&f->reference, commits[0]);
        set_string(&f->target, commits[3]);
        observation_add_runs(f, f->reference, VERDICT_SAT, (const double[]){0.25}, 1);
        observation_add_runs(f, f->target, kind == FINDING_SLOWDOWN ? VERDICT_TIMEOUT : VERDICT_UNKNOWN, (const double[]){1.5}, 1);
        assert_ok(observation_add(w, f));
}

static void end(void)
{
        f = observation_unref(f);
        solver = solver_unref(solver);
        w = workspace_close(w);
}

static bool breaks; /* the change is that there is no answer */

/* Keeps what a search came to: that the change is one of the last n commits (0: there is none). */
static void localized(size_t n, bool is_unfinished, bool is_disturbed)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_localized struct localized *result = localized_new();
        struct localized_culprit *c;

        result->state = n > 0 ? LOCALIZE_FOUND : LOCALIZE_NO_CULPRIT;
        result->is_unfinished = is_unfinished;
        result->is_disturbed = is_disturbed;
        if (n > 0) {
                c = result->culprits = calloc(1, sizeof(*c));
                *c = (struct localized_culprit){.commits = calloc(n, sizeof(char *)),
                                                .before = strdup(commits[3 - n]),
                                                .subject = strdup("4"),
                                                .value_before = 0.25,
                                                .value_after = 1.5,
                                                .is_slowdown = true,
                                                .is_broken_after = breaks,
                                                .p = NAN,
                                                .ratio = NAN,
                                                .confidence = NAN};
                result->n = 1;
                for (; c->n < n; c->n++)
                        c->commits[c->n] = strdup(commits[4 - n + c->n]);
                ck_assert_int_gt(asprintf(&c->commit, n > 1 ? "%s..%s" : "%.0s%s", c->before, commits[3]), 0);
        }
        assert_ok(finding_query_localized(w, solver, f, &q));
        assert_ok(localized_put(w, solver, &q->key, result));
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
        world(FINDING_SLOWDOWN);
        assert_is_silent("responsible");
        assert_says("Each run had 1.5s of CPU time and");
        end();
}
END_TEST

START_TEST(test_a_search_that_is_not_finished)
{
        world(FINDING_SLOWDOWN);
        localized(3, true, false);
        assert_says("| one of 3 (`git log %.12s..%.12s`) | 0.250 | 1.500 |", commits[0], commits[3]);
        assert_says("not finished: they are not yet verified. `solverfs localize toy spr/%u` goes on", f->number);
        localized(1, true, false);
        assert_says("| `%.12s` (4) | 0.250 |", commits[3]);
        assert_says("not yet verified");
        end();
}
END_TEST

static struct digest key_on(char *cluster, enum judge_measure m)
{
        cleanup(query_unrefp) struct query *q = NULL;
        struct worker_pool pool = {.name = cluster};

        solver->pool = cluster ? &pool : NULL;
        f->measure = m;
        assert_ok(finding_query_localized(w, solver, f, &q));
        solver->pool = NULL;
        return q->key;
}

/* A cluster may be called like another part of the key. */
START_TEST(test_what_is_found_on_a_cluster_is_not_found_here)
{
        char memory[] = "memory", label[] = "cluster";
        struct digest keys[4];

        world(FINDING_SLOWDOWN);
        keys[0] = key_on(NULL, JUDGE_TIME);
        keys[1] = key_on(NULL, JUDGE_MEMORY);
        keys[2] = key_on(memory, JUDGE_TIME);
        keys[3] = key_on(label, JUDGE_MEMORY);
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                for (size_t k = 0; k < i; k++)
                        ck_assert(!digest_equal(&keys[i], &keys[k]));
        end();
}
END_TEST

static int find_answer(void)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        assert_ok(finding_query_localized(w, solver, f, &q));
        return q->type->find(q, &v);
}

START_TEST(test_a_search_that_is_not_finished_goes_on_when_asked)
{
        world(FINDING_SLOWDOWN);
        localized(3, true, false);
        assert_error(find_answer(), ENOENT);
        localized(0, false, true); /* by disturbed runs: an answer, if not the last */
        assert_ok(find_answer());
        localized(1, false, false);
        assert_ok(find_answer());
        end();
}
END_TEST

START_TEST(test_a_commit_after_which_there_is_no_answer)
{
        cleanup_culprits struct culprits all = {0};

        world(FINDING_SLOWDOWN);
        breaks = true;
        localized(1, false, false);
        breaks = false;
        assert_says("| `%.12s` (4) | 0.250 | broken |", commits[3]);
        assert_ok(culprits_read(w, solver, &all));
        ck_assert_uint_eq(all.n, 1);
        ck_assert(all.list[0].before == 0.25 && isnan(all.list[0].after));
        end();
}
END_TEST

START_TEST(test_a_search_for_a_lost_answer)
{
        world(FINDING_REGRESSION);
        localized(2, true, false);
        assert_says("Since one of 2 (`git log %.12s..%.12s`).", commits[1], commits[3]);
        assert_says("not yet verified. `solverfs localize toy incompleteness/%u` goes on with it.", f->number);
        end();
}
END_TEST

START_TEST(test_one_that_others_disturbed)
{
        world(FINDING_SLOWDOWN);
        localized(0, false, true);
        assert_is_silent("## Commits responsible");
        assert_says("while others had the core");
        assert_says("`solverfs localize toy");
        end();
}
END_TEST

START_TEST(test_a_finished_one)
{
        world(FINDING_SLOWDOWN);
        localized(1, false, false);
        assert_says("| `%.12s` (4) | 0.250 |", commits[3]);
        assert_is_silent("goes on");
        localized(2, false, false); /* those between cannot be built */
        assert_says("| one of 2 (`git log %.12s..%.12s`) |", commits[1], commits[3]);
        end();
}
END_TEST

/* One commit is left, but the runs were used up before they verified it. */
START_TEST(test_a_row_says_that_it_is_not_verified)
{
        world(FINDING_SLOWDOWN);
        for (int verified = 0; verified < 2; verified++) {
                cleanup_localized struct localized *l = NULL;
                cleanup_buffer struct buffer rows = {0};

                localized(1, false, false);
                assert_ok(finding_localization(w, solver, f, &l));
                l->culprits[0].is_verified = verified;
                localized_rows(l, &rows);
                ck_assert_str_eq(strrchr(rows.data, '\t'), verified ? "\t4\n" : "\t(not verified) 4\n");
        }
        end();
}
END_TEST

START_TEST(test_what_makers_and_machine_are_called)
{
        json_t *conditions;

        world(FINDING_SLOWDOWN);
        assert_is_silent("cores)");
        conditions = json_pack("{s{ss} s{ss si ss ss}}", "versions", commits[0], "Toy version 1.2", "machine", "cpu", "Abacus 9", "cores", 3, "kernel",
                               "Linux 7.1", "host", "secret");
        shell("mkdir -p store/campaigns/toy/nightly");
        assert_ok(campaign_put_conditions(w, "toy", "nightly", conditions));
        json_decref(conditions);
        assert_says("| `%.12s` (1): `Toy version 1.2` | sat | 0.250 |", commits[0]);
        assert_says("and a core of its own, on Abacus 9 (3 cores), Linux 7.1.\n");
        assert_is_silent("secret");
        end();
}
END_TEST

START_TEST(test_a_text_stays_in_its_cell)
{
        json_t *conditions;

        last_subject = "handle a || b in <let>";
        world(FINDING_SLOWDOWN);
        conditions = json_pack("{s{ss}}", "versions", commits[3], "Toy `1|2`");
        shell("mkdir -p store/campaigns/toy/nightly");
        assert_ok(campaign_put_conditions(w, "toy", "nightly", conditions));
        json_decref(conditions);
        localized(1, false, false);
        assert_says("| `%.12s` (handle a \\|\\| b in \\<let>): Toy \\`1\\|2\\` | timeout | 1.500 | 1.500 |\n", commits[3]);
        assert_says("| `%.12s` (handle a \\|\\| b in \\<let>) | 0.250 |", commits[3]);
        end();
}
END_TEST

/* The page of a commit where the clone that was added came from. */
START_TEST(test_links_to_forges)
{
        static const struct {
                const char *address, *page;
        } forges[] = {
                {"https://github.com/me/toy.git", "https://github.com/me/toy/commit/"},   {"git@github.com:me/toy", "https://github.com/me/toy/commit/"},
                {"ssh://git@gitlab.com/me/toy.git", "https://gitlab.com/me/toy/-/commit/"}, {"https://codeberg.org/me/toy/", "https://codeberg.org/me/toy/commit/"},
        };
        char setting[200];

        world(FINDING_SLOWDOWN);
        assert_is_silent("/commit/");
        for (size_t i = 0; i < ARRAY_SIZE(forges); i++) {
                snprintf(setting, sizeof(setting), "git -C repo config remote.origin.url %s", forges[i].address);
                shell(setting);
                assert_says("[`%.12s`](%s%s)", commits[0], forges[i].page, commits[0]);
                assert_says("git clone -q '%s' toy && cd toy\n", forges[i].address);
        }
        shell("git -C repo config remote.origin.url https://example.org/me/toy.git");
        assert_is_silent("/commit/");
        assert_says("git clone -q 'https://example.org/me/toy.git' toy");
        end();
}
END_TEST

START_TEST(test_not_reduced)
{
        world(FINDING_SLOWDOWN);
        assert_says("The input is not reduced; `solverfs reduce toy spr/%u` does that.", f->number);
        end();
}
END_TEST

static void assert_verifies(const char *text, bool is_there)
{
        cleanup_buffer struct buffer script = {0};

        assert_ok(finding_verification(w, solver, f, &script));
        ck_assert_msg(!strstr(script.data, text) != is_there, "'%s' is%s in:\n%s", text, is_there ? " not" : "", script.data);
}

START_TEST(test_verify_goes_by_the_commit_responsible)
{
        char line[120];

        world(FINDING_SLOWDOWN);
        f->threshold = 1;
        snprintf(line, sizeof(line), "\nbefore='%s'\nafter='%s'\n", commits[0], commits[3]);
        assert_verifies(line, true);
        assert_verifies("\tsh -c 'cp a prog' &&\n", true);
        assert_verifies("(check-sat)\n", true);
        assert_verifies("\nexport LC_ALL=C", true); /* bash's times have the decimal point of the locale */
        localized(1, true, false); /* it is not sure */
        assert_verifies(line, true);
        localized(1, false, false);
        snprintf(line, sizeof(line), "\nbefore='%s'\nafter='%s'\n", commits[2], commits[3]);
        assert_verifies(line, true);
        assert_verifies("\nleast_ms=625 ", true);
        end();
}
END_TEST

/* The text may be of another store. */
START_TEST(test_a_program_that_is_not_here_is_quoted)
{
        static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        char version[200];

        world(FINDING_SLOWDOWN);
        snprintf(version, sizeof(version), "exec:'/no where/z3' -st a'b c'@sha256:%s", digest);
        set_string(&f->reference, version);
        assert_verifies("\t\t$within '/no where/z3' -st 'ab c' ../case.smt2\n", true);
        assert_says("\n'/no where/z3' -st 'ab c' ../case.smt2\n");
        snprintf(version, sizeof(version), "exec:true; touch $(id) #@sha256:%s", digest);
        set_string(&f->reference, version);
        assert_verifies("\t\t$within 'true; touch $(id) #' ../case.smt2\n", true);
        assert_says("\n'true; touch $(id) #' ../case.smt2\n");
        set_string(&f->reference, "exec:");
        assert_verifies("\t\t$within '' ../case.smt2\n", true);
        end();
}
END_TEST

START_TEST(test_memory_is_not_verified)
{
        cleanup_buffer struct buffer script = {0};

        world(FINDING_SLOWDOWN);
        f->measure = JUDGE_MEMORY;
        ck_assert(!finding_has_verification(f));
        ck_assert_int_eq(finding_verification(w, solver, f, &script), -ENOENT);
        end();
}
END_TEST

/* It says under which seeds the pairs of runs were, as far as that is sure. */
START_TEST(test_pairs_of_runs)
{
        static const char text[] = "(declare-const x Int)\n(declare-const y Int)\n(assert (> x 1))\n(assert (> y x))\n(check-sat)\n";
        cleanup_buffer struct buffer script = {0};

        world(FINDING_SLOWDOWN);
        for (int side = 0; side < 2; side++) {
                f->runs[side].amounts = realloc(f->runs[side].amounts, 3 * sizeof(double));
                f->runs[side].n = 3;
                for (int i = 0; i < 3; i++)
                        f->runs[side].amounts[i] = side ? 1.5 : 0.25;
        }
        assert_says(" in 3 of 3 pairs of runs (100%%), all of the input as it is.\n"); /* nothing in it can change places */
        assert_ok(cases_add_unlisted(workspace_cases(w), "found.smt2", slice_string(text), &f->case_id));
        assert_says(" in 3 of 3 pairs of runs (100%%): as it is, and with the input scrambled by the seeds 1 to 2.\n");
        set_string(&f->origin, COMPARED_ORIGIN); /* by any seed, or none */
        assert_says(" in 3 of 3 pairs of runs (100%%).\n");
        assert_says("# toy: 0.25s becomes more than 1.5s\n");
        f->runs[1].amounts[1] = f->runs[1].amounts[2] = 0.7; /* only the first run was over the limit */
        assert_says("# toy: 0.25s becomes 0.7s\n");
        set_string(&solver->recipe->seed, "-s {n}");
        f->seed = 5; /* the pairs were under 5, 6 and 7 */
        assert_ok(finding_verification(w, solver, f, &script));
        ck_assert_ptr_nonnull(strstr(script.data, "\nseeds='0 6 7"));
        end();
}
END_TEST

/* Older findings have no memory where newer ones have the most of it. */
START_TEST(test_pairs_whose_reference_has_no_answer)
{
        world(FINDING_SLOWDOWN);
        f->measure = JUDGE_MEMORY;
        f->threshold = 2;
        for (int side = 0; side < 2; side++) {
                f->runs[side].amounts = realloc(f->runs[side].amounts, 3 * sizeof(double));
                f->runs[side].n = 3;
                for (int i = 0; i < 3; i++)
                        f->runs[side].amounts[i] = side ? 90e6 : i == 0 ? 0 : i == 1 ? observation_no_answer_amount(f->measure) : 20e6;
        }
        assert_says("| 0 - 20000000 |\n");
        assert_says(" in 1 of 3 pairs of runs (33%%)");
        end();
}
END_TEST

/* A query that cannot be made leaves nothing behind: a mount has one reader after the other. */
START_TEST(test_seeds_of_a_case_that_is_gone)
{
        struct query *q = NULL;
        size_t before;

        world(FINDING_SLOWDOWN);
        set_string(&solver->recipe->seed, "-s {n}");
        f->case_id = 999;
        assert_error(query_seeds(w, solver, f, &q), ENOENT);
        before = mallinfo2().uordblks;
        for (int i = 0; i < 100; i++)
                assert_error(query_seeds(w, solver, f, &q), ENOENT);
        ck_assert_uint_lt(mallinfo2().uordblks, before + 100 * 1000);
        end();
}
END_TEST

/* All that was found out about it later stands in it, each once. */
START_TEST(test_explained)
{
        cleanup_blob struct blob text = {0};

        world(FINDING_SLOWDOWN);
        ck_assert_int_eq(observation_explained(w, f, EXPLAINED_OPTIONS, &text), -ENOENT);
        assert_ok(observation_explain(w, f, EXPLAINED_OPTIONS, "## Options\n\nold\n"));
        assert_ok(observation_explain(w, f, EXPLAINED_OPTIONS, "## Options\n\narith.solver=2 restores it\n"));
        assert_ok(observation_explain(w, f, EXPLAINED_DIVERGENCE, "## Where the runs part\n\nat line 7\n"));
        assert_says("## Options\n\narith.solver=2 restores it\n\n## Where the runs part\n\nat line 7\n");
        end();
}
END_TEST

SUITE("finding_report", test_pairs_of_runs, test_pairs_whose_reference_has_no_answer, test_seeds_of_a_case_that_is_gone, test_explained,
      test_what_makers_and_machine_are_called, test_a_text_stays_in_its_cell, test_links_to_forges, test_not_reduced,
      test_verify_goes_by_the_commit_responsible, test_a_program_that_is_not_here_is_quoted, test_memory_is_not_verified, test_nothing_is_known,
      test_a_search_that_is_not_finished, test_a_search_that_is_not_finished_goes_on_when_asked, test_what_is_found_on_a_cluster_is_not_found_here,
      test_a_commit_after_which_there_is_no_answer, test_a_search_for_a_lost_answer,
      test_one_that_others_disturbed, test_a_finished_one, test_a_row_says_that_it_is_not_verified)
