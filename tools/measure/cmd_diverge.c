/* solverfs diverge: where the runs of two versions part. */
#include "core/study/observation/finding.h"
#include "core/why/diverge/diverge.h"
#include "tools/ask.h"
#include "tools/words.h"

#define ROWS 20

struct diverging {
        const char *culprit, *on;
        unsigned rows;
        bool is_markdown, has_no_calls;
        struct diverge_options options;

        struct version *version[2]; /* owned */
        struct observation *finding; /* owned; NULL: none */
};

/* diverge_options.tell and .announce */
static void tell(void *user, const char *doing)
{
        progress_show(doing, 0, 0, 0, 0);
}

static void announce(void *user, const char *version)
{
        note("%s is built once more, to report its calls; --no-calls does without", version);
}

static void set_version(struct diverging *o, int side, const char *text)
{
        o->options.version[side] = o->version[side] = command_version(text);
}

/* The case of a finding, and its versions: if its culprit is known, the culprit and the commit before it; else those it was found with. Its seed, limit
 * and clock hold unless an option says otherwise. */
static struct case_info *read_finding(struct diverging *o, const struct observation *f)
{
        cleanup_localized struct localized *localized = NULL;
        const struct localized_culprit *culprit;
        struct case_info *info = NULL;
        int r = finding_is_localizable(common.solver, f) ? finding_localized(common.workspace, common.solver, f, &localized) : -ENOENT;
        struct commit c;

        if (r != -ENOENT)
                command_must(r);
        for (size_t at = 0; r == 0 && !o->options.has_culprit && (culprit = localized_slowdown(localized, &at));)
                o->options.has_culprit = culprit->n == 1 && history_resolve(common.solver->history, culprit->commits[0], &o->options.culprit) == 0;
        command_must(cases_get(workspace_cases(common.workspace), f->case_id, &info));
        command_whole_case(info);
        if (f->seed > 0 && !o->options.has_seed) {
                o->options.has_seed = true;
                o->options.seed = f->seed;
        }
        if (o->options.timeout_ns == 0) {
                o->options.timeout_ns = seconds_ns(f->timeout);
                o->options.is_cpu_time = f->is_cpu_time;
        }
        if (!o->options.has_culprit || history_commit(common.solver->history, o->options.culprit, &c) < 0 || c.first_parent == COMMIT_NONE) {
                if (!*f->reference)
                        command_refuse(STATUS_USAGE, "finding %u is of one version; give two: solverfs diverge %s %u A B", f->number,
                                       common.solver->recipe->name, info->id);
                set_version(o, 0, f->reference);
                set_version(o, 1, observation_target(f));
                return info;
        }
        set_version(o, 0, full_sha(common.solver, c.first_parent).s);
        set_version(o, 1, full_sha(common.solver, o->options.culprit).s);
        note("finding %u is by %s: that commit, and the one before it, are compared", f->number, commit_label(common.solver, o->options.culprit).s);
        return info;
}

static struct case_info *read_words(struct diverging *o, const struct words *words)
{
        struct case_info *info;

        if (command_must_usage(command_finding(words->list[1], true, &o->finding)) == 1 && words->n == 2)
                return read_finding(o, o->finding);
        if (words->n != 4)
                command_usage("expected SOLVER CASE A B, or SOLVER FINDING");
        info = command_case(words->list[1], "one case is looked at at a time");
        for (int side = 0; side < 2; side++)
                set_version(o, side, words->list[2 + side]);
        return info;
}

/* The commit whose changes are shown: the one named, or the second version if it is a child of the first. */
static void find_culprit(struct diverging *o)
{
        const struct version *a = o->version[0], *b = o->version[1];
        const bool are_commits = version_is_commit(a->text) && version_is_commit(b->text) && !b->solver->recipe->is_programs;
        struct commit c;

        if (o->culprit) {
                o->options.culprit = command_commit(common.solver, "--culprit", o->culprit);
                o->options.has_culprit = true;
        } else if (!o->options.has_culprit && are_commits && history_commit(b->solver->history, b->commit, &c) == 0 && c.first_parent == a->commit) {
                o->options.culprit = b->commit;
                o->options.has_culprit = true;
        }
}

