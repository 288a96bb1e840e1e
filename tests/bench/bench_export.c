/* `solverfs export` of many facts: CPU time and memory of each format, a million facts beside a tenth of them. The program is $SOLVERFS. */
#include <math.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"
#include "fixture.h"

#define CASES 1000

static const struct size {
        const char *name;
        uint32_t commits; /* all of them measured */
} sizes[] = {{"tenth", 100}, {"million", 1000}};

static const char *const formats[] = {"csv", "jsonl", "benchexec", "asv", "hyperfine"};

struct export_cost {
        double seconds, memory; /* of one export: CPU time, and most RssAnon in bytes */
};

static uint64_t time_of(uint32_t commit, uint32_t case_id)
{
        return UINT64_C(1000000) + commit * 1000 + case_id;
}

static int make(const struct size *s, char store[PATH_SIZE])
{
        static const char recipe[] = "[solver]\n paths = src\n build = true\n output = solver\n run = {bin} {case}\n samples = 1\n";
        char name[64], path[PATH_SIZE], done[PATH_SIZE];
        int r;

        snprintf(name, sizeof(name), "export-%s.store", s->name);
        r = path_join(store, bench.dir, name);
        snprintf(name, sizeof(name), "export-%s.git", s->name);
        if (r == 0)
                r = path_join(path, bench.dir, name);
        snprintf(name, sizeof(name), "export-%s.done", s->name);
        if (r == 0)
                r = path_join(done, bench.dir, name);
        if (r < 0 || access(done, F_OK) == 0)
                return r;
        bench_say("making %u facts", s->commits * CASES);
        r = remove_tree(store);
        if (r == 0 || r == -ENOENT)
                r = remove_tree(path);
        if (r == 0 || r == -ENOENT)
                r = fixture_history(path, s->commits);
        if (r == 0)
                r = fixture_add_solver(store, "many", recipe, path);
        if (r == 0)
                r = fixture_add_cases(store, CASES);
        if (r == 0)
                r = fixture_put_cells(store, "many", s->commits, 1, CASES, time_of);
        return r < 0 ? r : write_file_atomic(done, "", 0, 0600);
}

/* -- one export --------------------------------------------------------------------------------------------------- */

static int start(const char *program, const char *store, const char *format, const char *output, pid_t *ret)
{
        char *const argv[] = {(char *)program, (char *)"-q", (char *)"export", (char *)"--format", (char *)format,
                              (char *)"many",  (char *)"-o", (char *)output,   NULL};

        return setenv("SOLVERFS_STORE", store, 1) < 0 ? -errno : -posix_spawn(ret, program, NULL, NULL, argv, environ);
}

static double seconds_of(struct timeval t)
{
        return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Looks at the process until it has ended. */
static int watch(pid_t pid, struct export_cost *ret)
{
        struct timespec pause = {.tv_nsec = 5000000};
        struct rusage usage;
        int status, r;

        ret->memory = 0;
        while ((r = wait4(pid, &status, WNOHANG, &usage)) == 0) {
                ret->memory = fmax(ret->memory, fixture_memory(&(struct fixture){.daemon = pid}));
                nanosleep(&pause, NULL);
        }
        if (r < 0)
                return -errno;
        ret->seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        return status == 0 ? 0 : errorf(-EIO, "export failed (%d)", status);
}

static int export(const char *program, const char *store, const char *format, struct export_cost *ret)
{
        const bool is_folder = strcmp(format, "asv") == 0 || strcmp(format, "benchexec") == 0;
        char output[PATH_SIZE], folder[PATH_SIZE + 1];
        pid_t pid;
        int r = path_join(output, bench.dir, "exported");

        if (r < 0)
                return r;
        snprintf(folder, sizeof(folder), "%s%s", output, is_folder ? "/" : "");
        r = start(program, store, format, folder, &pid);
        if (r == 0)
                r = watch(pid, ret);
        if (is_folder)
                remove_tree(output);
        else
                unlink(output);
        return r;
}

/* -- rows --------------------------------------------------------------------------------------------------------- */

static int measure(const char *program, const char *format, char stores[ARRAY_SIZE(sizes)][PATH_SIZE])
{
        struct export_cost cost[ARRAY_SIZE(sizes)];
        char what[80];
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(sizes) && r == 0; i++)
                r = export(program, stores[i], format, &cost[i]);
        if (r < 0)
                return r;
        snprintf(what, sizeof(what), "export of 1,000,000 facts as %s, CPU time of a fact", format);
        bench_print(&(struct row){.what = what, .against = "of 100,000", .judge = JUDGE_RATIO, .unit = UNIT_SECONDS, .most = 1.5},
                    cost[1].seconds / (sizes[1].commits * CASES), cost[0].seconds / (sizes[0].commits * CASES), NAN);
        bench_print(&(struct row){.what = "the same, RssAnon", .against = "of 100,000", .judge = JUDGE_DIFFERENCE, .unit = UNIT_BYTES, .most = 4e6},
                    cost[1].memory, cost[0].memory, NAN);
        return 0;
}

int bench_export(void)
{
        const char *program = getenv("SOLVERFS");
        char stores[ARRAY_SIZE(sizes)][PATH_SIZE];
        int r = 0;

        if (!program || access(program, X_OK) < 0) {
                bench_skip("export of 1,000,000 facts", "no $SOLVERFS");
                return 0;
        }
        for (size_t i = 0; i < ARRAY_SIZE(sizes) && r == 0; i++)
                r = make(&sizes[i], stores[i]);
        for (size_t i = 0; i < ARRAY_SIZE(formats) && r == 0; i++)
                r = measure(program, formats[i], stores);
        return r;
}
