/* solverfs options: which options restore what a version lost. */
#include "core/query/programs.h"
#include "core/study/observation/finding.h"
#include "core/why/options/restoring.h"
#include "tools/words.h"

#define CULPRITS_MOST 8 /* commits of one set; with more it is unclear what matters */

struct options_command {
        const char *versions[2], *culprit;
        bool is_clock_given;
        struct version *version[2];
        struct case_info *info;
        struct observation *finding; /* a ref; NULL: a case was named, or other versions, another clock or limit */
        struct buffer patch; /* what the culprit changed: options named there are tried early */
        struct restoring_question question;
};

/* The changes of the commits responsible for the finding. */
static void read_patch(struct options_command *o, const struct observation *f)
{
        cleanup_localized struct localized *localized = NULL;
        const struct localized_culprit *c;
        int r = finding_localized(common.workspace, common.solver, f, &localized);
        uint32_t commit;

        for (size_t at = 0; r == 0 && (c = localized_slowdown(localized, &at));)
                for (size_t i = 0; i < c->n && c->n <= CULPRITS_MOST; i++)
                        if (history_resolve(common.solver->history, c->commits[i], &commit) == 0)
                                command_must(restoring_read_change(common.solver, commit, &o->patch));
}

/* The word is a case, or a finding that also supplies versions, clock and limit where no option does. */
static void find_case(struct options_command *o, char *word)
{
        cleanup_observation struct observation *f = NULL;

        if (command_must(command_finding(word, true, &f)) == 1) {
                if (f->measure != JUDGE_TIME || f->kind == ALARM_MEMORY)
                        command_refuse(STATUS_USAGE, "options are sought for times, and %s is by %s", word,
                                       f->kind == ALARM_MEMORY ? "memory" : judge_measure_name(f->measure));
                command_must(cases_get(workspace_cases(common.workspace), f->case_id, &o->info));
                command_whole_case(o->info);
                o->versions[0] = o->versions[0] ?: copy_string(f->reference);
                o->versions[1] = o->versions[1] ?: copy_string(observation_target(f));
                if (!o->is_clock_given)
                        o->question.is_cpu_time = f->is_cpu_time;
                if (o->question.timeout_ns == 0)
                        o->question.timeout_ns = seconds_ns(f->timeout);
                if (!o->culprit)
                        read_patch(o, f);
                if (strcmp(o->versions[0], f->reference) == 0 && strcmp(o->versions[1], observation_target(f)) == 0 &&
                    o->question.is_cpu_time == f->is_cpu_time && o->question.timeout_ns == seconds_ns(f->timeout))
                        o->finding = steal_pointer(f);
                return;
        }
        o->info = command_case(word, "options are sought for one case at a time");
}

static void find_versions(struct options_command *o)
{
        for (int i = 0; i < 2; i++) {
                if (!o->versions[i] || !*o->versions[i])
                        command_refuse(STATUS_USAGE, "name the versions: --reference VERSION --target VERSION");
                o->question.version[i] = o->version[i] = command_version(o->versions[i]);
                command_check_format(o->version[i], o->info);
        }
        if (version_is_same(o->version[0], o->version[1]))
                command_refuse(STATUS_USAGE, "both versions are %s: they do not differ", o->version[0]->name);
        if (o->culprit)
                command_must(restoring_read_change(common.solver, command_commit(common.solver, "--culprit", o->culprit), &o->patch));
        else if (o->patch.size == 0 && version_has_history(common.solver, o->version[1]->text))
                restoring_read_change(common.solver, o->version[1]->commit, &o->patch); /* not asked for: errors are ignored */
}

static void tell(const struct restoring_answer *a)
{
        static const char *const sides[] = {"reference", "target"};

        for (int side = 0; side < 2; side++)
                note("%s: fast in %zu of %zu runs (%s); %zu options, %zu more without another value, %zu lines unread", sides[side], a->fast[side],
                     a->seeds[side], judge_amount_text(JUDGE_TIME, a->seconds[side]).s, a->listed[side], a->passed_over[side], a->unread[side]);
        if (!judge_is_regression(a->change))
                note("over seeds the two are not shown to differ: the search was for the %zu under which the target is slower", a->shown);
        note("%" PRIu64 " runs, %zu sets of %zu options, %zu set aside (limits, seeds, output)%s", a->runs, a->sets, a->candidates, a->set_aside,
             a->is_cut_off ? "; no runs are left, --runs gives more" : "");
        for (size_t i = 0; i < a->n_dropped; i++)
                note("dropped: %s (%s)", a->dropped[i].argument, a->dropped[i].why ?: "breaks a set");
        if (a->mirror)
                note("the other way round: the reference with %s is slow in %zu of %zu runs", a->mirror, a->mirrored_slow, a->mirrored);
}

