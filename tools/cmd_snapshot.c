/* solverfs snapshot: makes an uncommitted working tree a commit of the store. */
#include "mounts.h"
#include "words.h"

struct snapshot_options {
        const char *solver;
        struct snapshot_request request;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct snapshot_options *o = state->input;

        switch (key) {
        case 'n':
                o->request.name = arg;
                return 0;
        case 'f':
                o->request.force = true;
                return 0;
        case ARGP_KEY_ARG:
                if (state->arg_num > 1)
                        argp_error(state, "too many arguments: expected SOLVER DIR");
                *(state->arg_num == 0 ? &o->solver : &o->request.dir) = arg;
                return 0;
        case ARGP_KEY_END:
                if (state->arg_num < 2)
                        argp_error(state, "expected SOLVER DIR");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

int cmd_snapshot(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"name", 'n', "NAME", 0, "A name for it, which stands for it wherever a revision does (default: the time)", 0},
                {"force", 'f', NULL, 0, "Also where DIR's history has no commit in common with SOLVER's", 0},
                {0}};
        static const char doc[] =
                "Make the working tree in DIR, with its uncommitted changes and its untracked files that are not ignored, "
                "a commit of the store, to be built and measured like any other. Prints its sha. In a mount it is listed in "
                "SOLVER/snapshots/.\v"
                "DIR itself and its repository stay as they are. A name stays with its commit.\n\n"
                "  solverfs snapshot kissat src/kissat --name wip\n"
                "  solverfs run kissat HEAD wip all";
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        struct snapshot_options o = {0};
        char hex[GIT_OID_HEXSZ + 1];
        uint32_t commit;
        int r;

        command_parse(&(struct argp){options, parse, "SOLVER DIR", doc}, argc, argv, &o);
        r = command_open(0, &w);
        if (r == STATUS_OK)
                r = command_solver(w, o.solver, &s);
        if (r != STATUS_OK)
                return r;
        r = history_snapshot(s->history, &o.request, &commit);
        if (r < 0)
                return fail_as(status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED, r);
        mounts_settle(workspace_dir(w));
        commit_hex(s, commit, hex);
        output_row((struct column[]){{"", 0, false}}, 1, (const char *[]){hex});
        return STATUS_OK;
}
