/* solverfs reduce: a smaller input that still shows the same. */
#include "ask.h"
#include "core/query/programs.h"
#include "words.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "core/run/host.h"
#include "core/study/observation/finding.h"
#include "core/study/reduce/reduce_command.h"

#define INPUT_MOST ((size_t)1 << 30)

struct reducing {
        struct words words; /* SOLVER and the input; or the file */
        const char *reference, *target, *command, *output;
        const char *on; /* NULL: as the config says */
        enum interest interest;
        double floor, ratio;    /* 0: not given */
        uint64_t time, timeout; /* likewise */
        unsigned jobs;
        bool has_seed, again;
        uint64_t seed;

        struct blob input;
        char name[NAME_MAX + 1]; /* a name for the input as a file */
        char file[PATH_SIZE];    /* the file of the mount that has the result; or "" */
        char names[2][80];       /* the versions as shown to people */
        uint64_t shown;
};

static void parse_ratio(void *to, const char *text)
{
        double *ratio = to;
        char *end;

        *ratio = strtod(text, &end);
        if (end == text || *end != '\0' || !(*ratio >= 1 && *ratio <= 1e6))
                command_usage("--ratio must be a number from 1 on, such as 3 or 1.5, not '%s'", text);
}

static void parse_interest(void *to, const char *text)
{
        for (int i = 0; i < INTEREST_IMPLICATION; i++)
                if (strcmp(text, interest_name((enum interest)i)) == 0) {
                        *(enum interest *)to = (enum interest)i;
                        return;
                }
        command_usage("--keep is any, slow, crash or answers, not '%s'", text);
}

/* Without SOLVER: the versions are programs. */
static bool are_programs(const struct reducing *o)
{
        return o->words.n == 1 && o->target && program_is_text(o->target) && (!o->reference || program_is_text(o->reference));
}

