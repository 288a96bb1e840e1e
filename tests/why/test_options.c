#include "tests/support/test.h"

#include <math.h>

#include "core/recipe/recipe.h"
#include "core/why/options/option_list.h"
#include "core/why/options/option_search.h"

/* -- lists -------------------------------------------------------------------------------------------------------- */

static struct option_list list;

static void read_text(const char *text)
{
        option_list_done(&list);
        option_list_read(slice_string(text), &list);
}

/* "type set|off value low..high {values}" of an option; "-" for what is not known. */
static void check(const char *name, const char *wanted)
{
        static const char *const types[] = {"bool", "int", "real", "enum"};
        const struct option *o = option_list_find(&list, name);
        cleanup_buffer struct buffer b = {0};

        ck_assert_msg(o, "%s is not in the list", name);
        buffer_addf(&b, "%s %s|%s %s %g..%g", types[o->type], o->set, o->off ?: "-", o->value ?: "-", o->low, o->high);
        for (char **v = o->values; *v; v++)
                buffer_addf(&b, " %s", *v);
        buffer_adds(&b, o->asks_modes ? " asks" : "");
        ck_assert_str_eq(b.data, wanted);
}

START_TEST(test_list_of_z3)
{
        read_text("Global parameters\n"
                  "    dot_proof_file (string) file in which to output graphical proofs (default: proof.dot)\n"
                  "    timeout (unsigned int) (default: infty) timeout in milliseconds. (default: 4294967295)\n"
                  "    unicode (bool) use unicode strings instead of ASCII strings\n"
                  "\nTo set a module parameter, use <module-name>.<parameter-name>=value\nExample:  pp.decimal=true\n\n"
                  "[module] smt, description: smt solver based on lazy smt\n"
                  "    arith.nl (bool) (incomplete) nonlinear arithmetic support, relevant only if smt.arith.solver=2 (default: true)\n"
                  "    arith.solver (unsigned int) arithmetic solver: 0 - no solver, 1 - bellman-ford based solver (diff. logic only), 2 - simplex, "
                  "6 - lra solver (default: 6)\n"
                  "    string_solver (symbol) solver for strings. options are: 'z3str3' (specialized solver), 'seq' (sequences) (default: seq)\n"
                  "    case_split (unsigned int) 0 - no, 1 - yes. (default: 1)\n    tactic (symbol) which (default: )\n"
                  "[module] sat, description: propositional SAT solver\n"
                  "    restart.factor (double) restart factor (default: 1.5)\n"
                  "    cut (bool) eagerly simplify XORs (default: false)\n");
        check("timeout", "int timeout=|- 4294967295 nan..nan");
        check("unicode", "bool unicode=|- - nan..nan");
        check("smt.arith.nl", "bool smt.arith.nl=|- true nan..nan");
        check("smt.arith.solver", "int smt.arith.solver=|- 6 nan..nan 0 1 2 6");
        check("smt.string_solver", "enum smt.string_solver=|- seq nan..nan z3str3 seq");
        check("smt.tactic", "enum smt.tactic=|- - nan..nan");
        check("smt.case_split", "int smt.case_split=|- 1 nan..nan 0 1");
        check("sat.restart.factor", "real sat.restart.factor=|- 1.5 nan..nan");
        check("sat.cut", "bool sat.cut=|- false nan..nan");
        ck_assert_uint_eq(list.n, 9);
        ck_assert_uint_eq(list.passed_over, 1);
        ck_assert(!option_list_find(&list, "timeout")->is_of_search && option_list_find(&list, "smt.arith.nl")->is_of_search);
}
END_TEST

