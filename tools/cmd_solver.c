/* solverfs solver: list, update, remove. */
#include "words.h"
#include "mounts.h"

/* -- list ------------------------------------------------------------------------------------------------------- */

/* Empty when HEAD is on no commit. */
static struct commit_sha head_of(struct solver *s)
{
        uint32_t head;

        return history_head(s->history, &head) == 0 ? commit_sha(s, head) : (struct commit_sha){""};
}

static void list_one(struct solver *s, bool json)
{
        static const struct column columns[] = {{"SOLVER", 14, false}, {"COMMITS", 8, true}, {"HEAD", 12, false},
                                                {"FORMAT", 6, false},  {"BASE", 10, false},  {"REPOSITORY", 0, false}};
        const struct recipe *recipe = s->recipe;
        const struct commit_sha head = head_of(s);
        cleanup_free char *repository = recipe->repository ? printable(recipe->repository) : NULL;

        if (json) {
                output_json(json_pack("{s:s, s:i, s:s?, s:s, s:s?, s:s?}", "name", recipe->name, "commits",
                                      (int)history_count(s->history), "head", *head.s ? head.s : NULL, "format",
                                      format_name(recipe->format), "base", recipe->base, "repository",
                                      repository));
                return;
        }
        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%u\t%.12s\t%s\t%s\t%s", recipe->name, history_count(s->history), *head.s ? head.s : "-",
                    format_name(recipe->format), recipe->base ? recipe->base : "-", repository ? repository : "-");
}

int cmd_solver_list(int argc, char **argv)
{
        cleanup_solver_list struct solver_list *l = NULL;
        bool json = false;
        int r;
        const struct command_option options[] = {{"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &json}, {0}};

        command_parse(argc, argv, NULL, "List the solvers: name, number of commits, HEAD, format, the solver it is a variant of, repository.",
                      options, NULL);
        r = command_open(0);
        if (r != STATUS_OK)
                return r;
        r = workspace_solvers(common.workspace, &l);
        if (r < 0)
                return fail(r);
        for (size_t i = 0; i < l->n; i++)
                list_one(l->list[i], json);
        return STATUS_OK;
}

/* -- update ----------------------------------------------------------------------------------------------------- */

static int update_one(struct solver *s, bool json)
{
        static const struct column columns[] = {
                {"SOLVER", 14, false}, {"NEW", 8, true}, {"COMMITS", 8, true}, {"HEAD", 0, false}};
        struct commit_sha head;
        uint32_t n_new = 0;
        int r = s->recipe->is_programs ? 0 : history_update(s->history, false, &command_progress, &n_new); /* they come from nowhere */

        if (r == 0)
                r = workspace_fetch_elsewhere(common.workspace, s, &command_progress);
        progress_clear();
        if (r < 0) {
                complain("%s: %s", s->recipe->name, error_message(r));
                return status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED;
        }
        head = head_of(s);
        if (json) {
                output_json(json_pack("{s:s, s:i, s:i, s:s?}", "name", s->recipe->name, "new", (int)n_new, "commits",
                                      (int)history_count(s->history), "head", *head.s ? head.s : NULL));
                return STATUS_OK;
        }
        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%u\t%u\t%s", s->recipe->name, n_new, history_count(s->history), *head.s ? head.s : "-");
        return STATUS_OK;
}

int cmd_solver_update(int argc, char **argv)
{
        cleanup_solver_list struct solver_list *l = NULL;
        struct words names = {0};
        bool json = false;
        int r;
        const struct command_option options[] = {{"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &json}, {0}};

        command_parse(argc, argv, "[NAME...]",
                      "Fetch new commits of the solvers named (default: all) and index them: name, new commits, "
                                     "commits, HEAD. A mount shows them at once.\v"
                                     "Commits that were rewritten upstream stay readable.",
                      options, &names);
        command_stoppable();
        r = command_open(0);
        if (r != STATUS_OK)
                return r;
        r = workspace_solvers(common.workspace, &l);
        if (r < 0)
                return fail(r);
        for (size_t i = 0; i < names.n && !command_stopped(); i++) {
                cleanup_solver struct solver *s = NULL;

                r = command_solver(names.list[i], &s);
                if (r == STATUS_OK)
                        r = update_one(s, json);
                command_worse(r);
        }
        for (size_t i = 0; names.n == 0 && i < l->n && !command_stopped(); i++) {
                if (l->list[i]->recipe->base) /* comes with its base */
                        continue;
                command_worse(update_one(l->list[i], json));
        }
        return command_stopped() ? STATUS_INTERRUPTED : common.status;
}

/* -- remove ----------------------------------------------------------------------------------------------------- */

int cmd_solver_remove(int argc, char **argv)
{
        struct words names = {0};
        int r;

        command_parse(argc, argv, "NAME...",
                      "Take solvers and variants out of the config, of listings and of mounts; what is being built "
                               "and run for them ends. A solver goes with its variants, or after them.\v"
                               "What was measured stays: added again with the same recipe the solver finds it. 'solverfs gc' "
                               "frees the room of its repository and of its builds' folders.",
                      NULL, &names);
        if (names.n == 0)
                command_usage("nothing given");
        r = command_open(0);
        if (r != STATUS_OK)
                return r;
        r = workspace_remove_solvers(common.workspace, (const char *const *)names.list, names.n);
        if (r < 0)
                return fail_as(r == -ENOENT ? STATUS_ABSENT : r == -EINVAL ? STATUS_FAILED : status_of(r), r);
        mounts_settle(workspace_dir(common.workspace));
        for (size_t i = 0; i < names.n; i++)
                note("removed %s: what was measured stays; 'solverfs gc' frees the room of its repository and builds",
                     names.list[i]);
        return STATUS_OK;
}
