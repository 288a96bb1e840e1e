#include "core/run/runner.h"

#include "core/run/keeper.h"
#include "core/run/runner_files.h"
#include "core/run/told_time.h"

#define TRIES     3 /* of a helper that ends before a run begins, and of a run that could not be tried */
#define LOST_MOST 3 /* how often the slot of one run may be lost */

struct runner {
        struct runner_options options; /* a ref of the recipe, and a copy of scratch_parent; `cpus` are those below */
        struct effort *effort;
        struct run_program *programs; /* for elsewhere; path and name are those of `binds` and `names` */
        char *away_bytes;             /* owned: the input's, when it is no file */
        struct run_words words;
        char **names;       /* paths inside, of the programs and at last the input's */
        struct bind *binds; /* the same; sources are malloc'd but for the input's */
        size_t n_binds;     /* the last is the input */
        cpu_set_t cpus;
        char **command; /* NULL: to be made */
        struct keeper *keeper;
        bool handed;        /* its user has had the programs handed over */
        bool no_namespaces; /* none can be made in a sandbox here */
        struct runner_counters counters;
        /* the run */
        bool active; /* its files are there */
        bool begun;
        bool told_time;
        size_t questions;
        struct runner_files files;
        struct execute_request request;
        struct execution kept; /* over the keeper */
        struct single single;  /* or by itself */
        bool is_single;
        struct run_progress progress;
};

/* -- life -- */

static const char *input_name(const struct recipe *r)
{
        return r->format == FORMAT_CNF ? "input.cnf" : "input.smt2";
}

static const char *input_target(const struct recipe *r)
{
        return r->format == FORMAT_CNF ? "/case/input.cnf" : "/case/input.smt2";
}

static bool wants_file(const struct recipe *r)
{
        return strstr(r->run, "{case}") && !recipe_reads_input(r);
}

static int copy_binds(struct runner *r, const struct runner_options *o)
{
        r->binds = calloc(o->n_programs + 1, sizeof(*r->binds));
        r->names = calloc(o->n_programs + 1, sizeof(*r->names));
        r->programs = calloc(o->n_programs, sizeof(*r->programs));
        if (!r->binds || !r->names || !r->programs)
                return -ENOMEM;
        for (size_t i = 0; i < o->n_programs; i++) {
                char target[PATH_SIZE];
                int k = path_join(target, "/solver", o->programs[i].name);

                if (k < 0)
                        return k;
                r->names[i] = strdup(target);
                r->binds[i] = (struct bind){.source = strdup(o->programs[i].path), .target = r->names[i]};
                r->n_binds++;
                if (!r->names[i] || !r->binds[i].source)
                        return -ENOMEM;
                r->programs[i] = (struct run_program){
                        .path = r->binds[i].source, .name = r->names[i] + strlen("/solver/"), .id = o->programs[i].id};
        }
        r->binds[r->n_binds] = (struct bind){.target = input_target(r->options.recipe)};
        return 0;
}

int runner_open(const struct runner_options *o, struct runner **ret)
{
        cleanup(runner_closep) struct runner *r = calloc(1, sizeof(*r));
        int k;

        assert(o->recipe && o->n_programs > 0 && o->scratch_parent);
        if (!r)
                return -ENOMEM;
        r->options = *o;
        r->options.recipe = recipe_ref((struct recipe *)o->recipe);
        r->options.scratch = o->scratch ?: RUN_SCRATCH;
        r->files = (struct runner_files)RUNNER_FILES_NONE;
        if (o->cpus) {
                r->cpus = *o->cpus;
                r->options.cpus = &r->cpus;
        }
        r->options.scratch_parent = strdup(o->scratch_parent);
        if (!r->options.scratch_parent)
                return -ENOMEM;
        k = copy_binds(r, o);
        if (k == 0)
                k = effort_new(o->recipe, &r->effort);
        if (k == 0)
                *ret = steal_pointer(r);
        return k;
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
                free(r->names[i]);
        }
        free(r->binds);
        free(r->names);
        free(r->programs);
        free(r->away_bytes);
        strings_free(r->command);
        effort_free(r->effort);
        free((char *)r->options.scratch_parent);
        recipe_unref((struct recipe *)r->options.recipe);
        free(r);
        return NULL;
}

