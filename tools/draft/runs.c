/* Which of the built programs is the solver, and how it is run: the one that answers formulas whose answer is known. */
#include "tools/draft/draft.h"

#include "tools/formulas.h"
#include "tools/recipe_check.h"

#define LIBRARY_FOLDER "shared-libraries"
#define LIBRARY_PATH   "LD_LIBRARY_PATH=/solver"

/* -- one run ---------------------------------------------------------------------------------------------------- */

static int run_once(struct draft_program *p, const struct recipe *recipe, const struct run_input *input, bool has_seed, uint64_t seed, struct run_result *ret)
{
        cleanup(runner_closep) struct runner *runner = NULL;
        char scratch[PATH_SIZE];
        int r = path_join(scratch, workspace_dir(common.workspace), "scratch");

        if (r == 0)
                r = runner_open(&(struct runner_options){.recipe = recipe,
                                                         .programs = p->list,
                                                         .n_programs = p->n,
                                                         .limits = recipe->limits,
                                                         .has_seed = has_seed,
                                                         .seed = seed,
                                                         .scratch_parent = scratch,
                                                         .sandbox = workspace_settings(common.workspace)->sandbox},
                                &runner);
        return r == 0 ? runner_run(runner, input, common.signals, ret) : r;
}

static void add_program(struct draft_program *p, const struct made *m)
{
        p->from[p->n] = m;
        p->list[p->n++] = (struct run_program){.path = m->host, .name = basename(m->path)};
}

static bool is_listed(const struct draft_program *p, const struct made *m)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->from[i] == m)
                        return true;
        return false;
}

/* Adds the library that the loader misses, where the build made it. */
static bool add_library(struct draft_program *p, const struct execute_result *x)
{
        char name[RUN_WORDS];
        const struct made *m = run_lacks_library(x, name) ? made_list_library(p->made, name) : NULL;

        if (!m || is_listed(p, m) || p->n >= ARRAY_SIZE(p->list))
                return false;
        add_program(p, m);
        return true;
}

static int trial_recipe(const struct draft_program *p, const struct draft_keys *keys, struct recipe **ret)
{
        cleanup_buffer struct buffer text = {0};
        struct recipe **list = NULL;
        size_t n = 0;
        int r = draft_trial_text(keys, &text);

        if (r == 0 && p->n > 1)
                draft_line(&text, "environment", LIBRARY_PATH);
        if (r == 0)
                r = buffer_error(&text);
        if (r == 0)
                r = recipe_parse(text.data, "the draft", DRAFT_NAME, &list, &n);
        if (r == 0)
                *ret = recipe_ref(list[0]);
        recipe_list_free(list, n);
        return r;
}

int draft_run(struct draft_program *p, const struct draft_keys *keys, const char *text, bool has_seed, uint64_t seed, struct run_result *ret)
{
        struct run_input input = {.bytes = slice_string(text)};

        for (;;) {
                cleanup(recipe_unrefp) struct recipe *recipe = NULL;
                int r = trial_recipe(p, keys, &recipe);

                if (r == 0)
                        r = run_once(p, recipe, &input, has_seed, seed, ret);
                if (r < 0 || !add_library(p, &ret->run))
                        return r;
                run_result_done(ret);
                *ret = (struct run_result){0};
        }
}

int draft_answers(struct draft_program *p, const struct draft_keys *keys, bool has_seed, uint64_t seed)
{
        const struct {
                const char *text;
                enum verdict truth;
        } asked[] = {{p->pair->sat, VERDICT_SAT}, {p->pair->unsat, VERDICT_UNSAT}};
        bool right = true;

        for (size_t i = 0; right && i < ARRAY_SIZE(asked); i++) {
                struct run_result x = {0};
                int r = draft_run(p, keys, asked[i].text, has_seed, seed, &x);

                if (r < 0)
                        return r;
                right = x.verdict == asked[i].truth;
                run_result_done(&x);
        }
        return right;
}

/* -- which program, and how ------------------------------------------------------------------------------------- */

/* 1: the program answers, and p->pair says what. */
static int try_pairs(struct draft_program *p, const struct draft_keys *keys)
{
        size_t n;
        const struct formula_pair *pairs = formula_pairs(keys->format, &n);
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                p->pair = &pairs[i];
                r = draft_answers(p, keys, false, 0);
        }
        return r;
}

static int try_program(const struct made_list *made, const struct made *m, const char *run, struct draft_keys *keys, struct draft_program *ret)
{
        free(keys->run);
        keys->run = copy_string(run);
        *ret = (struct draft_program){.made = made};
        add_program(ret, m);
        return try_pairs(ret, keys);
}

