/* solverfs snapshot: makes an uncommitted working tree a commit of the store. */
#include "tools/store/mounts.h"
#include "tools/words.h"

void cmd_snapshot(int argc, char **argv)
{
        static const char doc[] =
                "Make the working tree in DIR, with its uncommitted changes and its untracked files that are not ignored, a commit of the store, to "
                "be built and measured like any other. Prints its sha. In a mount it is listed in SOLVER/snapshots/.\v"
                "DIR itself and its repository stay as they are. A name is given once, and never moves to another commit. Without uncommitted changes "
                "nothing is made, and the sha is that of the commit checked out.\n\n"
                "  solverfs snapshot kissat src/kissat --name wip\n"
                "  solverfs run kissat HEAD wip all";
        struct snapshot_request request = {0};
        uint32_t commit;
        int r;
        const struct command_option options[] = {
                {"name", 'n', "NAME", "A name for it, usable as a revision (default: the time and the commit)", .text = &request.name},
                {"force", 'f', NULL, "Take DIR even if it has no commit in common with SOLVER; leave out changes in its submodules", .on = &request.force},
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER DIR", doc, options);

        request.dir = words.list[1];
        command_open_solver(0, NULL, words.list[0]);
        r = history_snapshot(common.solver->history, &request, &commit);
        command_must_as(status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED, r); /* STATUS_ABSENT means the store, not DIR */
        mounts_settle(workspace_dir(common.workspace)); /* returns when mounts show the snapshot */
        output_rowf((struct column[]){{""}, {0}}, "%s", full_sha(common.solver, commit).s);
}