START_TEST(test_list_of_cadical_and_kissat)
{
        read_text("usage: cadical [ <option> ... ]\n\n  -h             print a list\n  -L<rounds>     run local search initially (default '0' rounds)\n"
                  "  -c <limit>     limit the number of conflicts (default unlimited)\n  --force | -f   parsing broken header\n"
                  "  --blockmaxclslim=1..2e9    maximum clause size [1e5]\n  --arena=bool               allocate clauses in arena [true]\n"
                  "  --elimboundmax=-1..2e6     maximum elimination bound [16]\n  --arenatype=1..3           1=clause, 2=var, 3=queue [3]\n"
                  "  --bump=<bool>              enable variable bumping [true]\n  --tier1=1..100             learned clause tier one [2]\n"
                  "  --reluctantlim=0..1073741824 reluctant limit\n                             (0=unlimited) [1048576]\n"
                  "  --decay=1..2e2   per mille [50]\n");
        check("blockmaxclslim", "int --blockmaxclslim=|- 1e5 1..2e+09");
        check("arena", "bool --arena=|- true nan..nan");
        check("elimboundmax", "int --elimboundmax=|- 16 -1..2e+06");
        check("arenatype", "int --arenatype=|- 3 1..3 1 2 3");
        check("bump", "bool --bump=|- true nan..nan");
        check("reluctantlim", "int --reluctantlim=|- 1048576 0..1.07374e+09"); /* one number with a meaning is no list */
        ck_assert_uint_eq(list.n, 8);
        read_text("backbone 0 1 2\neliminateint 10 500 1000000000\nbump 0 1 1\nwords 1 2\n");
        check("backbone", "int --backbone=|- 1 0..2");
        check("eliminateint", "int --eliminateint=|- 500 10..1e+09");
        check("bump", "bool --bump=|- 1 0..1");
        ck_assert_uint_eq(list.n, 3);
}
END_TEST

START_TEST(test_list_of_cvc5_and_others)
{
        read_text("Most commonly-used cvc5 options:\n  --incremental | -i     enable incremental solving [*]\n"
                  "  --lang=LANG | --input-language=LANG | -L LANG\n                         force input language (default is \"auto\"; see --lang\n"
                  "                         help)\n  --help | -h            full command line reference\n"
                  "From the Arithmetic Theory module:\n  --arith-prop=MODE      turns on arithmetic propagation (default is 'old', see\n"
                  "                         --arith-prop=help) (EXPERTS only)\n  --maxCutsInContext=N   maximum cuts\n"
                  "  --unate-lemmas=MODE    determines which\n"
                  "  --[no-]new-style       also written so\n\n"
                  "  -rnd-freq     = <double> [   0 ..    1] (default: 0)\n  -luby, -no-luby                         (default: on)\n"
                  "  -rfirst       = <int32>  [   1 .. imax] (default: 100)\n  -dimacs     = <string>\n\n"
                  "  -S <M>, --sat-solver <M>             [cadical]   backend SAT solver {cadical, cms,\n                                       kissat}\n"
                  "  --prop-nprops <n>                    [0]         number of propagations\n"
                  "  -P, --parse-only                     [false]     only parse\n"
                  "  --restart {geom,glue}  which [default: \"glue\"]\n  --verb=0|1|2  noise (=1)\n");
        check("incremental", "bool --incremental|--no-incremental - nan..nan");
        check("lang", "enum --lang=|- auto nan..nan asks");
        check("arith-prop", "enum --arith-prop=|- old nan..nan asks");
        check("unate-lemmas", "enum --unate-lemmas=|- - nan..nan asks");
        check("maxCutsInContext", "int --maxCutsInContext=|- - nan..nan");
        check("new-style", "bool --new-style|--no-new-style - nan..nan");
        check("rnd-freq", "real -rnd-freq=|- 0 0..1");
        check("luby", "bool -luby|-no-luby on nan..nan");
        check("rfirst", "int -rfirst=|- 100 1..nan");
        check("sat-solver", "enum --sat-solver=|- cadical nan..nan cadical cms kissat");
        check("prop-nprops", "int --prop-nprops=|- 0 nan..nan");
        check("parse-only", "bool --parse-only|--no-parse-only false nan..nan");
        check("restart", "enum --restart=|- glue nan..nan geom glue");
        check("verb", "enum --verb=|- 1 nan..nan 0 1 2");
        ck_assert_uint_eq(list.passed_over, 2); /* --help, -dimacs */
        option_read_modes((struct option *)option_list_find(&list, "unate-lemmas"),
                          slice_string("  Unate lemmas\nAvailable modes for --unate-lemmas are:\n+ all (default)\n  A combination of both.\n+ eqs\n"
                                       "  Outputs\n"));
        check("unate-lemmas", "enum --unate-lemmas=|- all nan..nan all eqs asks");
}
END_TEST

