/* solverfs fuzz: a campaign for performance regressions between versions. */
#include "cmd_fuzz.h"

enum {
        OPTION_TARGET = OPTION_OWN,
        OPTION_STRATEGY,
        OPTION_THRESHOLD,
        OPTION_WINDOW,
        OPTION_CORPUS,
        OPTION_PAIRS,
        OPTION_REPEAT,
        OPTION_SVG,
};

/* "random,solverfs": each once. */
static void add_strategies(struct argp_state *state, struct fuzzing *f, const char *list)
{
        cleanup_free char *names = strdup(list);
        char *save = NULL;

        for (char *name = names ? strtok_r(names, ",", &save) : NULL; name; name = strtok_r(NULL, ",", &save)) {
                enum strategy_kind k;

                if (strategy_parse(name, &k) < 0)
                        argp_error(state, "%s", error_message(-EINVAL));
                for (size_t i = 0; i < f->n_strategies; i++)
                        if (f->strategies[i] == k)
                                argp_error(state, "the strategy %s was given twice", name);
                f->strategies[f->n_strategies++] = k;
                f->command.settings.strategy = k;
        }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct fuzzing *fuzzing = state->input;
        struct campaign_command *f = &fuzzing->command;
        struct campaign_settings *s = &f->settings;

        switch (key) {
        case OPTION_TARGET:
                campaign_copy_text(&s->target, arg);
                return 0;
        case OPTION_STRATEGY:
                add_strategies(state, fuzzing, arg);
                return 0;
        case OPTION_REPEAT:
                fuzzing->repeat = (unsigned)command_number(state, "--repeat", arg, 1, 1000);
                return 0;
        case OPTION_SVG:
                fuzzing->pictures = arg;
                return 0;
        case OPTION_THRESHOLD:
                s->threshold = campaign_seconds(state, "--threshold", arg);
                return 0;
        case OPTION_WINDOW:
                s->window = campaign_seconds(state, "--window", arg);
                return 0;
        case OPTION_CORPUS:
                campaign_copy_text(&s->corpus, arg);
                return 0;
        case OPTION_PAIRS:
                if (strcmp(arg, "any") != 0 && strcmp(arg, "target") != 0)
                        argp_error(state, "--pairs is 'any' or 'target', not '%s'", arg);
                s->any_pair = strcmp(arg, "any") == 0;
                return 0;
        case ARGP_KEY_ARG:
                if (f->solver_name)
                        argp_error(state, "expected one SOLVER; versions follow --reference and --target");
                f->solver_name = arg;
                return 0;
        case ARGP_KEY_END:
                if (!f->solver_name)
                        argp_error(state, "expected SOLVER");
                if (f->references.size == 0 || !s->target)
                        argp_error(state, "a campaign compares versions: --reference REV --target REV");
                if (s->seconds <= 0)
                        argp_error(state, "how long? --for 10m, --for 12h");
                if (fuzzing->n_strategies == 0)
                        fuzzing->strategies[fuzzing->n_strategies++] = s->strategy;
                if (fuzzing->n_strategies > 1 && fuzzing->repeat == 0)
                        fuzzing->repeat = 1;
                if (fuzzing->pictures && fuzzing->repeat == 0)
                        argp_error(state, "--svg draws a comparison of strategies: --strategy A,B --repeat N");
                return 0;
        default:
                return campaign_option(f, key, arg, state);
        }
}

int cmd_fuzz(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"reference", OPTION_REFERENCE, "VERSION", 0, "a version that is fast; may be repeated, the oldest first", 0},
                {"target", OPTION_TARGET, "VERSION", 0, "the version that may be slower", 0},
                {"for", OPTION_FOR, "TIME", 0, "how long to work in all: 10m, 12h", 0},
                {"strategy", OPTION_STRATEGY, "NAME", 0,
                 "random, banditfuzz, sprfinder-no-dtw, sprfinder, enumerate, or solverfs (the default); several, with commas "
                 "between, are compared",
                 0},
                {"repeat", OPTION_REPEAT, "N", 0,
                 "compare: N campaigns of each strategy, --for so long each, in turns; prints what they found", 0},
                {"svg", OPTION_SVG, "PREFIX", 0,
                 "write the mean of what they found over time to PREFIX-finds.svg, and PREFIX-culprits.svg", 0},
                {"threshold", OPTION_THRESHOLD, "TIME", 0, "how much slower is a regression; default 10s", 0},
                {"timeout", 't', "TIME", 0, "of a run; default 20s", 0},
                {"window", OPTION_WINDOW, "TIME", 0, "the window of the adaptive configuration (sprfinder); default 10m", 0},
                {"corpus", OPTION_CORPUS, "DIR", 0, "mutate the inputs below DIR and generate none", 0},
                {"oracle", OPTION_ORACLE, "VERSION", 0, "a version to ask where two contradict each other; may be repeated", 0},
                {"pairs", OPTION_PAIRS, "any|target", 0, "whether a slowdown between two references counts, too; default target",
                 0},
                {"jobs", 'j', "N", 0, "inputs at the same time; default: one for each core", 0},
                {"no-reduce", OPTION_NO_REDUCE, NULL, 0, "do not: findings with the same cause are then not seen to be one", 0},
                CAMPAIGN_OPTIONS,
                {0}};
        static const struct argp argp = {
                .options = options,
                .parser = parse,
                .args_doc = "SOLVER --reference VERSION --target VERSION --for TIME",
                .doc = "Looks for inputs on which the target is slower than a reference by the threshold, and keeps them as "
                       "findings "
                       "(SOLVER/spr/ in the mount, 'solverfs findings').\v"
                       "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program "
                       "of this "
                       "machine). What two versions contradict each other on, and what crashes one, is kept, too.\n\n"
                       "A campaign that is interrupted goes on when the same command is given again.\n\n"
                       "With --repeat a line for each strategy: its campaigns, slowdowns found by one (least, most, mean), slowdowns "
                       "an hour, distinct culprits (least, most, mean; - between versions without a history). The campaigns are "
                       "called NAME-STRATEGY-NUMBER.\n\n"
                       "Example:\n"
                       "  solverfs fuzz z3 --reference z3-4.8.7 --target z3-4.8.9 --for 12h -t 20s\n"
                       "  solverfs fuzz z3 --reference z3-4.8.7 --target z3-4.8.9 --for 12h --repeat 5"};
        struct fuzzing f = {0};

        campaign_settings_new(&f.command.settings);
        command_parse(&argp, argc, argv, &f);
        f.command.run = f.repeat > 0 ? fuzz_compare : NULL;
        return campaign_command_run(&f.command);
}
