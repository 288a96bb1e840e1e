/* solverfs alarms: what watches told of, and what became of it. */
#include "alarms.h"
#include "words.h"

struct listing {
        const char *solver_name;
        uint32_t number, shown; /* to be marked; to be printed whole */
        bool json;
};

static int show_all(const struct listing *l)
{
        cleanup_observations struct observations all = {0};
        int r = observations_read(common.workspace, common.solver->number, "alarms", &all);

        for (size_t i = 0; r == 0 && i < all.n && !output_broken(); i++)
                r = alarm_show(all.list[i], l->json);
        return r;
}

static int show_whole(const struct listing *l)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_observation struct observation *a = NULL;
        int r = observation_get(common.workspace, OF_WATCHES, common.solver->number, l->shown, &a);

        if (r == 0 && l->json)
                return alarm_show(a, true);
        if (r == 0)
                r = alarm_print(common.workspace, common.solver, a, &text);
        if (r == 0)
                output_write(&text);
        return r;
}

int cmd_alarms(int argc, char **argv)
{
        static const char doc[] =
                "List what 'solverfs watch' told of: number, kind, commit, worst case, cases, before, after, factor, when found, mark, subject. With "
                "N print one alarm as alarms/<n> of the mount has it.\v"
                "The kinds are slower, memory (more of it), lost (a case that is not solved any more), wrong, contradiction and unbuildable. COMMIT is A..B where the "
                "commits between cannot be built or told apart.\n\n"
                "  solverfs alarms z3 3\n"
                "  solverfs alarms z3 --mark 3 reported https://github.com/Z3Prover/z3/issues/1";
        struct listing l = {0};
        struct words words = {0};
        int r;
        const struct command_option options[] = {
                {"mark", 0, "N", "Keep what became of an alarm: reported, confirmed, fixed or rejected, and where",
                 .number = &l.number, .least = 1, .most = UINT32_MAX},
                {"json", 'j', NULL, "Print a JSON object for each, a line each, with all of its cases", .on = &l.json},
                {0}};

        command_parse(argc, argv, "SOLVER [N]\nSOLVER --mark N reported|confirmed|fixed|rejected [URL]", doc, options, &words);
        l.solver_name = word_next(&words);
        if (!l.solver_name)
                command_usage("expected SOLVER");
        if (l.number != 0)
                return command_mark(OF_WATCHES, l.solver_name, l.number, &words, "expected SOLVER [N]");
        if (words.n > 0)
                l.shown = (uint32_t)command_number("the number of an alarm", word_next(&words), 1, UINT32_MAX);
        if (words.n > 0)
                command_usage("expected SOLVER [N]");
        r = command_open_solver(STORE_READ_ONLY, NULL, l.solver_name);
        if (r != STATUS_OK)
                return r;
        r = l.shown != 0 ? show_whole(&l) : show_all(&l);
        return r < 0 ? fail(r) : STATUS_OK;
}