START_TEST(test_damaged_lists)
{
        cleanup_buffer struct buffer b = {0};
        struct random random;
        size_t before;

        option_list_done(&list);
        option_list_read(SLICE("", 0), &list);
        ck_assert_uint_eq(list.n, 0);
        read_text("-\n--\n---\n--=\n-- --\n--[no-]\n--x\n--x=\n  --\xff\xfe=3\n[module]\n (bool)\nx (bool\n[module] \n--a..b=1..\n--y={\n--z=<\n");
        for (int i = 0; i < 12000; i++) /* one more than ten thousand, twice */
                buffer_addf(&b, "  --option%d=0..%d   what it does [%d]\n", i % 11000, i, i / 2);
        option_list_done(&list);
        option_list_read(SLICE(b.data, b.size), &list);
        ck_assert_uint_eq(list.n, OPTION_LIST_MOST);
        ck_assert_uint_eq(list.passed_over, 2000);
        b.size /= 8;
        option_list_done(&list);
        option_list_read(SLICE(b.data, b.size), &list);
        before = list.n;
        ck_assert_uint_gt(before, 1000);
        random_seed(&random, test_seed(1));
        for (int i = 0; i < 300; i++) /* bytes turned; no more than a byte's share is lost */
                b.data[random_below(&random, b.size)] = (char)random_below(&random, 256);
        option_list_done(&list);
        option_list_read(SLICE(b.data, b.size), &list);
        ck_assert_uint_gt(list.n, before - 600);
        option_list_done(&list);
        memset(b.data, '-', b.size); /* one line of a megabyte */
        option_list_read(SLICE(b.data, b.size), &list);
        ck_assert_uint_eq(list.n, 0);
}
END_TEST

/* -- values ------------------------------------------------------------------------------------------------------- */

static void check_values(const char *name, const struct option *reference, const char *wanted)
{
        const struct option *o = option_list_find(&list, name);
        char **values = option_values(o, reference);
        cleanup_buffer struct buffer b = {0};

        for (char **v = values; *v; v++) {
                buffer_adds(&b, b.size > 0 ? " " : "");
                option_add_argument(o, *v, &b);
        }
        ck_assert_str_eq(b.data ?: "", wanted);
        strings_free(values);
}

START_TEST(test_values)
{
        struct option_list old;

        option_list_read(slice_string("  --aa=0..9   x [7]\n  --bb=bool  x [false]\n  --cc={p,q,r} x [r]\n  --dd=0..1000 x [1e2]\n"
                                      "  -luby, -no-luby (default: off)\n"), &old);
        read_text("  --aa=0..9   x [3]\n  --bb=bool  x [true]\n  --cc={p,q,r} x [p]\n  --dd=0..1000 x [100]\n  -luby, -no-luby (default: on)\n"
                  "  --ff=bool x\n  --gg=N x\n"
                  "  --hh=<double> (default: 0.5)\n");
        check_values("aa", &old.list[0], "--aa=7 --aa=0 --aa=1 --aa=6 --aa=9");
        check_values("aa", NULL, "--aa=0 --aa=1 --aa=6 --aa=9");
        check_values("bb", &old.list[1], "--bb=false");
        check_values("cc", &old.list[2], "--cc=r --cc=q");
        check_values("dd", &old.list[3], "--dd=0 --dd=50 --dd=200 --dd=1 --dd=1000"); /* 1e2 is 100 */
        check_values("luby", &old.list[4], "-no-luby");
        check_values("ff", NULL, "--ff=true --ff=false");
        check_values("gg", NULL, "--gg=0 --gg=2 --gg=1");
        check_values("hh", NULL, "--hh=0 --hh=0.25 --hh=1");
        ck_assert(!option_differs(&list.list[3], &old.list[3]) && option_differs(&list.list[0], &old.list[0]));
        ck_assert(!option_differs(&list.list[5], &old.list[1])); /* nobody knows */
        option_list_done(&old);
}
END_TEST

