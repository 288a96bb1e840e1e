/* solverfs localize: finds the commits that made cases slow. */
#include "tools/ask.h"
#include "core/study/base/version.h"
#include "core/study/localize/localization.h"
#include "core/study/observation/finding.h"
#include "tools/words.h"

struct localizing {
        /* options */
        const char *reference, *target, *log;
        bool is_given[2]; /* --reference, --target: findings have no say then */
        bool is_measure_given, is_clock_given, is_timeout_given, is_seed_given, has_finding;
        bool by_answer; /* --measure answer */
        struct words words; /* CASE... */
        struct localization_options options;

        struct localization *search;
        struct localized **results; /* [cases]; owns refs; NULL: none */
        size_t *place;    /* [cases of the search] index among all cases */
        bool *is_told;    /* [cases of the search] its result was noted */
};

/* -- stored results --------------------------------------------------------------------------------------------- */

/* The stored result of a case; NULL: there is none, or one that another search may improve. */
static struct localized *find_kept(const struct localizing *o, struct case_info *info)
{
        struct localization_options one = o->options;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r;

        one.cases = &info;
        one.n = 1;
        command_must(query_localized(&one, &q));
        r = q->type->find(q, &v);
        if (r != -ENOENT)
                command_must(r);
        return r == 0 && localized_is_final((struct localized *)v) ? (struct localized *)steal_pointer(v) : NULL;
}

/* -- searching ---------------------------------------------------------------------------------------------------- */

/* `user` is the search. */
static int show(void *user, const struct ask_progress *p)
{
        struct localization_progress l;
        char what[160], after[64] = "";

        localization_progress(user, &l);
        if (l.search.builds_left >= 0.5)
                snprintf(after, sizeof(after), ", about %.0f %s after these", l.search.builds_left, l.search.builds_left < 1.5 ? "build" : "builds");
        snprintf(what, sizeof(what), "localize: %zu of %zu cases, %zu of %zu runs%s%s", l.search.finished, l.search.cases, p->answered, l.runs_open,
                 l.verifying == l.runs_open ? " (verifying)" : "", after);
        ask_show(p, what, l.runs_open, (uint64_t)(l.search.build_seconds_left * 1e9));
        return 0;
}

/* Notes what was decided while other cases are still open: a search of many takes hours. Standard output has all of them at the end. */
static void tell_decided(const struct localizing *o)
{
        struct localization_progress l;

        localization_progress(o->search, &l);
        for (size_t i = 0; l.search.finished < l.search.cases && i < o->options.n; i++) {
                cleanup_localized struct localized *result = o->is_told[i] ? NULL : localization_result(o->search, i);
                cleanup_buffer struct buffer rows = {0};

                if (!result || result->state == LOCALIZE_OPEN)
                        continue;
                o->is_told[i] = true;
                localized_rows(result, &rows);
                note("localize: decided:\n%.*s", (int)rows.size - 1, rows.data);
        }
}

static int search(const struct localizing *o)
{
        struct batch batch;
        int r;

        command_engine();
        while ((r = localization_next(o->search, &batch)) > 0 && (r = ask_round(&batch, show)) == 0)
                tell_decided(o);
        return ask_end(r, "; what was built and run is kept, and the search goes on from there");
}

/* Why the search does not begin at the reference. */
static const char *why_apart(const struct localizing *o)
{
        bool descends = false;

        if (history_descends(o->options.solver->history, o->options.target, o->options.reference, &descends) == 0 && descends)
                return "is not on the line of first parents of";
        return "is not an ancestor of";
}

static void tell_start(const struct localizing *o)
{
        const uint32_t at = localization_start(o->search), fork = localization_fork(o->search);
        const struct commit_sha fork_sha = full_sha(o->options.solver, fork), sha = full_sha(o->options.solver, at);

        if (at == o->options.reference)
                return;
        if (at == fork)
                note("%s %s %s; the search begins where the two lines part, at %.12s", o->reference, why_apart(o), o->target, fork_sha.s);
        else
                note("%s %s %s, and %.12s, where the two lines part, cannot be built; the search begins at %.12s, the next commit towards %s",
                     o->reference, why_apart(o), o->target, fork_sha.s, sha.s, o->target);
}

