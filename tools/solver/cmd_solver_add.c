/* solverfs solver add: adds a solver from its repository, or gives a solver another recipe. */
#include "tools/words.h"
#include "core/git/gitconfig.h"
#include "core/git/paths.h"
#include "core/recipe/recipe_keys.h"
#include "tools/store/mounts.h"
#include "tools/recipe/recipes.h"
#include "tools/draft/draft.h"

struct add_options {
        const char *name, *repository, *recipe;
        bool replace, submodules;
};

/* --replace NAME --submodules alone: the recipe in force stays, and gets more lines. */
static bool is_kept(const struct add_options *o)
{
        return o->replace && o->submodules && !o->recipe && !o->repository;
}

/* Warns of paths that no commit has, which are mistakes or will come, and of eras. */
static void check_recipe(struct solver *s)
{
        bool there = true;

        for (char *const *p = s->recipe->paths; *p && !s->recipe->within; p++)
                if (history_has_path(s->history, COMMIT_NONE, paths_left_out(*p) ?: *p, &there) == 0 && !there)
                        log_warning("paths = %s: no commit of %s has it%s", *p, s->recipe->name, strchr(*p, ' ') ? "; one path on each 'paths' line" : "");
        recipe_warn_of_eras(s);
}

/* Notes what the new recipe leaves out of the old one: submodules, and variants. */
static void say_replaced(const struct recipe *old, struct recipe *const *list, size_t n)
{
        cleanup_solver_list struct solver_list *l = NULL;

        note("%s has another recipe; what was measured under the old one is found again by it", list[0]->name);
        for (char *const *line = old->submodules; *line; line++) {
                const struct slice path = recipe_submodule(*line).path;
                cleanup_free char *text = copy_prefix(path.data, path.size), *shown = printable(text);

                if (!recipe_find_submodule(list[0]->submodules, path)) {
                        note("the old recipe had a 'submodule' line for %s; 'solverfs solver add --replace %s --submodules' writes those of "
                             ".gitmodules again", shown, list[0]->name);
                        break;
                }
        }
        if (workspace_solvers(common.workspace, &l) < 0)
                return;
        for (size_t i = 0; i < l->n; i++) {
                const struct recipe *r = l->list[i]->recipe;
                bool is_left = r->base && strcmp(r->base, list[0]->name) == 0;

                for (size_t k = 0; k < n; k++)
                        is_left &= strcmp(list[k]->name, r->name) != 0;
                if (is_left)
                        note("its variant %s is not in the recipe, and stays; 'solverfs solver remove %s' takes it out", r->name, r->name);
        }
}

struct submodules {
        struct recipe *recipe;
        const char *base; /* the repository's address */
};

static int note_submodule(void *user, const char *path, const char *url)
{
        struct submodules *s = user;

        if (recipe_find_submodule(s->recipe->submodules, slice_string(path)))
                return 0;
        return history_submodule_check(s->base, path, url) ?: recipe_add_submodule(s->recipe, path, url);
}

/* Appends them to the config, whose comments stay. */
static int append_submodules(const char *name, char *const *lines)
{
        cleanup_free char *path = format_string("%s/config", workspace_dir(common.workspace));
        cleanup_buffer struct buffer section = {0};
        int r = *lines ? workspace_check_editable(common.workspace) : 0;

        if (!*lines || r < 0)
                return r;
        buffer_addf(&section, "[solver \"%s\"]\n", name);
        for (; *lines; lines++)
                gitconfig_line(&section, "    ", "submodule", *lines);
        r = recipe_append_config(path, section.data);
        workspace_look_again(common.workspace);
        return r;
}

/* Adds a line to the recipe for each submodule without one. */
static int find_submodules(const struct add_options *o, struct recipe **list, size_t n)
{
        size_t n_old = strings_count(list[0]->submodules);
        cleanup_solver struct solver *s = NULL;
        int r = workspace_solver(common.workspace, list[0]->name, &s);

        if (r == 0) {
                struct submodules found = {list[0], s->recipe->repository ?: ""};

                r = history_submodules(s->history, found.base, note_submodule, &found);
        }
        if (r == 0 && is_kept(o))
                return append_submodules(o->name, list[0]->submodules + n_old);
        return r == 0 ? workspace_replace_recipe(common.workspace, list, n, NULL, &command_progress) : r;
}

/* Drafts a recipe for sources without one, by building and trying. */
static void draft(const struct add_options *o, struct recipe ***ret, size_t *ret_n)
{
        cleanup_free char *absolute = realpath(o->repository, NULL);
        struct draft_request q = {.repository = absolute ?: o->repository, .shown = o->repository};
        cleanup_solver struct solver *there = NULL;
        cleanup_buffer struct buffer text = {0};

        command_must_as(STATUS_FAILED, workspace_check_name(o->name));
        if (!o->replace && workspace_solver(common.workspace, o->name, &there) == 0)
                command_refuse(STATUS_FAILED, "there is a solver '%s' already; choose another name, or give it another recipe with --replace", o->name);
        note("no recipe of the name %s is known: drafting one by building HEAD", o->name);
        command_signals();
        command_ok(recipe_draft(&q, &text));
        command_must(recipe_parse(text.data, "the draft", o->name, ret, ret_n));
        note("the recipe of %s, which stands in the store's config, with what was seen:", o->name);
        for (char *rest = text.data, *line; (line = strsep(&rest, "\n"));)
                if (line[strspn(line, " ")] != '\0' && line[strspn(line, " ")] != '#')
                        note("%s", line);
}

