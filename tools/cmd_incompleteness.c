/* solverfs incompleteness: a campaign for formulas that should be decided and come back unknown. */
#include "campaigns.h"

/* The version that is examined: --at, or --target together with a --reference. */
static void parse_version(void *to, const char *text)
{
        char **target = to;

        if (*target)
                command_usage("--at and --target name one version, and only once");
        campaign_copy_text(target, text);
}

static void check(const struct campaign_command *c, bool has_at)
{
        const struct campaign_settings *s = &c->settings;

        if (!c->solver_name)
                command_usage("expected SOLVER: without one all versions are 'exec:PATH ARG...'");
        if (has_at && c->settings.references)
                command_usage("--at looks at one version alone; with --reference the other is the --target");
        if (!s->target)
                command_usage("which versions? --reference REV --target REV, or one alone: --at REV");
        if (!has_at && !c->settings.references)
                command_usage("a target needs a --reference to be compared with; one version alone: --at REV");
        if (!s->corpus)
                command_usage("which formulas to begin with? --seeds DIR");
        if (s->seconds <= 0)
                command_usage("how long? --for 10m, --for 12h");
}

void cmd_incompleteness(int argc, char **argv)
{
        static const char doc[] =
                "Makes formulas weaker or stronger, step by step, and looks for those that should be decided and come back unknown: by the target "
                "where a reference decides them (a regression), or where the version decided what implies the answer (an implication). They are kept "
                "as findings (SOLVER/incompleteness/ in the mount, 'solverfs findings').\v"
                "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program of this machine). An answer "
                "that contradicts the implied one, and what crashes a version, is kept, too.\n\n"
                "A campaign that is interrupted goes on when the same command is given again.\n\n"
                "Example:\n"
                "  solverfs incompleteness z3 --reference v1 --target v2 --seeds dir --for 12h";
        static const enum verdict labels[] = {VERDICT_SAT, VERDICT_UNSAT, VERDICT_UNKNOWN};
        struct campaign_command c = {0};
        struct campaign_settings *s = &c.settings;
        struct words words;
        bool has_at = false;
        unsigned label = 2, pairs = 1;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "a version that decides; may be repeated, the oldest first",
                 .parse = campaign_add_word, .to = &c.settings.references},
                {"target", 0, "VERSION", "the version that may say unknown", .parse = parse_version, .to = &s->target},
                {"at", 0, "VERSION", "instead of both: one version alone, compared with itself before each step",
                 .parse = parse_version, .to = &s->target, .is_given = &has_at},
                {"seeds", 0, "DIR", "the formulas to begin with: *.smt2 below DIR", .parse = campaign_copy_text, .to = &s->corpus},
                {"oracle", 0, "sat|unsat|auto",
                 "what the seeds are; auto (the default): as each says by :status or its name, else as the versions answer", .choice = &label},
                {"pairs", 0, "any|target",
                 "whether references run on every formula, so that crashes and wrong answers of theirs are kept, too; default target",
                 .choice = &pairs},
                {"iterations", 0, "N", "steps for each seed; default 300", .number = &s->iterations, .least = 1, .most = INT32_MAX},
                {"chain", 0, "N", "steps from a seed until it begins at the seed again; default 25",
                 .number = &s->chain, .least = 1, .most = INT32_MAX},
                {"timeout", 't', "TIME", "of a run; default 10s", .seconds = &s->timeout},
                {"for", 0, "TIME", "how long to work in all: 10m, 12h; it ends earlier when all seeds are done", .seconds = &s->seconds},
                {"jobs", 'j', "N", "chains at the same time; default: one for each core", .number = &s->jobs, .least = 1, .most = 4096},
                {"no-reduce", 0, NULL, "do not: findings with the same cause are then told apart less well",
                 .parse = campaign_reduce_nothing, .to = s},
                CAMPAIGN_OPTIONS(c),
                {0}};

        campaign_settings_new(s);
        s->kind = CAMPAIGN_UNKNOWNS;
        s->timeout = 10;
        words = command_parse(argc, argv, "[SOLVER] --reference VERSION --target VERSION --seeds DIR --for TIME\n[SOLVER] --at VERSION --seeds DIR --for TIME",
                      doc, options);
        s->label = labels[label];
        s->any_pair = pairs == 0;
        if (words.n > 1)
                command_usage("expected one SOLVER; versions follow --reference, --target and --at");
        c.solver_name = campaign_solver(s, word_next(&words));
        check(&c, has_at);
        campaign_command_run(&c);
}
