#include "core/build/build.h"

#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cache/base/fault.h"
#include "core/run/host.h"
#include "core/build/binary.h"
#include "core/build/build_tools.h"
#include "core/build/dependency.h"
#include "core/build/era.h"
#include "core/build/worktree.h"

#define INSIDE       "/build"
#define CCACHE       "/ccache"
#define DOWNLOADS    "/downloads"
#define CCACHE_LINKS "/usr/lib/ccache"    /* ours in its place: the compilers' names there lead around the shim */
#define STACK_TOP    (UINT64_C(64) << 20) /* GCC's driver raises its own limit to that */
#define FILE_MAX     (UINT64_C(16) << 30) /* the largest file a build may write, and all it may put into its scratch folder */
#define DISK_FULL    (UINT64_C(16) << 20)
#define COMMAND_MAX  160 /* of a command in a reason */
#define LAST_LINES   20  /* of an attempt's log that stay when there is another, */
#define LAST_BYTES   4096
#define TOOLS_CHANGED                                                                                                           \
        "the compilers or build tools of this machine were changed since this build was asked for: nothing is kept of it; ask " \
        "again"

/* -- keys ------------------------------------------------------------------------------------------------------- */

/* A released program is not made here: neither sources nor compilers are in its key. */
static void key_of_binary(const struct recipe *r, struct digest *ret)
{
        struct hasher *h = hasher_new();

        recipe_build_digest(r, ret);
        hasher_add(h, ret->bytes, DIGEST_SIZE);
        hasher_finish(h, ret);
}

static void key_of_source(const struct recipe *r, const char *toolchain, const struct digest *source, struct digest *ret)
{
        struct digest recipe;
        struct hasher *h = hasher_new();

        recipe_build_digest(r, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        hasher_string(h, toolchain);
        hasher_add(h, source->bytes, DIGEST_SIZE);
        hasher_finish(h, ret);
}

static int add_dependencies(struct hasher *h, const struct recipe *recipe, bool now)
{
        for (char *const *p = recipe->dependencies; *p; p++) {
                struct digest d;
                int r = dependency_digest(*p, now, &d);

                if (r < 0)
                        return r;
                hasher_add(h, d.bytes, DIGEST_SIZE);
        }
        return 0;
}

/* The toolchain, and the folders that the recipe adds to it. */
static int toolchain_of(const struct recipe *recipe, bool now, char ret[DIGEST_HEX_SIZE])
{
        struct recipe_builder *builder = recipe->builder;
        int r = builder ? builder->toolchain(builder, ret) : now ? host_toolchain_now(ret) : host_toolchain(ret);
        struct hasher *h;
        struct digest d;

        if (r < 0 || !recipe->dependencies[0])
                return r;
        h = hasher_new();
        hasher_string(h, ret);
        r = add_dependencies(h, recipe, now);
        hasher_finish(h, &d);
        digest_hex(&d, ret);
        return r;
}

int build_key(struct history *h, uint32_t commit, const struct recipe *r, struct digest *ret)
{
        struct digest source;
        char toolchain[65];
        int e = era_of(h, r, commit, &r);

        if (e == 0 && r->file) {
                key_of_binary(r, ret);
                return 0;
        }
        if (e == 0)
                e = toolchain_of(r, false, toolchain);
        if (e == 0)
                e = history_source(h, commit, r->sources, &source);
        if (e == 0)
                key_of_source(r, toolchain, &source, ret);
        return e;
}

/* The keys that one era gives, of all commits. */
static int keys_of_era(struct history *h, const struct recipe *r, struct digest **ret, uint32_t *ret_n)
{
        char toolchain[65];
        int e = r->file ? 0 : toolchain_of(r, false, toolchain);

        if (e == 0)
                e = history_sources(h, r->sources, ret, ret_n);
        for (uint32_t i = 0; e == 0 && i < *ret_n; i++) {
                if (r->file)
                        key_of_binary(r, &(*ret)[i]);
                else if (!digest_is_zero(&(*ret)[i]))
                        key_of_source(r, toolchain, &(*ret)[i], &(*ret)[i]);
        }
        return e;
}

static int put_keys_of_era(struct history *h, const struct recipe *r, const uint32_t *eras, uint32_t era, struct digest *list,
                           uint32_t n)
{
        cleanup_free struct digest *keys = NULL;
        uint32_t n_keys = 0;
        int e = keys_of_era(h, r, &keys, &n_keys);

        for (uint32_t i = 0; e == 0 && i < MIN(n, n_keys); i++)
                if (eras[i] == era)
                        list[i] = keys[i];
        return e;
}

int build_keys(struct history *h, const struct recipe *r, struct digest **ret, uint32_t *ret_n)
{
        cleanup_free struct digest *list = NULL;
        cleanup_free uint32_t *eras = NULL;
        uint32_t n = 0;
        int e = keys_of_era(h, r, &list, &n);

        if (e == 0 && r->n_eras > 0)
                e = eras_of_all(h, r, n, &eras);
        for (uint32_t i = 0; e == 0 && i < r->n_eras; i++)
                e = put_keys_of_era(h, r->eras[i], eras, i + 1, list, n);
        if (e < 0)
                return e;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}

/* -- one attempt ------------------------------------------------------------------------------------------------ */

/* The state of a build; becomes its record. */
struct attempt {
        const struct build_request *request;
        const struct build_given *given; /* NULL: the sources are a commit's, and programs go into the store */
        struct worktree *worktree;
        struct manifest files;
        struct attributes *attributes; /* owned; NULL: files are as they were committed */
        struct buffer log;
        size_t heard; /* bytes of it that the request's listener has */
        char *reason; /* owned; NULL: it goes well */
        bool doubted; /* what it failed for may have come from outside */
        bool ccache;
        char shim[PATH_SIZE];
        char toolchain[DIGEST_HEX_SIZE];
        struct digest tools; /* as they lay there when it began: host_tools_moment() */
        char namespace[sizeof("CCACHE_NAMESPACE=") + DIGEST_HEX_SIZE];
        uint64_t wall_ns, cpu_ns, memory, waited_ns; /* waited: for a core that others had */
        int64_t started;
        struct build_output *outputs; /* owned */
        size_t n_outputs;
};

static void outputs_free(struct build_output *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(list[i].name);
        free(list);
}

static void attempt_done(struct attempt *a)
{
        manifest_done(&a->files);
        attributes_free(a->attributes);
        buffer_done(&a->log);
        free(a->reason);
        outputs_free(a->outputs, a->n_outputs);
}
#define cleanup_attempt cleanup(attempt_done)

/* The build has failed: that is an answer. 0, or -ENOMEM. */
static int fail(struct attempt *a, const char *format, ...) printf_like(2, 3);
static int fail(struct attempt *a, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&a->reason, format, args);
        va_end(args);
        if (n < 0) {
                a->reason = NULL;
                return -ENOMEM;
        }
        for (char *p = a->reason; *p; p++)
                if ((unsigned char)*p < 0x20)
                        *p = ' '; /* one line */
        return 0;
}