void runner_set_limits(struct runner *r, const struct recipe_limits *limits)
{
        r->options.limits = *limits;
        strings_free(steal_pointer(r->command)); /* which may mention them */
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

/* `inputs`: of the binds, how many count: the input's is no bind where there is no file, or where it is mounted by the sandbox itself. */
static void make_request(struct runner *r)
{
        const struct recipe_limits *l = &r->options.limits;
        const struct capture_limit output = {.keep = l->output ? l->output : SIZE_MAX, .most = l->output};

        r->binds[r->n_binds].source = r->files.input;
        r->request = (struct execute_request){
                .argv = r->command,
                .environment = r->options.recipe->environment,
                .binds = r->binds,
                .n_binds = r->n_binds + wants_file(r->options.recipe),
                .scratch = r->files.scratch,
                .sandbox = r->options.sandbox,
                .wall_ns = l->wall_ns,
                .cpu_ns = l->cpu_ns,
                .memory = l->memory,
                .file_size = r->options.scratch,
                .processes = l->processes,
                .stack = l->stack,
                .timed = true,
                .out = output,
                .err = output,
                .cpus = r->options.cpus,
                .slot = r->options.slot,
                .cancel_fd = -1,
                .input_fd = r->files.input_fd,
        };
        r->told_time = told_time_wanted();
        if (r->told_time)
                told_time_widen(&r->request);
}

static bool keeps(const struct runner *r)
{
        return !r->options.fresh && !r->no_namespaces;
}

static enum input_as input_as(const struct runner *r)
{
        if (!wants_file(r->options.recipe))
                return INPUT_STDIN;
        return keeps(r) && r->options.sandbox == SANDBOX_BWRAP ? INPUT_FILE : INPUT_THERE;
}

/* -- elsewhere -- */

static int start_away(struct runner *r, const struct run_input *input)
{
        char *copy = input->path ? strdup(input->path) : malloc(input->bytes.size + 1);

        if (!copy)
                return -ENOMEM;
        free(r->away_bytes);
        r->away_bytes = copy;
        if (!input->path && input->bytes.size > 0)
                memcpy(copy, input->bytes.data, input->bytes.size);
        r->words = (struct run_words){.recipe = r->options.recipe,
                                      .programs = r->programs,
                                      .n_programs = r->n_binds,
                                      .limits = &r->options.limits,
                                      .scratch = r->options.scratch,
                                      .has_seed = r->options.has_seed,
                                      .seed = r->options.seed,
                                      .sandbox = r->options.sandbox,
                                      .bytes = SLICE(copy, input->bytes.size),
                                      .path = input->path ? copy : NULL,
                                      .id = input->id};
        return 0;
}

static int input_make(struct runner *r, const struct run_input *input)
{
        if (r->options.away)
                return start_away(r, input);
        return runner_files_make(&r->files, r->options.scratch_parent, input, input_as(r), input_name(r->options.recipe),
                                 r->keeper ? keeper_uid(r->keeper) : (uid_t)-1);
}

int runner_start(struct runner *r, const struct run_input *input)
{
        int k = 0;

        runner_abandon(r);
        if (!r->command)
                k = recipe_command(r->options.recipe, r->names[0], input_target(r->options.recipe), r->options.has_seed,
                                   r->options.seed, &r->options.limits, &r->command);
        if (k == 0)
                k = input_make(r, input);
        if (k < 0)
                return k;
        make_request(r);
        r->active = true;
        r->begun = false;
        r->questions = input->questions;
        r->progress = (struct run_progress){0};
        r->counters.runs++;
        return 0;
}

/* The run is over, however. */
static void clear(struct runner *r)
{
        if (r->begun && r->is_single)
                single_done(&r->single);
        else if (r->begun)
                execution_done(&r->kept);
        runner_files_clear(&r->files);
        r->active = r->begun = false;
}

static struct execution *current(struct runner *r)
{
        return r->is_single ? &r->single.x : &r->kept;
}

static int finish(struct runner *r, struct execute_result *ret)
{
        return r->is_single ? single_finish(&r->single, ret) : keeper_finish(r->keeper, &r->kept, ret);
}

void runner_abandon(struct runner *r)
{
        struct execute_result result = {0};

        if (!r->active)
                return;
        if (r->begun) {
                execution_cancel(current(r));
                execution_watch(current(r));
                if (finish(r, &result) == 0)
                        execute_result_done(&result);
        }
        clear(r);
}

static void drop_keeper(struct runner *r, enum keeper_state why)
{
        r->counters.dirty += why == KEEPER_DIRTY;
        r->counters.lost += why == KEEPER_LOST;
        r->keeper = keeper_close(r->keeper);
}

static int need_keeper(struct runner *r)
{
        struct execute_request like = r->request;
        enum keeper_state state = r->keeper ? keeper_state(r->keeper) : KEEPER_CLEAN;
        int k;

        if (state != KEEPER_CLEAN)
                drop_keeper(r, state);
        if (r->keeper)
                return 0;
        like.n_binds = r->n_binds; /* without the input */
        k = keeper_open(&like, r->files.base, &r->keeper);
        r->handed = false;
        r->counters.sandboxes += k == 0;
        return k;
}

/* -EPIPE: the keeper has ended since it was looked at. */
static int try_kept(struct runner *r, uint64_t share_ns)
{
        int k = execution_init(&r->kept, &r->request);

        r->kept.runs_scratch = r->files.scratch_name;
        r->kept.share_ns = share_ns;
        if (k == 0)
                k = need_keeper(r);
        r->kept.handed = r->handed && runner_files_are_handed(&r->files);
        if (k == 0)
                k = keeper_begin(r->keeper, &r->kept);
        r->handed = k == 0;
        if (k < 0)
                execution_done(&r->kept);
        return k;
}

static int begin_kept(struct runner *r, uint64_t share_ns)
{
        for (int i = 0; i < TRIES; i++) {
                int k = try_kept(r, share_ns);

                if (k != -EPIPE)
                        return k;
                drop_keeper(r, KEEPER_LOST);
        }
        return errorf(-EIO, "the helper of a sandbox has ended %d times before a run of %s began; was it killed?", TRIES,
                      r->binds[0].source);
}

static int begin(struct runner *r, uint64_t share_ns)
{
        int k;

        r->is_single = !keeps(r);
        if (r->is_single) {
                k = single_begin(&r->single, &r->request, share_ns);
                if (k < 0)
                        single_done(&r->single);
                r->counters.sandboxes += k == 0;
        } else {
                k = begin_kept(r, share_ns);
        }
        r->begun = k == 0;
        return k;
}

/* A program that cannot be executed for want of something of ours has not been run. */
static int check_executed(const struct runner *r, const struct execute_result *run)
{
        static const int ours[] = {ENOMEM, EAGAIN, EMFILE, ENFILE, EIO, ETXTBSY};

        for (size_t i = 0; run->end == END_NOEXEC && i < ARRAY_SIZE(ours); i++) {
                if (run->code == ours[i])
                        return errorf(-run->code, "cannot execute %s: %s", r->binds[0].source, strerror(run->code));
        }
        return 0;
}

static int read_result(struct runner *r, struct run_result *ret)
{
        int k = check_executed(r, &ret->run);

        if (k == 0 && r->told_time)
                told_time_apply(&r->options.limits, &ret->run);
        if (k == 0)
                k = verdict_read(r->options.recipe->format, r->questions, &ret->run, &ret->verdicts);
        if (k == 0)
                k = effort_read(r->effort, &ret->run, &ret->efforts);
        ret->verdict = ret->verdicts.last;
        return k;
}

static int stand(struct runner *r)
{
        const struct exec_reply *a = &current(r)->reply;

        r->progress = (struct run_progress){.wall_ns = a->wall_ns,
                                            .cpu_ns = a->user_ns + a->system_ns,
                                            .memory = MAX(a->largest, a->tree),
                                            .memory_now = a->tree_now};
        return 0;
}

/* 1: it stands still; 0: it has ended. */
static int go_on(struct runner *r, uint64_t share_ns, int cancel_fd, struct execute_result *ret)
{
        int k = 0;

        if (!r->begun)
                k = begin(r, share_ns);
        else
                execution_continue(current(r), share_ns);
        if (k < 0)
                return k;
        current(r)->cancel_fd = cancel_fd;
        execution_watch(current(r));
        if (execution_replied(current(r)) && current(r)->reply.paused)
                return 1;
        return finish(r, ret);
}

/* Was its sandbox lost before the program, or anything of the run, had begun? */
static bool may_try_again(const struct runner *r)
{
        return r->begun && !r->is_single && !r->kept.lost && !r->kept.cancelled && !execution_begun(&r->kept);
}

/* The program has not begun: once more. */
static int go_on_again(struct runner *r, uint64_t share_ns, int cancel_fd, struct execute_result *ret)
{
        execution_done(&r->kept);
        r->begun = false;
        return go_on(r, share_ns, cancel_fd, ret);
}

int runner_step(struct runner *r, uint64_t share_ns, int cancel_fd, struct run_result *ret)
{
        bool was_usable = r->keeper != NULL; /* so that another one is likely to be */
        struct run_result result = {0};
        int k;

        assert(r->active);
        if (r->options.away && share_ns > 0)
                k = errorf(-ENOTSUP, "a run elsewhere cannot be stopped between two shares of it");
        else
                k = r->options.away ? r->options.away->run(r->options.away, &r->words, cancel_fd, &result.run)
                                    : go_on(r, share_ns, cancel_fd, &result.run);
        if (k == -EIO && was_usable && may_try_again(r)) {
                drop_keeper(r, KEEPER_LOST);
                k = go_on_again(r, share_ns, cancel_fd, &result.run);
        }
        if (k == -ENOSYS && r->begun && !r->is_single) {
                log_info("%s: each run has a new sandbox", error_message(-ENOSYS));
                r->keeper = keeper_close(r->keeper);
                r->no_namespaces = true;
                k = go_on_again(r, share_ns, cancel_fd, &result.run);
        }
        if (k > 0)
                return stand(r);
        clear(r);
        if (k == 0)
                k = read_result(r, &result);
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

int runner_run(struct runner *r, const struct run_input *input, int cancel_fd, struct run_result *ret)
{
        int k = runner_start(r, input);

        if (k == 0)
                k = runner_step(r, 0, cancel_fd, ret);
        return MIN(k, 0);
}

void run_result_done(struct run_result *r)
{
        execute_result_done(&r->run);
        verdicts_done(&r->verdicts);
        effort_values_done(&r->efforts);
}

enum run_again run_again(struct run_tries *t, int r)
{
        if (r == -EIO && ++t->failed < TRIES)
                return RUN_AGAIN_HERE;
        return r == -ERESTART || (r == -EREMOTEIO && ++t->lost <= LOST_MOST) ? RUN_AGAIN_ELSEWHERE : RUN_IS_OVER;
}
