/* Workers beside local runners: what a run costs more, how many workers one head feeds, what travels. The workers are real ones, over pipes on this
 * machine. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "bench.h"
#include "fixture.h"
#include "runs.h"

#include "core/engine/ask.h"
#include "core/run/host.h"
#include "core/run/slot.h"
#include "tests/support/cluster_slots.h"

#define STREAM   1000 /* runs of a round, shared by two */
#define LARGE    30000000u /* bytes of a program: Z3's */
#define SOURCES  2500      /* files of a tree: Z3's, */
#define SOURCE   14000     /* bytes of each in the mean */
#define SLEEPERS 64
#define NAPS     1280 /* runs of all sleepers */

/* -- workers -- */

/* "'<solverfs>' worker --slots 1 --folder <dir>/node": of the program beside this one, or $SOLVERFS_COMMAND. */
static int worker_command(char ret[2 * PATH_SIZE])
{
        const char *command = getenv("SOLVERFS_COMMAND");
        char own[PATH_SIZE], path[PATH_SIZE + 32];
        ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

        if (n < 0)
                return -errno;
        own[n] = '\0';
        *strrchr(own, '/') = '\0';
        snprintf(path, sizeof(path), "%s/../../tools/solverfs", own);
        if (!command && access(path, X_OK) < 0)
                return errorf(-errno, "there is no %s: name the command by $SOLVERFS_COMMAND", path);
        if (snprintf(ret, 2 * PATH_SIZE, "'%s' worker --slots 1 --folder '%s/node'", command ? command : path, bench.dir) >= 2 * PATH_SIZE)
                return -ENAMETOOLONG;
        return 0;
}

static int open_cluster(unsigned workers, struct cluster **ret)
{
        char worker[2 * PATH_SIZE];
        int r = worker_command(worker);

        if (r == 0)
                r = cluster_open(&(struct cluster_settings){.name = (char *)"bench",
                                                            .launch = (char *)"exec {worker}",
                                                            .worker = worker,
                                                            .workers = workers,
                                                            .idle_ns = 3600 * NSEC_PER_SEC,
                                                            .patience_ns = 60 * NSEC_PER_SEC},
                                 ret);
        if (r == 0)
                cluster_attach(*ret, cluster_slots_look, NULL);
        return r;
}

/* -- runners -- */

static int open_runner(const char *program, struct cluster_slot *slot, const cpu_set_t *cpus, struct runner **ret)
{
        return runs_open(&(struct runs_options){.program = program,
                                                .sandbox = SANDBOX_BWRAP,
                                                .cpus = cpus,
                                                .remote = slot ? cluster_slot_remote(slot) : NULL},
                         ret);
}

static int row_overhead(void)
{
        cleanup(cluster_closep) struct cluster *c = NULL;
        cleanup(runner_closep) struct runner *remote = NULL, *local = NULL;
        struct cluster_slot *slot = NULL;
        struct slot core = {.lock = -1};
        int r = open_cluster(1, &c);

        if (r == 0)
                r = cluster_slots_take(c, 0, 1, &slot);
        if (r == 0)
                r = slot_lease(NULL, "bench", UINT64_MAX, -1, &core);
        if (r == 0)
                r = open_runner("/usr/bin/true", slot, NULL, &remote);
        if (r == 0)
                r = open_runner("/usr/bin/true", NULL, &core.cpus, &local);
        if (r == 0)
                r = runs_once(remote, NULL); /* the program travels */
        if (r == 0)
                r = bench_compare(&(struct row){.what = "running true over a worker",
                                                .against = "a local kept sandbox",
                                                .judge = JUDGE_DIFFERENCE,
                                                .most = 2e-3},
                                  runs_measure, remote, runs_measure, local);
        remote = runner_close(remote);
        slot_release(&core);
        if (slot)
                cluster_give_back(slot);
        return r;
}

/* -- a stream of short runs -- */

struct stream {
        struct runner *runners[2]; /* owned */
        atomic_int left;
};