/* -- commands -- */

static bool names_variable(char *const *list, const char *variable)
{
        size_t n = strcspn(variable, "=") + 1;

        for (size_t i = 0; list[i]; i++)
                if (strncmp(list[i], variable, n) == 0)
                        return true;
        return false;
}

struct environment {
        const char *list[256]; /* NULL behind the last */
        size_t n;
};

static int add_variable(struct environment *e, const char *variable)
{
        if (e->n + 1 >= ARRAY_SIZE(e->list))
                return errorf(-E2BIG, "the recipe has too many 'environment' lines");
        e->list[e->n++] = variable;
        return 0;
}

static int add_defaults(struct environment *e, const struct recipe *recipe, const char *const *list, size_t n)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                if (!names_variable(recipe->environment, list[i]))
                        r = add_variable(e, list[i]);
        return r;
}

/* Nothing of it differs between machines and times, so that equal sources give equal programs; the recipe's own variables win. */
static int environment_of(const struct attempt *a, struct environment *ret)
{
        const struct build_request *q = a->request;
        const char *const always[] = {"SOURCE_DATE_EPOCH=315532800" /* 1980, which every archive can hold */, "TZ=UTC",
                                      "USER=solverfs", "LOGNAME=solverfs", "PATH=" TOOLS_INSIDE ":/usr/local/bin:/usr/bin:/bin"};
        /* No configuration but this: a build could write one into the folder. Preprocessor mode: the others trust the list of headers of an
         * earlier compilation, and do not see one that appears. The assembler is in the namespace, as ccache looks at the compiler only. */
        const char *const with_ccache[] = {
                "CCACHE_DIR=" CCACHE, "CCACHE_CONFIGPATH=/dev/null",  "CCACHE_UMASK=002",
                "CCACHE_NODIRECT=1",  "CCACHE_COMPILERCHECK=content", "CCACHE_PREFIX_CPP=" TOOLS_INSIDE "/cpp.solverfs",
                a->namespace};
        const char *const anew[] = {"CCACHE_RECACHE=1"};
        int r = 0;

        for (char *const *p = q->recipe->environment; r == 0 && *p; p++)
                r = add_variable(ret, *p);
        if (r == 0)
                r = add_defaults(ret, q->recipe, always, ARRAY_SIZE(always));
        if (r == 0 && a->ccache)
                r = add_defaults(ret, q->recipe, with_ccache, ARRAY_SIZE(with_ccache));
        if (r == 0 && a->ccache && q->again)
                r = add_defaults(ret, q->recipe, anew, ARRAY_SIZE(anew));
        return r;
}

/* {jobs} replaced; all other braces are the shell's. */
static int command_text(const char *command, unsigned jobs, struct buffer *ret)
{
        const char *p;

        while ((p = strstr(command, "{jobs}"))) {
                buffer_add(ret, command, (size_t)(p - command));
                buffer_addf(ret, "%u", MAX(jobs, 1U));
                command = p + strlen("{jobs}");
        }
        buffer_adds(ret, command);
        return buffer_error(ret);
}

/* Folders and files from outside of the sources, read-only. They are there, or it is no failure of the commit. */
static int bind_dependencies(const struct build_request *q, struct bind *binds, size_t *n)
{
        for (char *const *p = q->recipe->dependencies; *p; p++) {
                struct stat st;

                if (stat(*p, &st) < 0 || !S_ISDIR(st.st_mode))
                        return errorf(
                                -EIO,
                                "the folder %s, a dependency in the recipe of %s, is not there: install it, or change the recipe",
                                *p, q->recipe->name);
                binds[(*n)++] = (struct bind){.source = *p, .target = *p};
        }
        return 0;
}