/* A library is taken by a name that the loader looks for, which in the tree may be a link's: a copy is no link. */
static int write_outputs(const struct draft_program *p, struct draft_keys *keys)
{
        int r = strings_add(&keys->outputs, p->from[0]->path);

        if (r == 0 && p->n > 1)
                r = strings_add(&keys->environment, LIBRARY_PATH);
        for (size_t i = 1; r == 0 && i < p->n; i++) {
                cleanup_buffer struct buffer command = {0}, output = {0};

                buffer_adds(&command, "mkdir -p " LIBRARY_FOLDER " && cp -L ");
                buffer_add_shell_word(&command, p->from[i]->path);
                buffer_adds(&command, " " LIBRARY_FOLDER "/");
                buffer_addf(&output, LIBRARY_FOLDER "/%s", p->list[i].name);
                r = buffer_error(&command) < 0 || buffer_error(&output) < 0 ? -ENOMEM : strings_add(&keys->build, command.data);
                if (r == 0)
                        r = strings_add(&keys->outputs, output.data);
        }
        return r;
}

static size_t count_programs(const struct made_list *made)
{
        size_t n = 0;

        for (size_t i = 0; i < made->n; i++)
                n += !made->list[i].is_library;
        return n;
}

#define NAMED 8 /* programs that do not answer */

static void note_silence(struct draft *d, const struct way *way, const struct made_list *made)
{
        size_t named = 0, n = count_programs(made);

        buffer_adds(&d->failed, "by ");
        way_name(way, &d->failed);
        if (n == 0) {
                buffer_adds(&d->failed, " it was built, and no program came of it: is there another target?\n");
                return;
        }
        buffer_addf(&d->failed, " it was built, and none of %s answers a small formula (SMT-LIB, DIMACS) in a file that is its only argument, or on standard input:", n == 1 ? "its programs" : "these");
        for (size_t i = 0; i < made->n && named < NAMED; i++)
                if (!made->list[i].is_library)
                        buffer_addf(&d->failed, "%s %s", named++ > 0 ? "," : "", made->list[i].path);
        buffer_adds(&d->failed, n > named ? " and more\n" : "\n");
}

/* Tries the programs behind the first `from` until one answers. 1: that is number *ret_at. */
static int try_programs(const struct made_list *made, size_t from, const char *run, struct draft_keys *keys, struct draft_program *ret, size_t *ret_at)
{
        int r = 0;

        for (size_t i = from; r == 0 && i < made->n; i++) {
                if (made->list[i].is_library)
                        continue;
                progress_show("looking for the solver", i, made->n, 0, 0);
                r = try_program(made, &made->list[i], run, keys, ret);
                *ret_at = i;
        }
        progress_clear();
        return r;
}

static const enum format formats[] = {FORMAT_SMT2, FORMAT_CNF};

#define OTHERS 4 /* further programs that answer, named in the draft */

/* A recipe has one program; a comment says which others answer. */
static int note_others(const struct made_list *made, const char *taken, struct buffer *about)
{
        int r = 0;

        for (size_t f = 0, named = 0; r >= 0 && f < ARRAY_SIZE(formats); f++)
                for (size_t at = 0, from = 0; named < OTHERS; from = at + 1) {
                        cleanup(draft_keys_done) struct draft_keys keys = {.format = formats[f]};
                        struct draft_program p;

                        r = try_programs(made, from, "{bin} {case}", &keys, &p, &at);
                        if (r <= 0)
                                break;
                        if (strcmp(made->list[at].path, taken) == 0)
                                continue;
                        buffer_addf(about, "%s answers %s, too; it wants a recipe of its own.\n", made->list[at].path, formats[f] == FORMAT_CNF ? "DIMACS" : "SMT-LIB");
                        named++;
                }
        return MIN(r, 0);
}

/* A solver that reads a file is run so; standard input is for those that read nothing else. */
int draft_choose(struct draft *d, const struct way *way, struct draft_keys *keys, struct made_list *made, struct draft_program *ret)
{
        static const char *const forms[] = {"{bin} {case}", "{bin} " RECIPE_INPUT};
        size_t n, at;
        int r = 0;

        made_list_sort(made, d->name);
        for (size_t k = 0; r == 0 && k < ARRAY_SIZE(forms) * ARRAY_SIZE(formats); k++) {
                keys->format = formats[k % ARRAY_SIZE(formats)];
                r = try_programs(made, 0, forms[k / ARRAY_SIZE(formats)], keys, ret, &at);
        }
        if (r == 0)
                note_silence(d, way, made);
        if (r <= 0)
                return r;
        n = count_programs(made);
        buffer_addf(&keys->about_run, "%s answers sat and unsat on small formulas%s%s; the build made %zu program%s.\n", ret->list[0].name,
                    ret->pair->logic ? " of " : "", ret->pair->logic ?: "", n, n == 1 ? "" : "s");
        r = write_outputs(ret, keys);
        if (r == 0 && n > 1)
                r = note_others(made, ret->from[0]->path, &keys->about_run);
        return r < 0 ? r : 1;
}