static void tell_unbuildable(const struct localizing *o)
{
        const uint32_t fork = localization_fork(o->search), ends[2] = {localization_start(o->search), o->options.target};
        const struct commit_sha fork_sha = full_sha(common.solver, fork);
        const char *name = common.solver->recipe->name;

        for (int i = 0; i < 2; i++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;
                const struct commit_sha sha = full_sha(common.solver, ends[i]);
                const char *reason;

                if (build_find(common.workspace, common.solver, ends[i], WITHOUT_LOG, &record) < 0 || record->ok)
                        continue;
                reason = record->reason ?: "no reason is known";
                if (ends[i] == o->options.target || ends[i] == o->options.reference)
                        complain("%s %.12s, the %s, cannot be built: %s; see 'solverfs build --log %s %.12s'", name, sha.s,
                                 ends[i] == o->options.target ? "target" : "reference", reason, name, sha.s);
                else
                        complain("%s %s %s, so the search begins where the two lines part, at %.12s, and %s cannot be built: %s; name as "
                                 "--reference a commit that can be built of 'git log --first-parent %.12s..%s', or see 'solverfs build --log %s %.12s'",
                                 o->reference, why_apart(o), o->target, fork_sha.s,
                                 ends[i] == fork ? "that commit" : "that commit and those behind it", reason,
                                 fork_sha.s, o->target, name, sha.s);
        }
}

/* -- answers ------------------------------------------------------------------------------------------------------ */

/* Runs of all cases at both ends; item 2k is case k at the reference, item 2k + 1 at the target. */
struct ends {
        struct localization_options *options;
        const struct case_selection *cases;
        enum verdict seen[2]; /* at the reference and at the target; N_VERDICTS: none yet */
        bool differ;          /* two cases have different ones */
};

static int make_end(void *user, size_t i, struct query **ret)
{
        const struct ends *e = user;
        struct cell cell = localization_cell(e->options, i % 2 == 0 ? e->options->reference : e->options->target, e->cases->list[i / 2]);

        return query_sample(common.workspace, &cell, 0, ret);
}

static int take_end(void *user, size_t i, int r, struct value *v, const char *reason)
{
        const struct run_value *run = (const struct run_value *)v;
        struct ends *e = user;
        enum verdict verdict;

        if (r < 0)
                return errorf(r, "%s", reason ?: strerror(-r));
        verdict = run->fact ? run->fact->verdict : VERDICT_UNBUILDABLE;
        e->differ |= e->seen[i % 2] != N_VERDICTS && e->seen[i % 2] != verdict;
        e->seen[i % 2] = verdict;
        return e->differ; /* ends the batch */
}

static int show_ends(void *user, const struct ask_progress *p)
{
        ask_show(p, "localize: both ends", p->n, 0);
        return 0;
}

/* Runs the cases at both ends, as `run` does: the search is for the commit where the one answer becomes the other. */
static void find_answers(struct localization_options *o, const struct case_selection *cases)
{
        struct ends e = {.options = o, .cases = cases, .seen = {N_VERDICTS, N_VERDICTS}};
        struct batch batch = {.n = 2 * cases->n, .make = make_end, .answered = take_end, .user = &e};

        command_engine();
        command_must(ask_end(ask_round(&batch, show_ends), ""));
        if (e.differ)
                command_usage("the cases have different answers: localize each by itself");
        o->by_verdict = cases->n > 0;
        o->before = e.seen[0];
        o->after = e.seen[1];
}

static void parse_measure_or_answer(void *to, const char *text)
{
        struct localizing *o = to;

        o->by_answer = strcmp(text, "answer") == 0;
        if (!o->by_answer)
                parse_measure(&o->options.measure, text);
}

/* -- the search --------------------------------------------------------------------------------------------------- */

