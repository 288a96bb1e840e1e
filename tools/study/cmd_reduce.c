/* solverfs reduce: finds a smaller input that still shows the same behaviour. */
#include <sys/stat.h>

#include "core/query/programs.h"
#include "core/run/host.h"
#include "core/study/observation/finding.h"
#include "core/study/reduce/reduce_command.h"
#include "core/why/cut/cut.h"
#include "tools/ask.h"
#include "tools/words.h"

#define INPUT_MOST ((size_t)1 << 30)

struct reducing {
        struct words words; /* SOLVER and the input; or the file */
        const char *reference, *target, *command, *output;
        const char *on; /* NULL: as the config says */
        bool again;
        struct reduction_options options; /* as given; 0 or INTEREST_ANY: not given */

        struct blob input;
        char name[NAME_MAX + 1]; /* a name for the input as a file */
        char file[PATH_SIZE];    /* the result's file in the mount; or "" */
        char names[2][80];       /* the versions, for people */
        uint64_t shown;          /* when progress was last shown */
};

static void parse_interest(void *to, const char *text)
{
        for (enum interest i = 0; i < INTEREST_IMPLICATION; i++)
                if (strcmp(text, interest_name(i)) == 0) {
                        *(enum interest *)to = i;
                        return;
                }
        command_usage("--keep is any, slow, crash or answers, not '%s'", text);
}

static void check_usage(const struct reducing *o)
{
        const bool are_programs = o->words.n == 1 && o->target && program_is_text(o->target) && (!o->reference || program_is_text(o->reference));

        if (o->command && (o->reference || o->target))
                command_usage("--command takes the place of versions: give it a FILE alone");
        if (o->command && o->again)
                command_usage("--again is for versions: what a command is interested in is not kept");
        if (o->command && (o->options.interest != INTEREST_ANY || o->options.floor > 0 || o->options.ratio > 0 || o->options.has_seed))
                command_usage("--keep, --floor, --ratio and --seed are for versions: a command itself says what it is interested in");
        if (o->command && o->on)
                command_usage("--on is for versions: a command runs on this machine");
        if (o->command && o->words.n != 1)
                command_usage("expected FILE --command COMMAND");
        if (!o->command && o->words.n != 2 && !are_programs)
                command_usage("expected SOLVER FOUND|CASE, or FILE --command COMMAND");
}

/* -- the input -------------------------------------------------------------------------------------------------- */