/* Keeps the answer in the finding's report. */
static void keep(const struct options_command *o, const struct restoring_answer *a)
{
        cleanup_buffer struct buffer text = {0};

        buffer_adds(&text, "## Which options give it back\n\n");
        restoring_add_line(a, &text);
        buffer_adds(&text, "\n");
        if (o->finding && observation_series(o->finding) == OF_CAMPAIGNS)
                command_must(observation_explain(common.workspace, o->finding, EXPLAINED_OPTIONS, text.data));
}

static int print(const struct options_command *o, const struct restoring_answer *a)
{
        if (common.json) {
                json_t *j = restoring_json(a);

                json_object_update_new(j, json_pack("{sI so}", "case", (json_int_t)o->info->id, "name", json_printable(o->info->name)));
                json_object_set_new(json_object_get(j, "reference"), "version", json_printable(o->version[0]->text));
                json_object_set_new(json_object_get(j, "target"), "version", json_printable(o->version[1]->text));
                output_json(j);
        } else {
                cleanup_buffer struct buffer line = {0};

                restoring_add_line(a, &line);
                output_text(line.data);
                tell(a);
        }
        return a->n > 0 ? STATUS_OK : STATUS_FAILED;
}

void cmd_options(int argc, char **argv)
{
        static const char doc[] =
                "Find the smallest change of the target's options that gives the reference's speed back. Prints one line: the options, the time with "
                "them, and under how many seeds they do.\v"
                "CASE is one case; a FINDING such as spr/3, or an alarm as alarms/1, knows its versions and its culprit. VERSION is as in 'solverfs "
                "fuzz': no build is needed for "
                "other options. The options come from the list that each version prints (key 'options' of the recipe; else what it prints for --help or "
                "-pd). First those whose default differs between the two are tried, then those that the culprit's change names, then all; many at once, "
                "and halves of them. Options that break the run or change the answer are dropped.\n"
                "The report of a campaign's finding keeps the answer for its own versions, clock and time limit; another answer is only printed.\n"
                "The exit status is 1 if no options restore it, or no seed shows a regression.\n\n"
                "  solverfs options z3 QF_S114.smt2 --reference z3-4.8.8 --target fdc87f286\n"
                "  solverfs options z3 spr/3\n"
                "  solverfs options 17 --reference exec:/usr/bin/z3 --target exec:/opt/z3";
        static struct options_command o = {.question = {.most_runs = RESTORING_RUNS, .seeds = RESTORING_SEEDS, .progress = &command_progress}};
        static struct restoring_answer a;
        const char *on = NULL;
        unsigned clock = 0;
        struct words words;
        bool are_programs;
        int r;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "The version that is fast", .text = &o.versions[0]},
                {"target", 0, "VERSION", "The version that is slow", .text = &o.versions[1]},
                {"culprit", 0, "REV", "The commit responsible: options that its change names come early; default: the finding's, or the target",
                 .text = &o.culprit},
                {"runs", 0, "N", "Give up after N runs (300); a few more confirm what is found", .big_number = &o.question.most_runs, .least = 1,
                 .most = 1000000},
                {"seeds", 0, "N", "Seeds for the runs of both versions and of the options found (12)", .big_number = &o.question.seeds, .least = 1,
                 .most = JUDGE_PAIRS},
                OPTION_TIMEOUT(o.question.timeout_ns),
                {"clock", 0, "wall|cpu", "Times and their limit are wall time (default), or CPU time of the solver", .choice = &clock,
                 .is_given = &o.is_clock_given},
                OPTION_ON(on),
                OPTION_JSON("Print a JSON object with everything found"),
                {0}};

        words = command_parse(argc, argv, "[SOLVER] CASE|FINDING", doc, options);
        are_programs = words.n == 1;
        if (words.n > 2)
                command_usage("expected SOLVER and a case or a finding");
        if (are_programs && !(o.versions[0] && o.versions[1] && program_is_text(o.versions[0]) && program_is_text(o.versions[1])))
                command_usage("expected SOLVER CASE, or CASE --reference 'exec:PATH ARG...' --target 'exec:PATH ARG...'");
        command_signals();
        command_open_solver_with(on, are_programs ? RECIPE_PROGRAMS : word_next(&words), o.versions, 2);
        o.question.is_cpu_time = clock == 1;
        find_case(&o, words.list[0]);
        find_versions(&o);
        command_engine();
        for (int i = 0; i < 2; i++)
                command_must(version_build(common.engine, common.workspace, o.version[i], PRIORITY_PERSON, common.signals));
        o.question.workspace = common.workspace;
        o.question.info = o.info;
        o.question.patch = o.patch.data ?: "";
        o.question.cancel_fd = common.signals;
        r = restoring_run(&o.question, &a);
        if (r == -ECANCELED) {
                note("interrupted; nothing of it is kept");
                command_worse(STATUS_INTERRUPTED);
        } else if (r < 0) {
                command_worse(fail_usage(r));
        } else {
                keep(&o, &a);
                command_worse(print(&o, &a));
        }
        restoring_answer_done(&a);
        version_free(o.version[0]);
        version_free(o.version[1]);
        case_info_unref(o.info);
        observation_unref(o.finding);
        buffer_done(&o.patch);
}