/* One search for all cases without a stored result. */
static int localize(struct localizing *o, const struct case_selection *cases)
{
        cleanup_free struct case_info **open = allocate(cases->n + 1, sizeof(*open));
        cleanup_buffer struct buffer log = {0};
        bool unbuildable = false;
        uint32_t start;
        int r;

        for (size_t i = 0; i < cases->n; i++) {
                if (!o->log) /* a log needs a search, not only its result */
                        o->results[i] = find_kept(o, cases->list[i]);
                if (o->results[i])
                        continue;
                o->place[o->options.n] = i;
                open[o->options.n++] = cases->list[i];
        }
        if (o->options.n == 0)
                return STATUS_OK;
        o->options.cases = open;
        command_must_usage(localization_new(&o->options, &o->search));
        tell_start(o);
        start = localization_start(o->search);
        r = search(o);
        if (localization_start(o->search) != start)
                tell_start(o);
        if (r >= 0)
                r = localization_keep(o->search);
        for (size_t i = 0; i < o->options.n; i++) {
                o->results[o->place[i]] = localization_result(o->search, i);
                unbuildable |= o->results[o->place[i]]->state == LOCALIZE_UNBUILDABLE_END;
        }
        if (unbuildable)
                tell_unbuildable(o);
        for (size_t i = 0; o->log && i < o->options.n; i++)
                localization_log(o->search, i, &log);
        if (r >= 0 && o->log)
                command_write_file(o->log, &log);
        return r < 0 ? fail(r) : STATUS_OK;
}

static void tell_not_started_at(const struct localizing *o, uint32_t commit, struct case_info *info, struct revisions *told)
{
        const struct cell cell = localization_cell(&o->options, commit, info);
        cleanup(fact_unrefp) struct fact *f = NULL;

        for (size_t i = 0; i < told->n; i++)
                if (told->list[i] == commit)
                        return;
        if (run_find(common.workspace, &cell, FACT_BRIEF, &f) < 0 || !command_tell_not_started(complain, common.solver, commit, f, NULL))
                return;
        list_add(told->list, told->n, commit);
}

/* Says why the programs of both ends and of the culprits did not begin, once for each. */
static void tell_not_started(const struct localizing *o, const struct case_selection *cases)
{
        cleanup_revisions struct revisions told = {0};

        for (size_t i = 0; i < cases->n; i++) {
                const struct localized_culprit *c;
                uint32_t commit;

                tell_not_started_at(o, o->options.reference, cases->list[i], &told);
                tell_not_started_at(o, o->options.target, cases->list[i], &told);
                for (size_t at = 0; o->results[i] && (c = localized_slowdown(o->results[i], &at));)
                        if (culprit_commit(common.solver, c, &commit) == 0)
                                tell_not_started_at(o, commit, cases->list[i], &told);
        }
}

/* -- showing ------------------------------------------------------------------------------------------------------ */

/* Prints the results. Returns STATUS_FAILED if a case has no culprit. */
static int print(const struct localizing *o, size_t n)
{
        static const char *const heads[][2] = {
                [JUDGE_TIME] = {"BEFORE (s)", "AFTER (s)"}, [JUDGE_MEMORY] = {"BEFORE (B)", "AFTER (B)"}, [JUDGE_EFFORT] = {"BEFORE", "AFTER"}};
        const char *const *head = heads[o->options.by_verdict ? JUDGE_EFFORT : o->options.measure];
        const struct column columns[] = {{"CASE", 6, true}, {"COMMIT", 12}, {head[0], 11, true}, {head[1], 11, true}, {"SUBJECT"}, {0}};
        cleanup_buffer struct buffer rows = {0};
        int status = STATUS_OK;

        for (size_t i = 0; i < n; i++) {
                const struct localized *l = o->results[i];

                if (!l || (l->state == LOCALIZE_OPEN && !common.json))
                        continue;
                if (l->state != LOCALIZE_FOUND)
                        status = STATUS_FAILED;
                if (common.json)
                        output_json(localized_json(l));
                else
                        localized_rows(l, &rows);
        }
        output_rows(columns, "", rows.data ?: "");
        return status;
}

/* -- cases and findings as words --------------------------------------------------------------------------------- */

