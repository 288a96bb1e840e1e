/* solverfs fuzz, incompleteness: campaigns for performance regressions between versions, and for formulas that should be decided but are unknown. */
#include "core/query/programs.h"
#include "core/study/campaign/campaign.h"
#include "tools/words.h"

struct campaign_command {
        const char *solver_name;
        struct campaign_settings settings; /* campaign_settings_new() */
        const char *on;                    /* NULL: as the config says */
        unsigned clock;                    /* --clock; 1: CPU time */
};

/* The options that both have in the same words; `c` is a struct campaign_command. */
#define CAMPAIGN_OPTIONS(c)                                                                                                                            \
        {"clock", 0, "wall|cpu", "the clock of all times, including --for: wall (default), or cpu, the solvers' CPU time, for a busy machine",         \
         .choice = &(c).clock},                                                                                                                        \
        {"seed", 0, "N", "seed of all random choices; default 1", .big_number = &(c).settings.seed, .most = INT64_MAX},                                \
        {"name", 0, "NAME", "the campaign's name; an existing campaign of that name continues", .parse = copy_text, .to = &(c).settings.name},         \
        {"max-finds", 0, "N", "stop after N new findings of any kind", .big_number = &(c).settings.most_finds, .least = 1,                             \
         .most = INT64_MAX},                                                                                                                           \
        {"on", 0, "NAME", "run there: 'local', or a cluster of the store's config", .text = &(c).on},                                                  \
        {"localize-for", 0, "TIME",                                                                                                                    \
         "at the end, go on looking for the commits responsible for so long at most (wall time); default as long as --for",                            \
         .seconds = &(c).settings.localize_seconds},                                                                                                   \
        {"no-localize", 0, NULL, "do not look for the commits responsible", .off = &(c).settings.localize},                                            \
        {"reduce-for", 0, "TIME", "reduce findings for TIME in all (wall time), during the campaign and at its end; default half of --for",            \
         .seconds = &(c).settings.reduce_seconds},                                                                                                     \
        {"json", 0, NULL, "print the end as JSON", .on = &common.json}

static void add_word(void *to, const char *text)
{
        strings_add(to, text);
}

static void copy_text(void *to, const char *text)
{
        set_string(to, text);
}

/* For --no-reduce; the last option counts. */
static void reduce_nothing(void *to, const char *)
{
        ((struct campaign_settings *)to)->reduce_seconds = 0;
}

static void show_status(void *user, const struct campaign_status *s)
{
        const struct campaign_command *c = user;
        const bool is_cpu_time = c->settings.cpu_time; /* of all workers together: it says little of the time left */
        uint64_t left = s->worked < c->settings.seconds && !is_cpu_time ? (uint64_t)((c->settings.seconds - s->worked) * 1e9) : 0;
        char what[200];

        snprintf(what, sizeof(what), "%" PRIu64 " %s, %.1f a %ssecond, %" PRIu64 " finds", s->inputs, c->settings.kind == CAMPAIGN_UNKNOWNS ? "mutants"
                 : "inputs", s->worked > 0 ? (double)s->inputs / s->worked : 0, is_cpu_time ? "CPU " : "", s->finds);
        progress_show(what, (uint64_t)s->worked, (uint64_t)c->settings.seconds, left, left);
}

static void show_line(void *user, const char *line)
{
        note("%s", line);
}

/* Prints the campaign's numbers, if it has begun. */
static void show_end(const struct campaign_command *c)
{
        struct campaign_status s;
        cleanup_buffer struct buffer b = {0};
        json_t *j, *more;

        if (!c->settings.name || campaign_get(common.workspace, common.solver->number, c->settings.name, NULL, &s) < 0)
                return;
        if (!common.json) {
                buffer_addf(&b, "campaign %s\n", c->settings.name);
                campaign_print_status(&c->settings, &s, &b);
                output_write(&b);
                return;
        }
        j = json_pack("{so ss sf sI sI sf sI sI sI sI sI}", "campaign", json_printable(c->settings.name), "state", campaign_state_name(s.state),
                      "worked", s.worked, "inputs", s.inputs, "runs", s.runs, "solving", s.solving, "finds", s.finds, "rejected", s.rejected, "soundness",
                      s.soundness, "crashes", s.crashes, "to-report", s.distinct);
        more = c->settings.kind == CAMPAIGN_UNKNOWNS
                ? json_pack("{sI sI sI sI}", "unknowns", s.candidates, "regressions", s.finds - s.implications, "implications", s.implications,
                            "duplicates", s.duplicates)
                : json_pack("{sI}", "passed-over", s.passed_over);
        json_object_update_new(j, more);
        output_json(j);
}

static bool are_programs(char *const *texts)
{
        for (; texts && *texts; texts++)
                if (!program_is_text(*texts))
                        return false;
        return true;
}

