/* One command of a recipe, run in the sandbox; its output goes into the log. */
#include "core/build/attempt.h"

#include <sys/stat.h>

#include "cache/base/fault.h"
#include "core/build/binary.h"
#include "core/build/build_tools.h"
#include "core/run/file_digest.h"
#include "core/sandbox/surroundings.h"

#define INSIDE       "/build"
#define CCACHE       "/ccache"
#define DOWNLOADS    "/downloads"
#define CCACHE_LINKS "/usr/lib/ccache"    /* ours hides it: its compilers' names lead around the shim */
#define STACK_TOP    (UINT64_C(64) << 20) /* GCC's driver raises its own limit to this */

/* -- its environment -- */

/* Adds variables that the recipe does not set. */
static void add_defaults(char ***environment, const struct recipe *recipe, const char *const *list)
{
        for (; *list; list++)
                if (!environment_has(recipe->environment, *list))
                        strings_add(environment, *list);
}

/* It is the same on all machines and at all times, so that equal sources give equal programs. */
static char **environment_of(const struct attempt *a)
{
        const struct recipe *recipe = a->request->recipe;
        const char *const always[] = {"SOURCE_DATE_EPOCH=315532800" /* 1980, which every archive can hold */, "TZ=UTC",
                                      "USER=solverfs", "LOGNAME=solverfs", "PATH=" TOOLS_INSIDE ":/usr/local/bin:/usr/bin:/bin", NULL};
        /* CONFIGPATH: else a build could leave a configuration in the folder. NODIRECT: the other modes trust the list of headers of an earlier
         * compilation, and miss a header that appears. */
        const char *const with_ccache[] = {
                "CCACHE_DIR=" CCACHE, "CCACHE_CONFIGPATH=/dev/null",  "CCACHE_UMASK=002",
                "CCACHE_NODIRECT=1",  "CCACHE_COMPILERCHECK=content", "CCACHE_PREFIX_CPP=" TOOLS_INSIDE "/cpp.solverfs",
                a->namespace,         a->request->again ? "CCACHE_RECACHE=1" : NULL, NULL};
        char **environment = strings_copy(recipe->environment);

        add_defaults(&environment, recipe, always);
        if (a->ccache)
                add_defaults(&environment, recipe, with_ccache);
        return environment;
}

/* -- what it sees -- */

struct binds {
        struct bind *list; /* owned; their paths belong to the attempt, the recipe, or `paths` */
        size_t n;
        char **paths; /* owned */
};

static void binds_done(struct binds *s)
{
        free(s->list);
        strings_free(s->paths);
}

static void add_bind(struct binds *s, struct bind b)
{
        list_add(s->list, s->n, b);
}

/* Binds the recipe's folders of this machine, read-only. A missing one is not the commit's failure. */
static int bind_dependencies(const struct build_request *q, struct binds *s)
{
        for (char *const *p = q->recipe->dependencies; *p; p++) {
                struct stat st;

                if (stat(*p, &st) < 0 || !S_ISDIR(st.st_mode))
                        return errorf(
                                -EIO,
                                "the folder %s, a dependency in the recipe of %s, is not there: install it, or change the recipe",
                                *p, q->recipe->name);
                add_bind(s, (struct bind){.source = *p, .target = *p});
        }
        return 0;
}

/* Binds downloads, read-only, each looked at again: a damaged one is not the commit's failure. */
static int bind_downloads(const struct build_request *q, struct binds *s)
{
        for (char *const *p = q->recipe->downloads; *p; p++) {
                char source[PATH_SIZE], target[256];
                struct digest d;
                struct slice name;
                size_t n = s->paths ? strings_count(s->paths) : 0;
                struct file_look look;

                recipe_download(*p, &d, &name);
                snprintf(target, sizeof(target), DOWNLOADS "/%.*s", (int)name.size, (const char *)name.data);
                if (!q->downloads_dir || path_join(source, q->downloads_dir, digest_text(&d).s) < 0 || access(source, R_OK) < 0)
                        return errorf(
                                -EIO,
                                "%.*s, which the recipe of %s downloads, is not in the store: 'solverfs solver update' gets it",
                                (int)name.size, (const char *)name.data, q->recipe->name);
                file_look(source, &look);
                if (!digest_equal(&look.digest, &d))
                        return errorf(-EIO, DOWNLOAD_DAMAGED, source);
                strings_add(&s->paths, source);
                strings_add(&s->paths, target);
                add_bind(s, (struct bind){.source = s->paths[n], .target = s->paths[n + 1]});
        }
        return 0;
}