/* Adds a case unless it is already there. */
static void add_case(struct case_selection *to, struct case_info *info)
{
        for (size_t i = 0; i < to->n; i++)
                if (to->list[i]->id == info->id)
                        return;
        list_add(to->list, to->n, case_info_ref(info));
}

/* A finding of another answer is localized by the answers, as the campaign and the mount do it. */
static void take_answers(struct localizing *o, const char *name, const struct observation *f)
{
        const bool by_verdict = f->kind != FINDING_SLOWDOWN && !o->is_measure_given && finding_is_localizable(common.solver, f);
        const enum verdict before = finding_verdict(f, f->reference), after = finding_verdict(f, f->target);

        if (o->has_finding && (by_verdict != o->options.by_verdict || (by_verdict && (before != o->options.before || after != o->options.after))))
                command_usage("%s has other answers than the findings before it: localize it by itself", name);
        o->options.by_verdict = by_verdict;
        o->options.before = before;
        o->options.after = after;
}

/* The versions, the time limit, the measure and the clock of a finding, for those that no option gives. */
static void take_from_finding(struct localizing *o, const char *name, const struct observation *f)
{
        const enum judge_measure measure = f->kind == ALARM_MEMORY ? JUDGE_MEMORY : f->measure;
        const char *const from[] = {f->reference, f->target};
        const char **const to[] = {&o->reference, &o->target};
        const uint64_t timeout_ns = seconds_ns(f->timeout);
        const bool takes_clock = !o->is_clock_given && (!o->is_measure_given || o->options.measure == JUDGE_TIME);

        if (o->has_finding && ((!o->is_measure_given && o->options.measure != measure) || (takes_clock && o->options.is_cpu_time != f->is_cpu_time)))
                command_usage("%s has another measure or clock than the findings before it: localize it by itself", name);
        if (o->has_finding && !o->is_seed_given && o->options.seed != f->seed)
                command_usage("%s was found under another seed than the findings before it: localize it by itself, or give --seed", name);
        if (o->has_finding && !o->is_timeout_given && o->options.timeout_ns != timeout_ns)
                command_usage("%s has another time limit than the findings before it: localize it by itself, or give --timeout", name);
        take_answers(o, name, f);
        if (!o->is_measure_given)
                o->options.measure = measure;
        if (takes_clock)
                o->options.is_cpu_time = f->is_cpu_time;
        if (!o->is_timeout_given)
                o->options.timeout_ns = timeout_ns;
        if (!o->is_seed_given) {
                o->options.has_seed = f->seed > 0;
                o->options.seed = f->seed;
        }
        o->has_finding = true;

        for (int i = 0; i < 2; i++) {
                if (o->is_given[i])
                        continue;
                if (*to[i] && strcmp(*to[i], from[i]) != 0)
                        command_usage("%s has other versions than the findings before it: give --reference and --target", name);
                if (!version_is_commit(from[i]))
                        command_usage("%s is not between two commits: give --reference and --target", name);
                *to[i] = copy_string(from[i]);
        }
}

/* A word names cases, or a finding, whose input is an unlisted case. */
static void choose_cases(struct localizing *o, struct case_selection *ret)
{
        bool has_cases = false;

        for (size_t i = 0; i < o->words.n; i++) {
                cleanup_case_selection struct case_selection more = {0};
                cleanup_observation struct observation *f = NULL;
                cleanup(case_info_unrefp) struct case_info *input = NULL;

                if (command_must(command_finding(o->words.list[i], false, &f)) == 1) {
                        take_from_finding(o, o->words.list[i], f);
                        command_must(cases_get(workspace_cases(common.workspace), f->case_id, &input));
                        add_case(ret, input);
                } else {
                        command_cases(&o->words.list[i], 1, &more);
                        has_cases = true;
                }
                for (size_t k = 0; k < more.n; k++)
                        add_case(ret, more.list[k]);
        }
        if (has_cases && o->options.by_verdict)
                command_usage("a finding of another answer is localized without cases: give them a search of their own");
}

/* -- the command -------------------------------------------------------------------------------------------------- */