struct download {
        char source[PATH_SIZE], target[256];
};

static int bind_downloads(const struct build_request *q, struct download *files, struct bind *binds, size_t *n)
{
        for (char *const *p = q->recipe->downloads; *p; p++, files++) {
                char hex[DIGEST_HEX_SIZE];
                struct digest d;
                struct slice name;

                recipe_download(*p, &d, &name);
                digest_hex(&d, hex);
                snprintf(files->target, sizeof(files->target), DOWNLOADS "/%.*s", (int)name.size, (const char *)name.data);
                if (!q->downloads_dir || path_join(files->source, q->downloads_dir, hex) < 0 || access(files->source, R_OK) < 0)
                        return errorf(
                                -EIO,
                                "%.*s, which the recipe of %s downloads, is not in the store: 'solverfs solver update' gets it",
                                (int)name.size, (const char *)name.data, q->recipe->name);
                binds[(*n)++] = (struct bind){.source = files->source, .target = files->target};
        }
        return 0;
}

static int execute_command(struct attempt *a, const char *text, struct execute_result *ret)
{
        const struct build_request *q = a->request;
        const struct recipe_limits *limits = &q->recipe->build_limits;
        /* With the cache's folder bound the umask is the group's; a build's is always the same. */
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"umask 022; exec /bin/sh -c \"$1\"",
                        (char *)"sh",      (char *)text, NULL};
        struct environment environment = {0};
        size_t n_downloads = strings_count(q->recipe->downloads), n_binds = 2;
        cleanup_free struct bind *binds = calloc(5 + strings_count(q->recipe->dependencies) + n_downloads, sizeof(*binds));
        cleanup_free struct download *downloads = calloc(n_downloads + 1, sizeof(*downloads));
        uint64_t left = limits->wall_ns > a->wall_ns ? limits->wall_ns - a->wall_ns : 1;
        int r = binds && downloads ? environment_of(a, &environment) : -ENOMEM;

        if (r < 0)
                return r;
        binds[0] = (struct bind){.source = a->worktree->path, .target = INSIDE, .writable = true};
        binds[1] = (struct bind){.source = a->worktree->tools, .target = TOOLS_INSIDE};
        r = bind_dependencies(q, binds, &n_binds);
        if (r == 0)
                r = bind_downloads(q, downloads, binds, &n_binds);
        if (r < 0)
                return r;
        if (q->sandbox == SANDBOX_BWRAP)
                binds[n_binds++] = (struct bind){.source = a->shim, .target = TOOLS_SHIM_INSIDE};
        if (a->ccache)
                binds[n_binds++] = (struct bind){.source = q->ccache_dir, .target = CCACHE, .writable = true, .shared = true};
        if (a->ccache && q->sandbox == SANDBOX_BWRAP && access(CCACHE_LINKS, F_OK) == 0)
                binds[n_binds++] = (struct bind){.source = a->worktree->tools, .target = CCACHE_LINKS};
        return execute(
                &(struct execute_request){
                        .argv = argv,
                        .environment = (char *const *)environment.list,
                        .directory = INSIDE,
                        .binds = binds,
                        .n_binds = n_binds,
                        .scratch = a->worktree->scratch,
                        .sandbox = q->sandbox,
                        .wall_ns = left,
                        .cpu_ns = limits->cpu_ns,
                        .memory = limits->memory,
                        .file_size = FILE_MAX,
                        .processes = limits->processes,
                        .stack_top = STACK_TOP,
                        .out = {.keep = MAX(limits->output / MAX(strings_count(q->recipe->build), 1), 1 << 16)},
                        .merge = true,
                        .cpus = q->cpus,
                        .slot = q->slot,
                        .cancel_fd = q->cancel_fd,
                        .input_fd = -1,
                        .listener = q->listener,
                },
                ret);
}

static void tell_log(struct attempt *a)
{
        const struct listener *l = a->request->listener;

        if (l && a->log.size > a->heard)
                l->hear(l->user, SLICE(a->log.data + a->heard, a->log.size - a->heard));
        a->heard = a->log.size;
}

/* The command's output was heard as it came. */
static void add_output(struct attempt *a, const struct blob *output)
{
        buffer_add(&a->log, output->data, output->size);
        a->heard = a->log.size;
        if (a->log.size > 0 && a->log.data[a->log.size - 1] != '\n')
                buffer_adds(&a->log, "\n");
        tell_log(a);
}

static bool says(const struct execute_result *x, const char *const *words, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (x->out.size > 0 && memmem(x->out.data, x->out.size, words[i], strlen(words[i])))
                        return true;
        return false;
}

/* Did it fail for want of the network? In the words of curl, git, pip, cargo, Go, wget and the C library. */
static bool wants_network(const struct execute_result *x)
{
        static const char *const words[] = {"Could not resolve host",         "Temporary failure in name resolution",
                                            "Network is unreachable",         "ENETUNREACH",
                                            "unable to resolve host address", "dial tcp: lookup",
                                            "Name or service not known"};

        return says(x, words, ARRAY_SIZE(words));
}

/* Could nothing be started any more? In the words of make, gcc and bash, of ninja, and of dash. Its own limit is told otherwise
 * (END_PROCESSES): this one was the machine's. */