/* Takes the solver's name from the words, and checks what both commands need. Without a name it is `programs`, if all versions are programs. */
static void take_solver(struct campaign_command *c, struct words *words)
{
        const struct campaign_settings *s = &c->settings;

        if (words->n > 1)
                command_usage("expected one SOLVER; versions follow options such as --reference and --target");
        c->solver_name = word_next(words);
        if (!c->solver_name && s->target && program_is_text(s->target) && are_programs(s->references) && are_programs(s->oracles))
                c->solver_name = RECIPE_PROGRAMS;
        if (!c->solver_name)
                command_usage("expected SOLVER: without one all versions are 'exec:PATH ARG...'");
        if (s->seconds <= 0)
                command_usage("how long? --for 10m, --for 12h");
}

static void name_programs(char **texts)
{
        for (; texts && *texts; texts++) {
                const char *name = *texts;

                command_program(&name);
                if (name != *texts)
                        copy_text(texts, name);
        }
}

/* Runs or resumes the campaign, and frees its settings. */
static void run(struct campaign_command *c)
{
        const struct campaign_watch watch = {.status = show_status, .line = show_line, .user = c};
        struct campaign_settings *s = &c->settings;
        char *targets[] = {s->target, NULL};
        int r;

        s->cpu_time = c->clock == 1;
        command_signals();
        command_open(0);
        if (strcmp(c->solver_name, RECIPE_PROGRAMS) == 0) { /* versions are then commits of that solver */
                name_programs(s->references);
                name_programs(targets);
                name_programs(s->oracles);
                s->target = targets[0];
        }
        command_open_solver(0, c->on, c->solver_name);
        command_engine();
        if (!s->name)
                s->name = format_string("%s-%" PRIu64, s->kind == CAMPAIGN_UNKNOWNS ? "incompleteness" : "solverfs", s->seed);
        r = campaign_run(common.workspace, common.engine, common.solver, s, &watch, common.signals);
        if (r != -ECANCELED)
                command_must_usage(r);
        show_end(c);
        campaign_settings_done(s);
        if (r == -ECANCELED) {
                note("interrupted; the same command goes on with it");
                command_worse(STATUS_INTERRUPTED);
        }
}

/* -- fuzz -------------------------------------------------------------------------------------------------------- */

/* A duration for times, by default the setting's; a ratio for another measure, by default 2. */
static void read_threshold(struct campaign_settings *s, const char *text)
{
        char *end;

        if (s->measure != JUDGE_TIME)
                s->threshold = text ? strtod(text, &end) : 2;
        else if (text)
                s->threshold = (double)command_duration("--threshold", text) / 1e9;
        if (text && s->measure != JUDGE_TIME && (end == text || *end != '\0' || !(s->threshold > 1 && s->threshold <= 1e6)))
                command_usage("--threshold of --measure %s must be a number greater than 1, such as 2 or 1.5, not '%s'", judge_measure_name(s->measure),
                              text);
}

void cmd_fuzz(int argc, char **argv)
{
        static const char doc[] =
                "Looks for inputs on which the target is slower than a reference by the threshold, or takes more memory or effort, and keeps them as "
                "findings "
                "(SOLVER/spr/ in the mount, 'solverfs findings'). Without SOLVER all versions are programs, and the findings are in programs/spr/.\v"
                "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program of this machine). Inputs "
                "on which two versions contradict each other, or one crashes, are kept, too. References run only where the target is slow; --pairs any "
                "finds all contradictions, and crashes of references.\n\n"
                "Inputs are SMT-LIB over strings and integers, or DIMACS where the solver (of programs: the target) takes that alone.\n\n"
                "Repeat the command to continue an interrupted campaign.\n\n"
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
                 .parse = add_word, .to = &c.settings.references},
                {"target", 0, "VERSION", "the version that may be slower", .parse = copy_text, .to = &s->target},
                {"for", 0, "TIME", "how long to work in all: 10m, 12h", .seconds = &s->seconds},
                {"measure", 0, "NAME", "the measure to compare: time (default), memory, or effort, the solver's own count",
                 .parse = parse_measure, .to = &s->measure},
                {"threshold", 0, "TIME|RATIO", "least slowdown that counts as a regression; default 10s. With --measure: least ratio; default 2",
                 .text = &threshold},
                {"timeout", 't', "TIME", "of a run; default 20s", .seconds = &s->timeout},
                {"corpus", 0, "DIR", "mutate the inputs (*.smt2, *.cnf) below DIR and generate none", .parse = copy_text, .to = &s->corpus},
                {"logic", 0, "LOGIC", "generate formulas of this logic, or of these: QF_BV,QF_LIA; default: strings, or else what all versions answer",
                 .parse = copy_text, .to = &s->logic},
                {"oracle", 0, "VERSION", "a version to ask where two contradict each other; may be repeated",
                 .parse = add_word, .to = &c.settings.oracles},
                {"pairs", 0, "any|target",
                 "any: references run on every input, and slowdowns between them count, too; target (default): only where the target is slow",
                 .choice = &pairs},
                {"jobs", 'j', "N", "inputs at the same time; default: one for each core", .number = &s->jobs, .least = 1, .most = 4096},
                {"no-reduce", 0, NULL, "do not reduce findings; those with the same cause are then not merged", .parse = reduce_nothing, .to = s},
                CAMPAIGN_OPTIONS(c),
                {0}};

        campaign_settings_new(s);
        words = command_parse(argc, argv, "[SOLVER] --reference VERSION --target VERSION --for TIME", doc, options);
        s->any_pair = pairs == 0;
        read_threshold(s, threshold);
        take_solver(&c, &words);
        if (!s->references || !s->target)
                command_usage("a campaign compares versions: --reference REV --target REV");
        run(&c);
}

