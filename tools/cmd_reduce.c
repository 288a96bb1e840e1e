/* solverfs reduce: a smaller input that still shows the same. */
#include "words.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "core/recipe/recipe.h"
#include "core/run/host.h"
#include "core/study/finding.h"
#include "core/study/reduce_command.h"
#include "core/study/reduce_versions.h"

#define INPUT_MOST ((size_t)1 << 30)

struct reducing {
        const char *words[2]; /* SOLVER and the input; or the file */
        size_t n_words;
        const char *reference, *target, *command, *output;
        enum interest interest;
        double floor, ratio;
        uint64_t time, timeout;
        unsigned jobs;
        bool has_seed, json;
        uint64_t seed;

        int signals;
        struct blob input;
        char name[NAME_MAX + 1]; /* of the input, as a file */
        uint64_t shown;
};

enum {
        OPTION_REFERENCE = 256,
        OPTION_TARGET,
        OPTION_COMMAND,
        OPTION_FLOOR,
        OPTION_RATIO,
        OPTION_FOR,
        OPTION_KEEP,
        OPTION_SEED,
        OPTION_JSON
};

static uint64_t time_of(struct argp_state *state, const char *what, const char *text)
{
        uint64_t ns = 0;

        if (parse_duration(text, &ns) < 0 || ns == 0)
                argp_error(state, "%s must be a time greater than zero, such as 500ms or 15m, not '%s'", what, text);
        return ns;
}

static double ratio_of(struct argp_state *state, const char *text)
{
        char *end;
        double x = strtod(text, &end);

        if (end == text || *end != '\0' || !(x >= 1 && x <= 1e6))
                argp_error(state, "--ratio must be a number from 1 on, such as 3 or 1.5, not '%s'", text);
        return x;
}

static enum interest interest_of(struct argp_state *state, const char *text)
{
        for (int i = 0; i < N_INTERESTS; i++)
                if (strcmp(text, interest_name((enum interest)i)) == 0)
                        return (enum interest)i;
        argp_error(state, "--keep is any, slow, crash or answers, not '%s'", text);
        return INTEREST_ANY;
}

