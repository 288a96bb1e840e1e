/* solverfs incompleteness: a campaign for formulas that should be decided and come back unknown. */
#include "campaigns.h"

enum {
        OPTION_TARGET = OPTION_OWN,
        OPTION_AT,
        OPTION_SEEDS,
        OPTION_LABEL,
        OPTION_ITERATIONS,
        OPTION_CHAIN,
};

static enum verdict label_of(struct argp_state *state, const char *text)
{
        if (strcmp(text, "sat") == 0)
                return VERDICT_SAT;
        if (strcmp(text, "unsat") == 0)
                return VERDICT_UNSAT;
        if (strcmp(text, "auto") != 0)
                argp_error(state, "--oracle is sat, unsat or auto, not '%s'", text);
        return VERDICT_UNKNOWN;
}

static void check(const struct campaign_command *c, bool has_at, struct argp_state *state)
{
        const struct campaign_settings *s = &c->settings;

        if (!c->solver_name)
                argp_error(state, "expected SOLVER");
        if (has_at && c->references.size > 0)
                argp_error(state, "--at looks at one version alone; with --reference the other is the --target");
        if (!s->target)
                argp_error(state, "which versions? --reference REV --target REV, or one alone: --at REV");
        if (!has_at && c->references.size == 0)
                argp_error(state, "a target needs a --reference to be compared with; one version alone: --at REV");
        if (!s->corpus)
                argp_error(state, "which formulas to begin with? --seeds DIR");
        if (s->seconds <= 0)
                argp_error(state, "how long? --for 10m, --for 12h");
}

struct hunting {
        struct campaign_command command;
        bool has_at;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct hunting *h = state->input;
        struct campaign_command *c = &h->command;
        struct campaign_settings *s = &c->settings;

        switch (key) {
        case OPTION_TARGET:
        case OPTION_AT:
                if (s->target)
                        argp_error(state, "--at and --target name one version, and only once");
                h->has_at = key == OPTION_AT;
                campaign_copy_text(&s->target, arg);
                return 0;
        case OPTION_SEEDS:
                campaign_copy_text(&s->corpus, arg);
                return 0;
        case OPTION_LABEL:
                s->label = label_of(state, arg);
                return 0;
        case OPTION_ITERATIONS:
                s->iterations = (unsigned)command_number(state, "--iterations", arg, 1, INT32_MAX);
                return 0;
        case OPTION_CHAIN:
                s->chain = (unsigned)command_number(state, "--chain", arg, 1, INT32_MAX);
                return 0;
        case ARGP_KEY_ARG:
                if (c->solver_name)
                        argp_error(state, "expected one SOLVER; versions follow --reference, --target and --at");
                c->solver_name = arg;
                return 0;
        case ARGP_KEY_END:
                check(c, h->has_at, state);
                return 0;
        default:
                return campaign_option(c, key, arg, state);
        }
}

int cmd_incompleteness(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"reference", OPTION_REFERENCE, "VERSION", 0, "a version that decides; may be repeated, the oldest first", 0},
                {"target", OPTION_TARGET, "VERSION", 0, "the version that may say unknown", 0},
                {"at", OPTION_AT, "VERSION", 0, "instead of both: one version alone, compared with itself before each step", 0},
                {"seeds", OPTION_SEEDS, "DIR", 0, "the formulas to begin with: *.smt2 below DIR", 0},
                {"oracle", OPTION_LABEL, "sat|unsat|auto", 0,
                 "what the seeds are; auto (the default): as each says by :status or its name, else as the versions answer", 0},
                {"iterations", OPTION_ITERATIONS, "N", 0, "steps for each seed; default 300", 0},
                {"chain", OPTION_CHAIN, "N", 0, "steps from a seed until it begins at the seed again; default 25", 0},
                {"timeout", 't', "TIME", 0, "of a run; default 10s", 0},
                {"for", OPTION_FOR, "TIME", 0, "how long to work in all: 10m, 12h; it ends earlier when all seeds are done", 0},
                {"jobs", 'j', "N", 0, "chains at the same time; default: one for each core", 0},
                {"no-reduce", OPTION_NO_REDUCE, NULL, 0, "do not: findings with the same cause are then told apart less well", 0},
                CAMPAIGN_OPTIONS,
                {0}};
        static const struct argp argp = {
                .options = options,
                .parser = parse,
                .args_doc = "SOLVER --reference VERSION --target VERSION --seeds DIR --for TIME\n"
                            "SOLVER --at VERSION --seeds DIR --for TIME",
                .doc = "Makes formulas weaker or stronger, step by step, and looks for those that should be decided and come "
                       "back "
                       "unknown: by the target where a reference decides them (a regression), or where the version decided what "
                       "implies the answer (an implication). They are kept as findings (SOLVER/incompleteness/ in the mount, "
                       "'solverfs findings').\v"
                       "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program "
                       "of this machine). An answer that contradicts the implied one, and what crashes a version, is kept, "
                       "too.\n\n"
                       "A campaign that is interrupted goes on when the same command is given again.\n\n"
                       "Example:\n"
                       "  solverfs incompleteness z3 --reference v1 --target v2 --seeds dir --for 12h"};
        struct hunting h = {0};

        campaign_settings_new(&h.command.settings);
        h.command.settings.kind = CAMPAIGN_UNKNOWNS;
        h.command.settings.timeout = 10;
        command_parse(&argp, argc, argv, &h);
        return campaign_command_run(&h.command);
}