START_TEST(test_what_a_change_has_to_do_with_it)
{
        cleanup_buffer struct buffer words = {0};

        read_text("[module] smt, description: x\n  arith.solver (int) x (default: 6)\n  arith.nl (bool) x (default: true)\n[module] x, d\n"
                  "  --nl-ext-tplanes x [*]\n  --vivifyreleff=1..9 x [2]\n  --elim=bool x [true]\n  --eliminate=bool x [true]\n  --or=bool x [true]\n");
        option_read_patch(slice_string("diff --git a/src/smt/params/smt_params_helper.pyg b/src/smt/params/smt_params_helper.pyg\n"
                                       "--- a/src/smt/params/x.pyg\n"
                                       "+++ b/src/smt/params/smt_params_helper.pyg\n@@ -40,1 +40,1 @@ def_module_params\n"
                                       "-  ('arith.solver', UINT, 2, 'arithmetic solver')\n+  ('arith.solver', UINT, 6, 'arithmetic solver')\n"
                                       " ('arith.nl', BOOL, True, 'context')\n--- a/src/or.cpp\n+++ b/src/or.cpp\n--- /dev/null\n+++ b/src/vivify.cpp\n"
                                       "+  if (options().nlExtTplanes || opts.elim)\n"),
                          &words);
        for (size_t i = 0; i < list.n; i++) {
                static const char *const named[] = {"smt.arith.solver", "nl-ext-tplanes", "vivifyreleff", "elim"};
                bool wanted = false;

                for (size_t k = 0; k < ARRAY_SIZE(named); k++)
                        wanted |= strcmp(list.list[i].name, named[k]) == 0;
                ck_assert_msg(option_is_in_patch(&list.list[i], words.data) == wanted, "%s", list.list[i].name);
        }
        ck_assert(!option_is_in_patch(&list.list[0], ""));
}
END_TEST

/* -- the search on planted flips ----------------------------------------------------------------------------------- */

#define N 600

struct model {
        struct option_flip needed[8]; /* all of them restore */
        size_t n_needed;
        size_t value_of_breaker[N]; /* 1 + the value that breaks; 0: none does */
        bool is_spoiler[N];         /* any flip of it makes slow whatever else is there */
        double error;               /* chance that a test errs, by which no set seems broken */
        size_t fails_after;         /* tests; 0: never */
        struct random random;
        size_t tests, confirmations;
        bool refuses; /* no set is confirmed */
        uint64_t refused[64];
};

static uint64_t number_of(const struct option_flip *flips, size_t n)
{
        uint64_t number = n; /* independent of the order */

        for (size_t i = 0; i < n; i++)
                number += hash_quick(&flips[i], sizeof(flips[i]));
        return number;
}

static enum option_outcome truth(const struct model *m, const struct option_flip *flips, size_t n)
{
        size_t found = 0;
        bool spoiled = false;

        for (size_t i = 0; i < n; i++) {
                if (m->value_of_breaker[flips[i].candidate] == flips[i].value + 1)
                        return OPTIONS_BROKEN;
                spoiled |= m->is_spoiler[flips[i].candidate];
                for (size_t k = 0; k < m->n_needed; k++)
                        found += m->needed[k].candidate == flips[i].candidate && m->needed[k].value == flips[i].value;
        }
        return found == m->n_needed && !spoiled ? OPTIONS_RESTORED : OPTIONS_SLOW;
}