static void check_usage(const struct reducing *o, struct argp_state *state)
{
        if (o->command && (o->reference || o->target))
                argp_error(state, "--command takes the place of versions: give it a FILE alone");
        if (o->command && o->n_words != 1)
                argp_error(state, "expected FILE --command COMMAND");
        if (!o->command && o->n_words != 2)
                argp_error(state, "expected SOLVER FOUND|CASE, or FILE --command COMMAND");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct reducing *o = state->input;

        switch (key) {
        case OPTION_REFERENCE:
                o->reference = arg;
                return 0;
        case OPTION_TARGET:
                o->target = arg;
                return 0;
        case OPTION_COMMAND:
                o->command = arg;
                return 0;
        case OPTION_FLOOR:
                o->floor = (double)time_of(state, "--floor", arg) / 1e9;
                return 0;
        case OPTION_RATIO:
                o->ratio = ratio_of(state, arg);
                return 0;
        case OPTION_FOR:
                o->time = time_of(state, "--for", arg);
                return 0;
        case OPTION_KEEP:
                o->interest = interest_of(state, arg);
                return 0;
        case OPTION_SEED:
                o->has_seed = true;
                o->seed = command_number(state, "--seed", arg, 0, UINT32_MAX);
                return 0;
        case OPTION_JSON:
                o->json = true;
                return 0;
        case 't':
                o->timeout = time_of(state, "--timeout", arg);
                return 0;
        case 'j':
                o->jobs = (unsigned)command_number(state, "-j", arg, 1, 4096);
                return 0;
        case 'o':
                o->output = arg;
                return 0;
        case ARGP_KEY_ARG:
                if (o->n_words == ARRAY_SIZE(o->words))
                        argp_error(state, "expected SOLVER FOUND|CASE, or FILE --command COMMAND");
                o->words[o->n_words++] = arg;
                return 0;
        case ARGP_KEY_END:
                check_usage(o, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* -- the input -------------------------------------------------------------------------------------------------- */

static void name_input(struct reducing *o, const char *path)
{
        const char *slash = strrchr(path, '/');

        snprintf(o->name, sizeof(o->name), "%s", slash ? slash + 1 : path);
}

static int read_input_file(struct reducing *o, const char *path)
{
        struct stat st;
        int r;

        if (stat(path, &st) < 0)
                return errorf(-errno, "cannot read %s: %s", path, strerror(errno));
        if (!S_ISREG(st.st_mode))
                return errorf(-EINVAL, "%s is not a file", path);
        r = read_file(path, INPUT_MOST, &o->input);
        name_input(o, path);
        return r < 0 ? errorf(r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

static int read_case(struct reducing *o, struct workspace *w, const struct case_info *info)
{
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        int r = cases_open_bytes(workspace_cases(w), info, &fd, path);

        if (r == 0)
                r = read_fd(fd, INPUT_MOST, &o->input);
        snprintf(o->name, sizeof(o->name), "case-%u.smt2", info->id);
        return r;
}

/* "spr/3": a finding. 1: it is one; 0: the word is none. */
static int find_finding(struct workspace *w, const struct solver *s, const char *word, struct finding **ret)
{
        const char *slash = strchr(word, '/');
        char *end;
        unsigned long number;
        int r;

        if (!slash || slash[1] < '1' || slash[1] > '9')
                return 0;
        number = strtoul(slash + 1, &end, 10);
        if (*end != '\0' || number > UINT32_MAX)
                return 0;
        for (int kind = 0; kind < N_FINDING_KINDS; kind++) {
                const char *folder = finding_folder((enum finding_kind)kind);

                if (strlen(folder) != (size_t)(slash - word) || strncmp(folder, word, (size_t)(slash - word)) != 0)
                        continue;
                r = finding_get(w, s->number, (uint32_t)number, ret);
                if (r == 0 && strcmp(finding_folder((*ret)->kind), folder) != 0)
                        r = errorf(-ENOENT, "finding %lu stands in %s/, not in %s/", number, finding_folder((*ret)->kind),
                                   folder);
                return r < 0 ? r : 1;
        }
        return 0;
}

static int read_word(struct reducing *o, struct workspace *w, const char *word)
{
        cleanup_case_selection struct case_selection cases = {0};
        int r = cases_select(w, (char *const *)&word, 1, &cases);

        if (r < 0 && access(word, R_OK) == 0)
                return read_input_file(o, word);
        if (r < 0)
                return r;
        if (cases.n != 1)
                return errorf(-EINVAL, "one case is reduced at a time; '%s' stands for %zu", word, cases.n);
        return read_case(o, w, cases.list[0]);
}

/* -- the versions ----------------------------------------------------------------------------------------------- */

/* As findings and tables have it: a program's digest behind its command. It must be the one it was. */
static int parse_version(struct workspace *w, struct solver *s, const char *text, struct version **ret)
{
        cleanup_free char *bare = strdup(text);
        char *digest = bare && strncmp(bare, "exec:", 5) == 0 ? strstr(bare, "@sha256:") : NULL;
        int r;

        if (!bare)
                return -ENOMEM;
        if (digest)
                *digest = '\0';
        r = version_parse(w, s, bare, ret);
        if (r == 0 && digest && strcmp((*ret)->text, text) != 0) {
                *ret = version_free(*ret);
                r = errorf(-ESTALE, "the program of '%s' is not the one of the finding any more", bare);
        }
        return r;
}

static const enum interest finding_interests[N_FINDING_KINDS] = {
        [FINDING_SPR] = INTEREST_SLOW,           [FINDING_SOUNDNESS] = INTEREST_ANSWERS,   [FINDING_CRASH] = INTEREST_CRASH,
        [FINDING_REGRESSION] = INTEREST_ANSWERS, [FINDING_IMPLICATION] = INTEREST_ANSWERS,
};

/* Takes the versions and the property to keep from the finding, unless options give them. */
static int take_finding(struct reducing *o, struct workspace *w, const struct finding *f)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r;

        if (f->kind == FINDING_IMPLICATION)
                return errorf(-EINVAL,
                              "finding %u is an implication: two formulas of one version, which are not reduced together yet",
                              f->number);
        if (!o->reference && *f->reference)
                o->reference = f->reference;
        if (!o->target)
                o->target = f->target;
        if (o->interest == INTEREST_ANY)
                o->interest = finding_interests[f->kind];
        if (o->timeout == 0)
                o->timeout = (uint64_t)(f->timeout * 1e9);
        r = cases_get(workspace_cases(w), f->case_id, &info);
        return r < 0 ? r : read_case(o, w, info);
}

/* -- reducing --------------------------------------------------------------------------------------------------- */

static void show(void *user, const struct reduce_status *s)
{
        struct reducing *o = user;
        char what[160];
        uint64_t now = now_ns();

        if (now - o->shown < NSEC_PER_SEC / 5)
                return;
        o->shown = now;
        snprintf(what, sizeof(what), "reduce: %zu of %zu bytes, %" PRIu64 " tests (%s)", s->now, s->before, s->tests, s->stage);
        progress_show(what, s->before - MIN(s->now, s->before), s->before, 0);
}

static int write_result(const struct reducing *o, const struct reduce_result *result)
{
        int r;

        if (!o->output) {
                if (!o->json)
                        output_write(&result->text);
                return 0;
        }
        r = write_file_atomic(o->output, result->text.data, result->text.size, 0666 & ~common.umask);
        return r < 0 ? errorf(r, "cannot write %s: %s", o->output, strerror(-r)) : 0;
}

static json_t *answer_json(const struct version *v, const struct version_answer *a)
{
        return json_pack("{s:s, s:s, s:f}", "version", v->text, "verdict", verdict_name(a->verdict), "seconds", a->seconds);
}

/* The last lines, for every interest test. */
struct ending {
        const struct reduce_result *result;
        double seconds;
        json_t *more; /* owned; or NULL */
};

static void tell(const struct reducing *o, struct ending *e)
{
        const struct reduce_status *s = &e->result->status;
        json_t *j;

        if (!o->json) {
                note("%zu bytes of %zu, after %" PRIu64 " tests in %.1fs%s", s->now, s->before, s->tests, e->seconds,
                     e->result->is_minimal ? "" : "; the same command again may make it smaller still");
                return;
        }
        j = json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:b}", "before", (json_int_t)s->before, "now", (json_int_t)s->now, "tests",
                      (json_int_t)s->tests, "taken", (json_int_t)s->taken, "withdrawn", (json_int_t)s->withdrawn, "seconds",
                      e->seconds, "minimal", e->result->is_minimal);
        if (!o->output)
                json_object_set_new(j, "text", json_stringn_nocheck(e->result->text.data, e->result->text.size));
        if (e->more)
                json_object_update(j, e->more);
        output_json(j);
}

/* `finish` (may be NULL) adds what it knows of the result. */
static int reduce_with(struct reducing *o, const struct reduce_test *test,
                       int (*finish)(void *user, const struct reduce_result *result, struct ending *e), void *user)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct ending e = {.result = &result};
        uint64_t began = now_ns();
        struct reduce_options options = {.deadline_ns = o->time > 0 ? began + o->time : 0, .status = show, .user = o};
        int r = reduce(SLICE(o->input.data, o->input.size), test, &options, &result), k = 0;

        progress_clear();
        e.seconds = (double)(now_ns() - began) / 1e9;
        if (r < 0 && r != -ECANCELED)
                return r == -ENODATA ? fail_as(STATUS_FAILED, r) : fail(r);
        if (r == 0 && finish)
                k = finish(user, &result, &e);
        if (k == 0)
                k = write_result(o, &result);
        if (k == 0)
                tell(o, &e);
        json_decref(e.more);
        if (k < 0 && k != -ECANCELED)
                return fail(k);
        if (r == -ECANCELED || k == -ECANCELED) {
                note("interrupted");
                return STATUS_INTERRUPTED;
        }
        return STATUS_OK;
}

struct pair {
        const struct reducing *o;
        struct reduce_versions *runs;
        struct version *versions[2]; /* reference or NULL, target */
};

/* Both versions on the result, with the whole timeout. */
static int finish_versions(void *user, const struct reduce_result *result, struct ending *e)
{
        struct pair *p = user;
        struct version_answer before[2], after[2];
        const char *clock = reduce_versions_is_cpu_time(p->runs) ? "CPU" : "wall";
        int r = reduce_versions_run(p->runs, SLICE(result->text.data, result->text.size), &after[0], &after[1]);

        if (r < 0)
                return r;
        reduce_versions_before(p->runs, &before[0], &before[1]);
        if (p->o->json) {
                e->more = json_pack("{s:s, s:s}", "keeps", interest_name(reduce_versions_interest(p->runs)), "clock", clock);
                for (int i = 0; i < 2; i++)
                        if (p->versions[i])
                                json_object_set_new(e->more, i == 0 ? "reference" : "target",
                                                    json_pack("{s:o, s:o}", "input", answer_json(p->versions[i], &before[i]),
                                                              "reduced", answer_json(p->versions[i], &after[i])));
                return 0;
        }
        for (int i = 0; i < 2; i++)
                if (p->versions[i])
                        note("%s: %s after %.3fs before, %s after %.3fs now (%s time)", p->versions[i]->name,
                             verdict_name(before[i].verdict), before[i].seconds, verdict_name(after[i].verdict), after[i].seconds,
                             clock);
        return 0;
}

/* A reduction that could not begin. */
static int refuse(int r)
{
        if (r == -ECANCELED) {
                note("interrupted");
                return STATUS_INTERRUPTED;
        }
        return fail_as(r == -EINVAL ? STATUS_USAGE : r == -ENODATA ? STATUS_FAILED : status_of(r), r);
}

static int run_versions(struct reducing *o, struct workspace *w, struct engine *e, struct pair *p)
{
        struct reduce_versions_options options = {
                .interest = o->interest,
                .reference = p->versions[0],
                .target = p->versions[1],
                .ratio = o->ratio,
                .floor = o->floor,
                .timeout = (double)(o->timeout > 0 ? o->timeout : p->versions[1]->solver->recipe->limits.wall_ns) / 1e9,
                .jobs = o->jobs,
                .has_seed = o->has_seed,
                .seed = o->seed};
        struct reduce_test test;
        int r = reduce_versions_open(e, w, &options, SLICE(o->input.data, o->input.size), o->signals, &p->runs);

        if (r < 0)
                return refuse(r);
        note("reducing %zu bytes; what is kept: %s", o->input.size, interest_name(reduce_versions_interest(p->runs)));
        test = reduce_versions_test(p->runs);
        r = reduce_with(o, &test, finish_versions, p);
        reduce_versions_close(p->runs);
        return r;
}

static int reduce_between(struct reducing *o, struct workspace *w, struct solver *s)
{
        cleanup_engine struct engine *e = NULL;
        cleanup_finding struct finding *f = NULL;
        cleanup_version struct version *reference = NULL, *target = NULL;
        struct pair p = {.o = o};
        int r = find_finding(w, s, o->words[1], &f), status;

        if (r >= 0)
                r = r == 1 ? take_finding(o, w, f) : read_word(o, w, o->words[1]);
        if (r == 0 && !o->target)
                r = errorf(-EINVAL, "name the versions: --reference VERSION --target VERSION");
        if (r == 0 && o->has_seed && !s->recipe->seed)
                r = errorf(-EINVAL, "the recipe of %s has no 'seed': it cannot be told one", s->recipe->name);
        if (r == 0 && o->reference)
                r = parse_version(w, s, o->reference, &reference);
        if (r == 0)
                r = parse_version(w, s, o->target, &target);
        if (r < 0)
                return r == -EINVAL ? fail_as(STATUS_USAGE, r) : fail(r);
        status = command_engine(w, &e);
        if (status != STATUS_OK)
                return status;
        p.versions[0] = reference;
        p.versions[1] = target;
        return run_versions(o, w, e, &p);
}

static int reduce_by_command(struct reducing *o)
{
        cleanup(reduce_command_closep) struct reduce_command *c = NULL;
        const char *parent = getenv("TMPDIR");
        char folder[PATH_SIZE];
        int cpus[CPU_SETSIZE], r = read_input_file(o, o->words[0]);
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
        r = reduce_command_open(&options, SLICE(o->input.data, o->input.size), o->signals, &c);
        if (r == 0) {
                test = reduce_command_test(c);
                status = reduce_with(o, &test, NULL, NULL);
        } else {
                status = refuse(r);
        }
        c = reduce_command_close(c);
        remove_tree(folder);
        return status;
}

static int reduce_of_solver(struct reducing *o)
{
        cleanup_workspace struct workspace *w = NULL;
        cleanup_solver struct solver *s = NULL;
        int status = command_open(0, &w);

        if (status == STATUS_OK)
                status = command_solver(w, o->words[0], &s);
        return status == STATUS_OK ? reduce_between(o, w, s) : status;
}

int cmd_reduce(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"reference", OPTION_REFERENCE, "VERSION", 0, "The version that is fast, or right", 0},
                {"target", OPTION_TARGET, "VERSION", 0, "The version that is slow, wrong, or crashes", 0},
                {"command", OPTION_COMMAND, "COMMAND", 0,
                 "Keep what a shell command is interested in: it ends with status 0. The file's path stands for {} in it, or is "
                 "its "
                 "last "
                 "argument",
                 0},
                {"keep", OPTION_KEEP, "WHAT", 0,
                 "slow, crash, or answers (both versions' verdicts); default: what the finding is, or what the input shows", 0},
                {"floor", OPTION_FLOOR, "TIME", 0, "Slow is at least so long; default 1s", 0},
                {"ratio", OPTION_RATIO, "X", 0, "Slow is at least X times the reference's time; default 3", 0},
                {"timeout", 't', "TIME", 0, "Of a run on the whole input; default: the finding's, or the recipe's", 0},
                {"for", OPTION_FOR, "TIME", 0, "Stop after so long with what there is; default 15m", 0},
                {"seed", OPTION_SEED, "N", 0, "Fix the solver's random seed to N", 0},
                {"jobs", 'j', "N", 0, "Candidates side by side; default: one for each core", 0},
                {"output", 'o', "FILE", 0, "Write the result to FILE; default: standard output", 0},
                {"json", OPTION_JSON, NULL, 0, "Print what came of it as JSON; the text too, without -o", 0},
                {0}};
        static const struct argp argp = {
                .options = options,
                .parser = parse,
                .args_doc = "SOLVER FOUND|CASE [--reference VERSION --target VERSION]\nFILE --command COMMAND",
                .doc = "Makes an input smaller that is slow on one version and fast on another, crashes one, or that versions "
                       "answer "
                       "differently; or any file that a command is interested in.\v"
                       "FOUND is a finding, such as spr/3, which knows its versions; CASE is a case of the store, or a file. "
                       "VERSION is as in 'solverfs fuzz'.\n"
                       "SMT-LIB is reduced by its structure and stays well-sorted; other files as parentheses, or by lines. The "
                       "result is never larger than the input, and was tested twice. When interrupted, or when the time is over, "
                       "the smallest so far is written.\n"
                       "\n"
                       "  solverfs reduce z3 spr/3 -o reduced.smt2\n"
                       "  solverfs reduce z3 17 --reference z3-4.8.7 --target z3-4.8.8 --floor 2s --for 1h -o reduced.smt2\n"
                       "  solverfs reduce bug.smt2 --command 'z3 {} 2>&1 | grep -q ASSERTION' -o small.smt2"};
        struct reducing o = {.floor = 1, .ratio = 3, .time = 900 * NSEC_PER_SEC};
        int status;

        command_parse(&argp, argc, argv, &o);
        o.signals = command_signals();
        if (o.signals < 0)
                return fail(o.signals);
        status = o.command ? reduce_by_command(&o) : reduce_of_solver(&o);
        blob_done(&o.input);
        close(o.signals);
        return output_end(status);
}
