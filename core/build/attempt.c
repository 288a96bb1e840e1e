/* Attempts at a build: a failure that may have come from outside is tried once more. */
#include "core/build/attempt.h"

#include <sys/stat.h>

#include "cache/base/fault.h"
#include "cache/base/helper.h"
#include "cache/base/lost.h"
#include "core/build/build_tools.h"
#include "core/build/dependency.h"
#include "core/run/full_disk.h"
#include "core/run/host.h"

#define LAST_LINES 20 /* of an attempt's log that stay when there is another, */
#define LAST_BYTES 4096

void attempt_done(struct attempt *a)
{
        sources_done(&a->sources);
        buffer_done(&a->log);
        buffer_done(&a->watched);
        blob_done(&a->made.used);
        free(a->made.reason);
        build_outputs_free(a->made.outputs, a->made.n_outputs);
}

int attempt_fail(struct attempt *a, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        if (vasprintf(&a->made.reason, format, args) < 0)
                process_give_up("no memory is left");
        va_end(args);
        for (char *p = a->made.reason; *p; p++)
                if ((unsigned char)*p < 0x20)
                        *p = ' '; /* one line */
        return 0;
}

int attempt_refuse(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        attempt_fail(a, "%s", error_message(-EBADMSG));
        a->made.started = now_seconds();
        return attempt_record(a, commit, ret);
}

/* -- compilers and build tools: they must not change during a build -- */

/* The compile cache's namespace is a digest of the compilers with their parts, and of the recipe's dependencies, as ccache looks at the compiler's driver
 * only. Other build tools are not in it: objects stay known when one of them comes or goes. */
static int set_namespace(struct attempt *a)
{
        struct digest d;
        struct hasher *h = hasher_new();
        int r = 0;

        host_compilers(&d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        for (char *const *p = a->request->recipe->dependencies; r == 0 && *p; p++) {
                r = dependency_digest(*p, &d);
                hasher_add(h, d.bytes, DIGEST_SIZE);
        }
        hasher_finish(h, &d);
        snprintf(a->namespace, sizeof(a->namespace), "CCACHE_NAMESPACE=%s", digest_text(&d).s);
        return r;
}

/* A worker's builds depend on all tools known by name. */
static bool has_given_toolchain(const struct attempt *a)
{
        char now[DIGEST_HEX_SIZE];

        host_toolchain(now);
        return strcmp(now, a->given->toolchain) == 0;
}

int attempt_prepare_tools(struct attempt *a)
{
        if (a->given && !has_given_toolchain(a))
                return errorf(-ESTALE, "the compilers or build tools differ from those that this build was requested with");
        return helper_path("solverfs-shim", "core/build", "SOLVERFS_SHIM", a->shim);
}

/* True if a file that it used was replaced meanwhile: the build is to be repeated. A program with objects of two compilers is no commit's program,
 * and a failure may have come from a missing compiler. `ret` becomes the file's path, to be freed, if one is known. */
static bool tools_changed(struct attempt *a, char **ret)
{
        *ret = a->given ? NULL : attempt_list_used(a);
        return *ret || (a->given && !has_given_toolchain(a));
}

/* -- one attempt -- */

/* The time of the files of a clean tree. It is the same each time, and as in a fresh clone newer than the system's files: rules of a Makefile may
 * depend on that. Packaged files keep the times at which they were made; the folders show when the last package was installed. */
static int64_t tree_time(void)
{
        static const char *const folders[] = {"/usr/bin",           "/usr/lib",       "/usr/share",       "/usr/include",
                                              "/usr/share/aclocal", "/usr/local/bin", "/usr/local/lib",   "/usr/local/share",
                                              "/usr/libexec",       "/usr/sbin",      "/usr/lib/python3", "/usr/lib/gcc",
                                              "/usr/local/include"};
        int64_t newest = 0;

        for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
                struct stat st;

                if (stat(folders[i], &st) == 0)
                        newest = MAX(newest, (int64_t)st.st_mtim.tv_sec + 1);
        }
        return MIN(newest, now_seconds() - 1);
}

/* Writes the sources. If no machine could check them out, it is the commit's fault. */
static int fill_tree(struct attempt *a)
{
        int r = checkout(a->worktree->path, &a->sources.files, tree_time(), a->given ? a->given->content : sources_content,
                         a->given ? a->given->user : &a->sources, a->request->progress);

        return r == -EBADMSG ? attempt_fail(a, "%s", error_message(r)) : r;
}

/* A build that failed for lack of disk space says nothing about the commit. */
static int check_disk(const struct attempt *a)
{
        return full_disk_check(a->worktree->path, "a build", &SLICE(a->log.data, a->log.size), 1, UINT64_MAX);
}

