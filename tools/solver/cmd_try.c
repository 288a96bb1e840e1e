/* solverfs solver try: reports all problems of a recipe, for a solver of the store or one not added yet. */
#include <fcntl.h>

#include "tools/recipe/recipes.h"
#include "tools/recipe/recipe_check.h"
#include "tools/words.h"

struct try_options {
        const char *recipe, *name, *revision, *input; /* NAME, or REPO if `recipe` is given; REV; CASE */
        bool once;
        char *path; /* of `recipe` */
};

static enum format file_format(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        cleanup_free char *head = allocate(CASE_HEAD_MOST, 1);
        ssize_t n = fd < 0 ? 0 : read(fd, head, CASE_HEAD_MOST);

        return case_format(path, SLICE(head, (size_t)MAX(n, 0)));
}

static int try_solver(const char *name, const struct try_options *o)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_close int fd = -1; /* keeps the case's file alive */
        char input[PATH_SIZE];
        struct recipe_check t = {.once = o->once};

        command_solver(name, &common.solver);
        t.commit = command_commit(common.solver, "REV", o->revision ?: "HEAD");
        t.input = o->input ? input : NULL;
        if (o->input && access(o->input, R_OK) == 0) {
                command_must(realpath(o->input, input) ? 0 : -errno);
                t.format = file_format(input);
        } else if (o->input) {
                info = command_case(o->input, "one case is run");
                command_must(cases_open_bytes(workspace_cases(common.workspace), info, &fd, input));
                t.format = info->format;
        }
        command_engine();
        command_must(recipe_check(&t));
        if (t.problems == 0)
                note("nothing is wrong");
        else
                note("%u problem%s", t.problems, plural(t.problems));
        return t.problems > 0 ? STATUS_FAILED : STATUS_OK;
}

/* With --recipe: adds the repository to the store, which is a temporary one, under the recipe's name. */
static int add_and_try(void *user)
{
        const struct try_options *o = user;
        cleanup_solver struct solver *s = NULL;
        struct recipe **list = NULL;
        cleanup_free char *name = copy_prefix(basename(o->path), MIN(strcspn(basename(o->path), "."), (size_t)64)); /* "z3" of z3.recipe */
        size_t n = 0;

        if (recipe_check_name(name) < 0) {
                free(name);
                name = copy_string("solver");
        }
        command_must(recipe_read(o->path, name, &list, &n)
                     ?: workspace_add_solver(common.workspace, list, n, o->name, &command_progress)
                     ?: workspace_solver(common.workspace, name, &s)
                     ?: workspace_fetch_sources(common.workspace, s, &command_progress));
        recipe_list_free(list, n);
        return try_solver(name, o);
}

void cmd_solver_try(int argc, char **argv)
{
        static const char doc[] =
                "Report all problems of a recipe at once: check its paths and eras, build one commit (default: HEAD), run it, with a seed, "
                "too, and build it again. Prints for each check: its name, ok, problem or skipped, and what to do.\v"
                "CASE: a file, or without --recipe a case of the store (default: small formulas whose answer is known). Runs are not kept; the build "
                "is. Exit status 1 when there is a problem.\n\n"
                "    solverfs solver try --recipe my.recipe ~/src/solver v1.0";
        static struct try_options o;
        int r;
        const struct command_option options[] = {
                {"recipe", 'r', "FILE|NAME", "Try this recipe on the repository REPO, in a temporary store",
                 .text = &o.recipe},
                {"once", 'o', NULL, "Build once: do not check whether a second build gives the same bytes", .on = &o.once},
                OPTION_JSON("Print a JSON object for each check, a line each"),
                {0}};
        struct words words = command_parse(argc, argv, "NAME|REPO [REV] [CASE]", doc, options);

        o.name = word_next(&words);
        o.revision = word_next(&words);
        o.input = word_next(&words);
        command_signals();
        if (!o.recipe) {
                command_open(0);
                command_worse(try_solver(o.name, &o));
                return;
        }
        r = recipes_find(o.recipe, &o.path);
        command_must_as(r == -ENOENT ? STATUS_ABSENT : STATUS_FAILED, r);
        command_worse(command_with_scratch_store(add_and_try, &o));
}