struct lane {
        struct stream *stream;
        struct runner *runner;
        pthread_t thread;
        int r;
};

static void *lane_run(void *user)
{
        struct lane *l = user;

        while (l->r == 0 && atomic_fetch_sub(&l->stream->left, 1) > 0)
                l->r = runs_once(l->runner, NULL);
        return NULL;
}

static int measure_stream(void *user, double *ret)
{
        struct stream *s = user;
        struct lane lanes[2] = {{.stream = s, .runner = s->runners[0]}, {.stream = s, .runner = s->runners[1]}};
        double began = bench_now();

        atomic_store(&s->left, STREAM);
        for (unsigned i = 0; i < 2; i++)
                if (pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]) != 0)
                        abort();
        for (unsigned i = 0; i < 2; i++)
                pthread_join(lanes[i].thread, NULL);
        *ret = bench_now() - began;
        return lanes[0].r < 0 ? lanes[0].r : lanes[1].r;
}

static const char ten_ms[] = "#include <time.h>\nint main(void)\n{\n\tstruct timespec t;\n\tdo\n\t\tclock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);\n"
                             "\twhile (t.tv_nsec < 10000000);\n\treturn 0;\n}\n";

static int row_stream(void)
{
        cleanup(cluster_closep) struct cluster *c = NULL;
        struct cluster_slot *slots[2] = {NULL, NULL};
        struct slot cores[2] = {{.lock = -1}, {.lock = -1}};
        struct stream remote = {{NULL, NULL}, 0}, local = {{NULL, NULL}, 0};
        int all[2], r = host_cores(all, 2) < 2 ? 1 : 0;
        char program[PATH_SIZE], source[PATH_SIZE];

        if (r == 1) {
                bench_skip("1,000 runs of 10 ms on two workers", "this machine has one core");
                return 0;
        }
        r = path_join(program, bench.dir, "ten");
        if (r == 0)
                r = path_join(source, bench.dir, "ten.c");
        if (r == 0)
                r = write_file_atomic(source, ten_ms, sizeof(ten_ms) - 1, 0600);
        if (r == 0)
                r = bench_shell(bench.dir, "cc -O1 -o ten ten.c && chmod 755 ten");
        if (r == 0)
                r = open_cluster(2, &c);
        for (unsigned i = 0; r == 0 && i < 2; i++) {
                r = slot_lease(NULL, "bench", UINT64_MAX, -1, &cores[i]);
                if (r == 0)
                        r = open_runner(program, NULL, &cores[i].cpus, &local.runners[i]);
        }
        for (unsigned i = 0; i < 2; i++)
                slot_release(&cores[i]); /* the two sides take turns: a lease would keep the workers out */
        for (unsigned i = 0; r == 0 && i < 2; i++)
                r = cluster_slots_take(c, 0, 2 - i, &slots[i]);
        for (unsigned i = 0; r == 0 && i < 2; i++)
                r = open_runner(program, slots[i], NULL, &remote.runners[i]);
        if (r == 0)
                r = bench_compare(&(struct row){.what = "1,000 runs of 10 ms on two workers",
                                                .against = "two local runners",
                                                .judge = JUDGE_RATIO,
                                                .most = 1.1,
                                                .rounds = MIN(bench.rounds, 5u)},
                                  measure_stream, &remote, measure_stream, &local);
        for (unsigned i = 0; i < 2; i++) {
                runner_close(remote.runners[i]);
                runner_close(local.runners[i]);
                if (slots[i])
                        cluster_give_back(slots[i]);
        }
        return r;
}

/* -- what travels -- */

static void copy_sent(void *user, const struct remote_view *v)
{
        *(uint64_t *)user = v->sent;
}

/* What it takes to do it on a worker. */
struct travel {
        double bytes, seconds;
};

static int measure_travel(struct cluster *c, int (*go)(void *user), void *user, struct travel *ret)
{
        uint64_t before = 0, after = 0;
        double began = bench_now();
        int r;

        cluster_look(c, copy_sent, &before);
        r = go(user);
        ret->seconds = bench_now() - began;
        cluster_look(c, copy_sent, &after);
        ret->bytes = (double)(after - before);
        return r;
}

