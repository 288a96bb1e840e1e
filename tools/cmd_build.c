/* solverfs build: builds commits, or says what is known of their builds. */
#include "ask.h"
#include "build_failure.h"
#include "core/build/era.h"
#include "core/report/outfile.h"
#include "core/run/cell_file.h"
#include "follow.h"
#include "words.h"

struct building {
        /* options */
        const char *solver_name, *output;
        struct words words;
        bool log, again, renew;

        struct revisions revisions;
        struct follower follower; /* with --log and one commit */
};

static const struct column columns[] = {{"COMMIT", 12, false}, {"BUILD", 6, false}, {"TIME (s)", 11, true},
                                        {"SIZE (B)", 10, true},    {"HOW", 17, false},  {"REASON", 0, false}};

/* `released`: where a released binary came from; NULL: it was built. `changed`: a file of its toolchain that has changed since, or NULL. */
static json_t *record_json(const char *commit, const struct build_record *record, const char *released, const char *changed)
{
        char built[GIT_OID_HEXSZ + 1], id[DIGEST_HEX_SIZE];
        json_t *outputs = json_array(), *programs = json_array();

        for (size_t i = 0; i < record->n_programs; i++) {
                digest_hex(&record->programs[i], id);
                json_array_append_new(programs, json_pack("{s:s}", "program", id));
        }
        for (size_t i = 0; i < record->n_outputs; i++) {
                digest_hex(&record->outputs[i].id, id);
                json_array_append_new(outputs, json_pack("{s:s, s:I, s:s, s:b}", "name", record->outputs[i].name, "size",
                                                         (json_int_t)record->outputs[i].size, "sha256", id, "executable",
                                                         record->outputs[i].executable));
        }
        git_oid_tostr(built, sizeof(built), &record->commit);
        return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:s, s:I, s:f, s:f, s:I, s:o, s:o, s:s?, s:s?, s:s?}", "solver", common.solver->recipe->name,
                         "commit", commit, "ok", record->ok, "clean", 1, "reason", record->reason, "built_from",
                         built, "started", (json_int_t)record->started, "time", (double)record->duration_ns / 1e9, "cputime",
                         (double)record->cpu_ns / 1e9, "memory", (json_int_t)record->memory, "outputs", outputs, "programs",
                         programs, "differs", record->differs, "released_binary", released, "toolchain_changed", changed);
}

static void show_record(const struct building *b, uint32_t number, const struct build_record *record, struct buffer *to)
{
        const char *released = era_or_solver(common.solver->history, common.solver->recipe, number)->file;
        cleanup_free char *reason = printable(record->reason ?: record->differs ? "not reproducible" : "-");
        const struct commit_sha commit = commit_sha(common.solver, number);
        char seconds[32], size[24] = "-";
        cleanup_free char *changed = NULL;
        bool is_old = commit_tools_changed(common.workspace, common.solver, number, &changed);

        if (common.json) {
                json_row(to, record_json(commit.s, record, released, changed));
                return;
        }
        format_seconds(record->duration_ns, seconds);
        if (record->n_outputs > 0)
                snprintf(size, sizeof(size), "%llu", (unsigned long long)record->outputs[0].size);
        table_row(to, columns, ARRAY_SIZE(columns),
                  (const char *[]){commit.s, record->ok ? "ok" : "failed", seconds, size, released ? "released binary" : is_old ? "toolchain changed" : "clean",
                                   reason});
        if (is_old)
                note("%s %s: toolchain changed: %s is not what it was built with; build --renew builds it anew", common.solver->recipe->name,
                     commit_label(common.solver, number).s, changed);
}

/* The whole log; what was printed while it was built is not printed again. */
static void show_log(struct building *b, uint32_t commit, struct buffer *to)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const char *p;

        if (build_find(common.workspace, common.solver, commit, true, &record) < 0)
                return;
        p = record->log.data;
        if (b->revisions.n == 1) {
                follower_end(&b->follower, SLICE(p, record->log.size));
                return;
        }
        buffer_add(to, p, record->log.size);
        if (record->log.size > 0 && p[record->log.size - 1] != '\n')
                buffer_adds(to, "\n");
}

/* Shows why a build failed; only when one commit was asked for. */
static void show_failure(const struct building *b, uint32_t commit)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct build_failure f;

        if (build_find(common.workspace, common.solver, commit, true, &record) < 0)
                return;
        f = build_failure_of(SLICE(record->log.data, record->log.size));
        build_failure_show(&f);
}

static int make(void *user, size_t i, struct query **ret)
{
        struct building *b = user;

        return (b->renew ? query_current_build : query_build)(common.workspace, common.solver, b->revisions.list[i], ret);
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        struct building *b = user;
        uint32_t commit = b->revisions.list[i];
        const struct build_record *record;
        const struct commit_label name = commit_label(common.solver, commit);

        if (r < 0) {
                complain("%s %s: %s", common.solver->recipe->name, name.s, reason);
                command_worse(status_of_value(r));
                return;
        }
        record = ((struct build_value *)v)->record;
        if (b->log)
                show_log(b, commit, to);
        else
                show_record(b, commit, record, to);
        if (record->ok && record->differs)
                note("%s %s: not reproducible, clean builds of the same sources differ: %s", common.solver->recipe->name, name.s,
                     record->differs);
        if (record->ok)
                return;
        command_worse(STATUS_FAILED);
        if (!b->log && b->revisions.n == 1) {
                show_failure(b, commit);
                note("the whole log: solverfs build --log %s %s", common.solver->recipe->name, name.s);
        }
        complain("%s %s cannot be built: %s", common.solver->recipe->name, name.s, record->reason);
}

