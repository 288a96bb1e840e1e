/* solverfs snapshot: makes an uncommitted working tree a commit of the store. */
#include "words.h"

struct snapshot_options {
        const char *solver, *dir;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct snapshot_options *o = state->input;

        switch (key) {
        case ARGP_KEY_ARG:
                if (state->arg_num > 1)
                        argp_error(state, "too many arguments: expected SOLVER DIR");
                *(state->arg_num == 0 ? &o->solver : &o->dir) = arg;
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
        static const char doc[] =
                "Make the working tree in DIR, with its uncommitted changes and its untracked files that are not ignored, "
                "a commit of the store, to be built and measured like any other. Prints its sha.\v"
                "DIR itself and its repository stay as they are.";
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        struct snapshot_options o = {0};
        char hex[GIT_OID_HEXSZ + 1];
        uint32_t commit;
        int r;

        command_parse(&(struct argp){NULL, parse, "SOLVER DIR", doc}, argc, argv, &o);
        r = command_open(0, &w);
        if (r == STATUS_OK)
                r = command_solver(w, o.solver, &s);
        if (r != STATUS_OK)
                return r;
        r = history_snapshot(s->history, o.dir, &commit);
        if (r < 0)
                return fail_as(status_of(r) == STATUS_SYSTEM ? STATUS_SYSTEM : STATUS_FAILED, r);
        commit_hex(s, commit, hex);
        output_row((struct column[]){{"", 0, false}}, 1, (const char *[]){hex});
        return STATUS_OK;
}
