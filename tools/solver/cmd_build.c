/* solverfs build: builds commits, or prints what is stored about their builds. */
#include <limits.h>

#include "tools/ask.h"
#include "tools/recipe/build_failure.h"
#include "core/build/era.h"
#include "core/build/live_log.h"
#include "core/report/outfile.h"
#include "core/run/cell_file.h"
#include "tools/words.h"

/* -- a log that grows ------------------------------------------------------------------------------------------------- */

/* The log of a build, printed while it grows (core/build/live_log.h), and then as stored.
 *
 * Standard output is the log: text printed early is its beginning. If the stored log continues differently (the build was begun again, or its output
 * was too long), it is printed from the first different line, after a note. */
struct follower {
        uint32_t commit; /* of common.solver */

        int fd; /* the running build's log; -1: none */
        bool told; /* the first note was made */
        struct buffer printed;
        size_t at; /* so much of the log was read, and equals the beginning of `printed` */
};

static void tell(const struct follower *f, const char *what)
{
        note("%s %.12s %s", common.solver->recipe->name, full_sha(common.solver, f->commit).s, what);
}

/* Takes the next bytes of the log, which follow those up to `at`, and prints what was not printed yet. */
static void follow_text(struct follower *f, struct slice text)
{
        const char *bytes = text.data;
        size_t from, same = 0, most = MIN(text.size, f->printed.size - f->at);

        while (same < most && bytes[same] == f->printed.data[f->at + same])
                same++;
        f->at += same;
        if (same == text.size)
                return;
        from = f->at;
        if (f->at < f->printed.size) { /* other text was printed here: continue from the beginning of the line */
                tell(f, "has another log from here on: it was built again, or printed more than is kept");
                while (from > 0 && f->printed.data[from - 1] != '\n')
                        from--;
                f->printed.size = f->at;
        }
        buffer_add(&f->printed, bytes + same, text.size - same);
        f->at = f->printed.size;
        output_write(&(struct buffer){.data = f->printed.data + from, .size = f->at - from, .failed = f->printed.failed});
}

/* Prints what the log has gained. */
static void follower_read(struct follower *f)
{
        char bytes[PIPE_BUF]; /* a pipe with any room has this much */
        ssize_t n = 1;
        bool goes_on;

        if (f->fd < 0) {
                if (build_open_live_log(common.workspace, common.solver, f->commit, &f->fd) < 0)
                        return;
                f->at = 0;
                if (!f->told)
                        tell(f, "is being built: its output so far, and then as it comes");
                f->told = true;
        }
        goes_on = live_log_is_growing(f->fd);
        while (output_has_room() && (n = read(f->fd, bytes, sizeof(bytes))) > 0)
                follow_text(f, SLICE(bytes, (size_t)n));
        if (n <= 0 && !goes_on)
                closep(&f->fd);
}

/* Prints the rest of the whole log. */
static void follower_end(struct follower *f, struct slice whole)
{
        const char *bytes = whole.data;

        if (f->fd >= 0) /* a lost build may have written more since */
                follower_read(f);
        f->at = 0;
        follow_text(f, whole);
        if (f->at < f->printed.size)
                tell(f, "has a log that ends before what was printed last: it was built again");
        if (whole.size > 0 && bytes[whole.size - 1] != '\n')
                output_bytes("\n");
}

/* -- a build --------------------------------------------------------------------------------------------------- */

struct building {
        /* options */
        const char *output;
        bool log, again, renew;

        struct revisions revisions;
        struct follower follower; /* with --log and one commit */
};

static const struct column columns[] = {{"COMMIT", 12}, {"BUILD", 6}, {"TIME (s)", 11, true}, {"SIZE (B)", 10, true}, {"HOW", 17}, {"REASON"}, {0}};