static void print_travel(const char *what, const struct travel *t, double most)
{
        bench_print(&(struct row){.what = what, .judge = JUDGE_ALONE, .unit = UNIT_BYTES, .most = most}, t->bytes, NAN, NAN);
        bench_print(&(struct row){.what = "... in", .judge = JUDGE_ALONE}, t->seconds, NAN, NAN);
}

static int go_once(void *runner)
{
        return runs_once(runner, NULL);
}

/* A script with as many bytes behind it that cannot be compressed. */
static int write_large(const char *path)
{
        static const char head[] = "#!/bin/sh\nexit 0\n";
        cleanup_buffer struct buffer b = {0};
        uint64_t state = 1;

        buffer_add(&b, head, sizeof(head) - 1);
        while (b.size < LARGE) {
                uint32_t word = bench_random(&state);

                buffer_add(&b, &word, sizeof(word));
        }
        return b.failed ? -ENOMEM : write_file_atomic(path, b.data, b.size, 0700);
}

static int row_large(void)
{
        cleanup(cluster_closep) struct cluster *c = NULL;
        cleanup(runner_closep) struct runner *runner = NULL;
        struct cluster_slot *slot = NULL;
        char program[PATH_SIZE];
        struct travel first, second;
        int r = path_join(program, bench.dir, "large");

        if (r == 0)
                r = write_large(program);
        if (r == 0)
                r = open_cluster(1, &c);
        if (r == 0)
                r = cluster_slots_take(c, 0, 1, &slot);
        if (r == 0)
                r = open_runner(program, slot, NULL, &runner);
        if (r == 0)
                r = measure_travel(c, go_once, runner, &first);
        if (r == 0)
                r = measure_travel(c, go_once, runner, &second);
        if (r == 0) {
                print_travel("sent for the first run of a program of 30 MB that cannot be compressed", &first, LARGE * 1.01);
                print_travel("sent for its second run", &second, 4096);
        }
        runner = runner_close(runner);
        if (slot)
                cluster_give_back(slot);
        return r;
}

/* -- a tree -- */

/* Lines of words, as compressible as source text. */
static int write_source(const char *path, size_t size, uint64_t *state)
{
        cleanup_buffer struct buffer b = {0};

        while (b.size < size)
                buffer_addf(&b, "%*sterm%u = m_%u.mk_app(%u, name_%u); // %x\n", (int)(bench_random(state) % 12), "", bench_random(state) % 500,
                            bench_random(state) % 40, bench_random(state) % 9, bench_random(state) % 3000, bench_random(state));
        return b.failed ? -ENOMEM : write_file_atomic(path, b.data, b.size, 0600);
}

static int write_sources(const char *repository)
{
        uint64_t state = 7;
        char path[PATH_SIZE];
        int r = 0;

        for (unsigned i = 0; r == 0 && i < SOURCES; i++) {
                if (snprintf(path, sizeof(path), "%s/src/part%u", repository, i / 50) >= (int)sizeof(path))
                        return -ENAMETOOLONG;
                r = make_dirs(path, 0700);
                if (r == 0 && snprintf(path, sizeof(path), "%s/src/part%u/file%u.cpp", repository, i / 50, i) >= (int)sizeof(path))
                        r = -ENAMETOOLONG;
                if (r == 0)
                        r = write_source(path, bench_random(&state) % (2 * SOURCE), &state);
        }
        return r;
}

static int commit(const char *repository, const char *name)
{
        return bench_shell(repository, "git add -A && git -c user.name=A -c user.email=a@example.org commit -qm %s && git tag %s", name, name);
}

