/* solverfs recipe: list and show the recipes that --recipe finds by name; draft one for sources without. */
#include "tools/draft/draft.h"
#include "tools/recipe/recipes.h"

#define RECIPE_MOST (1 << 20) /* bytes */

/* Prints a recipe with the first comment of its file, which describes the solver. Without one ABOUT is "" in JSON and "-" in the row (.about). */
static void list_one(void *user, const char *name, const char *path)
{
        static const struct column columns[] = {{"RECIPE", 14, .key = "name"}, {"FILE", 40}, {"ABOUT"}, {0}};
        cleanup_blob struct blob text = {0};
        cleanup_free char *first = NULL;
        const char *about = "";

        if (read_file(path, RECIPE_MOST, &text) == 0 && text.size > 0)
                first = copy_prefix(text.data, text.size);
        if (first && *first == '#') {
                first[strcspn(first, "\n")] = '\0';
                about = first + 1 + strspn(first + 1, " ");
        }
        output_object(columns, json_pack("{ss so so so}", "name", name, "file", json_printable(path), "about", json_printable(about), ".about",
                                         json_printable(*about ? about : NULL)));
}

void cmd_recipe_list(int argc, char **argv)
{
        command_parse(argc, argv, NULL, "List the recipes that 'solver add --recipe' takes by name: name, file, what its first line says.\v"
                                     "They are looked for in the folders of $SOLVERFS_RECIPES, and where solverfs was installed.", options_json);
        recipes_each(list_one, NULL);
}

void cmd_recipe_show(int argc, char **argv)
{
        cleanup_blob struct blob text = {0};
        cleanup_buffer struct buffer shown = {0};
        cleanup_free char *path = NULL;
        struct recipe **list = NULL;
        size_t n = 0;
        static const char doc[] =
                "Print a recipe as it is written, as a start for your own, and check it.\v"
                "Exit status 1 if the recipe has mistakes, which are reported. For a solver of the store, 'config' in its folder of "
                "the mount has the recipe in force.";
        struct words words = command_parse(argc, argv, "NAME|FILE", doc, NULL);

        command_must(recipes_find(words.list[0], &path) ?: read_file(path, RECIPE_MOST, &text));
        buffer_add(&shown, text.data, text.size);
        output_write(&shown);
        command_must_as(STATUS_FAILED, recipe_parse(shown.data ?: "", path, NULL, &list, &n));
        recipe_list_free(list, n);
}

/* The word is a folder, a URL, or a solver of the store, which stands for its repository. A word with a slash or a colon that is no folder counts as a
 * URL. *ret_base (free it): the address that the solver was added with; NULL: the word is one. */
static void find_repository(const char *word, char ret[PATH_SIZE], char **ret_base)
{
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        char dir[PATH_SIZE];
        int r;

        if (realpath(word, ret))
                return;
        if (snprintf(ret, PATH_SIZE, "%s", word) >= PATH_SIZE)
                command_must(errorf(-ENAMETOOLONG, "path too long: %.200s", word));
        if (strchr(word, '/') || strchr(word, ':'))
                return;
        command_store_dir(dir);
        if (workspace_find(dir) < 0)
                command_refuse(STATUS_ABSENT, "there is no folder '%s', and no store that could have a solver of that name", word);
        command_must(workspace_open(dir, STORE_READ_ONLY, &w));
        r = workspace_solver(w, word, &s);
        if (r < 0 && r != -ENOENT)
                command_must(r);
        if (r < 0)
                command_refuse(STATUS_ABSENT, "'%s' is neither a folder here nor a solver of the store; 'solverfs solver list' names those", word);
        if (snprintf(ret, PATH_SIZE, "%s/repos/%s.git", dir, s->repository) >= PATH_SIZE)
                command_must(errorf(-ENAMETOOLONG, "path too long: %.200s", dir));
        set_string(ret_base, s->recipe->repository);
}

void cmd_recipe_draft(int argc, char **argv)
{
        static const char doc[] =
                "Write a recipe for sources that have none: build one commit (default: HEAD) in the ways that are usual for the files in it, run "
                "what was built on small formulas, and write down what was seen to work.\v"
                "REPO: a folder of this machine, a URL, or a solver of the store. Known are CMake, a committed configure, meson, autoconf and make, "
                "in the root or one folder down. Builds and runs are done in a sandbox and a store of their own, deleted behind it. Exit status 1 "
                "when no recipe was found, and why is said.\n\n"
                "    solverfs recipe draft ~/src/mine >mine.recipe\n"
                "    solverfs solver try --recipe mine.recipe ~/src/mine";
        struct draft_request q = {0};
        const char *output = NULL;
        cleanup_buffer struct buffer text = {0};
        cleanup_free char *base = NULL;
        char repository[PATH_SIZE];
        const struct command_option options[] = {
                {"output", 'o', "FILE", "Write the recipe to this file (default: standard output)", .file = &output},
                {"eras", 'e', NULL, "Also find how far back it builds, and how older commits are built", .on = &q.eras},
                {"force", 'f', NULL, "Write the findings even if no program answered", .on = &q.force},
                {0}};
        struct words words = command_parse(argc, argv, "REPO [REV]", doc, options);

        q.shown = word_next(&words);
        q.revision = word_next(&words);
        find_repository(q.shown, repository, &base);
        q.repository = repository;
        q.base = base;
        command_signals();
        command_worse(recipe_draft(&q, &text));
        if (text.size > 0)
                command_write_result(&output, &text);
}
