/* Finds the solver among the built programs, and how to run it: it answers formulas whose answer is known. */
#include "draft.h"

#include "core/workspace/lease.h"
#include "tools/recipe/formulas.h"
#include "tools/recipe/recipe_check.h"

#define LIBRARY_FOLDER "shared-libraries"
#define LIBRARY_PATH   "LD_LIBRARY_PATH=/solver"

/* -- one run ---------------------------------------------------------------------------------------------------- */

static void add_program(struct draft_program *p, const struct made *m)
{
        p->from[p->n] = m;
        p->list[p->n++] = (struct run_program){.path = m->host, .name = basename(m->path)};
}

/* Adds the library that the loader misses, if the build made it. */
static bool add_library(struct draft_program *p, const struct execute_result *x)
{
        char name[RUN_QUOTE_MOST];
        const struct made *m = run_lacks_library(x, name) ? made_list_library(p->made, name) : NULL;
        bool is_new = m && p->n < ARRAY_SIZE(p->list);

        for (size_t i = 0; i < p->n; i++)
                is_new &= p->from[i] != m;
        if (is_new)
                add_program(p, m);
        return is_new;
}

void draft_run(struct draft_program *p, const struct draft_keys *keys, const char *text, bool has_seed, uint64_t seed, struct run_result *ret)
{
        struct run_input input = {.bytes = slice_string(text)};

        do {
                cleanup_buffer struct buffer recipe = {0};
                struct lease lease = {.workspace = common.workspace, .what = "recipe draft", .cancel_fd = common.signals, .slot.lock = -1};
                struct recipe **list = NULL;
                size_t n = 0;
                int r;

                draft_trial_text(keys, &recipe);
                draft_line(&recipe, "environment", p->n > 1 ? LIBRARY_PATH : NULL);
                command_must(recipe_parse(recipe.data, "the draft", DRAFT_NAME, &list, &n));
                run_result_done(ret);
                *ret = (struct run_result){0};
                r = lease_run(&lease, LEASE_ONCE,
                              &(struct runner_options){.recipe = list[0], .programs = p->list, .n_programs = p->n, .limits = list[0]->limits,
                                                       .has_seed = has_seed, .seed = seed},
                              &input, ret);
                lease_leave(&lease);
                recipe_list_free(list, n);
                command_must(r);
        } while (add_library(p, &ret->run));
}

struct answering {
        struct draft_program *program;
        const struct draft_keys *keys;
        bool has_seed;
        uint64_t seed;
};

static int run_formula(void *user, const char *text, struct run_result *ret)
{
        struct answering *a = user;

        draft_run(a->program, a->keys, text, a->has_seed, a->seed, ret);
        return 0;
}

bool draft_answers(struct draft_program *p, const struct draft_keys *keys, bool has_seed, uint64_t seed)
{
        cleanup(run_result_done) struct run_result x = {0};
        struct answering a = {p, keys, has_seed, seed};
        enum verdict truth;
        bool is_right = formula_pair_try(p->pair, run_formula, &a, &truth, &x) == 1;

        p->lie = !is_right && (x.verdict == VERDICT_SAT || x.verdict == VERDICT_UNSAT) ? x.verdict : VERDICT_UNKNOWN;
        return is_right;
}

/* -- which program, and how ------------------------------------------------------------------------------------- */

/* True if the program answers; ret->pair is the pair it answers. The keys' comment says the first false answer. */
static bool try_program(const struct made_list *made, const struct made *m, const char *run, struct draft_keys *keys, struct draft_program *ret)
{
        size_t n;
        const struct formula_pair *pairs = formula_pairs(keys->format, &n);

        free(keys->run);
        keys->run = copy_string(run);
        *ret = (struct draft_program){.made = made};
        add_program(ret, m);
        for (size_t i = 0; i < n; i++) {
                ret->pair = &pairs[i];
                if (draft_answers(ret, keys, false, 0))
                        return true;
                if (ret->lie != VERDICT_UNKNOWN && keys->about_run.size == 0)
                        buffer_addf(&keys->about_run, "%s answered %s to a small formula where %s is right\n", m->path, verdict_name(ret->lie),
                                    verdict_name(ret->lie == VERDICT_SAT ? VERDICT_UNSAT : VERDICT_SAT));
        }
        return false;
}

