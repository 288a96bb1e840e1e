#include "core/run/runner.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "core/sandbox/keeper.h"
#include "core/run/full_disk.h"
#include "core/run/runner_files.h"
#include "core/run/simulated_clock.h"

#define TRIES     3 /* if a helper ends before a run begins, or a run could not be tried */
#define LOST_MOST 3 /* how often one run may lose its slot */

struct runner {
        struct runner_options options; /* a ref of the recipe, and a copy of scratch_parent; `cpus` is the field below */
        struct effort *effort;
        struct run_program *programs; /* the options'; path and name are those in `binds` */
        struct stat *seen; /* the programs' files */
        struct bind *binds; /* the programs, whose texts are owned, then the input */
        size_t n_binds;     /* without the input */
        cpu_set_t cpus;
        char **command; /* NULL: not made yet */
        struct keeper *keeper;
        bool handed;        /* the programs have been handed over to its user */
        bool doubtful;      /* the last run failed, or its end proves nothing: that may be the sandbox's */
        bool no_namespaces; /* namespaces cannot be made in a sandbox here */
        struct runner_counters counters;
        /* the run */
        bool active; /* its files are there */
        bool begun;
        bool simulates_clock;
        size_t questions;
        struct runner_files files;
        struct execute_request request;
        struct execution execution;
        struct run_progress progress;
};

/* -- life -- */

static const char *input_target(const struct recipe *r)
{
        return r->format == FORMAT_CNF ? "/case/input.cnf" : "/case/input.smt2";
}

static bool reads_input(const struct recipe *r)
{
        return recipe_reads_input(r) || !strstr(r->run, "{case}");
}

static void copy_programs(struct runner *r)
{
        const size_t n = r->options.n_programs;

        r->binds = allocate(n + 1, sizeof(*r->binds));
        r->programs = allocate(n, sizeof(*r->programs));
        r->seen = allocate(n, sizeof(*r->seen));
        for (size_t i = 0; i < n; i++) {
                const struct run_program *p = &r->options.programs[i];
                char *target = format_string("/solver/%s", p->name);

                r->binds[i] = (struct bind){.source = copy_string(p->path), .target = target};
                r->programs[i] = (struct run_program){.path = r->binds[i].source, .name = target + strlen("/solver/"), .id = p->id};
                stat(p->path, &r->seen[i]); /* zeros: no file of a later look is like it */
        }
        r->n_binds = n;
        r->options.programs = r->programs;
        r->binds[n] = (struct bind){.target = input_target(r->options.recipe)};
}

struct runner *runner_open(const struct runner_options *o)
{
        struct runner *r = allocate(1, sizeof(*r));

        assert(o->recipe && o->n_programs > 0 && o->scratch_parent);
        r->options = *o;
        r->options.recipe = recipe_ref((struct recipe *)o->recipe);
        r->options.scratch = o->scratch ?: RUN_SCRATCH;
        r->files = (struct runner_files)RUNNER_FILES_NONE;
        if (o->cpus) {
                r->cpus = *o->cpus;
                r->options.cpus = &r->cpus;
        }
        r->options.scratch_parent = copy_string(o->scratch_parent);
        copy_programs(r);
        r->effort = effort_new(o->recipe);
        return r;
}

struct runner *runner_close(struct runner *r)
{
        if (!r)
                return NULL;
        runner_abandon(r);
        keeper_close(r->keeper);
        runner_files_done(&r->files);
        for (size_t i = 0; i < r->n_binds; i++) {
                free((char *)r->binds[i].source);
                free((char *)r->binds[i].target);
        }
        free(r->binds);
        free(r->programs);
        free(r->seen);
        strings_free(r->command);
        effort_free(r->effort);
        free((char *)r->options.scratch_parent);
        recipe_unref((struct recipe *)r->options.recipe);
        free(r);
        return NULL;
}