static bool wants_processes(const struct execute_result *x)
{
        static const char *const words[] = {"fork: Resource temporarily unavailable",
                                            "posix_spawn: Resource temporarily unavailable", ": Cannot fork"};

        return x->end == END_EXIT && x->code != 0 && says(x, words, ARRAY_SIZE(words));
}

/* A signal that people and services end processes with may have come from anywhere. Mostly it is not the shell that it hits but what the
 * shell has started: then there is a status, or only a word of the shell, make, a compiler's driver, cargo, go or Python. */
static bool may_be_killed(const struct execute_result *x)
{
        static const char *const words[] = {"Killed\n",
                                            " Killed  ",
                                            "Killed signal terminated program",
                                            "terminated with signal 9",
                                            "Killed (program ",
                                            "signal: 9, SIGKILL",
                                            "signal: killed",
                                            "Signals.SIGKILL",
                                            "Terminated\n",
                                            " Terminated  ",
                                            "Terminated signal terminated program",
                                            "terminated with signal 15",
                                            "signal: 15, SIGTERM",
                                            "signal: terminated",
                                            "Signals.SIGTERM"};
        static const int signals[] = {SIGHUP, SIGINT, SIGKILL, SIGTERM};

        for (size_t i = 0; x->end == END_EXIT && i < ARRAY_SIZE(signals); i++)
                if (x->code == 128 + signals[i])
                        return true;
        return x->doubt == DOUBT_SIGNAL || (x->end == END_EXIT && says(x, words, ARRAY_SIZE(words)));
}

/* A build that ran into its time limit with less than a quarter of one core, as others had them, says nothing of the commit. One that sleeps or
 * hangs waits for no core. */
static bool is_starved(const struct attempt *a, const struct execute_result *x)
{
        return x->end == END_TIMEOUT && a->cpu_ns < a->wall_ns / 4 && a->waited_ns > a->wall_ns / 2;
}

/* True if the end of the command may not be the commit's fault. */
static bool is_doubted(const struct attempt *a, const struct execute_result *x)
{
        return x->doubt == DOUBT_MEMORY || (x->doubt == DOUBT_PAUSE && x->end == END_TIMEOUT) || is_starved(a, x) ||
               may_be_killed(x) || wants_processes(x);
}

/* Says behind a failed command's status what else may explain it. */
static const char *hint(const struct attempt *a, const struct execute_result *x)
{
        if (a->files.n == 0 && a->request->recipe->paths[0])
                return " (this commit has none of the recipe's 'paths', so the folder is empty)";
        return wants_network(x) ? " (a build has no network, and it seems to want one)" : "";
}

/* Why a command failed, in the words of the record's reason; 0 too when it did not. */
static int judge(struct attempt *a, size_t number, const char *text, const struct execute_result *x)
{
        const struct recipe_limits *limits = &a->request->recipe->build_limits;
        char command[COMMAND_MAX + 64], limit[32];

        snprintf(command, sizeof(command), "command %zu (%.*s%s)", number + 1, COMMAND_MAX, text,
                 strlen(text) > COMMAND_MAX ? "…" : "");
        switch (x->end) {
        case END_EXIT:
                return x->code == 0 ? 0 : fail(a, "%s exited with status %d%s", command, x->code, hint(a, x));
        case END_SIGNAL:
                return fail(a, "%s was killed by signal %d (%s)", command, x->code, strsignal(x->code));
        case END_TIMEOUT:
                format_duration(limits->wall_ns, limit);
                return fail(a, "timed out after %s, in %s", limit, command);
        case END_MEMORY:
                format_size(limits->memory, limit);
                return fail(a, "%s needs more than the %s of memory it may use (build-memory)", command, limit);
        case END_PROCESSES:
                return fail(a, "%s needs more than the %llu processes it may have (build-processes)", command,
                            (unsigned long long)limits->processes);
        case END_OUTPUT:
                format_size(FILE_MAX, limit);
                return fail(a, "%s wrote more than %s of temporary files", command, limit);
        case END_CANCELLED:
                return errorf(-ECANCELED, "the build was cancelled");
        case END_NOEXEC:
                return errorf(-EIO, "cannot run /bin/sh for a build: %s", strerror(x->code));
        }
        return errorf(-EIO, "a build command ended in a way that is not known: %d", x->end);
}

static int run_command(struct attempt *a, size_t number)
{
        cleanup_buffer struct buffer text = {0};
        struct execute_result x = {0};
        int r = fault_at("build.command");

        if (r == 0)
                r = command_text(a->request->recipe->build[number], a->request->jobs, &text);
        if (r < 0)
                return r;
        r = progress_step(a->request->progress, text.data, number, strings_count(a->request->recipe->build));
        if (r < 0)
                return r;
        buffer_addf(&a->log, "+ %s\n", text.data);
        tell_log(a);
        r = execute_command(a, text.data, &x);
        if (r < 0)
                return r;
        add_output(a, &x.out);
        a->wall_ns += x.wall_ns;
        a->waited_ns += x.waited_ns; /* a hypervisor takes from cores that nobody here waits for, too */
        a->cpu_ns += x.user_ns + x.system_ns;
        a->memory = MAX(a->memory, x.memory);
        r = judge(a, number, text.data, &x);
        a->doubted = a->reason && is_doubted(a, &x);
        execute_result_done(&x);
        return r < 0 ? r : buffer_error(&a->log);
}

