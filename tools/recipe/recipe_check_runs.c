/* The runs of a check. Nothing of them is kept: no case, no fact. */
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
        cleanup_free char *text = format_string("%.*s", (int)MIN(of->size, 1 << 16), (const char *)(of->data ?: ""));
        const char *p = text + strspn(text, " \t\r\n\v\f");
        size_t n = strcspn(p, "\n");

        if (n == 0)
                buffer_adds(ret, "it printed nothing");
        else
                buffer_addf(ret, "it printed '%.*s'", (int)MIN(n, RUN_WORDS), p);
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
        cleanup_buffer struct buffer words = {0}, says = {0};
        char limit[32];

        first_words(&x->run, &words);
        if (x->run.end == END_TIMEOUT) {
                format_duration(r->recipe->limits.wall_ns, limit);
                buffer_addf(&says, "no answer within %s: does it wait for input? {case} stands for the file", limit);
        } else if (x->run.end == END_MEMORY) {
                format_size(r->recipe->limits.memory, limit);
                buffer_addf(&says, "it needs more than %s of memory: raise 'memory'", limit);
        } else if (x->run.end == END_PROCESSES)
                buffer_adds(&says, "it needs more processes or threads than it may have: raise 'processes'");
        else if (x->run.end == END_SIGNAL)
                buffer_addf(&says, "it was ended by signal %d (%s); %s", x->run.code, strsignal(x->run.code), words.data);
        else
                buffer_addf(&says, "no answer was found, status %d, %s: options of 'run' wrong, or not %s?", x->run.code, words.data,
                            r->recipe->format == FORMAT_CNF ? "a line 's SATISFIABLE' or 's UNSATISFIABLE'" : "a line that is just sat, unsat or unknown");
        check_say(r->check, "answer", CHECK_PROBLEM, "%s: %s", what, says.data);
}

/* `text` NULL: the file that the user gave. */
static int run_one(void *user, const char *text, struct run_result *ret)
{
        struct running *r = user;
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

/* 1: a pair is answered as it is. 0: none, and what is wrong with the first is said. */
static int try_pairs(struct running *r)
{
        cleanup(run_result_done) struct run_result first = {0}, x = {0};
        enum verdict truth, other;
        size_t n;
        const struct formula_pair *pairs = formula_pairs(r->recipe->format, &n);
        char what[64];

        for (size_t i = 0; i < n; i++) {
                int k = i == 0 ? formula_pair_try(&pairs[i], run_one, r, &truth, &first) : formula_pair_try(&pairs[i], run_one, r, &other, &x);

                r->logic = pairs[i].logic;
                if (k == 1)
                        check_say(r->check, "answer", CHECK_OK, "sat and unsat are read");
                if (k != 0)
                        return k;
        }
        snprintf(what, sizeof(what), "on a formula that is %s", verdict_name(truth));
        if (!has_started(r, &first))
                return 0;
        if (has_answered(&first))
                check_say(r->check, "answer", CHECK_PROBLEM, "%s: it says %s; try it on a case of yours", what, verdict_name(first.verdict));
        else
                say_no_answer(r, what, &first);
        return 0;
}

static int try_input(struct running *r)
{
        cleanup(run_result_done) struct run_result x = {0};
        int k = run_one(r, NULL, &x);

        if (k < 0)
                return k;
        k = has_answered(&x);
        if (k == 1)
                check_say(r->check, "answer", CHECK_OK, "%s is read", verdict_name(x.verdict));
        else if (has_started(r, &x))
                say_no_answer(r, "on this case", &x);
        return k;
}

/* Some print a count only where they have counted something. */
static int run_with_work(struct running *r)
{
        cleanup_buffer struct buffer formula = {0};
        cleanup(run_result_done) struct run_result x = {0};

        formula_pigeons(FORMULA_HOLES, r->logic, &formula);
        return run_one(r, formula.data, &x);
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
        const char *text = r->check->input ? NULL : formula_pairs(r->recipe->format, &n)->sat;
        cleanup(run_result_done) struct run_result plain = {0}, seeded = {0};
        cleanup_buffer struct buffer words = {0};
        int k = run_one(r, text, &plain);

        runner_set_seed(r->runner, true, 1);
        if (k == 0)
                k = run_one(r, text, &seeded);
        if (k < 0)
                return k;
        first_words(&seeded.run, &words);
        if (seeded.run.end == plain.run.end && seeded.run.code == plain.run.code && has_answered(&seeded) == has_answered(&plain))
                check_say(r->check, "seed", CHECK_OK, "%s, with 1 for {n}", r->recipe->seed);
        else
                check_say(r->check, "seed", CHECK_PROBLEM, "with '%s' and 1 for {n} it ends with status %d, %s: correct 'seed'", r->recipe->seed,
                          seeded.run.code, words.data);
        return 0;
}

void check_skip(struct recipe_check *t, const struct recipe *recipe, const char *why)
{
        if (recipe->effort[0])
                check_say(t, "effort", CHECK_SKIPPED, "%s", why);
        if (common.solver->recipe->seed)
                check_say(t, "seed", CHECK_SKIPPED, "%s", why);
}

static int run_all(struct running *r)
{
        int k = r->check->input ? try_input(r) : try_pairs(r);

        if (k == 0)
                check_skip(r->check, r->recipe, "it has not answered");
        if (k <= 0)
                return k;
        k = check_effort(r);
        return k == 0 && r->recipe->seed ? check_seed(r) : k;
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