/* `released`: origin of a released binary; NULL: it was built. `changed`: a file of its toolchain that has changed since, or NULL. */
static json_t *record_json(const char *commit, const struct build_record *record, const char *released, const char *changed)
{
        char built[GIT_OID_HEXSZ + 1];
        json_t *outputs = json_array(), *programs = json_array();

        for (size_t i = 0; i < record->n_programs; i++)
                json_array_append_new(programs, json_pack("{ss}", "program", digest_text(&record->programs[i]).s));
        for (size_t i = 0; i < record->n_outputs; i++) {
                const struct build_output *o = &record->outputs[i];

                json_array_append_new(outputs, json_pack("{ss sI ss sb}", "name", o->name, "size", o->size, "sha256", digest_text(&o->id).s, "executable",
                                                         o->executable));
        }
        oid_print(built, sizeof(built), &record->commit);
        return json_pack("{ss ss sb sb so ss sI sf sf sI so so ss? ss? so}", "solver", common.solver->recipe->name, "commit", commit, "ok", record->ok,
                         "clean", 1, "reason", json_printable(record->reason), "built_from", built, "started", (json_int_t)record->started, "time",
                         (double)record->duration_ns / 1e9, "cputime", (double)record->cpu_ns / 1e9, "memory", (json_int_t)record->memory, "outputs",
                         outputs, "programs", programs, "differs", record->differs, "released_binary", released,
                         "toolchain_changed", json_printable(changed));
}

static void show_record(uint32_t number, const struct build_record *record, struct buffer *to)
{
        const char *released = era_or_solver(common.solver->history, common.solver->recipe, number)->file;
        const struct commit_sha commit = full_sha(common.solver, number);
        cleanup_free char *changed = NULL;
        bool is_old = commit_tools_changed(common.workspace, common.solver, number, &changed);

        add_object(to, columns, common.json ? record_json(commit.s, record, released, changed)
                                            : json_pack("{ss ss ss so ss so}", "commit", commit.s, "build", record->ok ? "ok" : "failed", "time",
                                                        format_seconds(record->duration_ns).s,
                                                        "size", record->n_outputs > 0 ? json_integer((json_int_t)record->outputs[0].size) : json_null(),
                                                        "how", released ? "released binary" : is_old ? "toolchain changed" : "clean", "reason",
                                                        json_printable(record->reason ?: (record->differs ? "not reproducible" : NULL))));
        if (is_old && !common.json)
                note("%s %s: toolchain changed: %s is not what it was built with; build --renew builds it anew", common.solver->recipe->name,
                     commit_label(common.solver, number).s, changed);
}

/* Prints the whole log, except the part printed during the build. */
static void show_log(struct building *b, uint32_t commit, struct buffer *to)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const char *p;

        if (build_find(common.workspace, common.solver, commit, WITH_LOG, &record) < 0)
                return;
        p = record->log.data;
        if (b->revisions.n == 1) {
                follower_end(&b->follower, SLICE(p, record->log.size));
                return;
        }
        buffer_add(to, p, record->log.size);
        buffer_adds(to, record->log.size > 0 && p[record->log.size - 1] != '\n' ? "\n" : "");
}

static int make(void *user, size_t i, struct query **ret)
{
        struct building *b = user;

        return b->renew ? query_current_build(common.workspace, common.solver, b->revisions.list[i], NULL, ret)
                        : query_build(common.workspace, common.solver, b->revisions.list[i], ret);
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
                show_record(commit, record, to);
        if (record->ok && record->differs)
                note("%s %s: not reproducible, clean builds of the same sources differ: %s", common.solver->recipe->name, name.s, record->differs);
        if (record->ok)
                return;
        command_worse(STATUS_FAILED);
        if (!b->log && b->revisions.n == 1) {
                build_failure_show(commit);
                note("the whole log: solverfs build --log %s %s", common.solver->recipe->name, name.s);
        }
        complain("%s %s cannot be built: %s", common.solver->recipe->name, name.s, record->reason);
}