/* A store whose builds are done by one worker, and a repository of two commits of which the second changes one file. */
static int make_tree_store(const char *store)
{
        static const char text[] = "[solver]\n build = cp src/part0/file0.cpp made && chmod +x made\n output = made\n run = {bin} {case}\n samples = 1\n";
        char worker[2 * PATH_SIZE], repository[PATH_SIZE];
        int r = path_join(repository, bench.dir, "tree/repository");

        if (r == 0)
                r = make_dirs(repository, 0700);
        if (r == 0)
                r = write_sources(repository);
        if (r == 0)
                r = bench_shell(repository, "git init -q -b main .");
        if (r == 0)
                r = commit(repository, "first");
        if (r == 0)
                r = bench_shell(repository, "echo '// one line more' >>src/part0/file1.cpp");
        if (r == 0)
                r = commit(repository, "second");
        if (r == 0)
                r = fixture_add_solver(store, "tree", text, repository);
        if (r == 0)
                r = worker_command(worker);
        return r < 0 ? r
                     : bench_shell(store,
                                   "git config -f config solverfs.builds lab && git config -f config cluster.lab.launch 'exec {worker}' && "
                                   "git config -f config cluster.lab.worker \"%s\"",
                                   worker);
}

struct building {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        const char *revision;
};

static int make_build(void *user, size_t, struct query **ret)
{
        struct building *b = user;
        uint32_t commit;
        int r = history_resolve(b->solver->history, b->revision, &commit);

        return r < 0 ? r : query_build(b->workspace, b->solver, commit, ret);
}

static int take_build(void *, size_t, int r, struct value *v, const char *reason)
{
        if (r == 0 && ((struct build_value *)v)->record->ok)
                return 0;
        return r < 0 ? errorf(r, "%s", reason) : errorf(-EIO, "the tree was not built");
}

static int go_build(void *user)
{
        struct building *b = user;

        return ask_many(b->engine, &(struct batch){.n = 1, .open = 1, .make = make_build, .answered = take_build, .user = b}, PRIORITY_BATCH, -1);
}

static int build_both(struct building *b)
{
        struct cluster *c = b->solver->builder->cluster;
        struct travel first, second;
        int r;

        b->revision = "first";
        r = measure_travel(c, go_build, b, &first);
        b->revision = "second";
        if (r == 0)
                r = measure_travel(c, go_build, b, &second);
        if (r == 0) {
                print_travel("sent for the first build of a tree of 2,500 files, 35 MB", &first, (double)SOURCES * SOURCE);
                print_travel("sent for the build of the next commit, which changes one file", &second, 1 << 20);
        }
        return r;
}

static int row_tree(void)
{
        struct building b = {0};
        char store[PATH_SIZE];
        int r = path_join(store, bench.dir, "tree/store");

        if (r == 0)
                r = make_tree_store(store);
        if (r == 0)
                r = workspace_open(store, 0, &b.workspace);
        if (r == 0)
                r = workspace_engine(b.workspace, NULL, &b.engine);
        if (r == 0)
                r = workspace_solver(b.workspace, "tree", &b.solver);
        if (r == 0)
                r = build_both(&b);
        engine_close(b.engine);
        solver_unref(b.solver);
        workspace_close(b.workspace);
        return r;
}

/* -- one head, many workers: the whole way of a cell, from the engine to the store -- */

struct head {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        uint32_t commit;
        struct case_info *infos[NAPS + SLEEPERS]; /* refs; the first SLEEPERS only bring the workers */
        size_t first;
};

static int make_cell(void *user, size_t i, struct query **ret)
{
        struct head *h = user;

        return query_run(h->workspace, &(struct cell){.solver = h->solver, .commit = h->commit, .info = h->infos[h->first + i]}, ret);
}

static int take_cell(void *user, size_t i, int r, struct value *v, const char *reason)
{
        (void)user;
        (void)i;
        if (r == 0 && ((struct run_value *)v)->fact)
                return 0;
        return r < 0 ? errorf(r, "%s", reason) : errorf(-EIO, "the sleeper was not built");
}

