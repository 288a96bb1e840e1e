/* Many runs over one runner: nothing of it grows, neither in us nor in its helper, and each run is as good as the first.
 *
 *     soak_runs [RUNS [PROGRAM]]         100,000 of /usr/bin/true
 *
 * Looks at memory, descriptors and processes after a tenth of the runs and at the end. Says how many runs there were a second. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/run/runner.h"
#include "tests/support/toy_run.h"

struct state {
        unsigned processes, descriptors; /* ours and of those below us */
        uint64_t memory;                 /* resident bytes of all */
};

static pid_t parent_of(pid_t pid)
{
        cleanup_file FILE *f = NULL;
        char path[300], text[1024];
        const char *after;
        int parent = 0;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        after = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
        return after && sscanf(after, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

static bool is_below_us(const char *pid)
{
        pid_t p = (pid_t)atoi(pid);

        while (p > 1 && p != getpid())
                p = parent_of(p);
        return p == getpid();
}

static void add_process(const char *pid, struct state *s)
{
        cleanup_file FILE *f = NULL;
        unsigned long long size, resident;
        char path[300];
        struct dirent *e;
        DIR *d;

        s->processes++;
        snprintf(path, sizeof(path), "/proc/%s/statm", pid);
        f = fopen(path, "re");
        if (f && fscanf(f, "%llu %llu", &size, &resident) == 2)
                s->memory += resident * (uint64_t)sysconf(_SC_PAGESIZE);
        snprintf(path, sizeof(path), "/proc/%s/fd", pid);
        d = opendir(path);
        while (d && (e = readdir(d)))
                s->descriptors += e->d_name[0] != '.';
        if (d)
                closedir(d);
}

static struct state look(void)
{
        struct state s = {0};
        DIR *d = opendir("/proc");
        struct dirent *e;

        usleep(200000); /* the last run's process is on its way out */
        while (d && (e = readdir(d)))
                if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_below_us(e->d_name))
                        add_process(e->d_name, &s);
        if (d)
                closedir(d);
        return s;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) /* which keep what was freed */
#define GROWTH ((size_t)512 << 20)
#else
#define GROWTH ((size_t)1 << 20)
#endif

static int say(const char *what, enum sandbox_kind kind, const struct state *before, const struct state *after)
{
        bool grown = after->processes > before->processes || after->descriptors > before->descriptors ||
                     after->memory > before->memory + GROWTH;

        printf("%s, %s: %u processes, %u descriptors, %.1f MB; at the end %u, %u, %.1f MB%s\n", what,
               kind == SANDBOX_BWRAP ? "sandboxed" : "no sandbox", before->processes, before->descriptors,
               (double)before->memory / 1e6, after->processes, after->descriptors, (double)after->memory / 1e6,
               grown ? ": GROWN" : "");
        return grown ? -EIO : 0;
}

static int run_one(struct runner *r)
{
        struct run_result result = {0};
        int k = runner_run(r, &(struct run_input){.bytes = slice_string("(check-sat)\n")}, -1, &result);

        if (k == 0 && (result.run.end != END_EXIT || result.run.code != 0))
                k = errorf(-EIO, "a run ended with %d, %d", (int)result.run.end, result.run.code);
        run_result_done(&result);
        return k;
}

static int soak(struct runner *r, enum sandbox_kind kind, unsigned long runs)
{
        struct state early = {0}, late;
        uint64_t began = now_ns();
        int k = 0;

        for (unsigned long i = 0; k == 0 && i < runs; i++) {
                if (i == runs / 10)
                        early = look();
                k = run_one(r);
        }
        if (k < 0)
                return k;
        printf("%lu runs, %.0f a second\n", runs, (double)runs / ((double)(now_ns() - began) / 1e9));
        late = look();
        k = say("runner", kind, &early, &late);
        if (runner_counters(r).sandboxes != 1)
                k = errorf(-EIO, "%" PRIu64 " sandboxes were needed, %" PRIu64 " lost, %" PRIu64 " dirty",
                           runner_counters(r).sandboxes, runner_counters(r).lost, runner_counters(r).dirty);
        return k;
}

int main(int argc, char **argv)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);
        const struct run_program program = {.path = argc > 2 ? argv[2] : "/usr/bin/true", .name = "soak"};
        unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
        char folder[] = "/tmp/solverfs-soak-XXXXXX";
        int k = mkdtemp(folder) ? 0 : -errno;

        for (int kind = SANDBOX_BWRAP; k == 0 && kind <= SANDBOX_NONE; kind++) {
                cleanup(runner_closep) struct runner *r = NULL;

                r = runner_open(&(struct runner_options){.recipe = &recipe,
                                                         .programs = &program,
                                                         .n_programs = 1,
                                                         .limits = {.wall_ns = 60 * NSEC_PER_SEC,
                                                                    .cpu_ns = 60 * NSEC_PER_SEC,
                                                                    .memory = 1 << 30,
                                                                    .output = 1 << 20,
                                                                    .processes = 64},
                                                         .scratch_parent = folder,
                                                         .sandbox = (enum sandbox_kind)kind});
                k = soak(r, (enum sandbox_kind)kind, kind == SANDBOX_BWRAP ? runs : runs / 10);
        }
        if (k < 0)
                fprintf(stderr, "soak_runs: %s\n", error_message(k));
        if (rmdir(folder) < 0) {
                fprintf(stderr, "soak_runs: %s: %s\n", folder, strerror(errno));
                k = -errno;
        }
        return k < 0;
}