static void print(const struct diverging *o, const struct diverge_result *r)
{
        cleanup_buffer struct buffer text = {0};

        if (common.json)
                output_json(diverge_json(r));
        else if (o->is_markdown)
                diverge_markdown(r, &text);
        else
                diverge_print(r, o->rows, &text);
        output_write(&text);
        if (o->finding && observation_series(o->finding) == OF_CAMPAIGNS) { /* keep it in the finding's report */
                cleanup_buffer struct buffer section = {0};

                diverge_markdown(r, &section);
                command_must(observation_explain(common.workspace, o->finding, EXPLAINED_DIVERGENCE, section.data));
        }
        if (r->no_calls)
                complain("calls cannot be compared: %s", r->no_calls);
        if (r->no_profile)
                complain("not all of the profile could be made: %s", r->no_profile);
}

void cmd_diverge(int argc, char **argv)
{
        static const char doc[] =
                "Show where the runs of two versions part: the file in which the change acts, the first line of their traces that differs, the statistics "
                "that differ most, and what the commit between them changed.\v"
                "A and B are versions as in 'solverfs fuzz'; FINDING is one such as spr/3, or an alarm as alarms/1, which knows its case, versions and "
                "time limit. The programs are run with the arguments of the recipe's 'trace' (or --trace), under one seed. Each is run "
                "twice, and once on an empty input: what differs then is no difference of theirs, nor are times, amounts of memory and addresses.\n"
                "Both are then built once more, to report their calls and comparisons: where these part the change acts.\n"
                "A first line names the runs, and one for each stream where it parts. Then come rows, which begin with what they are: line and value "
                "(stream, side, number, '>' where it is, text), statistic (name, values, ratio), function (name, file, own seconds of both, seconds "
                "with what it calls), changed (file, function, lines).\n\n"
                "  solverfs diverge z3 17 z3-4.8.8 z3-4.8.9 --trace '-v:10 -st'\n"
                "  solverfs diverge z3 spr/3 --profile";
        static struct diverging o = {.rows = ROWS};
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_diverge_result struct diverge_result result = {0};
        const struct command_option options[] = {
                {"trace", 0, "ARGS", "Arguments that make the programs trace their work; default: the recipe's 'trace'", .text = &o.options.trace},
                {"culprit", 0, "REV", "Show what this commit changed; default: B where its parent is A, or the finding's", .text = &o.culprit},
                {"no-calls", 0, NULL, "Do not build both again to find where their calls part", .on = &o.has_no_calls},
                {"profile", 0, NULL, "Also sample both programs, and show the functions that take the extra time", .on = &o.options.has_profile},
                OPTION_SEED(o.options.seed, o.options.has_seed, "Fix the solver's random seed to N in all runs"),
                OPTION_TIMEOUT(o.options.timeout_ns),
                {"rows", 0, "N", "Statistics and functions to show; default 20", .number = &o.rows, .least = 1, .most = 100000},
                {"markdown", 0, NULL, "Print a section for an issue", .on = &o.is_markdown, .excludes = "json"},
                OPTION_ON(o.on),
                OPTION_JSON("Print everything as a JSON object"),
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER CASE A B\nSOLVER FINDING", doc, options);
        int r;

        if (words.n < 2)
                command_usage("expected SOLVER CASE A B, or SOLVER FINDING");
        command_signals();
        command_open_solver_with(o.on, words.list[0], (const char **)words.list + 2, words.n - 2);
        info = read_words(&o, &words);
        for (int side = 0; side < 2; side++) {
                command_check_format(o.version[side], info);
                command_seed(o.version[side]->solver, o.version[side]->commit, o.options.has_seed);
        }
        find_culprit(&o);
        command_engine();
        o.options.workspace = common.workspace;
        o.options.engine = common.engine;
        o.options.info = info;
        o.options.cancel_fd = common.signals;
        o.options.tell = tell;
        o.options.has_calls = !o.has_no_calls;
        o.options.announce = announce;
        r = diverge(&o.options, &result);
        if (r == -ECANCELED)
                note("interrupted");
        if (r < 0)
                command_worse(fail_usage(r));
        else
                print(&o, &result);
        for (int side = 0; side < 2; side++)
                version_free(o.version[side]);
        observation_unref(o.finding);
}
