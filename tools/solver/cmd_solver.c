/* solverfs solver: list, update, remove. */
#include "tools/words.h"
#include "tools/recipe/recipes.h"
#include "tools/store/mounts.h"

/* Empty: HEAD is on no commit. */
static struct commit_sha head_of(struct solver *s)
{
        uint32_t head;

        return history_head(s->history, &head) == 0 ? full_sha(s, head) : (struct commit_sha){""};
}

void cmd_solver_list(int argc, char **argv)
{
        static const struct column columns[] = {{"SOLVER", 14, .key = "name"}, {"COMMITS", 8, true}, {"HEAD", 12}, {"FORMAT", 6}, {"BASE", 10},
                                                {"REPOSITORY"}, {0}};
        cleanup_solver_list struct solver_list *l = NULL;

        command_parse(argc, argv, NULL, "List the solvers: name, number of commits, HEAD, format, the solver it is a variant of, repository.",
                      options_json);
        command_open(0);
        command_must(workspace_solvers(common.workspace, &l));
        for (size_t i = 0; i < l->n; i++) {
                const struct recipe *recipe = l->list[i]->recipe;
                const struct commit_sha head = head_of(l->list[i]);

                output_object(columns, json_pack("{ss si ss? ss* ss ss? so}", "name", recipe->name, "commits",
                                                 (int)history_count(l->list[i]->history), "head", *head.s ? head.s : NULL, ".head",
                                                 *head.s ? commit_brief(&head).s : NULL, "format", format_name(recipe->format), "base",
                                                 recipe->base, "repository", json_printable(recipe->repository)));
        }
}

/* `has_base`: the solver that it is a variant of was updated, so it only fetches submodules and downloads of its own. */
static int update_one(struct solver *s, bool has_base)
{
        static const struct column columns[] = {{"SOLVER", 14, .key = "name"}, {"NEW", 8, true}, {"COMMITS", 8, true}, {"HEAD"}, {0}};
        struct commit_sha head;
        uint32_t n_new = 0;
        int r = has_base || s->recipe->is_programs /* has no repository */
                        ? 0
                        : history_update(s->history, s->recipe->repository, false, &command_progress, &n_new);

        r = r ?: workspace_fetch_sources(common.workspace, s, &command_progress);
        if (r < 0) {
                complain("%s: %s", s->recipe->name, error_message(r));
                return status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED;
        }
        if (has_base)
                return STATUS_OK;
        recipe_warn_of_eras(s);
        head = head_of(s);
        output_object(columns, json_pack("{ss si si ss?}", "name", s->recipe->name, "new", (int)n_new, "commits", (int)history_count(s->history), "head",
                                         *head.s ? head.s : NULL));
        return STATUS_OK;
}

void cmd_solver_update(int argc, char **argv)
{
        cleanup_solver_list struct solver_list *l = NULL;
        static const char doc[] =
                "Fetch new commits of the solvers named (default: all) and index them: name, new commits, "
                "commits, HEAD. A mount shows them at once.\v"
                "Commits that were rewritten upstream stay readable.";
        struct words names = command_parse(argc, argv, "[NAME...]", doc, options_json);

        command_stoppable();
        command_open(0);
        command_must(workspace_solvers(common.workspace, &l));
        for (size_t i = 0; i < names.n && !command_stopped(); i++) {
                cleanup_solver struct solver *s = NULL;

                command_worse(find_solver(names.list[i], &s));
                if (s)
                        command_worse(update_one(s, false));
        }
        for (int has_base = 0; has_base < 2; has_base++)
                for (size_t i = 0; names.n == 0 && i < l->n && !command_stopped(); i++)
                        if ((l->list[i]->recipe->base != NULL) == has_base)
                                command_worse(update_one(l->list[i], has_base));
        if (command_stopped())
                command_worse(STATUS_INTERRUPTED);
}

void cmd_solver_remove(int argc, char **argv)
{
        static const char doc[] =
                "Take solvers and variants out of the config, of listings and of mounts; what is being built "
                "and run for them ends. A solver goes with its variants, or after them.\v"
                "What was measured stays: added again with the same recipe the solver finds it. 'solverfs gc' "
                "frees the room of its repository and of its builds' folders.";
        struct words names = command_parse(argc, argv, "NAME...", doc, NULL);

        command_open(0);
        command_must(workspace_remove_solvers(common.workspace, (const char *const *)names.list, names.n));
        mounts_settle(workspace_dir(common.workspace));
        for (size_t i = 0; i < names.n; i++)
                note("removed %s: what was measured stays; 'solverfs gc' frees the room of its repository and builds", names.list[i]);
}
