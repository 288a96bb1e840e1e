/* One command of a recipe, run in the sandbox; its output goes into the log. */
#include "core/build/attempt.h"

#include <sys/stat.h>

#include "cache/base/fault.h"
#include "core/build/build_tools.h"

#define INSIDE       "/build"
#define CCACHE       "/ccache"
#define DOWNLOADS    "/downloads"
#define CCACHE_LINKS "/usr/lib/ccache"    /* ours in its place: the compilers' names there lead around the shim */
#define STACK_TOP    (UINT64_C(64) << 20) /* GCC's driver raises its own limit to that */

/* -- its environment -- */

struct environment {
        const char *list[256]; /* NULL behind the last */
        size_t n;
};

static bool names_variable(char *const *list, const char *variable)
{
        size_t n = strcspn(variable, "=") + 1;

        for (size_t i = 0; list[i]; i++)
                if (strncmp(list[i], variable, n) == 0)
                        return true;
        return false;
}

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

/* -- what it sees -- */

struct download {
        char source[PATH_SIZE], target[256];
};

struct sight {
        struct bind *binds; /* owned */
        size_t n;
        struct download *downloads; /* owned */
};

static void sight_done(struct sight *s)
{
        free(s->binds);
        free(s->downloads);
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

/* The worktree, the tools, the compile cache, and what the recipe names. */
static int sight_of(const struct attempt *a, struct sight *ret)
{
        const struct build_request *q = a->request;
        size_t n_downloads = strings_count(q->recipe->downloads);
        int r;

        ret->binds = allocate(5 + strings_count(q->recipe->dependencies) + n_downloads, sizeof(*ret->binds));
        ret->downloads = allocate(n_downloads + 1, sizeof(*ret->downloads));
        ret->binds[ret->n++] = (struct bind){.source = a->worktree->path, .target = INSIDE, .writable = true};
        ret->binds[ret->n++] = (struct bind){.source = a->worktree->tools, .target = TOOLS_INSIDE};
        r = bind_dependencies(q, ret->binds, &ret->n);
        if (r == 0)
                r = bind_downloads(q, ret->downloads, ret->binds, &ret->n);
        if (r < 0)
                return r;
        if (q->sandbox == SANDBOX_BWRAP)
                ret->binds[ret->n++] = (struct bind){.source = a->shim, .target = TOOLS_SHIM_INSIDE};
        if (a->ccache)
                ret->binds[ret->n++] = (struct bind){.source = q->ccache_dir, .target = CCACHE, .writable = true, .shared = true};
        if (a->ccache && q->sandbox == SANDBOX_BWRAP && access(CCACHE_LINKS, F_OK) == 0)
                ret->binds[ret->n++] = (struct bind){.source = a->worktree->tools, .target = CCACHE_LINKS};
        return 0;
}

/* -- running it -- */

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

static int execute_command(struct attempt *a, const char *text, struct execute_result *ret)
{
        const struct build_request *q = a->request;
        const struct recipe_limits *limits = &q->recipe->build_limits;
        /* With the cache's folder bound the umask is the group's; a build's is always the same. */
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"umask 022; exec /bin/sh -c \"$1\"",
                        (char *)"sh",      (char *)text, NULL};
        struct environment environment = {0};
        cleanup(sight_done) struct sight sight = {0};
        uint64_t left = limits->wall_ns > a->wall_ns ? limits->wall_ns - a->wall_ns : 1;
        int r = environment_of(a, &environment);

        if (r == 0)
                r = sight_of(a, &sight);
        if (r < 0)
                return r;
        return execute(
                &(struct execute_request){
                        .argv = argv,
                        .environment = (char *const *)environment.list,
                        .directory = INSIDE,
                        .binds = sight.binds,
                        .n_binds = sight.n,
                        .scratch = a->worktree->scratch,
                        .sandbox = q->sandbox,
                        .wall_ns = left,
                        .cpu_ns = limits->cpu_ns,
                        .memory = limits->memory,
                        .file_size = FILE_MAX,
                        .processes = limits->processes,
                        .stack_top = STACK_TOP,
                        .out = {.keep = MAX(limits->output / MAX(strings_count(q->recipe->build), 1), 1 << 16)},
                        .watch = !a->given,
                        .merge = true,
                        .cpus = q->cpus,
                        .loans = q->loans,
                        .n_loans = q->n_loans,
                        .slot = q->slot,
                        .cancel_fd = q->cancel_fd,
                        .listener = q->listener,
                },
                ret);
}

void attempt_tell_log(struct attempt *a)
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
        attempt_tell_log(a);
}

int attempt_run_command(struct attempt *a, size_t number)
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
        attempt_tell_log(a);
        r = execute_command(a, text.data, &x);
        if (r < 0)
                return r;
        add_output(a, &x.out);
        a->wall_ns += x.wall_ns;
        a->waited_ns += x.waited_ns; /* a hypervisor takes from cores that nobody here waits for, too */
        buffer_add(&a->watched, x.watched.data, x.watched.size);
        a->is_watched &= x.is_watched;
        a->cpu_ns += x.user_ns + x.system_ns;
        a->memory = MAX(a->memory, x.memory);
        r = attempt_judge(a, number, text.data, &x);
        execute_result_done(&x);
        return r < 0 ? r : buffer_error(&a->log);
}