/* -- incompleteness ----------------------------------------------------------------------------------------------- */

/* The version that is examined: --at, or --target together with a --reference. */
static void parse_version(void *to, const char *text)
{
        char **target = to;

        if (*target)
                command_usage("--at and --target name one version, and only once");
        copy_text(target, text);
}

static void check(const struct campaign_settings *s, bool has_at)
{
        if (has_at && s->references)
                command_usage("--at looks at one version alone; with --reference the other is the --target");
        if (!s->target)
                command_usage("which versions? --reference REV --target REV, or one alone: --at REV");
        if (!has_at && !s->references)
                command_usage("a target needs a --reference to be compared with; one version alone: --at REV");
        if (!s->corpus)
                command_usage("which formulas to begin with? --seeds DIR");
}

void cmd_incompleteness(int argc, char **argv)
{
        static const char doc[] =
                "Makes formulas weaker or stronger, step by step, and looks for those that should be decided and come back unknown: by the target "
                "where a reference decides them (a regression), or where the version decided what implies the answer (an implication). They are kept "
                "as findings (SOLVER/incompleteness/ in the mount, 'solverfs findings').\v"
                "A VERSION is REV, REV:ARG... (the same program with further arguments) or 'exec:PATH ARG...' (a program of this machine). Formulas "
                "whose answer contradicts the implied one, or that crash a version, are kept, too.\n\n"
                "Repeat the command to continue an interrupted campaign.\n\n"
                "Example:\n"
                "  solverfs incompleteness z3 --reference v1 --target v2 --seeds dir --for 12h";
        static const enum verdict labels[] = {VERDICT_SAT, VERDICT_UNSAT, VERDICT_UNKNOWN /* auto */};
        struct campaign_command c = {0};
        struct campaign_settings *s = &c.settings;
        struct words words;
        bool has_at = false;
        unsigned label = 2, pairs = 1;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "a version that decides; may be repeated, the oldest first",
                 .parse = add_word, .to = &c.settings.references},
                {"target", 0, "VERSION", "the version that may answer unknown", .parse = parse_version, .to = &s->target},
                {"at", 0, "VERSION", "instead of both: a single version, compared with itself before each step",
                 .parse = parse_version, .to = &s->target, .is_given = &has_at},
                {"seeds", 0, "DIR", "the formulas to begin with: *.smt2 below DIR", .parse = copy_text, .to = &s->corpus},
                {"oracle", 0, "sat|unsat|auto",
                 "status of the seeds; auto (default): from each seed's :status or name, else from the versions' answers", .choice = &label},
                {"pairs", 0, "any|target",
                 "whether references run on every formula, so that crashes and wrong answers of theirs are kept, too; default target",
                 .choice = &pairs},
                {"iterations", 0, "N", "steps for each seed; default 300", .number = &s->iterations, .least = 1, .most = INT32_MAX},
                {"chain", 0, "N", "steps from a seed until it begins at the seed again; default 25",
                 .number = &s->chain, .least = 1, .most = INT32_MAX},
                {"timeout", 't', "TIME", "of a run; default 10s", .seconds = &s->timeout},
                {"for", 0, "TIME", "how long to work in all: 10m, 12h; it ends earlier when all seeds are done", .seconds = &s->seconds},
                {"jobs", 'j', "N", "chains at the same time; default: one for each core", .number = &s->jobs, .least = 1, .most = 4096},
                {"no-reduce", 0, NULL, "do not reduce findings; those with the same cause are then harder to recognize",
                 .parse = reduce_nothing, .to = s},
                CAMPAIGN_OPTIONS(c),
                {0}};

        campaign_settings_new(s);
        s->kind = CAMPAIGN_UNKNOWNS;
        s->timeout = 10;
        words = command_parse(argc, argv,
                              "[SOLVER] --reference VERSION --target VERSION --seeds DIR --for TIME\n[SOLVER] --at VERSION --seeds DIR --for TIME",
                              doc, options);
        s->label = labels[label];
        s->any_pair = pairs == 0;
        take_solver(&c, &words);
        check(s, has_at);
        run(&c);
}