static int read_input_file(struct reducing *o, const char *path)
{
        struct stat st;
        int r;

        if (stat(path, &st) < 0)
                return errorf(-errno, "cannot read %s: %s", path, strerror(errno));
        if (!S_ISREG(st.st_mode))
                return errorf(-EINVAL, "%s is not a file", path);
        r = read_file(path, INPUT_MOST, &o->input);
        snprintf(o->name, sizeof(o->name), "%s", basename(path));
        return r < 0 ? errorf(r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

/* A query of a script is reduced as a script that asks only it. */
static int read_query(struct reducing *o, const struct case_info *info)
{
        cleanup_blob struct blob whole = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup_cut struct cut *cut = NULL;

        return cases_read_bytes(workspace_cases(common.workspace), info, INPUT_MOST, &whole)
            ?: cut_read(SLICE(whole.data, whole.size), info->query, &cut)
            ?: cut_write(cut, CUT_ALONE, NULL, &text)
            ?: buffer_steal(&text, &o->input);
}

/* The case of the store that the word names. NULL: it names a file, or a query of a script; their text is in o->input. */
static struct case_info *read_word(struct reducing *o, const char *word)
{
        cleanup_case_selection struct case_selection cases = {0};
        int r = cases_select(common.workspace, (char *const *)&word, 1, &cases);

        if (r < 0 && access(word, R_OK) == 0) {
                command_must_usage(read_input_file(o, word));
                return NULL;
        }
        command_must_usage(r);
        if (cases.n != 1)
                command_refuse(STATUS_USAGE, "one case is reduced at a time; '%s' stands for %zu", word, cases.n);
        snprintf(o->name, sizeof(o->name), "case %u", cases.list[0]->id);
        if (cases.list[0]->query > 0) {
                command_must_usage(read_query(o, cases.list[0]));
                return NULL;
        }
        return case_info_ref(cases.list[0]);
}

/* -- the query -------------------------------------------------------------------------------------------------- */

/* A version's text in full, for people. */
static void name_version(const char *text, char ret[80])
{
        cleanup_free char *brief = version_brief(common.solver, text);

        snprintf(ret, 80, "%s", brief ? brief : "?");
}

static void check_version(const struct reduction_options *q, const struct version *v)
{
        if (q->input.info)
                command_check_format(v, q->input.info);
        command_seed(v->solver, v->commit, q->has_seed);
}

/* The query of the options; the finding `f`, unless NULL, supplies what they leave out, and the query itself what stays 0. */
static struct query *query_of_options(struct reducing *o, const struct observation *f)
{
        struct reduction_options *q = &o->options;
        const char *from = o->reference ?: (f ? f->reference : ""), *to = o->target ?: (f ? f->target : "");
        cleanup_version struct version *reference = NULL, *target = NULL;
        struct query *query = NULL;

        if (!*to)
                command_refuse(STATUS_USAGE, "name the versions: --reference VERSION --target VERSION");
        target = command_version(to);
        reference = *from ? command_version(from) : NULL;
        check_version(q, target);
        if (reference)
                check_version(q, reference);
        snprintf(o->names[0], sizeof(o->names[0]), "%s", reference ? reference->name : "");
        snprintf(o->names[1], sizeof(o->names[1]), "%s", target->name);
        q->workspace = common.workspace;
        q->solver = common.solver;
        q->what = o->name;
        q->reference = reference ? reference->text : "";
        q->target = target->text;
        q->step = "";
        q->measure = f ? f->measure : JUDGE_TIME;
        if (f)
                q->interest = q->interest == INTEREST_ANY ? finding_interest(f) : q->interest;
        else {
                q->ratio = q->ratio > 0 ? q->ratio : REDUCE_RATIO;
                q->floor = q->floor > 0 ? q->floor : REDUCE_FLOOR;
        }
        if (f && f->seed > 0 && !q->has_seed) {
                q->has_seed = true;
                q->seed = f->seed;
        }
        if (q->timeout <= 0)
                q->timeout = f ? f->timeout : (double)common.solver->recipe->limits.wall_ns / 1e9;
        command_must_usage(query_reduced(q, &query));
        return query;
}

static struct query *query_of_finding(struct reducing *o, const struct observation *f)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        const bool is_implied = finding_interest(f) == INTEREST_IMPLICATION;
        const struct reduction_options *q = &o->options;
        const bool has_options = o->reference || o->target || q->interest != INTEREST_ANY || q->floor > 0 || q->ratio > 0 || q->timeout > 0 || q->has_seed;
        struct query *query = NULL;

        snprintf(o->name, sizeof(o->name), "%s/%u", observation_folder(f->kind), f->number);
        if (!has_options) { /* the tree's query */
                snprintf(o->file, sizeof(o->file), "%s/%s/reduced.%s", common.solver->recipe->name, o->name,
                         format_name(observation_format(common.workspace, f)));
                name_version(is_implied ? f->target : f->reference, o->names[0]);
                name_version(f->target, o->names[1]);
                command_must_usage(finding_query_reduced(common.workspace, common.solver, f, o->options.most_ns, o->options.jobs, &query));
                return query;
        }
        if (f->measure != JUDGE_TIME && o->options.floor > 0)
                command_refuse(STATUS_USAGE, "--floor is a time, and finding %u is by %s", f->number, judge_measure_name(f->measure));
        if (is_implied)
                command_refuse(STATUS_USAGE, "finding %u is an implication, which is reduced as it was found: without options", f->number);
        command_must_usage(cases_get(workspace_cases(common.workspace), f->case_id, &info));
        o->options.input.info = info;
        return query_of_options(o, f);
}

static struct query *make_query(struct reducing *o)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_observation struct observation *f = NULL;
        const char *word = o->words.list[o->words.n - 1];

        if (command_must_usage(command_finding(word, false, &f)) == 1)
                return query_of_finding(o, f);
        info = read_word(o, word);
        o->options.input = (struct reduction_input){info, SLICE(o->input.data, o->input.size)};
        return query_of_options(o, NULL);
}

