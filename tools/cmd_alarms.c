/* solverfs alarms: what watches told of, and what became of it. */
#include "alarms.h"
#include "words.h"

struct listing {
        const char *solver_name, *mark, *url;
        uint32_t number, shown; /* to be marked; to be printed whole */
        bool json;
        struct workspace *workspace;
        struct solver *solver;
};

enum {
        OPTION_MARK = 256,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct listing *l = state->input;

        switch (key) {
        case OPTION_MARK:
                l->number = (uint32_t)command_number(state, "--mark", arg, 1, UINT32_MAX);
                return 0;
        case 'j':
                l->json = true;
                return 0;
        case ARGP_KEY_ARG:
                if (!l->solver_name)
                        l->solver_name = arg;
                else if (l->number == 0 && l->shown == 0)
                        l->shown = (uint32_t)command_number(state, "the number of an alarm", arg, 1, UINT32_MAX);
                else if (l->number != 0 && !l->mark)
                        l->mark = arg;
                else if (l->number != 0 && !l->url)
                        l->url = arg;
                else
                        argp_error(state, "expected SOLVER [N]");
                return 0;
        case ARGP_KEY_END:
                if (!l->solver_name)
                        argp_error(state, "expected SOLVER");
                if (l->number != 0 && !l->mark)
                        argp_error(state, "mark it as what? reported, confirmed, fixed or rejected");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static int show_one(void *user, const struct alarm *a)
{
        const struct listing *l = user;
        int r = alarm_show(l->workspace, l->solver, a, l->json);

        return r == 0 && output_broken() ? -EPIPE : r;
}

static int show_whole(const struct listing *l)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_alarm struct alarm *a = NULL;
        int r = alarm_get(l->workspace, l->solver->number, l->shown, &a);

        if (r == 0 && l->json)
                return alarm_show(l->workspace, l->solver, a, true);
        if (r == 0)
                r = alarm_print(l->workspace, l->solver, a, &text);
        if (r == 0)
                output_write(&text);
        return r;
}

static int mark(const struct listing *l)
{
        enum finding_mark as;

        if (finding_mark_parse(l->mark, &as) < 0) {
                complain("an alarm is marked reported, confirmed, fixed or rejected, not '%s'", l->mark);
                return STATUS_USAGE;
        }
        int r = alarm_set_mark(l->workspace, l->solver->number, l->number, as, l->url);

        return r < 0 ? fail(r) : STATUS_OK;
}

static int list(struct listing *l)
{
        int r;

        if (l->number != 0)
                return mark(l);
        r = l->shown != 0 ? show_whole(l) : alarms_each(l->workspace, l->solver->number, show_one, l);
        return r < 0 && r != -EPIPE ? fail(r) : STATUS_OK;
}

int cmd_alarms(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"mark", OPTION_MARK, "N", 0, "Keep what became of an alarm: reported, confirmed, fixed or rejected, and where",
                 0},
                {"json", 'j', NULL, 0, "Print a JSON object for each, a line each, with all of its cases", 0},
                {0}};
        static const struct argp argp = {.options = options,
                                         .parser = parse,
                                         .args_doc = "SOLVER [N]\nSOLVER --mark N reported|confirmed|fixed|rejected [URL]",
                                         .doc = "List what 'solverfs watch' told of: number, kind, commit, worst case, cases, "
                                                "before, after, factor, when found, "
                                                "mark, subject. With N print one alarm as alarms/<n> of the mount has it.\v"
                                                "The kinds are slower, lost (a case that is not solved any more), wrong, "
                                                "contradiction and unbuildable. COMMIT is A..B "
                                                "where the commits between cannot be built or told apart.\n"
                                                "\n"
                                                "  solverfs alarms z3 3\n"
                                                "  solverfs alarms z3 --mark 3 reported https://github.com/Z3Prover/z3/issues/1"};
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        struct listing l = {0};
        int status;

        command_parse(&argp, argc, argv, &l);
        status = command_open(l.number != 0 ? 0 : STORE_READ_ONLY, &w);
        if (status == STATUS_OK)
                status = command_solver(w, l.solver_name, &s);
        if (status != STATUS_OK)
                return status;
        l.workspace = w;
        l.solver = s;
        return output_end(list(&l));
}