/* The solver's recipe and its variants': the one in force, that of --recipe or of the name, or a draft. */
static void get_recipe(const struct add_options *o, struct recipe ***ret, size_t *ret_n)
{
        cleanup_solver struct solver *there = NULL;
        cleanup_free char *path = NULL;
        int r;

        if (is_kept(o)) {
                command_solver(o->name, &there);
                if (there->recipe->base)
                        command_refuse(STATUS_FAILED, "'%s' is a variant of %s: name that", o->name, there->recipe->base);
                *ret = allocate(1, sizeof(**ret));
                (*ret)[(*ret_n)++] = recipe_copy(there->recipe);
                return;
        }
        r = recipes_find(o->recipe ?: o->name, &path);
        if (r == -ENOENT && !o->recipe && o->repository) {
                draft(o, ret, ret_n);
                return;
        }
        if (r == 0)
                r = recipe_read(path, o->name, ret, ret_n);
        command_must_as(r == -ENOENT ? STATUS_ABSENT : STATUS_FAILED, r);
}

/* Something that is missing is the repository's or the recipe's, not the store's. */
static void must_get(int r)
{
        command_must_as(r == -ENOENT || r == -ENOTUNIQ ? STATUS_FAILED : status_of(r), r);
}

static void add(const struct add_options *o, struct recipe **list, size_t n)
{
        cleanup_solver struct solver *old = NULL;
        bool there = o->replace && workspace_solver(common.workspace, o->name, &old) == 0;
        int r = is_kept(o)                ? 0
                : there || !o->repository ? workspace_replace_recipe(common.workspace, list, n, o->repository, &command_progress)
                                          : workspace_add_solver(common.workspace, list, n, o->repository, &command_progress);

        if (r == 0 && o->submodules) {
                r = find_submodules(o, list, n);
                if (r < 0 && !there)
                        note("%s is added: 'solverfs solver add --replace %s --submodules' fetches its submodules", o->name, o->name);
        }
        must_get(r);
        mounts_settle(workspace_dir(common.workspace));
        if (there && !is_kept(o))
                say_replaced(old->recipe, list, n);
        command_solver(o->name, &common.solver);
        for (size_t i = 0; !there && i < n; i++)
                note("added %s: %u commit%s", list[i]->name, history_count(common.solver->history), plural(history_count(common.solver->history)));
        check_recipe(common.solver);
        for (size_t i = 0; r == 0 && i < n; i++) { /* submodules and downloads */
                cleanup_solver struct solver *s = NULL;

                r = workspace_solver(common.workspace, list[i]->name, &s)
                    ?: workspace_fetch_sources(common.workspace, s, &command_progress);
        }
        if (r < 0)
                note("%s is added: 'solverfs solver update %s' fetches what is missing", o->name, o->name);
        must_get(r);
}

void cmd_solver_add(int argc, char **argv)
{
        static const char doc[] =
                "Add a solver: clone REPO (a path or a URL) with its whole history into the store and index it.\v"
                "Recipes by name ('solverfs recipe list') are looked for in the folders of $SOLVERFS_RECIPES and where solverfs was installed. "
                "Where there is none, one is drafted: HEAD is built in the ways that are usual for what lies in it, and its programs are run on small "
                "formulas (solverfs recipe draft). A recipe's variants are added with it.\n"
                "REPO may be two solvers of the store: the library's history within a host that is held, or the host's with a library that is.\n\n"
                "  solverfs solver add mine ~/src/mysolver\n"
                "  solverfs solver add mine ~/src/mysolver --recipe mine.recipe\n"
                "  solverfs solver add --replace mine --recipe mine.recipe\n"
                "  solverfs solver add --replace mine --submodules\n"
                "  solverfs solver add cadical-in-cvc5 cvc5@cvc5-1.2.0+cadical";
        struct add_options o = {0};
        struct recipe **list = NULL;
        size_t n = 0;
        const struct command_option options[] = {
                {"recipe", 'r', "FILE|NAME",
                 "How to build and run it: a file, or the name of a recipe that comes with solverfs (default: NAME, or else a draft)", .text = &o.recipe},
                {"replace", 'R', NULL, "Give an existing solver this recipe; from REPO, if given", .on = &o.replace, .is_other_use = true},
                {"submodules", 's', NULL, "Fetch the submodules of its branches and tags, for its builds", .on = &o.submodules},
                {0}};
        struct words words = command_parse(argc, argv, "NAME REPO", doc, options);

        o.name = word_next(&words);
        o.repository = word_next(&words);
        if (!o.name || (!o.repository && !o.replace))
                command_usage("expected NAME REPO");
        command_stoppable();
        command_must_as(STATUS_FAILED, recipe_check_name(o.name));
        command_open(0);
        if (o.repository && !o.recipe && !o.replace && command_combined_word(o.repository, o.name, &common.solver)) {
                mounts_settle(workspace_dir(common.workspace));
                return;
        }
        get_recipe(&o, &list, &n);
        add(&o, list, n);
        recipe_list_free(list, n);
}
