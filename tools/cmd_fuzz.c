/* solverfs fuzz: a campaign for performance regressions between versions. */
#include "campaigns.h"
#include "words.h"

/* A time, or how many times as much of another measure. */
static void read_threshold(struct campaign_settings *s, const char *text)
{
        char *end;

        if (s->measure != JUDGE_TIME)
                s->threshold = 2;
        if (!text)
                return;
        if (s->measure == JUDGE_TIME) {
                s->threshold = (double)command_duration("--threshold", text) / 1e9;
                return;
        }
        s->threshold = strtod(text, &end);
        if (end == text || *end != '\0' || !(s->threshold > 1 && s->threshold <= 1e6))
                command_usage("--threshold of --measure %s must be a number greater than 1, such as 2 or 1.5, not '%s'",
                              judge_measure_name(s->measure), text);
}

void cmd_fuzz(int argc, char **argv)
{
        static const char doc[] =
                "Looks for inputs on which the target is slower than a reference by the threshold, or takes more memory or effort, and keeps them as findings "
                "(SOLVER/spr/ in the mount, 'solverfs findings'). Without SOLVER all versions are programs, and the findings are in programs/spr/.\v"
                "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program of this machine). What two "
                "versions contradict each other on, and what crashes one, is kept, too.\n\n"
                "Inputs are SMT-LIB over strings and integers, or DIMACS where the solver (of programs: the target) takes that alone.\n\n"
                "A campaign that is interrupted goes on when the same command is given again.\n\n"
                "Example:\n"
                "  solverfs fuzz z3 --reference z3-4.8.7 --target z3-4.8.9 --for 12h -t 20s\n"
                "  solverfs fuzz mine --measure memory --reference v1 --target HEAD --for 2h\n"
                "  solverfs fuzz mine --logic QF_BV --reference v1 --target HEAD --for 2h\n"
                "  solverfs fuzz --reference exec:/opt/z3 --target exec:/usr/bin/z3 --for 1h";
        struct campaign_command c = {0};
        struct campaign_settings *s = &c.settings;
        struct words words;
        const char *threshold = NULL;
        unsigned pairs = 1;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "a version that is fast; may be repeated, the oldest first",
                 .parse = campaign_add_word, .to = &c.settings.references},
                {"target", 0, "VERSION", "the version that may be slower", .parse = campaign_copy_text, .to = &s->target},
                {"for", 0, "TIME", "how long to work in all: 10m, 12h", .seconds = &s->seconds},
                {"measure", 0, "NAME", "what the target takes more of: time (default), memory, or effort, the solver's own count",
                 .parse = parse_measure, .to = &s->measure},
                {"threshold", 0, "TIME|RATIO", "how much slower is a regression; default 10s. With --measure: how many times as much; default 2",
                 .text = &threshold},
                {"timeout", 't', "TIME", "of a run; default 20s", .seconds = &s->timeout},
                {"corpus", 0, "DIR", "mutate the inputs (*.smt2, *.cnf) below DIR and generate none", .parse = campaign_copy_text, .to = &s->corpus},
                {"logic", 0, "LOGIC", "generate formulas of this logic, or of these: QF_BV,QF_LIA; default: strings, or else what all versions answer",
                 .parse = campaign_copy_text, .to = &s->logic},
                {"oracle", 0, "VERSION", "a version to ask where two contradict each other; may be repeated",
                 .parse = campaign_add_word, .to = &c.settings.oracles},
                {"pairs", 0, "any|target", "whether a slowdown between two references counts, too; default target", .choice = &pairs},
                {"jobs", 'j', "N", "inputs at the same time; default: one for each core", .number = &s->jobs, .least = 1, .most = 4096},
                {"no-reduce", 0, NULL, "do not: findings with the same cause are then not seen to be one", .parse = campaign_reduce_nothing, .to = s},
                CAMPAIGN_OPTIONS(c),
                {0}};

        campaign_settings_new(s);
        words = command_parse(argc, argv, "[SOLVER] --reference VERSION --target VERSION --for TIME", doc, options);
        s->any_pair = pairs == 0;
        read_threshold(s, threshold);
        if (words.n > 1)
                command_usage("expected one SOLVER; versions follow --reference and --target");
        c.solver_name = campaign_solver(s, word_next(&words));
        if (!c.solver_name)
                command_usage("expected SOLVER: without one all versions are 'exec:PATH ARG...'");
        if (!s->references || !s->target)
                command_usage("a campaign compares versions: --reference REV --target REV");
        if (s->seconds <= 0)
                command_usage("how long? --for 10m, --for 12h");
        campaign_command_run(&c);
}