/* -- taking the program out ------------------------------------------------------------------------------------- */

static int put_program(int from, const char *path)
{
        struct outfile o;
        int r = outfile_open(path, 0777 & ~common.umask, &o);

        if (r < 0)
                return r;
        r = lseek(from, 0, SEEK_SET) < 0 ? -errno : copy_fd(from, o.fd);
        r = r < 0 ? errorf(r, "cannot write %s: %s", path, strerror(-r)) : outfile_commit(&o);
        outfile_done(&o);
        return r;
}

static void copy_program(const struct building *b)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        command_must(query_program(common.workspace, common.solver, b->revisions.list[0], NULL, false, &q));
        command_must(engine_get(common.engine, q, PRIORITY_PERSON, false, common.signals, &v));
        command_must_as(STATUS_SYSTEM, put_program(((struct file_value *)v)->fd, b->output));
}

/* -- how many programs ------------------------------------------------------------------------------------------ */

/* How many different digests, zeros left out, the commits that were asked for have. */
static size_t count_distinct(const struct building *b, struct digest *all, uint32_t n_all)
{
        size_t n = 0, distinct = 0;
        cleanup_free struct digest *list = allocate(b->revisions.n, sizeof(*list));

        for (size_t i = 0; i < b->revisions.n; i++)
                if (b->revisions.list[i] < n_all && !digest_is_zero(&all[b->revisions.list[i]]))
                        list[n++] = all[b->revisions.list[i]];
        sort_list(list, n, sizeof(*list), digest_compare);
        for (size_t i = 0; i < n; i++)
                distinct += i == 0 || !digest_equal(&list[i], &list[i - 1]);
        return distinct;
}

/* Commits that do not differ in the recipe's paths share a build. Builds of the same bytes share a program and its results. */
static void tell_shared(const struct building *b)
{
        cleanup_free struct digest *keys = NULL, *programs = NULL;
        uint32_t n_keys, n_programs;
        size_t builds, made;

        if (b->revisions.n < 2 || build_keys(common.solver->history, common.solver->recipe, &keys, &n_keys) < 0 ||
            commit_programs(common.workspace, common.solver, &programs, &n_programs) < 0)
                return;
        builds = count_distinct(b, keys, n_keys);
        made = count_distinct(b, programs, n_programs);
        note("%zu commits, %zu different build%s, %zu different program%s", b->revisions.n, builds, builds == 1 ? "" : "s", made,
             made == 1 ? "" : "s");
}

static void look_at_log(void *user)
{
        follower_look(&((struct building *)user)->follower);
}

static void run_batch(struct building *b)
{
        command_ask(&(struct command_asking){.n = b->revisions.n,
                                                     .again = b->again,
                                                     .title = "build",
                                                     .columns = common.json || b->log ? NULL : columns,
                                                     .n_columns = ARRAY_SIZE(columns),
                                                     .make = make,
                                                     .answered = answered,
                                                     .meanwhile = b->log && b->revisions.n == 1 ? look_at_log : NULL,
                                                     .user = b});

        if (b->output && common.status == STATUS_OK)
                copy_program(b);
        tell_shared(b);
}

void cmd_build(int argc, char **argv)
{
        static const char doc[] =
                "Build commits, unless they are built already. Prints for each: commit, ok or failed, seconds, the program's size, clean, "
                "toolchain changed or released binary, why it failed or that it is not reproducible; and at the end, of several commits, how many builds and programs "
                "they have.\v"
                "REV is whatever git rev-parse takes; A..B: the commits on B's first-parent line that are not on A's, oldest first; or a pattern "
                "over tags, in the order of the history: 'z3-4.*'. Exit status 1 when a commit cannot be built.";
        static struct building b = {.follower = {.fd = -1}};
        const struct command_option options[] = {
                {"again", 'a', NULL, "Build anew, without the compile cache, what is built already", .on = &b.again},
                {"renew", 'n', NULL, "Build anew what was built with tools, headers or libraries that have changed since", .on = &b.renew},
                {"log", 'l', NULL, "Print the build's whole output instead; of one commit that is being built, as it comes", .on = &b.log},
                {"output", 'o', "FILE", "Copy the program to FILE (with one commit)", .text = &b.output},
                {"json", 'j', NULL, "Print a JSON object for each, a line each", .on = &common.json},
                {0}};

        b.words = command_parse(argc, argv, "SOLVER REV...", doc, options);
        b.solver_name = word_next(&b.words);
        if (common.json && b.log)
                command_usage("--json and --log exclude each other");
        command_signals();
        command_open_solver(0, NULL, b.solver_name);
        command_revisions(common.solver, b.words.list, b.words.n, &b.revisions);
        if (b.output && b.revisions.n != 1)
                command_refuse(STATUS_USAGE, "--output takes exactly one commit; %zu given", b.revisions.n);
        b.follower.commit = b.revisions.list[0];
        run_batch(&b);
}