/* -- outputs -- */

static bool is_committed(const struct attempt *a, const char *path)
{
        for (size_t i = 0; i < a->files.n; i++)
                if (strcmp(a->files.list[i].path, path) == 0)
                        return true;
        return false;
}

/* An output that an earlier commit's build left must not pass for this one's. */
static int delete_outputs(struct attempt *a)
{
        char *const *outputs = a->request->recipe->outputs;
        int r = 0;

        for (size_t i = 0; r == 0 && outputs[i]; i++) {
                bool is_source = is_committed(a, outputs[i]);

                r = is_source ? 0 : checkout_delete(a->worktree->path, outputs[i]); /* a script needs no build to be there */
                if (r < 0)
                        r = errorf(r, "cannot delete %s in %s: %s", outputs[i], a->worktree->path, strerror(-r));
        }
        return r;
}

#define PROGRAMS_NAMED 5

/* The programs that a build has made: executable files that are no sources, and no leftovers of libtool, CMake or autoconf. */
static void list_programs(const struct attempt *a, struct buffer *ret)
{
        char *roots[] = {a->worktree->path, NULL};
        size_t skip = strlen(a->worktree->path) + 1, n = 0;
        FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

        for (FTSENT *e; fts && n <= PROGRAMS_NAMED && (e = fts_read(fts));) {
                if (e->fts_info == FTS_D && (strcmp(e->fts_name, "CMakeFiles") == 0 || strcmp(e->fts_name, ".libs") == 0))
                        fts_set(fts, e, FTS_SKIP);
                if (e->fts_info != FTS_F || !(e->fts_statp->st_mode & 0100) || e->fts_statp->st_size == 0 ||
                    is_committed(a, e->fts_path + skip) || strcmp(e->fts_name, "config.status") == 0)
                        continue;
                if (n++ < PROGRAMS_NAMED)
                        buffer_addf(ret, "%s%s", n > 1 ? ", " : "; programs that it made: ", e->fts_path + skip);
                else
                        buffer_adds(ret, " and more");
        }
        if (fts)
                fts_close(fts);
}

static int fail_without(struct attempt *a, const char *path)
{
        cleanup_buffer struct buffer made = {0};

        buffer_add(&made, "", 0);
        list_programs(a, &made);
        return buffer_error(&made) < 0 ? -ENOMEM : fail(a, "the build made no %s%s", path, made.data);
}

static int put_output(struct attempt *a, size_t i)
{
        const char *path = a->request->recipe->outputs[i];
        const struct digest *near = i < a->worktree->n_programs ? &a->worktree->programs[i] : NULL;
        struct build_output *o = &a->outputs[i];
        cleanup_close int fd = -1;
        struct stat st;
        int r = checkout_open(a->worktree->path, path, &fd);

        if (r == -ENOENT || r == -ENOTDIR)
                return fail_without(a, path);
        if (r < 0 || fstat(fd, &st) < 0)
                return fail(a, "output %s is no plain file of the build's", path);
        if (st.st_size == 0)
                return fail(a, "output %s is empty", path);
        *o = (struct build_output){.name = strdup(basename(path)), .executable = st.st_mode & 0111};
        if (!o->name)
                return -ENOMEM;
        a->n_outputs++;
        if (a->given)
                return a->given->output(a->given->user, fd, &o->id, &o->size);
        return programs_put(a->request->programs, fd, near, &o->id, &o->size);
}

static int put_outputs(struct attempt *a)
{
        size_t n = strings_count(a->request->recipe->outputs);
        int r = 0;

        a->outputs = calloc(n + 1, sizeof(*a->outputs));
        if (!a->outputs)
                return -ENOMEM;
        progress_tell(a->request->progress, "storing programs", 0, n); /* it is built: no time to stop */
        for (size_t i = 0; r == 0 && !a->reason && i < n; i++)
                r = put_output(a, i);
        return r;
}

/* -- all of it -- */

static uint64_t disk_left(const char *path)
{
        struct statvfs s;

        return statvfs(path, &s) < 0 ? UINT64_MAX : (uint64_t)s.f_bavail * s.f_frsize;
}

/* A build that failed for want of room says nothing of the commit. */
static int check_disk(const struct attempt *a)
{
        static const char words[] = "No space left on device";

        if (disk_left(a->worktree->path) >= DISK_FULL &&
            !(a->log.size > 0 && memmem(a->log.data, a->log.size, words, strlen(words))))
                return 0;
        return errorf(-ENOSPC, "the disk of %s is full: a build could not finish", a->worktree->path);
}

/* The time of the files of a clean tree: the same each time, and as in a fresh clone newer than the system's, on which rules of a Makefile may
 * depend. Packages keep the times at which they were made; the folders tell when the last one was installed. */
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

/* A checkout that no machine could make is the commit's fault. */
static int fill_tree(struct attempt *a, git_repository *git, bool clean)
{
        const struct build_request *q = a->request;
        int r;

        if (a->given)
                return checkout_given(a->worktree->path, &a->files, tree_time(), a->given->content, a->given->user, q->progress);
        r = checkout(git, a->attributes, a->worktree->path, clean ? NULL : &a->worktree->manifest, &a->files, tree_time(),
                     q->progress);

        if (r == -EBADMSG)
                r = fail(a, "%s", error_message(r));
        return r == 0 && !clean ? delete_outputs(a) : r;
}