static int test_model(void *user, const struct option_flip *flips, size_t n, enum option_care care, enum option_outcome *ret)
{
        struct model *m = user;
        bool seen[N] = {0}, twice = false;

        for (size_t i = 0; i < n; i++) {
                twice |= seen[flips[i].candidate];
                seen[flips[i].candidate] = true;
        }
        ck_assert(!twice);
        for (size_t i = 0; m->refuses && i < m->confirmations; i++)
                ck_assert_uint_ne(m->refused[i], number_of(flips, n));
        if (m->fails_after > 0 && m->tests >= m->fails_after)
                return -EXFULL;
        m->tests++;
        *ret = truth(m, flips, n);
        for (size_t i = 0; care == OPTIONS_SWEEP && i < n; i++)
                if (m->is_spoiler[flips[i].candidate])
                        *ret = OPTIONS_BROKEN;
        if (*ret != OPTIONS_BROKEN && care != OPTIONS_CAREFUL && random_uniform(&m->random) < m->error)
                *ret = *ret == OPTIONS_SLOW ? OPTIONS_RESTORED : OPTIONS_SLOW;
        return 0;
}

static int confirm_model(void *user, const struct option_flip *flips, size_t n, enum option_outcome *ret)
{
        struct model *m = user;

        ck_assert_uint_lt(m->confirmations, ARRAY_SIZE(m->refused));
        m->refused[m->confirmations++] = number_of(flips, n);
        *ret = m->refuses ? OPTIONS_SLOW : truth(m, flips, n);
        return 0;
}

/* `values`: of each candidate. */
static void search(struct model *m, size_t values, struct option_search_result *ret)
{
        static struct option_candidate candidates[N];
        const struct option_search_options options = {
                .candidates = candidates, .n = N, .rounds = 3, .test = test_model, .confirm = confirm_model, .user = m};

        for (size_t i = 0; i < N; i++)
                candidates[i] = (struct option_candidate){.n_values = values, .round = i % 50 == 0 ? 0 : i % 10 == 0 ? 1 : 2};
        assert_ok(option_search(&options, ret));
        ck_assert_uint_eq(ret->tests, m->tests);
}

static bool is_found(const struct model *m, const struct option_search_result *r)
{
        return r->n == m->n_needed && truth(m, r->flips, r->n) == OPTIONS_RESTORED;
}

/* Further flips at random places, none twice. */
static void plant(struct model *m, size_t n_needed, size_t breakers, size_t spoilers)
{
        uint32_t *places = random_permutation(&m->random, 0, N);

        for (size_t i = 0; i < n_needed + breakers + spoilers; i++) {
                if (i < n_needed)
                        m->needed[m->n_needed++] = (struct option_flip){places[i], 0};
                else if (i < n_needed + breakers)
                        m->value_of_breaker[places[i]] = 1;
                else
                        m->is_spoiler[places[i]] = true;
        }
        free(places);
}

START_TEST(test_planted_flips)
{
        size_t most = 0;

        for (unsigned seed = 0; seed < 40; seed++)
                for (size_t n = 1; n <= 5; n++) {
                        struct model m = {0};
                        cleanup_option_search_result struct option_search_result r = {0};

                        random_seed(&m.random, test_seed(seed));
                        plant(&m, n, seed % 5, 0);
                        search(&m, 1, &r);
                        ck_assert(is_found(&m, &r));
                        ck_assert_uint_eq(m.confirmations, 1);
                        ck_assert_uint_le(r.n_dropped, seed % 5); /* those that were met */
                        most = MAX(most, r.tests);
                }
        fprintf(stderr, "at most %zu tests\n", most);
        ck_assert_uint_le(most, 150);
}
END_TEST

START_TEST(test_planted_values)
{
        for (unsigned seed = 0; seed < 20; seed++) { /* of one option the third value, which no first sweep has */
                struct model m = {0};
                cleanup_option_search_result struct option_search_result r = {0};

                random_seed(&m.random, test_seed(seed));
                plant(&m, 1, 3, 0);
                m.needed[0].value = 2;
                if (seed % 2 && m.needed[0].candidate % 50 > 0) /* beside the first value of one of an earlier round */
                        m.needed[m.n_needed++] = (struct option_flip){50 * (1 + seed % 10), 0}, m.value_of_breaker[50 * (1 + seed % 10)] = 0;
                search(&m, 4, &r);
                ck_assert(is_found(&m, &r));
                ck_assert_uint_le(r.tests, 200);
        }
}
END_TEST

