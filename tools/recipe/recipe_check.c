#include "recipe_check.h"

#include "build_failure.h"
#include "core/build/era.h"
#include "core/git/paths.h"
#include "core/query/held.h"
#include "core/run/cell_file.h"
#include "core/workspace/lease.h"
#include "formulas.h"
#include "tools/ask.h"
#include "tools/words.h"

enum check_outcome {
        CHECK_OK,
        CHECK_PROBLEM, /* `what` says what is wrong, and what to do */
        CHECK_SKIPPED, /* not tried, because of an earlier problem */
};
/* Prints a row; counts a problem. */
static printf_like(4, 5) void check_say(struct recipe_check *t, const char *check, enum check_outcome outcome, const char *format, ...)
{
        static const char *const outcomes[] = {"ok", "problem", "skipped"};
        static const struct column columns[] = {{"CHECK", 13}, {"OUTCOME", 8}, {"WHAT"}, {0}};
        cleanup_free char *text = NULL;
        va_list args;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0)
                text = copy_string("out of memory");
        va_end(args);
        t->problems += outcome == CHECK_PROBLEM;
        output_object(columns, json_pack("{ss ss so}", "check", check, "outcome", outcomes[outcome], "what", json_printable(text)));
}

/* -- before the build ------------------------------------------------------------------------------------------- */

/* Checks for paths of the recipe and its eras that no commit has. An era without paths has the recipe's. */
static void check_paths(struct recipe_check *t)
{
        const struct recipe *r = common.solver->recipe;
        const unsigned before = t->problems;

        for (size_t i = 0; i <= r->n_eras; i++) {
                const struct recipe *era = i == 0 ? r : r->eras[i - 1];
                bool there = true;

                for (char *const *p = era->paths; *p && !(i > 0 && era->file) && !r->within; p++)
                        if ((i == 0 || !strings_have(r->paths, *p)) &&
                            history_has_path(common.solver->history, COMMIT_NONE, paths_left_out(*p) ?: *p, &there) == 0 && !there)
                                check_say(t, "paths", CHECK_PROBLEM, "'%s' is in no commit: correct the path, or take it out%s%s", *p,
                                          era->range ? " of era " : "", era->range ?: "");
        }
        if (t->problems == before)
                check_say(t, "paths", CHECK_OK, r->within    ? "of another repository"
                                             : r->paths[0] ? "each is in some commit"
                                                           : "the whole tree, so that every commit is another build");
}

/* -- the build -------------------------------------------------------------------------------------------------- */

/* A path of the commit that `paths` leaves out of builds. */
struct left_out {
        struct recipe_check *check;
        const struct recipe *era;
        char path[PATH_SIZE];
};

static bool is_left_out(void *user, const char *path)
{
        struct left_out *o = user;
        bool there = false;

        if (paths_have(o->era->paths, path) || history_has_path(common.solver->history, o->check->commit, path, &there) < 0 || !there)
                return false;
        snprintf(o->path, sizeof(o->path), "%s", path);
        return true;
}

/* Adds the advice for a failed build: by the record's reason, else by what its log says. */
static void add_advice(struct recipe_check *t, const struct recipe *era, const struct build_record *record, struct buffer *ret)
{
        static const char *const reasons[][2] = {
                {"programs that it made", "say one of these as 'output'"},
                {"the build made no ", "is it the right target? the log says what was made"},
                {"timed out", "raise 'build-timeout'"},
                {"released binary", "correct 'output', which names files in the archive"}};
        static const char submodule[] = "(submodule ";
        const struct build_failure f = build_failure_of(SLICE(record->log.data, record->log.size));
        struct left_out o = {.check = t, .era = era};
        cleanup_buffer struct buffer log = {0};

        for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
                if (strstr(record->reason, reasons[i][0])) {
                        buffer_adds(ret, reasons[i][1]);
                        return;
                }
        build_failure_text(&f, &log);
        if (build_failure_absent(log.data, is_left_out, &o))
                buffer_addf(ret, paths_have_inclusions(era->paths) ? "the commit has %s, and 'paths' leaves it out: add 'paths = %s'"
                                                                   : "the commit has %s, and 'paths' leaves it out: take out the ':!' of %s",
                            o.path, o.path);
        else if (record->log.size > strlen(submodule) && memcmp(record->log.data, submodule, strlen(submodule)) == 0)
                buffer_addf(ret, "the log begins with submodules that are empty folders: 'solverfs solver add --replace %s --submodules' fetches them",
                            common.solver->repository);
        else if (strstr(log.data, "not found") || strstr(log.data, "Could NOT find") || strstr(log.data, "No such file"))
                buffer_adds(ret, "what is not found is not installed here, or not in 'paths' (a build sees nothing else of the repository)");
        else
                buffer_adds(ret, "its log, on standard error, says why");
}