/* -- reporting -------------------------------------------------------------------------------------------------- */

/* The report of both kinds of reduction: an object, or NULL and a note. */
static json_t *tell_size(const struct reducing *o, uint64_t before, const struct buffer *text, uint64_t tests, uint64_t taken, double seconds,
                         bool is_minimal)
{
        if (common.json)
                return json_pack("{sI sI sf sb so* sI sI}", "before", before, "now", (json_int_t)text->size, "seconds", seconds, "minimal",
                                 (int)is_minimal, "text", o->output ? NULL : json_stringn_nocheck(text->data, text->size), "tests", tests, "taken", taken);
        note("%zu bytes of %" PRIu64 ", after %" PRIu64 " tests in %.1fs%s", text->size, before, tests, seconds,
             is_minimal ? "" : "; the same command with a longer --for may make it smaller still");
        return NULL;
}

/* -- between versions ------------------------------------------------------------------------------------------- */

/* The result. For an implication: the text that the rule makes of the reduced formula. */
static const struct buffer *result_text(const struct reduction *r)
{
        return r->interest == INTEREST_IMPLICATION ? &r->implied : &r->text;
}

static void tell_json(const struct reducing *o, const struct reduction *r, json_t *j)
{
        static const char *const sides[] = {[SIDE_REFERENCE] = "reference", [SIDE_TARGET] = "target"};
        const bool is_time = r->measure == JUDGE_TIME;
        const char *amount = is_time ? "seconds" : judge_measure_name(r->measure);

        json_object_set_new(j, "keeps", json_string(interest_name(r->interest)));
        json_object_set_new(j, is_time ? "clock" : "measure", json_string(!is_time ? judge_measure_name(r->measure) : r->is_cpu_time ? "CPU" : "wall"));
        for (int side = r->has_reference ? SIDE_REFERENCE : SIDE_TARGET; side < N_SIDES; side++)
                json_object_set_new(j, sides[side], json_pack("{so s{ss sf} s{ss sf}}", "version", json_printable(o->names[side]), "input", "verdict",
                                                              verdict_name(r->input[side].verdict), amount, r->input[side].amount, "reduced", "verdict",
                                                              verdict_name(r->reduced[side].verdict), amount, r->reduced[side].amount));
        if (r->interest == INTEREST_IMPLICATION)
                json_object_set_new(j, "decided", json_stringn(r->text.data, r->text.size));
        if (*o->file)
                json_object_set_new(j, "file", json_printable(o->file));
        output_json(j);
}

static void tell_answer(const struct reducing *o, const struct reduction *r, int side)
{
        const bool is_time = r->measure == JUDGE_TIME;
        const char *after = is_time ? "after" : "with", *what = !is_time ? judge_measure_name(r->measure) : r->is_cpu_time ? "CPU time" : "wall time";
        const char *where = r->interest != INTEREST_IMPLICATION ? "" : side == SIDE_TARGET ? " behind the rule" : " before the rule";

        note("%s%s: %s %s %s before, %s %s %s now (%s)", o->names[side], where, verdict_name(r->input[side].verdict), after,
             judge_amount_text(r->measure, r->input[side].amount).s, verdict_name(r->reduced[side].verdict), after,
             judge_amount_text(r->measure, r->reduced[side].amount).s, what);
}

static void tell(const struct reducing *o, const struct reduction *r)
{
        json_t *j;

        if (!common.json) {
                note("what is kept: %s", interest_name(r->interest));
                for (int side = r->has_reference ? SIDE_REFERENCE : SIDE_TARGET; side < N_SIDES; side++)
                        tell_answer(o, r, side);
        }
        j = tell_size(o, r->before, result_text(r), r->tests, r->taken, r->seconds, r->is_minimal);
        if (j)
                tell_json(o, r, j);
        else if (*o->file)
                note("kept: %s", o->file);
}

/* After an interruption or a failure: writes the smallest text that the store has, if any. Of an implication it has none, as the rule is applied at the
 * end. False: this was --again beside a stored result, which stays; what was done is lost. */