/* A library gets the name that the loader looks for. In the tree that may be a link; here it is a copy. */
static void write_outputs(const struct draft_program *p, struct draft_keys *keys)
{
        strings_add(&keys->outputs, p->from[0]->path);
        if (p->n > 1)
                strings_add(&keys->environment, LIBRARY_PATH);
        for (size_t i = 1; i < p->n; i++) {
                cleanup_buffer struct buffer command = {0};
                cleanup_free char *output = format_string(LIBRARY_FOLDER "/%s", p->list[i].name);

                buffer_adds(&command, "mkdir -p " LIBRARY_FOLDER " && cp -L ");
                buffer_add_shell_word(&command, p->from[i]->path);
                buffer_adds(&command, " " LIBRARY_FOLDER "/");
                strings_add(&keys->build, command.data);
                strings_add(&keys->outputs, output);
        }
}

static size_t count_programs(const struct made_list *made)
{
        size_t n = 0;

        for (size_t i = 0; i < made->n; i++)
                n += !made->list[i].is_library;
        return n;
}

#define NAMED 8 /* most programs named that do not answer */

/* Adds to d->failed that the build's programs do not answer. */
static void note_silence(struct draft *d, const struct way *way, const struct draft_keys *keys, const struct made_list *made)
{
        size_t named = 0, n = count_programs(made);

        if (n == 0) {
                buffer_addf(&d->failed, "by %s it was built, and no program came of it: is there another target?\n", way->name);
                return;
        }
        if (keys->about_run.size > 0) {
                buffer_addf(&d->failed, "by %s it was built, and %s", way->name, keys->about_run.data);
                return;
        }
        buffer_addf(&d->failed,
                    "by %s it was built, and none of %s answers a small formula (SMT-LIB, DIMACS) in a file that is its only argument, or on "
                    "standard input:", way->name, n == 1 ? "its programs" : "these");
        for (size_t i = 0; i < made->n && named < NAMED; i++)
                if (!made->list[i].is_library)
                        buffer_addf(&d->failed, "%s %s", named++ > 0 ? "," : "", made->list[i].path);
        buffer_adds(&d->failed, n > named ? " and more\n" : "\n");
}

/* Tries the programs from number `from` on until one answers: number *ret_at. */
static bool try_programs(const struct made_list *made, size_t from, const char *run, struct draft_keys *keys, struct draft_program *ret, size_t *ret_at)
{
        bool answers = false;

        for (size_t i = from; !answers && i < made->n; i++) {
                if (made->list[i].is_library)
                        continue;
                progress_show("looking for the solver", i, made->n, 0, 0);
                answers = try_program(made, &made->list[i], run, keys, ret);
                *ret_at = i;
        }
        return answers;
}

/* In the order of trying. */
static const enum format formats[] = {FORMAT_SMT2, FORMAT_CNF};

#define OTHERS 4 /* most further programs named that answer */

/* A recipe has one program; a comment names others that answer. */
static void note_others(const struct made_list *made, const char *taken, struct buffer *about)
{
        for (size_t f = 0, named = 0; f < ARRAY_SIZE(formats); f++)
                for (size_t at = 0, from = 0; named < OTHERS; from = at + 1) {
                        cleanup(draft_keys_done) struct draft_keys keys = {.format = formats[f]};
                        struct draft_program p;

                        if (!try_programs(made, from, "{bin} {case}", &keys, &p, &at))
                                break;
                        if (strcmp(made->list[at].path, taken) == 0)
                                continue;
                        buffer_addf(about, "%s answers %s, too; it wants a recipe of its own.\n", made->list[at].path, format_notation(formats[f]));
                        named++;
                }
}

/* Prefers to give the solver a file; standard input is for those that read only that. */
bool draft_choose(struct draft *d, const struct way *way, struct draft_keys *keys, struct made_list *made, struct draft_program *ret)
{
        static const char *const forms[] = {"{bin} {case}", "{bin} " RECIPE_INPUT};
        size_t n = count_programs(made), at;
        bool answers = false;

        made_list_sort(made, d->name);
        for (size_t k = 0; !answers && k < ARRAY_SIZE(forms) * ARRAY_SIZE(formats); k++) {
                keys->format = formats[k % ARRAY_SIZE(formats)];
                answers = try_programs(made, 0, forms[k / ARRAY_SIZE(formats)], keys, ret, &at);
        }
        if (!answers) {
                note_silence(d, way, keys, made);
                return false;
        }
        keys->about_run.size = 0;
        buffer_addf(&keys->about_run, "%s answers sat and unsat on small formulas%s%s; the build made %zu program%s.\n", ret->list[0].name,
                    ret->pair->logic ? " of " : "", ret->pair->logic ?: "", n, plural(n));
        write_outputs(ret, keys);
        if (n > 1)
                note_others(made, ret->from[0]->path, &keys->about_run);
        return true;
}