/* 1: built. 0: it cannot be built, after a row that says so. */
static int check_build(struct recipe_check *t, const struct recipe *era, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *whole = NULL;
        cleanup_buffer struct buffer advice = {0};
        int r = command_build(t->commit, false, ret);

        if (r == -EIO || r == -EINVAL || r == -ENOENT) {
                cleanup_free char *why = copy_string(error_message(r));

                check_say(t, "build", CHECK_PROBLEM, "%s", why);
                return 0;
        }
        if (r < 0)
                return r;
        if (!(*ret)->ok) {
                if (build_find(common.workspace, common.solver, t->commit, WITH_LOG, &whole) < 0)
                        return 0;
                add_advice(t, era, whole, &advice);
                check_say(t, "build", CHECK_PROBLEM, "%s: %s", whole->reason, advice.data);
                build_failure_show(t->commit);
                return 0;
        }
        if (era->file)
                check_say(t, "build", CHECK_OK, "released binary %s, %" PRIu64 " bytes", basename(era->file), (*ret)->outputs[0].size);
        else
                check_say(t, "build", CHECK_OK, "%s s, %s of %" PRIu64 " bytes%s%s%s", format_seconds((*ret)->duration_ns).s,
                          (*ret)->outputs[0].name, (*ret)->outputs[0].size, era->range ? ", by era \"" : "", era->range ?: "", era->range ? "\"" : "");
        return 1;
}

static int check_reproducible(struct recipe_check *t, const struct recipe *era)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r;

        if (t->once || era->file)
                return 0;
        r = command_build(t->commit, true, &record);
        if (r < 0)
                return r;
        if (!record->ok)
                check_say(t, "reproducible", CHECK_PROBLEM, "the second build failed: %s", record->reason);
        else if (record->differs)
                check_say(t, "reproducible", CHECK_PROBLEM,
                          "two clean builds differ: %s; take the time, random number or order of files that got in out of the build", record->differs);
        else
                check_say(t, "reproducible", CHECK_OK, "two clean builds gave the same bytes");
        return 0;
}

/* -- runs: neither cases nor facts of them are stored ------------------------------------------------------------- */

struct running {
        struct recipe_check *check;
        const struct recipe *recipe;
        const struct held *held;
        struct lease lease;
        bool has_seed;
        bool *found; /* [patterns of `effort`] it matched in some run */
        const struct formula_pair *pair; /* the formulas that it answers, or that it was given last */
};

/* The first line with text: of standard error if the run failed, else of standard output. */
static void first_words(const struct execute_result *x, struct buffer *ret)
{
        const struct blob *of = x->err.size > 0 && (x->end != END_EXIT || x->code != 0 || x->out.size == 0) ? &x->err : &x->out;
        cleanup_free char *text = format_string("%.*s", (int)MIN(of->size, 1 << 16), (const char *)(of->data ?: ""));
        const char *p = text + strspn(text, " \t\r\n\v\f");
        size_t n = strcspn(p, "\n");

        if (n == 0)
                buffer_adds(ret, "it printed nothing");
        else
                buffer_addf(ret, "it printed '%.*s'", (int)MIN(n, RUN_QUOTE_MOST), p);
}

