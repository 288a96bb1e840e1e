/* The runs of a check. Nothing of them is kept: no case, no fact. */
#include <ctype.h>

#include "core/query/held.h"
#include "core/run/runner.h"
#include "formulas.h"
#include "recipe_check.h"

struct running {
        struct recipe_check *check;
        const struct recipe *recipe;
        struct runner *runner;
        bool *found; /* by pattern of `effort`: in any run */
        const char *logic; /* of the formulas that it answers; NULL for DIMACS */
};

/* The first line that says something, of standard error where the run failed, else of standard output. */
static void first_words(const struct execute_result *x, struct buffer *ret)
{
        const struct blob *of = x->err.size > 0 && (x->end != END_EXIT || x->code != 0 || x->out.size == 0) ? &x->err : &x->out;
        const char *p = of->data, *end = p + of->size;
        size_t n = 0;

        while (p < end && isspace((unsigned char)*p))
                p++;
        while (p + n < end && p[n] != '\n' && n < RUN_WORDS)
                n++;
        if (n == 0)
                buffer_adds(ret, "it printed nothing");
        else
                buffer_addf(ret, "it printed '%.*s'", (int)n, p);
}

bool run_lacks_library(const struct execute_result *x, char ret[RUN_WORDS])
{
        static const char words[] = "error while loading shared libraries: ";
        const char *at = x->err.size > 0 ? memmem(x->err.data, x->err.size, words, strlen(words)) : NULL;
        size_t n = 0, left;

        if (!at)
                return false;
        at += strlen(words);
        left = (size_t)((const char *)x->err.data + x->err.size - at);
        while (n < left && n + 1 < RUN_WORDS && at[n] != ':' && at[n] != '\n')
                n++;
        snprintf(ret, RUN_WORDS, "%.*s", (int)n, at);
        return true;
}

/* Does the program start at all? Says so when it does not. */
static bool has_started(struct running *r, const struct run_result *x)
{
        char library[RUN_WORDS];

        if (x->run.end == END_NOEXEC)
                check_say(r->check, "start", CHECK_PROBLEM, "it cannot be executed: %s; is the first 'output' the program?", strerror(x->run.code));
        else if (run_lacks_library(&x->run, library))
                check_say(r->check, "start", CHECK_PROBLEM,
                          "it lacks %s: link it statically, or name the library as another 'output' and let the program look beside itself "
                          "(-Wl,-rpath,'$ORIGIN')",
                          library);
        else
                return true;
        return false;
}

/* How it ended in place of an answer, and what to do about it. */
static void say_no_answer(struct running *r, const char *what, const struct run_result *x)
{
        cleanup_buffer struct buffer words = {0};
        const char *form = r->recipe->format == FORMAT_CNF ? "a line 's SATISFIABLE' or 's UNSATISFIABLE'" : "a line that is just sat, unsat or unknown";
        char limit[32];

        first_words(&x->run, &words);
        switch ((int)x->run.end) {
        case END_TIMEOUT:
                format_duration(r->recipe->limits.wall_ns, limit);
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: no answer within %s: does it wait for input? {case} stands for the file", what, limit);
                return;
        case END_MEMORY:
                format_size(r->recipe->limits.memory, limit);
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: it needs more than %s of memory: raise 'memory'", what, limit);
                return;
        case END_PROCESSES:
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: it needs more processes or threads than it may have: raise 'processes'", what);
                return;
        case END_SIGNAL:
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: it was ended by signal %d (%s); %s", what, x->run.code, strsignal(x->run.code),
                          words.data);
                return;
        default:
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: no answer was found, status %d, %s: options of 'run' wrong, or not %s?", what,
                          x->run.code, words.data, form);
        }
}

static int run_one(struct running *r, const char *text, struct run_result *ret)
{
        struct run_input input = text ? (struct run_input){.bytes = slice_string(text)} : (struct run_input){.path = r->check->input};
        int k = runner_run(r->runner, &input, common.signals, ret);

        for (size_t i = 0; k == 0 && i < ret->efforts.n; i++)
                r->found[i] |= ret->efforts.list[i].found;
        return k;
}

static bool has_answered(const struct run_result *x)
{
        return x->verdicts.n > 0 || verdict_is_decided(x->verdict);
}

/* 1: both were answered as they are. 0: not, and with `say` that is said. */
static int try_pair(struct running *r, const struct formula_pair *pair, bool say)
{
        const enum verdict truth[] = {VERDICT_SAT, VERDICT_UNSAT};
        const char *const texts[] = {pair->sat, pair->unsat};
        bool right = true;

        for (size_t i = 0; right && i < ARRAY_SIZE(texts); i++) {
                struct run_result x = {0};
                int k = run_one(r, texts[i], &x);

                if (k < 0)
                        return k;
                right = x.verdict == truth[i];
                if (!right && say && has_started(r, &x)) {
                        char what[64];

                        snprintf(what, sizeof(what), "on a formula that is %s", verdict_name(truth[i]));
                        if (has_answered(&x))
                                check_say(r->check, "answer", CHECK_PROBLEM, "%s: it says %s; try it on a case of yours", what, verdict_name(x.verdict));
                        else
                                say_no_answer(r, what, &x);
                }
                run_result_done(&x);
        }
        return right;
}