/* True if the path leads to the file, with the same content, that the sandbox has. */
static bool is_program(const struct runner *r, size_t i, const struct run_program *p)
{
        const struct run_program *mine = &r->programs[i];
        const struct stat *seen = &r->seen[i];
        struct stat now;

        return strcmp(mine->path, p->path) == 0 && strcmp(mine->name, p->name) == 0 && digest_equal(&mine->id, &p->id) && stat(p->path, &now) == 0 &&
               now.st_dev == seen->st_dev && now.st_ino == seen->st_ino && now.st_size == seen->st_size &&
               now.st_mtim.tv_sec == seen->st_mtim.tv_sec && now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

bool runner_reuse(struct runner *r, const struct runner_options *o)
{
        const struct runner_options *mine = &r->options;
        bool same = !r->doubtful && !mine->remote && !o->remote && !mine->listeners && !o->listeners && mine->fresh == o->fresh &&
                    mine->sandbox == o->sandbox && mine->scratch == (o->scratch ?: RUN_SCRATCH) && mine->recipe->format == o->recipe->format &&
                    strcmp(mine->scratch_parent, o->scratch_parent) == 0 && mine->n_programs == o->n_programs;

        assert(!r->active);
        for (size_t i = 0; same && i < o->n_programs; i++)
                same = is_program(r, i, &o->programs[i]);
        if (!same)
                return false;
        if (mine->recipe != o->recipe) {
                recipe_unref((struct recipe *)mine->recipe);
                r->options.recipe = recipe_ref((struct recipe *)o->recipe);
                effort_free(r->effort);
                r->effort = effort_new(o->recipe);
        }
        if (o->cpus)
                r->cpus = *o->cpus;
        r->options.cpus = o->cpus ? &r->cpus : NULL;
        r->options.slot = o->slot;
        runner_set_limits(r, &o->limits);
        runner_set_seed(r, o->has_seed, o->seed);
        return true;
}

void runner_set_limits(struct runner *r, const struct recipe_limits *limits)
{
        r->options.limits = *limits;
        strings_free(steal_pointer(r->command)); /* its strings may contain the old limits */
}

void runner_set_seed(struct runner *r, bool has_seed, uint64_t seed)
{
        r->options.has_seed = has_seed;
        r->options.seed = seed;
        strings_free(steal_pointer(r->command));
}

const struct execute_request *runner_request(const struct runner *r)
{
        return &r->request;
}

struct runner_counters runner_counters(const struct runner *r)
{
        return r->counters;
}

/* -- one run -- */

static int make_request(struct runner *r)
{
        const struct recipe *recipe = r->options.recipe;
        const struct recipe_limits *l = &r->options.limits;
        const struct listener *listeners = r->options.listeners;
        const struct capture_limit output = listeners ? (struct capture_limit){.keep = RUN_HEARD}
                                                      : (struct capture_limit){.keep = l->output ? l->output : SIZE_MAX, .most = l->output};
        int k = r->command ? 0
                           : recipe_command(recipe, r->binds[0].target, input_target(recipe), r->options.has_seed, r->options.seed, l, &r->command);

        r->binds[r->n_binds].source = r->files.input;
        r->request = (struct execute_request){
                .argv = r->command,
                .environment = recipe->environment,
                .binds = r->binds,
                .n_binds = r->n_binds + 1,
                .scratch = r->files.scratch,
                .sandbox = r->options.sandbox,
                .wall_ns = l->wall_ns,
                .cpu_ns = l->cpu_ns,
                .memory = l->memory,
                .file_size = r->options.scratch,
                .processes = l->processes,
                .stack = l->stack,
                .timed = true,
                .times = true,
                .out = output,
                .err = output,
                .listener = listeners ? &listeners[0] : NULL,
                .err_listener = listeners ? &listeners[1] : NULL,
                .cpus = r->options.cpus,
                .slot = r->options.slot,
                .cancel_fd = -1,
                .input = reads_input(recipe) ? input_target(recipe) : NULL,
        };
        r->simulates_clock = simulated_clock_is_wanted();
        if (r->simulates_clock)
                simulated_clock_widen(&r->request);
        r->counters.runs++;
        return k;
}

/* True if the sandbox is kept for the next run. */
static bool keeps(const struct runner *r)
{
        return !r->options.fresh && !r->no_namespaces;
}

/* Clears the run, however it ended. */
static void clear(struct runner *r)
{
        if (r->begun)
                execution_done(&r->execution);
        if (!keeps(r))
                r->keeper = keeper_close(r->keeper);
        runner_files_clear(&r->files);
        r->active = r->begun = false;
}

void runner_abandon(struct runner *r)
{
        struct execute_result result = {0};

        if (!r->active)
                return;
        if (r->begun) {
                execution_cancel(&r->execution);
                execution_watch(&r->execution);
                if (keeper_finish(r->keeper, &r->execution, &result) == 0)
                        execute_result_done(&result);
        }
        clear(r);
}

int runner_start(struct runner *r, const struct run_input *input)
{
        int k;

        assert(!r->options.remote);
        runner_abandon(r);
        k = runner_files_make(&r->files, r->options.scratch_parent, input, keeps(r) && r->options.sandbox == SANDBOX_BWRAP,
                              strrchr(input_target(r->options.recipe), '/') + 1, r->keeper ? keeper_uid(r->keeper) : (uid_t)-1);
        r->doubtful |= k < 0;
        if (k < 0)
                return k;
        r->active = true;
        r->begun = false;
        r->questions = input->questions;
        r->progress = (struct run_progress){0};
        k = make_request(r);
        r->doubtful |= k < 0;
        if (k < 0)
                clear(r);
        return k;
}

static void drop_keeper(struct runner *r, enum keeper_state why)
{
        r->counters.dirty += why == KEEPER_DIRTY;
        r->counters.lost += why == KEEPER_LOST;
        r->keeper = keeper_close(r->keeper);
}

/* Opens a keeper, unless there is one that is clean. */
static int need_keeper(struct runner *r)
{
        struct execute_request like = r->request;
        enum keeper_state state = r->keeper ? keeper_state(r->keeper) : KEEPER_CLEAN;
        int k;

        if (state != KEEPER_CLEAN)
                drop_keeper(r, state);
        if (r->keeper)
                return 0;
        if (keeps(r))
                like.n_binds = r->n_binds; /* without the input */
        k = keeper_open(&like, keeps(r) ? r->files.base : NULL, &r->keeper);
        r->handed = false;
        r->counters.sandboxes += k == 0;
        return k;
}

/* -EPIPE if the keeper has ended since the last look. */
static int try_to_begin(struct runner *r, uint64_t share_ns)
{
        struct execution *x = &r->execution;
        int k = execution_init(x, &r->request);

        x->runs_scratch = r->files.scratch_name;
        x->share_ns = share_ns;
        if (k == 0)
                k = need_keeper(r);
        x->handed = r->handed && runner_files_are_handed(&r->files);
        if (k == 0)
                k = keeper_begin(r->keeper, x);
        r->handed = k == 0;
        if (k < 0)
                execution_done(x);
        return k;
}

static int begin(struct runner *r, uint64_t share_ns)
{
        for (int i = 0; i < TRIES; i++) {
                int k = try_to_begin(r, share_ns);

                r->begun = k == 0;
                if (k != -EPIPE)
                        return k;
                drop_keeper(r, KEEPER_LOST);
        }
        return errorf(-EIO, "the helper of a sandbox has ended %d times before a run of %s began; was it killed?", TRIES,
                      r->binds[0].source);
}

/* A program that could not be executed because we lack memory or descriptors, or keep it where nothing can be executed, was not run. */
static int check_executed(const struct runner *r, const struct execute_result *run)
{
        static const int ours[] = {ENOMEM, EAGAIN, EMFILE, ENFILE, EIO, ETXTBSY};
        struct statvfs fs;

        if (run->end == END_NOEXEC && run->code == EACCES && !r->options.remote && statvfs(r->binds[0].source, &fs) == 0 && fs.f_flag & ST_NOEXEC)
                return errorf(-EIO, "cannot run %s: its file system is mounted noexec; mount it without", r->binds[0].source);
        for (size_t i = 0; run->end == END_NOEXEC && i < ARRAY_SIZE(ours); i++)
                if (run->code == ours[i])
                        return errorf(-run->code, "cannot execute %s: %s", r->binds[0].source, strerror(run->code));
        return 0;
}

/* Why the program did not begin; NULL: it did. */
static char *why_not_started(const struct execute_result *run)
{
        const struct slice library = run->end == END_EXIT && run->code == 127 ? verdict_missing_library(run) : SLICE(NULL, 0);
        struct buffer b = {0};

        if (run->end != END_NOEXEC && library.size == 0)
                return NULL;
        buffer_adds(&b, "the program cannot be executed: ");
        if (library.size > 0) {
                buffer_adds(&b, "it needs the shared library ");
                buffer_add_safe(&b, library.data, MIN(library.size, (size_t)NAME_MAX));
                buffer_adds(&b, ", which is missing");
        } else {
                buffer_addf(&b, "%s%s", strerror(run->code),
                            run->code == ENOENT    ? "; its interpreter or loader is missing"
                            : run->code == ENOEXEC ? "; it is no program of this machine, and names no interpreter"
                                                   : "");
        }
        return b.data;
}

/* A program that was not executed has printed nothing: its stderr says why. */
static void say_not_started(struct run_result *result)
{
        struct execute_result *run = &result->run;
        char *text;

        if (run->end != END_NOEXEC || run->err.size > 0)
                return;
        text = format_string("%s\n", result->not_started);
        blob_done(&run->err);
        run->err = (struct blob){.data = text, .size = strlen(text), .owned = text};
        run->err_size = run->err.size;
}

/* Takes the run's result in ret->run, and reads verdicts and effort from it. */
static int read_result(struct runner *r, size_t questions, struct run_result *ret)
{
        int k = check_executed(r, &ret->run);

        if (k < 0)
                return k;
        if (r->simulates_clock)
                simulated_clock_apply(&r->options.limits, &ret->run);
        verdict_read(r->options.recipe->format, questions, &ret->run, &ret->verdicts);
        effort_read(r->effort, &ret->run, &ret->efforts);
        ret->verdict = ret->verdicts.last;
        if (ret->verdict == VERDICT_ERROR)
                ret->not_started = why_not_started(&ret->run);
        say_not_started(ret);
        if (ret->run.doubt == DOUBT_MEMORY && verdict_is_decided(ret->verdict)) /* by an exit status of DIMACS, which looks like a failure */
                ret->run.doubt = DOUBT_NONE;
        if (ret->run.guessed && ret->verdict <= VERDICT_UNKNOWN) /* it answered, so it did not lack anything */
                ret->run.end = END_EXIT;
        return 0;
}

/* A run on this machine that gave up on a full disk says nothing about the program. */
static int check_disk(const struct runner *r, const struct run_result *result)
{
        const struct execute_result *run = &result->run;
        const struct slice outputs[] = {SLICE(run->out.data, run->out.size), SLICE(run->err.data, run->err.size)};

        if (verdict_is_decided(result->verdict))
                return 0;
        return full_disk_check(r->files.scratch, "a run", outputs, ARRAY_SIZE(outputs), r->options.scratch);
}

/* 1: it is stopped; 0: it has ended. */
static int go_on(struct runner *r, uint64_t share_ns, int cancel_fd, struct execute_result *ret)
{
        struct execution *x = &r->execution;
        const struct exec_reply *a = &x->reply;
        int k = 0;

        if (!r->begun)
                k = begin(r, share_ns);
        else
                execution_continue(x, share_ns);
        if (k < 0)
                return k;
        x->cancel_fd = cancel_fd;
        execution_watch(x);
        if (!execution_replied(x) || !a->paused)
                return keeper_finish(r->keeper, x, ret);
        r->progress = (struct run_progress){.wall_ns = a->wall_ns,
                                            .cpu_ns = a->user_ns + a->system_ns,
                                            .memory = MAX(a->largest, a->tree),
                                            .memory_now = a->tree_now};
        return 1;
}

/* True if the sandbox was lost before the program, or anything of the run, had begun. */
static bool may_try_again(const struct runner *r)
{
        return r->begun && keeps(r) && !r->execution.lost && !r->execution.cancelled && !execution_begun(&r->execution);
}

/* Retries a run whose program has not begun, in another sandbox. */
static int go_on_again(struct runner *r, uint64_t share_ns, int cancel_fd, struct execute_result *ret)
{
        r->keeper = keeper_close(r->keeper);
        execution_done(&r->execution);
        r->begun = false;
        return go_on(r, share_ns, cancel_fd, ret);
}

int runner_step(struct runner *r, uint64_t share_ns, int cancel_fd, struct run_result *ret)
{
        bool was_usable = r->keeper != NULL; /* so another sandbox is likely to be */
        struct run_result result = {0};
        int k;

        assert(r->active);
        k = go_on(r, share_ns, cancel_fd, &result.run);
        if (k == -EIO && was_usable && may_try_again(r)) {
                r->counters.lost++;
                k = go_on_again(r, share_ns, cancel_fd, &result.run);
        }
        if (k == -ENOSYS && r->begun && keeps(r)) {
                log_info("%s: each run has a new sandbox", error_message(-ENOSYS));
                r->no_namespaces = true;
                k = go_on_again(r, share_ns, cancel_fd, &result.run);
        }
        if (k > 0)
                return 0;
        if (k == 0)
                k = read_result(r, r->questions, &result) ?: check_disk(r, &result);
        clear(r);
        r->doubtful = k < 0 || result.run.doubt != DOUBT_NONE;
        if (k < 0) {
                run_result_done(&result);
                return k;
        }
        *ret = result;
        return 1;
}

struct run_progress runner_progress(const struct runner *r)
{
        return r->progress;
}

static int run_remote(struct runner *r, const struct run_input *input, int cancel_fd, struct run_result *ret)
{
        struct run_result result = {0};
        int k = make_request(r)
            ?: r->options.remote->run(r->options.remote, &r->options, input, cancel_fd, &result.run)
            ?: read_result(r, input->questions, &result);

        if (k < 0)
                run_result_done(&result);
        else
                *ret = result;
        return k;
}

int runner_run(struct runner *r, const struct run_input *input, int cancel_fd, struct run_result *ret)
{
        int k;

        if (r->options.remote)
                return run_remote(r, input, cancel_fd, ret);
        k = runner_start(r, input) ?: runner_step(r, 0, cancel_fd, ret);
        return MIN(k, 0);
}

void run_result_done(struct run_result *r)
{
        execute_result_done(&r->run);
        verdicts_done(&r->verdicts);
        effort_values_done(&r->efforts);
        free(steal_pointer(r->not_started));
}

int run_check_doubt(struct run_result *r, const char *program, bool again)
{
        static const char *const what[] = {
                [DOUBT_SIGNAL] = "it was killed",
                [DOUBT_MEMORY] = "the machine had no memory left",
                [DOUBT_PAUSE] = "it stood still for a while",
        };
        const enum execute_doubt doubt = r->run.doubt;

        if (doubt == DOUBT_NONE || (again && doubt != DOUBT_MEMORY))
                return 0;
        run_result_done(r);
        if (again)
                return errorf(-EIO, "the kernel killed processes for want of memory while %s ran: no result is recorded", program);
        log_info("a run of %s is repeated: %s", program, what[doubt]);
        return 1;
}

enum run_again run_again(struct run_tries *t, int r)
{
        if (r == -EIO && ++t->failed < TRIES)
                return RUN_AGAIN_HERE;
        return r == -ERESTART || (r == -EREMOTEIO && ++t->lost <= LOST_MOST) ? RUN_AGAIN_IN_ANOTHER_SLOT : RUN_IS_OVER;
}