static int attempt_run(struct attempt *a, git_repository *git, bool clean)
{
        const struct build_request *q = a->request;
        int r = worktree_begin(a->worktree, clean);

        a->started = now_seconds();
        if (r == 0)
                r = build_tools_make(a->worktree->tools, q->sandbox, q->ccache_dir != NULL, &a->ccache);
        if (r == 0)
                r = fault_at("build.checkout");
        if (r == 0)
                r = fill_tree(a, git, clean);
        for (size_t i = 0; r == 0 && !a->reason && q->recipe->build[i]; i++)
                r = run_command(a, i);
        if (r == 0 && !a->reason)
                r = put_outputs(a);
        return r == 0 && a->reason ? check_disk(a) : r;
}

static int record_new(struct attempt *a, const git_oid *commit, bool clean, struct build_record **ret)
{
        struct build_record *b = calloc(1, sizeof(*b));
        int r;

        if (!b)
                return -ENOMEM;
        if (a->reason)
                buffer_addf(&a->log, "(failed: %s)\n", a->reason);
        r = buffer_steal(&a->log, &b->log);
        if (r < 0) {
                free(b);
                return r;
        }
        b->refs = 1;
        b->ok = !a->reason;
        b->clean = clean;
        b->commit = *commit;
        b->started = a->started;
        b->duration_ns = a->wall_ns;
        b->cpu_ns = a->cpu_ns;
        b->memory = a->memory;
        b->reason = steal_pointer(a->reason);
        if (b->ok) {
                b->outputs = steal_pointer(a->outputs);
                b->n_outputs = a->n_outputs;
                a->n_outputs = 0;
                r = build_record_note_program(b);
        }
        if (r < 0)
                build_record_unref(b);
        else
                *ret = b;
        return r;
}

/* For the next build in this worktree. A build that made no program keeps what was known of the last one. */
static int keep(struct attempt *a, const struct digest *key, bool made)
{
        cleanup_free struct digest *programs = calloc(a->n_outputs + 1, sizeof(*programs));
        struct worktree *w = a->worktree;
        int r = programs ? fault_at("build.keep") : -ENOMEM;

        if (r < 0)
                return r;
        for (size_t i = 0; i < a->n_outputs; i++)
                programs[i] = a->outputs[i].id;
        return made ? worktree_keep(w, key, &a->files, programs, a->n_outputs, a->request->incremental)
                    : worktree_keep(w, key, &w->manifest, w->programs, w->n_programs, false);
}

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

/* Begins the log anew, with why there is another attempt and how the one before ended. */
static void begin_again(struct attempt *a, struct buffer *notes, const char *what, const char *why)
{
        struct slice said = SLICE(a->log.data + notes->size, a->log.size - notes->size);

        buffer_addf(notes, "(built in a clean tree, as %s: %s)\n", what, why);
        add_quoted(notes, slice_last_lines(said, LAST_LINES, LAST_BYTES));
        buffer_done(&a->log);
        buffer_add(&a->log, notes->data, notes->size);
        a->heard = 0;
        outputs_free(a->outputs, a->n_outputs);
        a->outputs = NULL;
        a->n_outputs = 0;
        a->wall_ns = a->cpu_ns = a->memory = a->waited_ns = 0;
        a->doubted = false;
        free(steal_pointer(a->reason));
}

/* An empty worktree may mend what fails in one that was used before, but not a cancel, a full disk or a repository that lacks objects. */
static bool may_help(int r)
{
        return r != -ECANCELED && r != -ENOSPC && r != -ESTALE && r != -ENOMEM;
}

/* Objects of two compilers in one program would be nobody's, and what failed meanwhile may have failed for want of a compiler. 1: they were
 * exchanged, and are the same by all that keys tell; the build is to be done again. */
static int check_tools(struct attempt *a)
{
        struct digest now;
        char toolchain[DIGEST_HEX_SIZE];
        int r;

        host_tools_moment(&now);
        if (digest_equal(&now, &a->tools))
                return 0;
        r = toolchain_of(a->request->recipe, true, toolchain);
        if (r < 0)
                return r;
        a->tools = now;
        return strcmp(toolchain, a->toolchain) == 0 ? 1 : errorf(-EIO, TOOLS_CHANGED);
}

static int attempt_again(struct attempt *a, git_repository *git, const git_oid *commit, struct buffer *notes, const char *what,
                         int r)
{
        cleanup_free char *why = strdup(a->reason ?: error_message(r));

        log_info("building %s in a clean tree, as %s: %s", git_oid_tostr_s(commit), what, why ?: "");
        begin_again(a, notes, what, why ?: "");
        return attempt_run(a, git, true);
}

static int build_in(struct attempt *a, git_repository *git, const git_oid *commit, const struct digest *key,
                    struct build_record **ret)
{
        cleanup_buffer struct buffer notes = {0};
        bool clean = !a->worktree->usable || !a->request->incremental;
        int r;