static int try_pairs(struct running *r)
{
        size_t n;
        const struct formula_pair *pairs = formula_pairs(r->recipe->format, &n);

        for (size_t i = 0; i < n; i++) {
                int k = try_pair(r, &pairs[i], false);

                r->logic = pairs[i].logic;
                if (k == 1)
                        check_say(r->check, "answer", CHECK_OK, "sat and unsat are read");
                if (k != 0)
                        return k;
        }
        return try_pair(r, &pairs[0], true);
}

static int try_input(struct running *r)
{
        struct run_result x = {0};
        int k = run_one(r, NULL, &x);

        if (k < 0)
                return k;
        k = has_answered(&x);
        if (k == 1)
                check_say(r->check, "answer", CHECK_OK, "%s is read", verdict_name(x.verdict));
        else if (has_started(r, &x))
                say_no_answer(r, "on this case", &x);
        run_result_done(&x);
        return k;
}

/* Some print a count only where they have counted something. */
static int run_with_work(struct running *r)
{
        cleanup_buffer struct buffer formula = {0};
        struct run_result x = {0};
        int k;

        formula_pigeons(FORMULA_HOLES, r->logic, &formula);
        k = run_one(r, formula.data, &x);
        run_result_done(&x);
        return k;
}

static bool has_found_all(const struct running *r)
{
        for (size_t i = 0; r->recipe->effort[i]; i++)
                if (!r->found[i])
                        return false;
        return true;
}

static int check_effort(struct running *r)
{
        int k = has_found_all(r) || r->check->input ? 0 : run_with_work(r);

        if (k < 0)
                return k;
        for (size_t i = 0; r->recipe->effort[i]; i++)
                if (r->found[i])
                        check_say(r->check, "effort", CHECK_OK, "%s", r->recipe->effort[i]);
                else
                        check_say(r->check, "effort", CHECK_PROBLEM,
                                  "'%s' matches nothing that it printed%s: does 'run' ask for statistics? compare with 'solverfs run --print stdout'",
                                  r->recipe->effort[i], r->check->input ? "" : " on small formulas");
        return 0;
}

/* A case that is answered without a seed must be answered with one. */
static int check_seed(struct running *r)
{
        size_t n;
        const struct formula_pair *pair = formula_pairs(r->recipe->format, &n);
        struct run_result plain = {0}, seeded = {0};
        cleanup_buffer struct buffer words = {0};
        int k = run_one(r, r->check->input ? NULL : pair->sat, &plain);

        runner_set_seed(r->runner, true, 1);
        if (k == 0)
                k = run_one(r, r->check->input ? NULL : pair->sat, &seeded);
        if (k == 0)
                first_words(&seeded.run, &words);
        if (k == 0) {
                bool same = seeded.run.end == plain.run.end && seeded.run.code == plain.run.code && has_answered(&seeded) == has_answered(&plain);

                if (same)
                        check_say(r->check, "seed", CHECK_OK, "%s, with 1 for {n}", r->recipe->seed);
                else
                        check_say(r->check, "seed", CHECK_PROBLEM, "with '%s' and 1 for {n} it ends with status %d, %s: correct 'seed'", r->recipe->seed,
                                  seeded.run.code, words.data);
        }
        run_result_done(&plain);
        run_result_done(&seeded);
        return k;
}

static int run_all(struct running *r)
{
        int k = r->check->input ? try_input(r) : try_pairs(r);

        if (k < 0)
                return k;
        if (k == 1) {
                int e = check_effort(r);

                return e < 0 || !r->recipe->seed ? e : check_seed(r);
        }
        if (r->recipe->effort[0])
                check_say(r->check, "effort", CHECK_SKIPPED, "it has not answered");
        if (r->recipe->seed)
                check_say(r->check, "seed", CHECK_SKIPPED, "it has not answered");
        return 0;
}

/* Where the solver's runs are done; *ret_away is NULL here, else the slot there, to be released. */
static int open_runner(struct recipe_check *t, const struct held *held, const char *scratch, struct cluster_slot **ret_away, struct runner **ret)
{
        const struct recipe *recipe = common.solver->recipe;
        struct run_place *place = common.solver->place;
        int r = place ? place_lease(place, recipe->limits.wall_ns, command_progress.stop, t, ret_away) : 0;

        return r < 0 ? r
                     : runner_open(&(struct runner_options){.recipe = recipe,
                                                            .programs = held->list,
                                                            .n_programs = held->n,
                                                            .limits = recipe->limits,
                                                            .scratch_parent = scratch,
                                                            .sandbox = workspace_settings(common.workspace)->sandbox,
                                                            .away = place ? cluster_slot_away(*ret_away) : NULL},
                                   ret);
}

int recipe_check_runs(struct recipe_check *t, const struct build_record *record)
{
        const struct recipe *recipe = common.solver->recipe;
        cleanup_free bool *found = allocate(strings_count(recipe->effort) + 1, sizeof(*found));
        cleanup_held struct held held = {0};
        struct cluster_slot *away = NULL;
        struct runner *runner = NULL;
        char scratch[PATH_SIZE];
        int r = held_build(common.workspace, record, &held);

        if (r == 0)
                r = path_join(scratch, workspace_dir(common.workspace), "scratch");
        if (r == 0)
                r = open_runner(t, &held, scratch, &away, &runner);
        if (r == 0)
                r = run_all(&(struct running){.check = t, .recipe = recipe, .runner = runner, .found = found});
        runner_close(runner);
        if (away)
                place_release(common.solver->place, away);
        return r;
}