/* The worktree, the tools, the compile cache, and the paths that the recipe names. */
static int binds_of(const struct attempt *a, struct binds *ret)
{
        const struct build_request *q = a->request;
        int r;

        add_bind(ret, (struct bind){.source = a->worktree->path, .target = INSIDE, .writable = true});
        add_bind(ret, (struct bind){.source = a->worktree->tools, .target = TOOLS_INSIDE});
        r = bind_dependencies(q, ret) ?: bind_downloads(q, ret);
        if (q->sandbox == SANDBOX_BWRAP)
                add_bind(ret, (struct bind){.source = a->shim, .target = TOOLS_SHIM_INSIDE});
        if (a->ccache)
                add_bind(ret, (struct bind){.source = q->ccache_dir, .target = CCACHE, .writable = true, .shared = true});
        if (a->ccache && q->sandbox == SANDBOX_BWRAP && access(CCACHE_LINKS, F_OK) == 0)
                add_bind(ret, (struct bind){.source = a->worktree->tools, .target = CCACHE_LINKS});
        return r;
}

/* -- running it -- */

/* Replaces {jobs}; all other braces are the shell's. */
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

static int execute_command(struct attempt *a, const char *text, struct execute_result *ret)
{
        const struct build_request *q = a->request;
        const struct recipe_limits *limits = &q->recipe->build_limits;
        /* execute() sets umask 002 for a shared folder (the cache's), but a build's is always 022. */
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"umask 022; exec /bin/sh -c \"$1\"",
                        (char *)"sh",      (char *)text, NULL};
        cleanup(binds_done) struct binds binds = {0};
        struct execute_request x = {
                .argv = argv,
                .directory = INSIDE,
                .scratch = a->worktree->scratch,
                .sandbox = q->sandbox,
                .wall_ns = limits->wall_ns > a->made.duration_ns ? limits->wall_ns - a->made.duration_ns : 1, /* 0: no limit */
                .cpu_ns = limits->cpu_ns,
                .memory = limits->memory,
                .file_size = FILE_MAX,
                .processes = limits->processes,
                .stack_top = STACK_TOP,
                .out = {.keep = MAX(limits->output / MAX(strings_count(q->recipe->build), 1), 1 << 16)}, /* a share of the log for each command */
                .watch = !a->given,
                .merge = true,
                .cpus = q->cpus,
                .loans = q->loans,
                .n_loans = q->n_loans,
                .slot = q->slot,
                .cancel_fd = q->cancel_fd,
                .listener = q->listener,
        };
        char **environment;
        int r = binds_of(a, &binds);

        if (r < 0)
                return r;
        x.binds = binds.list;
        x.n_binds = binds.n;
        x.environment = environment = environment_of(a);
        r = execute(&x, ret);
        strings_free(environment);
        return r;
}

void attempt_tell_log(struct attempt *a)
{
        const struct listener *l = a->request->listener;

        if (l && a->log.size > a->heard)
                l->hear(l->user, SLICE(a->log.data + a->heard, a->log.size - a->heard));
        a->heard = a->log.size;
}

/* Adds the command's output, which was heard as it came. */
static void add_output(struct attempt *a, const struct blob *output)
{
        buffer_add(&a->log, output->data, output->size);
        a->heard = a->log.size;
        if (a->log.size > 0 && a->log.data[a->log.size - 1] != '\n')
                buffer_adds(&a->log, "\n");
        attempt_tell_log(a);
}

int attempt_run_command(struct attempt *a, size_t number)
{
        cleanup_buffer struct buffer text = {0};
        struct execute_result x = {0};
        int r = fault_at("build.command") ?: command_text(a->request->recipe->build[number], a->request->jobs, &text);

        if (r < 0)
                return r;
        r = progress_step(a->request->progress, text.data, number, strings_count(a->request->recipe->build));
        if (r < 0)
                return r;
        buffer_addf(&a->log, "+ %s\n", text.data);
        attempt_tell_log(a);
        r = execute_command(a, text.data, &x);
        if (r < 0)
                return r;
        add_output(a, &x.out);
        a->made.duration_ns += x.wall_ns;
        a->waited_ns += x.waited_ns; /* without stolen_ns: a hypervisor takes cores that nobody here waits for, too */
        buffer_add(&a->watched, x.watched.data, x.watched.size);
        a->is_watched &= x.is_watched;
        a->made.cpu_ns += x.user_ns + x.system_ns;
        a->made.memory = MAX(a->made.memory, x.memory);
        r = attempt_judge(a, number, text.data, &x);
        execute_result_done(&x);
        return r < 0 ? r : buffer_error(&a->log);
}