        if (!clean && !checkout_is_intact(a->worktree->path, &a->worktree->manifest)) {
                buffer_adds(&a->log, "(built in a clean tree, as the build before changed files of its sources)\n");
                clean = true;
        }
        buffer_add(&notes, a->log.data, a->log.size);
        r = attempt_run(a, git, clean);
        if (!clean && (a->reason || (r < 0 && may_help(r)))) {
                r = attempt_again(a, git, commit, &notes, "building on what was there failed", r);
                clean = true;
        }
        if (r == 0 && a->doubted) {
                r = attempt_again(a, git, commit, &notes, "what ended it may have come from outside", r);
                clean = true;
        }
        if (r == 0 && (r = check_tools(a)) == 1) {
                r = attempt_again(a, git, commit, &notes, "compilers or build tools were exchanged meanwhile", 0);
                clean = true;
                if (r == 0 && check_tools(a) != 0)
                        r = errorf(-EIO, TOOLS_CHANGED);
        }
        if (r == 0 && a->doubted)
                r = errorf(-EIO, "%s: that may have come from outside, so nothing is recorded of this commit", a->reason);
        if (keep(a, key, r == 0 && !a->reason) < 0)
                log_warning("%s is left behind, or its state cannot be written", a->worktree->path);
        return r < 0 ? r : record_new(a, commit, clean, ret);
}

/* Of all that a tree to be gone on from must have in common with the build that does. */
static int tree_key(const struct recipe *recipe, const char *toolchain, const struct digest *tools, struct digest *ret)
{
        char headers[65];
        struct digest d;
        struct hasher *h;
        int r = host_headers(headers);

        if (r < 0)
                return r;
        recipe_build_digest(recipe, &d);
        h = hasher_new();
        hasher_add(h, d.bytes, DIGEST_SIZE);
        hasher_string(h, toolchain);
        hasher_add(h, tools->bytes, DIGEST_SIZE);
        hasher_string(h, headers);
        hasher_finish(h, ret);
        return 0;
}

/* ccache looks at the compiler's driver only. Other build tools are none of its business: an object stays known when one of them comes or goes. */
static int name_space(struct attempt *a)
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;
        struct hasher *h = hasher_new();
        int r;

        host_compilers(&d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        r = add_dependencies(h, a->request->recipe, true);
        hasher_finish(h, &d);
        digest_hex(&d, hex);
        snprintf(a->namespace, sizeof(a->namespace), "CCACHE_NAMESPACE=%s", hex);
        return r;
}

/* The toolchain may have been upgraded since the key was made: then no build of that key can be made any more. */
static int check_key(const struct attempt *a)
{
        const struct build_request *q = a->request;
        struct digest source, key;
        int r = q->key ? history_source(q->history, q->commit, q->recipe->sources, &source) : 0;

        if (r < 0 || !q->key)
                return r;
        key_of_source(q->recipe, a->toolchain, &source, &key);
        return digest_equal(&key, q->key) ? 0 : errorf(-EIO, TOOLS_CHANGED);
}

static int check_given(const struct attempt *a)
{
        return strcmp(a->given->toolchain, a->toolchain) == 0
                       ? 0
                       : errorf(-ESTALE, "the compilers or build tools are not the ones that this build was asked for with");
}

static int prepare_tools(struct attempt *a, struct digest *ret_key)
{
        const struct recipe *recipe = a->request->recipe;
        struct digest tools;
        int r;

        host_tools_moment(&a->tools); /* before all that is found out about them */
        host_tools(&tools);
        r = toolchain_of(recipe, true, a->toolchain);
        if (r == 0)
                r = a->given ? check_given(a) : check_key(a);
        if (r == 0)
                r = tree_key(recipe, a->toolchain, &tools, ret_key);
        if (r == 0)
                r = name_space(a);
        return r == 0 ? build_tools_shim(a->shim) : r;
}

static int prepare(struct attempt *a, git_repository *git, const git_oid *commit, struct digest *ret_key)
{
        const struct recipe *recipe = a->request->recipe;
        int r = prepare_tools(a, ret_key);

        if (r == 0)
                r = checkout_list(git, commit, recipe->paths, recipe->submodules, &a->files, &a->log);
        if (r == 0)
                r = attributes_open(git, commit, recipe->paths, &a->attributes);
        return r;
}

/* A released program: nothing is checked out and nothing is run. */
static int build_released(struct attempt *a, const git_oid *commit, struct build_record **ret)
{
        const struct recipe *era = a->request->recipe;
        int r;

        a->started = now_seconds();
        buffer_addf(&a->log, "(released binary: %s, sha256 %s)\n", era->file, era->sha256);
        r = binary_take(a->request, era, &a->outputs, &a->n_outputs, &a->reason);
        return r < 0 ? r : record_new(a, commit, true, ret);
}

/* -- elsewhere -- */

int build_sources_read(const struct build_sources *s, size_t i, struct blob *ret)
{
        return checkout_content(s->git, s->attributes, &s->files.list[i], ret);
}

static int digest_sources(struct build_sources *s, const struct progress *p)
{
        int r = 0;

        s->sizes = calloc(s->files.n + 1, sizeof(*s->sizes));
        if (!s->sizes)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < s->files.n; i++) {
                cleanup_blob struct blob b = {0};

                if (i % 256 == 0)
                        r = progress_step(p, "reading sources", i, s->files.n);
                if (r == 0)
                        r = build_sources_read(s, i, &b);
                if (r == 0) {
                        digest_of(b.data ?: "", b.size, &s->files.list[i].content);
                        s->sizes[i] = b.size;
                }
        }
        return r;
}