static void check_usage(const struct reducing *o)
{
        if (o->words.n > 2)
                command_usage("expected SOLVER FOUND|CASE, or FILE --command COMMAND");
        if (o->command && (o->reference || o->target))
                command_usage("--command takes the place of versions: give it a FILE alone");
        if (o->command && o->again)
                command_usage("--again is for versions: what a command is interested in is not kept");
        if (o->command && o->on)
                command_usage("--on is for versions: a command runs on this machine");
        if (o->command && o->words.n != 1)
                command_usage("expected FILE --command COMMAND");
        if (!o->command && o->words.n != 2 && !are_programs(o))
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

/* A case of the store (1), or a file (0). */
static int read_word(struct reducing *o, const char *word, struct case_info **ret)
{
        cleanup_case_selection struct case_selection cases = {0};
        int r = cases_select(common.workspace, (char *const *)&word, 1, &cases);

        if (r < 0 && access(word, R_OK) == 0)
                return read_input_file(o, word);
        if (r < 0)
                return r;
        if (cases.n != 1)
                return errorf(-EINVAL, "one case is reduced at a time; '%s' stands for %zu", word, cases.n);
        *ret = case_info_ref(cases.list[0]);
        return 1;
}

/* -- what is asked ---------------------------------------------------------------------------------------------- */

/* Do the options ask for anything that the finding does not say itself? */
static bool has_own_wishes(const struct reducing *o)
{
        return o->reference || o->target || o->interest != INTEREST_ANY || o->floor > 0 || o->ratio > 0 || o->timeout > 0 ||
               o->has_seed;
}

static int parse_version(const char *text, struct version **ret)
{
        return strstr(text, "@sha256:") ? version_parse_in_full(common.workspace, common.solver, text, ret)
                                        : version_parse(common.workspace, common.solver, text, ret);
}

/* A version's text in full, for people. */
static void name_version(const char *text, char ret[80])
{
        cleanup_free char *brief = version_brief(common.solver, text);

        snprintf(ret, 80, "%s", brief ? brief : "?");
}

/* The query that the options ask for; a finding, unless `f` is NULL, gives what they leave out. */
static int query_of_options(struct reducing *o, const struct observation *f, struct reduction_options *options, struct query **ret)
{
        struct solver *s = common.solver;
        const char *from = o->reference ? o->reference : f ? f->reference : "", *to = o->target ? o->target : f ? f->target : "";
        uint64_t timeout = o->timeout > 0 ? o->timeout : f ? (uint64_t)(f->timeout * 1e9) : s->recipe->limits.wall_ns;
        cleanup_version struct version *reference = NULL, *target = NULL;
        int r;

        if (!*to)
                return errorf(-EINVAL, "name the versions: --reference VERSION --target VERSION");
        r = parse_version(to, &target);
        if (r == 0 && *from)
                r = parse_version(from, &reference);
        if (r < 0)
                return r;
        if (o->has_seed && (!target->solver->recipe->seed || (reference && !reference->solver->recipe->seed)))
                return errorf(-EINVAL, "the recipe of %s has no 'seed': it cannot be told one", s->recipe->name);
        snprintf(o->names[0], sizeof(o->names[0]), "%s", reference ? reference->name : "");
        snprintf(o->names[1], sizeof(o->names[1]), "%s", target->name);
        options->workspace = common.workspace;
        options->solver = s;
        options->reference = reference ? reference->text : "";
        options->target = target->text;
        options->interest = o->interest == INTEREST_ANY && f ? finding_interest(f) : o->interest;
        options->measure = f ? f->measure : JUDGE_TIME;
        options->step = "";
        options->ratio = o->ratio > 0 || f ? o->ratio : REDUCE_RATIO;
        options->floor = o->floor > 0 || f ? o->floor : REDUCE_FLOOR;
        options->timeout = (double)timeout / 1e9;
        options->has_seed = o->has_seed;
        options->seed = o->seed;
        options->most_ns = o->time;
        options->jobs = o->jobs;
        return query_reduced(options, ret);
}

static int query_of_finding(struct reducing *o, const struct observation *f, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct reduction_options options;
        char what[64];
        int r;

        if (!has_own_wishes(o)) {
                bool is_implied = finding_interest(f) == INTEREST_IMPLICATION;

                snprintf(o->file, sizeof(o->file), "%s/%s/%u/reduced.%s", common.solver->recipe->name, observation_folder(f->kind), f->number,
                         format_name(observation_format(common.workspace, f)));
                name_version(is_implied ? f->target : f->reference, o->names[0]);
                name_version(f->target, o->names[1]);
                return finding_query_reduced(common.workspace, common.solver, f, o->time, o->jobs, ret);
        }
        if (f->measure != JUDGE_TIME && o->floor > 0)
                return errorf(-EINVAL, "--floor is a time, and finding %u is by %s", f->number, judge_measure_name(f->measure));
        if (finding_interest(f) == INTEREST_IMPLICATION)
                return errorf(-EINVAL, "finding %u is an implication, which is reduced as it was found: without options",
                              f->number);
        snprintf(what, sizeof(what), "%s/%u", observation_folder(f->kind), f->number);
        r = cases_get(workspace_cases(common.workspace), f->case_id, &info);
        options = (struct reduction_options){.what = what, .input.info = info};
        return r < 0 ? r : query_of_options(o, f, &options, ret);
}

static int make_query(struct reducing *o, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_observation struct observation *f = NULL;
        struct reduction_options options;
        char what[32];
        int r = command_finding(o->words.list[o->words.n - 1], &f);

        if (r == 1)
                return query_of_finding(o, f, ret);
        if (r == 0)
                r = read_word(o, o->words.list[o->words.n - 1], &info);
        if (r < 0)
                return r;
        if (info)
                snprintf(what, sizeof(what), "case %u", info->id);
        options = (struct reduction_options){.what = info ? what : o->name,
                                             .input = {info, SLICE(o->input.data, o->input.size)}};
        return query_of_options(o, NULL, &options, ret);
}

/* -- telling ---------------------------------------------------------------------------------------------------- */

static void write_text(const struct reducing *o, const struct buffer *text)
{
        if (o->output)
                command_write_file(o->output, 0, text);
        else if (!common.json)
                output_write(text);
}

static json_t *status_json(const struct reducing *o, uint64_t before, const struct buffer *text, double seconds, bool is_minimal)
{
        json_t *j = json_pack("{s:I, s:I, s:f, s:b}", "before", (json_int_t)before, "now", (json_int_t)text->size, "seconds",
                              seconds, "minimal", is_minimal);

        if (!o->output)
                json_object_set_new(j, "text", json_stringn_nocheck(text->data, text->size));
        return j;
}

static void note_size(uint64_t before, size_t now, uint64_t tests, double seconds, bool is_minimal)
{
        note("%zu bytes of %" PRIu64 ", after %" PRIu64 " tests in %.1fs%s", now, before, tests, seconds,
             is_minimal ? "" : "; the same command with a longer --for may make it smaller still");
}

/* -- between versions ------------------------------------------------------------------------------------------- */

/* The result. Of an implication it is the text that the rule makes of the reduced formula. */
static const struct buffer *result_text(const struct reduction *r)
{
        return r->interest == INTEREST_IMPLICATION ? &r->implied : &r->text;
}

static json_t *answer_json(const char *name, enum judge_measure m, const struct version_answer *input,
                           const struct version_answer *reduced)
{
        const char *amount = m == JUDGE_TIME ? "seconds" : judge_measure_name(m);

        return json_pack("{s:s, s:{s:s, s:f}, s:{s:s, s:f}}", "version", name, "input", "verdict", verdict_name(input->verdict),
                         amount, input->seconds, "reduced", "verdict", verdict_name(reduced->verdict), amount, reduced->seconds);
}

static void tell_json(const struct reducing *o, const struct reduction *r)
{
        static const char *const sides[] = {[SIDE_REFERENCE] = "reference", [SIDE_TARGET] = "target"};
        json_t *j = status_json(o, r->before, result_text(r), r->seconds, r->is_minimal);

        json_object_set_new(j, "tests", json_integer((json_int_t)r->tests));
        json_object_set_new(j, "taken", json_integer((json_int_t)r->taken));
        json_object_set_new(j, "keeps", json_string(interest_name(r->interest)));
        if (r->measure == JUDGE_TIME)
                json_object_set_new(j, "clock", json_string(r->is_cpu_time ? "CPU" : "wall"));
        else
                json_object_set_new(j, "measure", json_string(judge_measure_name(r->measure)));
        for (int side = r->has_reference ? SIDE_REFERENCE : SIDE_TARGET; side < N_SIDES; side++)
                json_object_set_new(j, sides[side], answer_json(o->names[side], r->measure, &r->input[side], &r->reduced[side]));
        if (r->interest == INTEREST_IMPLICATION)
                json_object_set_new(j, "decided", json_stringn_nocheck(r->text.data, r->text.size));
        if (*o->file)
                json_object_set_new(j, "file", json_string(o->file));
        output_json(j);
}

static void tell(const struct reducing *o, const struct reduction *r)
{
        const char *after = r->measure == JUDGE_TIME ? "after" : "with", *what = r->measure != JUDGE_TIME
                                                                                         ? judge_measure_name(r->measure)
                                                                                 : r->is_cpu_time ? "CPU time"
                                                                                                  : "wall time";

        if (common.json) {
                tell_json(o, r);
                return;
        }
        note("what is kept: %s", interest_name(r->interest));
        for (int side = r->has_reference ? SIDE_REFERENCE : SIDE_TARGET; side < N_SIDES; side++)
                note("%s%s: %s %s %s before, %s %s %s now (%s)", o->names[side],
                     r->interest != INTEREST_IMPLICATION ? ""
                     : side == SIDE_TARGET               ? " behind the rule"
                                                         : " before the rule",
                     verdict_name(r->input[side].verdict), after, judge_amount_text(r->measure, r->input[side].seconds).s,
                     verdict_name(r->reduced[side].verdict), after, judge_amount_text(r->measure, r->reduced[side].seconds).s,
                     what);
        note_size(r->before, result_text(r)->size, r->tests, r->seconds, r->is_minimal);
        if (*o->file)
                note("kept: %s", o->file);
}

struct asked {
        struct query *query;
        int r;
        char *reason;
        struct value *value; /* a ref */
};

static void asked_done(struct asked *a)
{
        query_unref(a->query);
        free(a->reason);
        value_unref(a->value);
}

static int make(void *user, size_t, struct query **ret)
{
        *ret = query_ref(((struct asked *)user)->query);
        return 0;
}

static void answered(void *user, size_t, int r, struct value *v, const char *reason, struct buffer *)
{
        struct asked *a = user;

        a->r = r;
        a->reason = reason ? copy_string(reason) : NULL;
        a->value = v ? value_ref(v) : NULL;
}

/* Writes the smallest text that an interrupted reduction has kept. */
static int write_rest(const struct reducing *o, const struct asked *a)
{
        cleanup_reduction struct reduction rest = {0};
        int r = reduction_find(a->query, &rest);

        note("interrupted; the same command goes on from here");
        if (r < 0 || rest.has_ended || rest.interest == INTEREST_IMPLICATION) /* the rule is applied at the end */
                return STATUS_INTERRUPTED;
        write_text(o, &rest.text);
        return STATUS_INTERRUPTED;
}

static int refuse(int r)
{
        return fail_as(r == -EINVAL ? STATUS_USAGE : r == -ENODATA ? STATUS_FAILED : status_of(r), r);
}

static int reduce_between(struct reducing *o)
{
        cleanup(asked_done) struct asked asked = {0};
        const struct reduction *reduction;
        int status;

        command_must_usage(make_query(o, &asked.query));
        status = command_ask_all(&(struct command_asking){.n = 1,
                                                      .again = o->again,
                                                      .title = "reduce",
                                                      .make = make,
                                                      .answered = answered,
                                                      .user = &asked});
        common.engine = engine_close(common.engine); /* ends the reduction, which keeps what it has */
        if (status == STATUS_INTERRUPTED || (status == STATUS_OK && asked.r == -ECANCELED))
                return write_rest(o, &asked);
        if (status != STATUS_OK)
                return status;
        if (asked.r < 0)
                return refuse(errorf(asked.r, "%s", asked.reason ? asked.reason : strerror(-asked.r)));
        reduction = &((struct reduced_value *)asked.value)->reduction;
        write_text(o, result_text(reduction));
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
        uint64_t began = now_ns(), most = o->time > 0 ? o->time : 900 * NSEC_PER_SEC;
        struct reduce_options options = {.deadline_ns = began + most, .status = show, .user = o};
        int r = reduce(SLICE(o->input.data, o->input.size), test, &options, &result);
        double seconds = (double)(now_ns() - began) / 1e9;

        progress_clear();
        if (r < 0 && r != -ECANCELED)
                return r == -ENODATA ? fail_as(STATUS_FAILED, r) : fail(r);
        write_text(o, &result.text);
        if (common.json) {
                json_t *j = status_json(o, o->input.size, &result.text, seconds, result.is_minimal);

                json_object_set_new(j, "tests", json_integer((json_int_t)result.status.tests));
                json_object_set_new(j, "taken", json_integer((json_int_t)result.status.taken));
                output_json(j);
        } else {
                note_size(o->input.size, result.text.size, result.status.tests, seconds, result.is_minimal);
        }
        if (r < 0)
                note("interrupted");
        return r < 0 ? STATUS_INTERRUPTED : STATUS_OK;
}

static int reduce_by_command(struct reducing *o)
{
        cleanup(reduce_command_closep) struct reduce_command *c = NULL;
        const char *parent = getenv("TMPDIR");
        char folder[PATH_SIZE];
        int cpus[CPU_SETSIZE], r = read_input_file(o, o->words.list[0]);
        struct reduce_command_options options = {.command = o->command,
                                                 .name = o->name,
                                                 .folder = folder,
                                                 .timeout_ns = o->timeout,
                                                 .jobs = o->jobs > 0 ? o->jobs
                                                                     : MAX(1u, (unsigned)host_cores(cpus, ARRAY_SIZE(cpus)))};
        struct reduce_test test;
        int status;

        if (r < 0)
                return r == -EINVAL ? fail_as(STATUS_USAGE, r) : r == -ENOENT ? fail_as(STATUS_ABSENT, r) : fail(r);
        if (snprintf(folder, sizeof(folder), "%s/solverfs-reduce-XXXXXX", parent && *parent == '/' ? parent : "/tmp") >=
            (int)sizeof(folder))
                return fail(-ENAMETOOLONG);
        if (!mkdtemp(folder))
                return fail(errorf(-errno, "cannot make a folder like %s: %s", folder, strerror(errno)));
        common.scratch = folder;
        r = reduce_command_open(&options, SLICE(o->input.data, o->input.size), common.signals, &c);
        if (r == 0) {
                test = reduce_command_test(c);
                status = reduce_with(o, &test);
        } else if (r == -ECANCELED) {
                note("interrupted");
                status = STATUS_INTERRUPTED;
        } else {
                status = refuse(r);
        }
        c = reduce_command_close(c);
        command_close();
        return status;
}

static void open_solver(struct reducing *o)
{
        const char *name = o->words.n == 1 ? RECIPE_PROGRAMS : o->words.list[0];

        command_open(0);
        if (strcmp(name, RECIPE_PROGRAMS) == 0 && o->target)
                command_program(&o->target);
        if (strcmp(name, RECIPE_PROGRAMS) == 0 && o->reference)
                command_program(&o->reference);
        command_open_solver(0, o->on, name);
}

void cmd_reduce(int argc, char **argv)
{
        static const char doc[] =
                "Makes an input smaller that is slow on one version and fast on another, crashes one, or that versions answer differently; or any "
                "file that a command is interested in.\v"
                "FOUND is a finding, such as spr/3, which knows its versions; CASE is a case of the store, or a file. VERSION is as in 'solverfs "
                "fuzz'.\n"
                "SMT-LIB is reduced by its structure and stays well-sorted; other files as parentheses, or by lines. The result is never larger than "
                "the input, and was tested twice. When interrupted, or when the time is over, the smallest so far is written.\n"
                "What is reduced between versions is kept in the store: the same command prints it again, or goes on where it was interrupted. Of a "
                "finding without further options it is the tree's reduced.smt2.\n\n"
                "  solverfs reduce z3 spr/3 -o reduced.smt2\n"
                "  solverfs reduce z3 17 --reference z3-4.8.7 --target z3-4.8.8 --floor 2s\n"
                "  solverfs reduce bug.smt2 --command 'z3 {} 2>&1 | grep -q ASSERT' -o a.smt2";
        struct reducing o = {0};
        int status;
        const struct command_option options[] = {
                {"reference", 0, "VERSION", "The version that is fast, or right", .text = &o.reference},
                {"target", 0, "VERSION", "The version that is slow, wrong, or crashes", .text = &o.target},
                {"command", 0, "COMMAND",
                 "Keep what a shell command is interested in: it ends with status 0. The file's path stands for {} in it, or is its last argument",
                 .text = &o.command},
                {"keep", 0, "WHAT", "slow, crash, or answers (both versions' verdicts); default: what the finding is, or what the input shows",
                 .parse = parse_interest, .to = &o.interest},
                {"floor", 0, "TIME", "Slow is at least so long; default 1s; of a finding half of its time where that is less", .seconds = &o.floor},
                {"ratio", 0, "X",
                 "Slow is at least X times the reference's time; default 3; of a finding the square root of its ratio where that is less",
                 .parse = parse_ratio, .to = &o.ratio},
                {"timeout", 't', "TIME", "Of a run on the whole input; default: the finding's, or the recipe's", .ns = &o.timeout},
                {"for", 0, "TIME", "Stop after so long with what there is; default: the store's setting 'reduce', 15m", .ns = &o.time},
                {"seed", 0, "N", "Fix the solver's random seed to N", .big_number = &o.seed, .most = UINT32_MAX, .is_given = &o.has_seed},
                {"jobs", 'j', "N", "Candidates side by side; default: one for each core", .number = &o.jobs, .least = 1, .most = 4096},
                {"output", 'o', "FILE", "Write the result to FILE; default: standard output", .text = &o.output},
                {"on", 0, "NAME", "Run there: 'local', or a cluster of the store's config", .text = &o.on},
                {"again", 0, NULL, "Begin anew, though the result is known", .on = &o.again},
                {"json", 0, NULL, "Print what came of it as JSON; the text too, without -o", .on = &common.json},
                {0}};

        o.words = command_parse(argc, argv, "SOLVER FOUND|CASE [--reference VERSION --target VERSION]\nCASE --reference 'exec:PATH ARG...' --target 'exec:PATH ARG...'\nFILE --command COMMAND", doc, options);
        check_usage(&o);
        command_signals();
        if (!o.command)
                open_solver(&o);
        status = o.command ? reduce_by_command(&o) : reduce_between(&o);
        blob_done(&o.input);
        command_worse(status);
}