static int attempt_once(struct attempt *a)
{
        const struct build_request *q = a->request;
        int r = worktree_begin(a->worktree);

        a->made.started = now_seconds();
        a->began_ns = (int64_t)clock_ns(CLOCK_REALTIME_COARSE); /* as the kernel stamps files */
        a->is_watched = true;
        buffer_done(&a->watched);
        if (r == 0)
                r = set_namespace(a)
                    ?: build_tools_make(a->worktree->tools, q->sandbox == SANDBOX_BWRAP ? TOOLS_SHIM_INSIDE : a->shim, q->ccache_dir != NULL,
                                        strings_have(q->recipe->environment, BUILD_TRAIL), &a->ccache)
                    ?: fault_at("build.checkout")
                    ?: fill_tree(a);
        for (size_t i = 0; r == 0 && !a->made.reason && q->recipe->build[i]; i++)
                r = attempt_run_command(a, i);
        if (r == 0 && !a->made.reason)
                r = attempt_put_outputs(a);
        return r == 0 && a->made.reason ? check_disk(a) : r;
}

/* -- another attempt -- */

static void add_quoted(struct buffer *b, struct slice text)
{
        const char *at = text.data, *end = at + text.size;

        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;

                buffer_adds(b, "| ");
                buffer_add(b, at, (size_t)(next - at));
                at = next;
        }
}

/* Makes another attempt. Its log begins with `notes`: the log from before the first attempt, then for each attempt so far why there was another one
 * (`why`), and its last lines. */
static int attempt_again(struct attempt *a, const git_oid *commit, struct buffer *notes, const char *why)
{
        struct slice said = SLICE(a->log.data + notes->size, a->log.size - notes->size);

        log_info("building %s in a clean tree, as %s: %s", oid_text(commit), why, a->made.reason ?: "");
        buffer_addf(notes, "(built in a clean tree, as %s: %s)\n", why, a->made.reason ?: "");
        add_quoted(notes, slice_last_lines(said, LAST_LINES, LAST_BYTES));
        a->log.size = a->heard = 0;
        buffer_add(&a->log, notes->data, notes->size);
        build_outputs_free(steal_pointer(a->made.outputs), a->made.n_outputs);
        a->made.n_outputs = 0;
        a->made.duration_ns = a->made.cpu_ns = a->made.memory = a->waited_ns = 0;
        a->doubted = false;
        free(steal_pointer(a->made.reason));
        return attempt_once(a);
}

/* -- results -- */

int attempt_record(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        struct build_record *b = &a->made;
        int r;

        if (b->reason) {
                buffer_addf(&a->log, "(failed: %s)\n", b->reason);
                build_outputs_free(steal_pointer(b->outputs), b->n_outputs);
                b->n_outputs = 0;
        }
        r = buffer_steal(&a->log, &b->log);
        if (r < 0)
                return r;
        b->refs = 1;
        b->ok = !b->reason;
        b->commit = *commit;
        if (b->ok)
                build_record_note_program(b);
        *ret = allocate(1, sizeof(**ret));
        **ret = *b;
        *b = (struct build_record){0};
        return 0;
}

/* Empties the worktree. `is_made`: the next build there stores its programs as deltas against these. */
static int finish_worktree(struct attempt *a, bool is_made)
{
        cleanup_digests struct digest_list programs = {0};
        int r = fault_at("build.keep");

        for (size_t i = 0; i < a->made.n_outputs; i++)
                digest_list_add(&programs, a->made.outputs[i].id.bytes);
        return r < 0 ? r : worktree_finish(a->worktree, is_made ? &programs : NULL);
}

/* Builds once more, as `file` (may be NULL) was replaced. A file may be touched at any time: if the second attempt's list is the first one's, whatever
 * was stamped meanwhile has the bytes that it had before. */
static int build_exchanged(struct attempt *a, const git_oid *commit, struct buffer *notes, const char *file)
{
        cleanup_blob struct blob before = a->made.used;
        cleanup_free char *why = format_string("compilers or build tools were exchanged meanwhile%s%s", file ? ", such as " : "", file ?: "");
        cleanup_free char *again = NULL;
        int r;

        a->made.used = (struct blob){0};
        r = attempt_again(a, commit, notes, why);
        if (r < 0 || !tools_changed(a, &again) || (before.size > 0 && same_bytes(before, a->made.used)))
                return r;
        return errorf(-EIO, "the compilers or build tools of this machine changed during the build%s%s: no result is recorded; ask again",
                      again ? ", such as " : "", again ?: "");
}

int attempt_build(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        cleanup_buffer struct buffer notes = {0};
        cleanup_free char *file = NULL;
        int r;

        buffer_add(&notes, a->log.data, a->log.size);
        r = attempt_once(a);
        if (r == 0 && a->doubted)
                r = attempt_again(a, commit, &notes, "what ended it may have come from outside");
        if (r == 0 && tools_changed(a, &file))
                r = build_exchanged(a, commit, &notes, file);
        if (r == 0 && a->doubted)
                r = errorf(-EIO, "%s: that may have come from outside, so nothing is recorded of this commit", a->made.reason);
        if (finish_worktree(a, r == 0 && !a->made.reason) < 0)
                log_warning("%s is left behind, or its state cannot be written", a->worktree->path);
        return r < 0 ? r : attempt_record(a, commit, ret);
}