static bool tell_smallest(struct reducing *o, struct query *query)
{
        cleanup_reduction struct reduction rest = {0};
        bool ended;
        json_t *j;
        int r = reduction_find_smallest(query, &rest, &ended);

        if (o->again && ended)
                return false;
        if (r < 0 || (!rest.has_ended && rest.interest == INTEREST_IMPLICATION))
                return true;
        command_write_result(&o->output, result_text(&rest));
        j = tell_size(o, rest.before, result_text(&rest), rest.tests, rest.taken, rest.seconds, false);
        if (j)
                output_json(j);
        return true;
}

static int reduce_between(struct reducing *o)
{
        cleanup(query_unrefp) struct query *query = make_query(o);
        cleanup(value_unrefp) struct value *value = NULL;
        cleanup_free char *reason = NULL;
        const struct reduction *reduction;
        int r;

        command_engine();
        r = command_get(query, "reduce", o->again, &value);
        reason = r < 0 ? copy_string(error_message(r)) : NULL;
        common.engine = engine_close(common.engine); /* ends the reduction, which stores its best text */
        if (r == -ECANCELED) {
                note(tell_smallest(o, query) ? "interrupted; the same command%s goes on from here" : "interrupted; the stored result stays as it was",
                     o->again ? " without --again" : "");
                return STATUS_INTERRUPTED;
        }
        if (r < 0) {
                if (r != -EINVAL) /* else nothing of interest is shown */
                        tell_smallest(o, query);
                return fail_usage(errorf(r, "%s", reason));
        }
        reduction = &((struct reduced_value *)value)->reduction;
        command_write_result(&o->output, result_text(reduction));
        tell(o, reduction);
        return STATUS_OK;
}

/* -- by a command ----------------------------------------------------------------------------------------------- */

static void show(void *user, const struct reduce_status *s)
{
        struct reducing *o = user;
        char what[160];
        uint64_t now = now_ns();

        if (now - o->shown < NSEC_PER_SEC / 5)
                return;
        o->shown = now;
        snprintf(what, sizeof(what), "reduce: %zu of %zu bytes, %" PRIu64 " tests (%s)", s->now, s->before, s->tests, s->stage);
        progress_show(what, s->before - MIN(s->now, s->before), s->before, 0, 0);
}

static int reduce_with(struct reducing *o, const struct reduce_test *test)
{
        cleanup_reduce_result struct reduce_result result = {0};
        uint64_t began = now_ns(), most = o->options.most_ns > 0 ? o->options.most_ns : 900 * NSEC_PER_SEC;
        struct reduce_options options = {.deadline_ns = began + most, .status = show, .user = o};
        int r = reduce(SLICE(o->input.data, o->input.size), test, &options, &result);
        json_t *j;

        if (r < 0 && r != -ECANCELED && (!result.text.data || result.status.now >= result.status.before))
                return fail(r);
        command_write_result(&o->output, &result.text);
        j = tell_size(o, o->input.size, &result.text, result.status.tests, result.status.taken, (double)(now_ns() - began) / 1e9, result.is_minimal);
        if (j)
                output_json(j);
        if (r < 0 && r != -ECANCELED)
                return fail(errorf(r, "ended early: %s", error_message(r)));
        if (r < 0)
                note("interrupted");
        return r < 0 ? STATUS_INTERRUPTED : STATUS_OK;
}

static int reduce_by_command(struct reducing *o)
{
        cleanup(reduce_command_closep) struct reduce_command *c = NULL;
        char folder[PATH_SIZE];
        int cpus[CPU_SETSIZE], r = read_input_file(o, o->words.list[0]), status;
        struct reduce_command_options options = {.command = o->command, .name = o->name, .folder = folder, .timeout_ns = seconds_ns(o->options.timeout),
                                                 .jobs = o->options.jobs ?: MAX(1U, (unsigned)host_cores(cpus, ARRAY_SIZE(cpus)))};

        if (r < 0)
                return fail_usage(r);
        command_must(command_scratch("reduce", folder));
        r = reduce_command_open(&options, SLICE(o->input.data, o->input.size), common.signals, &c);
        if (r == 0) {
                const struct reduce_test test = reduce_command_test(c);

                status = reduce_with(o, &test);
        } else if (r == -ECANCELED) {
                note("interrupted");
                status = STATUS_INTERRUPTED;
        } else
                status = fail_usage(r);
        c = reduce_command_close(c);
        command_close();
        return status;
}