static int ask_cells(struct head *h, size_t first, size_t n)
{
        h->first = first;
        return ask_many(h->engine, &(struct batch){.n = n, .open = SLEEPERS * 2, .make = make_cell, .answered = take_cell, .user = h}, PRIORITY_BATCH,
                        -1);
}

/* Each worker has leases of its own: they are to stand for 64 machines. */
static int make_sleepers(const char *store)
{
        static const char naps[] = "#!/bin/sh\nsleep 0.4\necho sat\n";
        static const char text[] = "[solver]\n paths = sleep.sh\n build = cp sleep.sh sleep && chmod +x sleep\n output = sleep\n run = {bin} {case}\n"
                                   " samples = 1\n";
        char worker[2 * PATH_SIZE], repository[PATH_SIZE], path[PATH_SIZE];
        int r = path_join(repository, bench.dir, "sleepers/repository");

        if (r == 0)
                r = make_dirs(repository, 0700);
        if (r == 0)
                r = path_join(path, repository, "sleep.sh");
        if (r == 0)
                r = write_file_atomic(path, naps, sizeof(naps) - 1, 0700);
        if (r == 0)
                r = bench_shell(repository, "git init -q -b main . && git add . && git -c user.name=A -c user.email=a@example.org commit -qm 1");
        if (r == 0)
                r = fixture_add_solver(store, "sleeper", text, repository);
        if (r == 0)
                r = fixture_add_cases(store, NAPS + SLEEPERS);
        if (r == 0)
                r = worker_command(worker);
        return r < 0 ? r
                     : bench_shell(store,
                                   "git config -f config solverfs.runs lab && git config -f config cluster.lab.workers %d && "
                                   "git config -f config cluster.lab.launch \"SOLVERFS_SLOTS=%s/slots\\$\\$ exec {worker}\" && "
                                   "git config -f config cluster.lab.worker \"%s\"",
                                   SLEEPERS, bench.dir, worker);
}

static double own_cpu(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int feed_sleepers(struct head *h)
{
        double began, cpu;
        int r = ask_cells(h, 0, SLEEPERS); /* all workers come, and get the program */

        if (r < 0)
                return r;
        began = bench_now();
        cpu = own_cpu();
        r = ask_cells(h, SLEEPERS, NAPS);
        cpu = own_cpu() - cpu;
        began = bench_now() - began;
        if (r == 0) {
                bench_say("64 workers: %.0f runs a second", NAPS / began);
                bench_print(&(struct row){.what = "the head's CPU for a run, fact and all", .judge = JUDGE_ALONE}, cpu / NAPS, NAN, NAN);
                bench_print(&(struct row){.what = "a core's share that feeds 64 workers with runs of 0.4 s", .judge = JUDGE_RATIO, .against = "of the time", .most = 0.5},
                            cpu, began, NAN);
        }
        return r;
}

static int row_sleepers(void)
{
        struct head h = {0};
        char store[PATH_SIZE];
        int r = path_join(store, bench.dir, "sleepers/store");

        if (r == 0)
                r = make_sleepers(store);
        if (r == 0)
                r = workspace_open(store, 0, &h.workspace);
        if (r == 0)
                r = workspace_engine(h.workspace, NULL, &h.engine);
        if (r == 0)
                r = workspace_solver(h.workspace, "sleeper", &h.solver);
        if (r == 0)
                r = history_head(h.solver->history, &h.commit);
        for (uint32_t i = 0; r == 0 && i < NAPS + SLEEPERS; i++)
                r = cases_get(workspace_cases(h.workspace), i + 1, &h.infos[i]);
        if (r == 0)
                r = feed_sleepers(&h);
        engine_close(h.engine);
        for (uint32_t i = 0; i < NAPS + SLEEPERS; i++)
                case_info_unref(h.infos[i]);
        solver_unref(h.solver);
        workspace_close(h.workspace);
        return r;
}

int bench_remote(void)
{
        static int (*const rows[])(void) = {row_overhead, row_stream, row_large, row_tree, row_sleepers};
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
                r = rows[i]();
        return r;
}