/* Flips that slow whatever there is: few are dropped by the sweep; among many single flips are found in small groups. */
START_TEST(test_spoilers)
{
        size_t found[2] = {0};

        for (unsigned seed = 0; seed < 40; seed++) {
                struct model m = {.fails_after = 1500};
                cleanup_option_search_result struct option_search_result r = {0};

                random_seed(&m.random, test_seed(seed));
                plant(&m, 1 + seed % 2 * 2, 2, seed % 2 ? 5 : 60);
                search(&m, 1, &r);
                ck_assert(r.n == 0 || is_found(&m, &r));
                found[seed % 2] += r.n > 0;
        }
        ck_assert_uint_eq(found[0], 20);
        ck_assert_uint_eq(found[1], 20);
}
END_TEST

/* Tests that err in two of a hundred cases: what is confirmed is right, whatever was believed on the way. */
START_TEST(test_noise)
{
        size_t found = 0;

        for (unsigned seed = 0; seed < 40; seed++) {
                struct model m = {.error = 0.02, .fails_after = 1500};
                cleanup_option_search_result struct option_search_result r = {0};

                random_seed(&m.random, test_seed(seed));
                plant(&m, 3, 3, 0);
                search(&m, 1, &r);
                ck_assert(r.n == 0 || truth(&m, r.flips, r.n) == OPTIONS_RESTORED);
                found += is_found(&m, &r);
        }
        fprintf(stderr, "%zu of 40 under noise\n", found);
        ck_assert_uint_ge(found, 28);
}
END_TEST

START_TEST(test_nothing_to_find)
{
        struct model m = {.n_needed = 1, .needed = {{N, 0}}}, none = m, cut = m;
        cleanup_option_search_result struct option_search_result r = {0}, s = {0}, t = {0}, u = {0};

        search(&m, 1, &r); /* each alone, in groups and at once */
        ck_assert(r.n == 0 && !r.is_cut_off && r.n_dropped == 0);
        ck_assert_uint_lt(r.tests, 4 * N);
        cut.fails_after = 17;
        search(&cut, 2, &s);
        ck_assert(s.n == 0 && s.is_cut_off && s.tests == 17);
        cut = (struct model){.n_needed = 2, .needed = {{7, 0}, {517, 0}}, .fails_after = 35};
        search(&cut, 1, &u); /* what restores is told, though there was no time to make it small */
        ck_assert(u.is_cut_off && u.n > 2 && truth(&cut, u.flips, u.n) == OPTIONS_RESTORED);
        ck_assert_int_eq(option_search(&(struct option_search_options){.test = test_model, .user = &none, .rounds = 3}, &t), 0);
        ck_assert(t.n == 0 && t.tests == 0);
}
END_TEST

/* A set that was not confirmed is not tested again. */
START_TEST(test_unconfirmed)
{
        for (uint64_t seed = 0; seed < 20; seed++) {
                struct model m = {.refuses = true};
                cleanup_option_search_result struct option_search_result r = {0};

                random_seed(&m.random, test_seed(seed));
                plant(&m, 1 + seed % 4, 0, 0);
                search(&m, 1, &r);
                ck_assert_uint_eq(r.n, 0);
                ck_assert_uint_gt(m.confirmations, 0);
        }
}
END_TEST

START_TEST(test_all_break)
{
        struct model m = {.n_needed = 1, .needed = {{77, 0}}};
        cleanup_option_search_result struct option_search_result r = {0};

        for (size_t i = 0; i < N; i++)
                m.value_of_breaker[i] = i == 77 ? 0 : 1;
        search(&m, 1, &r);
        ck_assert(is_found(&m, &r));
}
END_TEST

SUITE("options", test_list_of_z3, test_list_of_cadical_and_kissat, test_list_of_cvc5_and_others, test_damaged_lists, test_values,
      test_what_a_change_has_to_do_with_it, test_planted_flips, test_planted_values, test_spoilers, test_noise, test_nothing_to_find, test_unconfirmed, test_all_break)