void cmd_reduce(int argc, char **argv)
{
        static const char doc[] =
                "Makes an input smaller that is slow on one version and fast on another, crashes one, or that versions answer differently; or any "
                "file that a command is interested in.\v"
                "FOUND is a finding, such as spr/3, which knows its versions; CASE is a case of the store, or a file. VERSION is as in 'solverfs "
                "fuzz'.\n"
                "SMT-LIB is reduced by its structure and stays well-sorted as far as solverfs knows the sorts; unknown commands and other files are "
                "reduced as parentheses, or by lines. The result is never larger than the input, and was tested twice. When interrupted, after a "
                "failure, or when the time is over, the smallest so far is written.\n"
                "What is reduced between versions is kept in the store: the same command prints it again, or goes on where it was interrupted. Of a "
                "finding without further options it is the tree's reduced.smt2.\n\n"
                "  solverfs reduce z3 spr/3 -o reduced.smt2\n"
                "  solverfs reduce z3 17 --reference z3-4.8.7 --target z3-4.8.8 --floor 2s\n"
                "  solverfs reduce bug.smt2 --command 'z3 {} 2>&1 | grep -q ASSERT' -o a.smt2";
        static struct reducing o;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "The version that is fast, or right", .text = &o.reference},
                {"target", 0, "VERSION", "The version that is slow, wrong, or crashes", .text = &o.target},
                {"command", 0, "COMMAND",
                 "Keep inputs for which a shell command ends with status 0. The file's path replaces {} in it, or is its last argument",
                 .text = &o.command},
                {"keep", 0, "WHAT", "slow, crash, or answers (both versions' verdicts); default: what the finding is, or what the input shows",
                 .parse = parse_interest, .to = &o.options.interest},
                {"floor", 0, "TIME", "Least time that counts as slow; default 1s; for a finding half of its time if that is less",
                 .seconds = &o.options.floor},
                {"ratio", 0, "X",
                 "Least ratio to the reference's time that counts as slow; default 3; for a finding the square root of its ratio if that is less",
                 .ratio = &o.options.ratio},
                {"timeout", 't', "TIME", "Time limit of a run on the whole input; default: the finding's, or the recipe's", .seconds = &o.options.timeout},
                {"for", 0, "TIME",
                 "Stop after TIME with the smallest input so far (the first runs and the last are made all the same); default: the store's setting "
                 "'reduce', 15m", .ns = &o.options.most_ns},
                {"seed", 0, "N", "Fix the solver's random seed to N", .big_number = &o.options.seed, .most = UINT32_MAX, .is_given = &o.options.has_seed},
                {"jobs", 'j', "N", "Candidates at the same time; default: one for each core", .number = &o.options.jobs, .least = 1, .most = 4096},
                {"output", 'o', "FILE", "Write the result to FILE; default: standard output", .file = &o.output},
                OPTION_ON(o.on),
                {"again", 0, NULL, "Begin again even if the result is stored", .on = &o.again},
                {"json", 0, NULL, "Print the result as JSON, with the text unless -o is given", .on = &common.json},
                {0}};

        o.words = command_parse(argc, argv,
                                "SOLVER FOUND|CASE [--reference VERSION --target VERSION]\n"
                                "CASE --reference 'exec:PATH ARG...' --target 'exec:PATH ARG...'\nFILE --command COMMAND", doc, options);
        check_usage(&o);
        command_signals();
        if (!o.command) {
                const char *versions[] = {o.reference, o.target};

                command_open_solver_with(o.on, o.words.n == 1 ? RECIPE_PROGRAMS : o.words.list[0], versions, 2);
                o.reference = versions[0];
                o.target = versions[1];
        }
        command_worse(o.command ? reduce_by_command(&o) : reduce_between(&o));
        blob_done(&o.input);
}