bool run_lacks_library(const struct execute_result *x, char ret[RUN_QUOTE_MOST])
{
        const struct slice library = verdict_missing_library(x);

        snprintf(ret, RUN_QUOTE_MOST, "%.*s", (int)MIN(library.size, (size_t)RUN_QUOTE_MOST), (const char *)library.data ?: "");
        return library.size > 0;
}

/* True if the program starts; otherwise prints a problem. */
static bool has_started(struct running *r, const struct run_result *x)
{
        char library[RUN_QUOTE_MOST];

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

/* Prints how the run ended without an answer, and what to do about it. */
static void say_no_answer(struct running *r, const char *what, const struct run_result *x)
{
        cleanup_buffer struct buffer words = {0}, says = {0};

        first_words(&x->run, &words);
        if (x->run.end == END_TIMEOUT)
                buffer_addf(&says, "no answer within %s: does it wait for input? {case} stands for the file",
                            format_duration(r->recipe->limits.wall_ns).s);
        else if (x->verdict == VERDICT_MEMOUT)
                buffer_addf(&says, "it needs more than %s of memory: raise 'memory'", format_size(r->recipe->limits.memory).s);
        else if (x->run.end == END_PROCESSES)
                buffer_adds(&says, "it needs more processes or threads than it may have: raise 'processes'");
        else if (x->run.end == END_SIGNAL)
                buffer_addf(&says, "it was ended by signal %d (%s); %s", x->run.code, strsignal(x->run.code), words.data);
        else
                buffer_addf(&says, "no answer was found, status %d, %s: options of 'run' wrong, or not %s?", x->run.code, words.data,
                            r->recipe->format == FORMAT_CNF ? "a line 's SATISFIABLE' or 's UNSATISFIABLE'" : "a line that is just sat, unsat or unknown");
        check_say(r->check, "answer", CHECK_PROBLEM, "%s: %s", what, says.data);
}

/* `text` NULL: the user's file. */
static int run_one(void *user, const char *text, struct run_result *ret)
{
        struct running *r = user;
        struct run_input input = text ? (struct run_input){.bytes = slice_string(text)} : (struct run_input){.path = r->check->input};
        int k = lease_run(&r->lease, r->recipe->format == FORMAT_CNF, /* a runner for each format */
                          &(struct runner_options){.recipe = r->recipe, .programs = r->held->list, .n_programs = r->held->n, .limits = r->recipe->limits,
                                                   .has_seed = r->has_seed, .seed = 1},
                          &input, ret);

        for (size_t i = 0; k == 0 && i < ret->efforts.n; i++)
                r->found[i] |= ret->efforts.list[i].found;
        return k;
}

static bool has_answered(const struct run_result *x)
{
        return x->verdicts.n > 0 || verdict_is_decided(x->verdict);
}

/* 1: a pair is answered correctly. 0: none; prints the problem with the first. */
static int try_pairs(struct running *r)
{
        cleanup(run_result_done) struct run_result first = {0}, x = {0};
        enum verdict truth, other;
        size_t n;
        const struct formula_pair *pairs = formula_pairs(r->recipe->format, &n);
        char what[64];

        for (size_t i = 0; i < n; i++) {
                int k = i == 0 ? formula_pair_try(&pairs[i], run_one, r, &truth, &first) : formula_pair_try(&pairs[i], run_one, r, &other, &x);

                r->pair = &pairs[i];
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

static int check_effort(struct running *r)
{
        cleanup(run_result_done) struct run_result x = {0};
        cleanup_buffer struct buffer formula = {0};
        bool has_all = true;
        int k = 0;

        for (size_t i = 0; r->recipe->effort[i]; i++)
                has_all &= r->found[i];
        if (!has_all && !r->check->input) { /* some solvers print only nonzero counts */
                formula_pigeons(FORMULA_HOLES, r->pair->logic, &formula);
                k = run_one(r, formula.data, &x);
        }
        for (size_t i = 0; k == 0 && r->recipe->effort[i]; i++)
                if (r->found[i])
                        check_say(r->check, "effort", CHECK_OK, "%s", r->recipe->effort[i]);
                else
                        check_say(r->check, "effort", CHECK_PROBLEM,
                                  "'%s' matches nothing that it printed%s: does 'run' ask for statistics? compare with 'solverfs run --print stdout'",
                                  r->recipe->effort[i], r->check->input ? "" : " on small formulas");
        return k;
}

/* A case answered without a seed must also be answered with one. */
static int check_seed(struct running *r)
{
        const char *text = r->check->input ? NULL : r->pair->sat;
        cleanup(run_result_done) struct run_result plain = {0}, seeded = {0};
        cleanup_buffer struct buffer words = {0};
        int k = run_one(r, text, &plain);

        r->has_seed = true;
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

static void skip_effort_and_seed(struct recipe_check *t, const struct recipe *recipe, const char *why)
{
        if (recipe->effort[0])
                check_say(t, "effort", CHECK_SKIPPED, "%s", why);
        if (recipe->seed)
                check_say(t, "seed", CHECK_SKIPPED, "%s", why);
}

/* 1: it answers DIMACS; prints nothing. */
static int answers_dimacs(struct running *r)
{
        cleanup(run_result_done) struct run_result x = {0};
        enum verdict truth;
        size_t n;

        return formula_pair_try(formula_pairs(FORMAT_CNF, &n), run_one, r, &truth, &x);
}

/* Decides how a recipe of any format is tried: by the input's, or by what it answers. */
static int choose_format(struct running *r, const struct recipe *of, struct recipe **ret)
{
        int k = 0;

        *ret = recipe_for_format(of, r->check->input ? r->check->format : FORMAT_CNF);
        r->recipe = *ret;
        if (of->format != FORMAT_ANY || r->check->input || (k = answers_dimacs(r)) != 0)
                return MIN(k, 0);
        recipe_unref(*ret);
        r->recipe = *ret = recipe_for_format(of, FORMAT_SMT2);
        return 0;
}

static int run_all(struct running *r)
{
        int k = r->check->input ? try_input(r) : try_pairs(r);

        if (k == 0)
                skip_effort_and_seed(r->check, r->recipe, "it has not answered");
        if (k <= 0)
                return k;
        k = check_effort(r);
        return k == 0 && r->recipe->seed ? check_seed(r) : k;
}

static int check_runs(struct recipe_check *t, const struct build_record *record)
{
        const struct recipe *of = solver_recipe_at(common.solver, t->commit);
        cleanup_free bool *found = allocate(strings_count(of->effort) + 1, sizeof(*found));
        cleanup(recipe_unrefp) struct recipe *recipe = NULL;
        cleanup_held struct held held = {0};
        struct running running = {
                .check = t,
                .held = &held,
                .found = found,
                .lease = {.workspace = common.workspace, .pool = common.solver->pool, .what = "solver try", .cancel_fd = common.signals, .slot.lock = -1},
        };
        int r = held_build(common.workspace, record, &held) ?: choose_format(&running, of, &recipe) ?: run_all(&running);

        lease_leave(&running.lease);
        return r;
}

/* -- all of it -------------------------------------------------------------------------------------------------- */

int recipe_check(struct recipe_check *t)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct recipe *era = common.solver->recipe;
        int r = era_of(common.solver->history, common.solver->recipe, t->commit, &era);

        if (r == -EIO) {
                cleanup_free char *why = copy_string(error_message(r));

                check_say(t, "era", CHECK_PROBLEM, "%s: correct the revision", why);
        } else if (r < 0)
                return r;
        check_paths(t);
        for (char *const *p = era->dependencies; *p; p++)
                if (!is_folder(*p))
                        check_say(t, "dependency", CHECK_PROBLEM, "there is no folder %s: install it, or change the recipe", *p);
        r = check_build(t, era, &record);
        if (r == 0) {
                check_say(t, "answer", CHECK_SKIPPED, "there is no program to run");
                skip_effort_and_seed(t, era, "there is no program to run");
                if (!t->once)
                        check_say(t, "reproducible", CHECK_SKIPPED, "there is no program to compare");
        }
        if (r <= 0)
                return r;
        r = check_runs(t, record);
        return r < 0 ? r : check_reproducible(t, era);
}