static int list_for_elsewhere(struct attempt *a, git_repository *git, const git_oid *commit, struct build_sources *ret)
{
        const struct recipe *recipe = a->request->recipe;
        int r = checkout_list(git, commit, recipe->paths, recipe->submodules, &ret->files, &a->log);

        ret->git = git;
        if (r == 0)
                r = attributes_open(git, commit, recipe->paths, &ret->attributes);
        return r == 0 ? digest_sources(ret, a->request->progress) : r;
}

static void sources_done(struct build_sources *s)
{
        manifest_done(&s->files);
        attributes_free(s->attributes);
        free(s->sizes);
}

/* The log of the sources comes before the builder's own. */
static int join_log(struct attempt *a, struct build_record *b)
{
        buffer_add(&a->log, b->log.data, b->log.size);
        blob_done(&b->log);
        b->log = (struct blob){0};
        return buffer_steal(&a->log, &b->log);
}

static int build_elsewhere(struct attempt *a, git_repository *git, const git_oid *commit, struct build_record **ret)
{
        const struct build_request *q = a->request;
        cleanup(sources_done) struct build_sources sources = {0};
        cleanup(build_record_unrefp) struct build_record *b = NULL;
        int r = list_for_elsewhere(a, git, commit, &sources);

        if (r == -EBADMSG) { /* no machine could build that */
                a->started = now_seconds();
                r = fail(a, "%s", error_message(r));
                return r < 0 ? r : record_new(a, commit, true, ret);
        }
        tell_log(a);
        if (r == 0)
                r = q->away->build(q->away, q, &sources, &b);
        if (r == 0)
                r = join_log(a, b);
        if (r < 0)
                return r;
        b->commit = *commit;
        *ret = steal_pointer(b);
        return 0;
}

int build_given(const struct build_request *request, struct build_given *given, struct build_record **ret)
{
        static const git_oid none;
        cleanup_worktree struct worktree worktree = {.lock = -1};
        cleanup_attempt struct attempt a = {.request = request, .given = given, .worktree = &worktree, .files = given->files};
        struct digest key;
        int r = make_dirs(request->work_dir, 0700);

        given->files = (struct manifest){0};
        buffer_add(&a.log, "", 0);
        if (r == 0)
                r = prepare_tools(&a, &key);
        if (r == 0)
                r = worktree_take(request->work_dir, &key, &a.files, false, &worktree);
        return r < 0 ? r : build_in(&a, NULL, &none, &key, ret);
}

static int build_era(const struct build_request *request, struct build_record **ret)
{
        cleanup(git_repository_freep) git_repository *git = NULL;
        cleanup_worktree struct worktree worktree = {.lock = -1};
        cleanup_attempt struct attempt a = {.request = request, .worktree = &worktree};
        struct digest key;
        struct commit c;
        int r = history_commit(request->history, request->commit, &c);

        buffer_add(&a.log, "", 0);
        if (r == 0)
                r = progress_step(request->progress, "checkout", 0, 0);
        if (r == 0)
                r = make_dirs(request->work_dir, 0700);
        if (r == 0 && request->recipe->file)
                return build_released(&a, &c.oid, ret);
        if (r == 0)
                r = history_repository(request->history, &git);
        if (r == 0 && request->away)
                return build_elsewhere(&a, git, &c.oid, ret);
        if (r == 0)
                r = prepare(&a, git, &c.oid, &key);
        if (r == -EBADMSG) { /* no machine could build that */
                a.started = now_seconds();
                r = fail(&a, "%s", error_message(r));
                return r < 0 ? r : record_new(&a, &c.oid, true, ret);
        }
        if (r == 0)
                r = worktree_take(request->work_dir, &key, &a.files, request->incremental, &worktree);
        return r < 0 ? r : build_in(&a, git, &c.oid, &key, ret);
}

int build(const struct build_request *request, struct build_record **ret)
{
        struct build_request q = *request;
        int r = era_of(q.history, request->recipe, q.commit, &q.recipe);

        return r < 0 ? r : build_era(&q, ret);
}

static int list_sources(struct history *h, git_repository *git, const struct recipe *r, uint32_t commit, struct manifest *ret)
{
        cleanup_buffer struct buffer notes = {0};
        struct commit c;
        int e = history_commit(h, commit, &c);

        buffer_add(&notes, "", 0);
        return e == 0 ? checkout_list(git, &c.oid, r->paths, r->submodules, ret, &notes) : e;
}

int build_is_edit(struct history *h, const struct recipe *r, uint32_t from, uint32_t to, bool *ret)
{
        cleanup(git_repository_freep) git_repository *git = NULL;
        cleanup_manifest struct manifest a = {0}, b = {0};
        const struct recipe *other;
        int e = era_of(h, r, to, &other);

        if (e == 0)
                e = era_of(h, r, from, &r);
        if (e == 0 && (r != other || r->file)) {
                *ret = false;
                return 0;
        }
        if (e == 0)
                e = history_repository(h, &git);
        if (e == 0)
                e = list_sources(h, git, r, from, &a);
        if (e == 0)
                e = list_sources(h, git, r, to, &b);
        if (e == 0)
                *ret = manifest_is_edit(&a, &b) && manifest_distance(&a, &b) > 0;
        return e;
}