void cmd_localize(int argc, char **argv)
{
        static const char doc[] =
                "Find the commits that made cases slow. Prints a line for each case and culprit: case, commit, seconds before it, seconds after it "
                "(with --measure: bytes, or the solver's count), subject. Where the commits between cannot be built, commit is the range BEFORE..LAST "
                "that holds the culprit. A case without a culprit has '-' for its commit, its seconds at reference and target, and why.\v"
                "A build is done once for all cases that need it; runs are repeated on what is built until it is decided where a case got slow, so "
                "that noise does not mislead; every culprit is verified by runs of it and the commit before it in turn. What was measured before is "
                "used, and an interrupted search goes on where it was.\n"
                "A FINDING is one such as spr/3: its input, its versions, its time limit, its measure and its clock. One of another answer, such as "
                "incompleteness/2, is localized by the answers.\n"
                "The exit status is 1 if a case has no culprit, became faster, or cannot be decided, or if an end cannot be built.\n\n"
                "  solverfs localize z3 --reference z3-4.8.8 --target z3-4.8.9 17 42\n"
                "  solverfs localize z3 --reference z3-4.8.8 --target z3-4.8.9 slow/ -t 20s\n"
                "  solverfs localize z3 spr/3 spr/4";
        static struct case_selection cases;
        static struct localizing o;
        const char *solver, *on = NULL;
        unsigned clock = 0;
        int r, shown;
        const struct command_option options[] = {
                {"reference", 0, "REV", "The version that is fast", .text = &o.reference},
                {"target", 0, "REV", "The later version that is slow", .text = &o.target},
                {"measure", 0, "NAME", "The measure that became worse: time (default), memory, effort (the solver's own count), or answer: as it is in "
                 "one run of each end",
                 .parse = parse_measure_or_answer, .to = &o, .is_given = &o.is_measure_given},
                OPTION_SEED(o.options.seed, o.options.has_seed,
                            "Begin with the solver's seed N: runs are under N, N + 1, N + 2, …; a search by answers stays at N"),
                OPTION_TIMEOUT(o.options.timeout_ns),
                {"clock", 0, "wall|cpu", "Times and their limit are wall time (default), or CPU time of the solver", .choice = &clock,
                 .is_given = &o.is_clock_given},
                {"log", 0, "FILE", "Write the search as a git bisect log, for 'git bisect replay'", .file = &o.log},
                OPTION_ON(on),
                OPTION_JSON("Print a JSON object for each case, a line each, with everything found"),
                {0}};

        o.words = command_parse(argc, argv, "SOLVER CASE|FINDING...", doc, options);
        solver = word_next(&o.words);
        o.options.is_cpu_time = clock == 1;
        if (o.options.is_cpu_time && o.options.measure != JUDGE_TIME)
                command_usage("--clock chooses between times: with --measure %s it says nothing", judge_measure_name(o.options.measure));
        o.is_measure_given |= o.is_clock_given;
        o.is_timeout_given = o.options.timeout_ns != 0;
        o.is_seed_given = o.options.has_seed;
        o.is_given[0] = o.reference;
        o.is_given[1] = o.target;
        command_signals();
        command_open_solver(0, on, solver);
        command_need_history();
        o.options.workspace = common.workspace;
        o.options.solver = common.solver;
        command_seed(common.solver, COMMIT_NONE, o.options.has_seed);
        choose_cases(&o, &cases);
        command_keep_format(common.solver, o.words.list, o.words.n, &cases);
        if (!o.reference || !o.target)
                command_usage("expected --reference REV and --target REV, a fast version and a later, slow one, or findings, which know theirs");
        o.options.reference = command_commit(common.solver, "--reference", o.reference);
        o.options.target = command_commit(common.solver, "--target", o.target);
        o.results = allocate(cases.n + 1, sizeof(*o.results));
        o.place = allocate(cases.n + 1, sizeof(*o.place));
        o.is_told = allocate(cases.n + 1, sizeof(*o.is_told));
        if (o.by_answer)
                find_answers(&o.options, &cases);
        r = localize(&o, &cases);
        tell_not_started(&o, &cases);
        shown = print(&o, cases.n); /* after an interruption: the finished ones */
        command_worse(MAX(r, shown));
}
