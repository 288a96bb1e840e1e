/* solverfs alarms: lists the alarms of watches, and marks what became of them. */
#include "alarms.h"
#include "tools/words.h"

void cmd_alarms(int argc, char **argv)
{
        static const char doc[] =
                "List what 'solverfs watch' told of: number, kind, commit, worst case, cases, before, after, factor, when found, mark, subject. With "
                "N print one alarm as alarms/<n> of the mount has it.\v"
                "The kinds are slower, memory (more of it), lost (a case that is not solved any more), wrong, contradiction and unbuildable. COMMIT is A..B where the "
                "commits between cannot be built or told apart.\n\n"
                "  solverfs alarms z3 3\n"
                "  solverfs alarms z3 --mark 3 reported https://github.com/Z3Prover/z3/issues/1";
        cleanup_observations struct observations all = {0};
        cleanup_observation struct observation *one = NULL;
        cleanup_buffer struct buffer text = {0};
        const char *solver;
        unsigned marked = 0, shown = 0;
        const struct command_option options[] = {
                {"mark", 0, "N", "Keep what became of an alarm: reported, confirmed, fixed or rejected, and where",
                 .number = &marked, .least = 1, .most = UINT32_MAX},
                OPTION_JSON("Print a JSON object for each, a line each, with all of its cases"),
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER [N]\nSOLVER --mark N reported|confirmed|fixed|rejected [URL]", doc, options);

        solver = word_next(&words);
        if (!solver)
                command_usage("expected SOLVER");
        if (marked != 0) {
                command_mark(OF_WATCHES, solver, marked, &words, "expected SOLVER [N]");
                return;
        }
        if (words.n > 0)
                shown = (unsigned)command_number("the number of an alarm", word_next(&words), 1, UINT32_MAX);
        if (words.n > 0)
                command_usage("expected SOLVER [N]");
        command_open_solver(STORE_READ_ONLY, NULL, solver);
        if (shown != 0)
                command_must(observation_get(common.workspace, OF_WATCHES, common.solver->number, shown, &one));
        else
                command_must(observations_read(common.workspace, common.solver->number, "alarms", &all));
        if (one && common.json)
                alarm_show(one);
        else if (one)
                command_must(alarm_print(common.workspace, common.solver, one, &text));
        output_write(&text);
        for (size_t i = 0; i < all.n && !output_broken(); i++)
                alarm_show(all.list[i]);
}