/* -- copying the program ---------------------------------------------------------------------------------------- */

static void copy_program(const struct building *b)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        struct outfile o;
        int from, r;

        command_must(query_program(common.workspace, common.solver, b->revisions.list[0], NULL, false, &q));
        command_must(command_get(q, "build", false, &v));
        from = ((struct file_value *)v)->fd;
        command_must_as(STATUS_SYSTEM, outfile_open(b->output, 0777 & ~common.umask, &o));
        r = lseek(from, 0, SEEK_SET) < 0 ? -errno : copy_fd(from, o.fd);
        r = r < 0 ? errorf(r, "cannot write %s: %s", b->output, strerror(-r)) : outfile_commit(&o);
        outfile_done(&o);
        command_must_as(STATUS_SYSTEM, r);
}

/* -- how many programs ------------------------------------------------------------------------------------------ */

/* How many different digests the command's commits have; `all`: by the commit's number; zero: it has none. */
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

/* Commits that do not differ in the recipe's paths share a build. Builds with equal bytes share a program and its results. */
static void tell_shared(const struct building *b)
{
        cleanup_free struct digest *keys = NULL, *programs = NULL;
        uint32_t n_keys, n_programs;
        size_t builds, made;

        if (b->revisions.n < 2 || build_keys(common.solver->history, common.solver->recipe, &keys, &n_keys) < 0 ||
            commit_programs(common.workspace, common.solver, &programs, &n_programs, NULL) < 0)
                return;
        builds = count_distinct(b, keys, n_keys);
        made = count_distinct(b, programs, n_programs);
        note("%zu commits, %zu different build%s, %zu different program%s", b->revisions.n, builds, plural(builds), made, plural(made));
}

static void read_log(void *user)
{
        follower_read(&((struct building *)user)->follower);
}

void cmd_build(int argc, char **argv)
{
        static const char doc[] =
                "Build commits, unless they are built already. Prints for each: commit, ok or failed, seconds, the program's size, clean, "
                "toolchain changed or released binary, why it failed or that it is not reproducible; and at the end, of several commits, how many "
                "builds and programs they have.\v"
                "REV is whatever git rev-parse takes; A..B: the commits on B's first-parent line that are not on A's, oldest first; or a pattern "
                "over tags, in the order of the history: 'z3-4.*'. Exit status 1 when a commit cannot be built.";
        static struct building b = {.follower = {.fd = -1}};
        struct words words;
        const struct command_option options[] = {
                {"again", 'a', NULL, "Build again, without the compile cache, even if already built", .on = &b.again},
                {"renew", 'n', NULL, "Build again if tools, headers or libraries have changed since", .on = &b.renew},
                {"log", 'l', NULL, "Print the build's whole output instead; for a single commit, while it is built", .on = &b.log,
                 .excludes = "json"},
                {"output", 'o', "FILE", "Copy the program to FILE (with one commit)", .file = &b.output},
                OPTION_JSON("Print a JSON object for each, a line each"),
                {0}};

        words = command_parse(argc, argv, "SOLVER REV...", doc, options);
        if (b.output && strcmp(b.output, "-") == 0)
                command_usage("--output takes a file: standard output has the record");
        command_signals();
        command_open_solver(0, NULL, word_next(&words));
        command_revisions(common.solver, words.list, words.n, &b.revisions);
        if (b.output && b.revisions.n != 1)
                command_refuse(STATUS_USAGE, "--output takes exactly one commit; %zu given", b.revisions.n);
        b.follower.commit = b.revisions.list[0];
        command_ask(&(struct command_batch){.n = b.revisions.n, .again = b.again, .title = "build", .columns = b.log ? NULL : columns, .make = make,
                                             .answered = answered, .meanwhile = b.log && b.revisions.n == 1 ? read_log : NULL, .user = &b});
        if (b.output && common.status == STATUS_OK)
                copy_program(&b);
        tell_shared(&b);
}
