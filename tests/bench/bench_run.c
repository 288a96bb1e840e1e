/* What the runner adds to a program. */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>

#include "bench.h"
#include "fixture.h"

#define RUNS 50 /* of a round */

/* -- `true` -- */

struct runner {
        enum sandbox_kind sandbox;
        char scratch[PATH_SIZE];
};

static int run_true(const struct runner *u)
{
        char *const argv[] = {(char *)"/usr/bin/true", NULL};
        struct execute_result result = {0};
        const struct execute_request request = {.argv = argv,
                                                .environment = (char *const[]){NULL},
                                                .scratch = u->scratch,
                                                .sandbox = u->sandbox,
                                                .wall_ns = 10 * NSEC_PER_SEC,
                                                .out = {.keep = 4096},
                                                .err = {.keep = 4096},
                                                .cancel_fd = -1};
        int r = execute(&request, &result);

        if (r == 0 && (result.end != END_EXIT || result.code != 0))
                r = errorf(-EIO, "true ended with %d, %d", result.end, result.code);
        execute_result_done(&result);
        return r;
}

static int measure_runner(void *user, double *ret)
{
        double began = bench_now();

        for (unsigned i = 0; i < RUNS; i++) {
                int r = run_true(user);

                if (r < 0)
                        return r;
        }
        *ret = (bench_now() - began) / RUNS;
        return 0;
}

struct hyperfine {
        const char *command;
        char json[PATH_SIZE];
};

static int measure_hyperfine(void *user, double *ret)
{
        struct hyperfine *h = user;
        json_t *o;
        double mean;
        int r = bench_shell(NULL, "hyperfine -N --style none --warmup 5 --runs %d --export-json '%s' '%s'", RUNS, h->json,
                            h->command);

        if (r < 0)
                return r;
        o = json_load_file(h->json, 0, NULL);
        mean = json_number_value(json_object_get(json_array_get(json_object_get(o, "results"), 0), "mean"));
        json_decref(o);
        *ret = mean;
        return mean > 0 ? 0 : errorf(-EIO, "hyperfine gave no mean");
}

/* What execute.h says that a program sees, and no more. */
#define BWRAP                                                                                                                \
        "bwrap --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink " \
        "usr/lib64 "                                                                                                         \
        "/lib64 --ro-bind /etc /etc --proc /proc --dev /dev --dir /scratch true"

static int rows_true(void)
{
        static const char *const names[] = {"running true, unsandboxed", "running true, sandboxed"};
        struct hyperfine bare = {.command = "true"}, bwrap = {.command = BWRAP};
        struct runner none = {.sandbox = SANDBOX_NONE}, sandboxed = {.sandbox = SANDBOX_BWRAP};
        int r = path_join(none.scratch, bench.dir, "scratch");

        if (r == 0)
                r = make_dirs(none.scratch, 0700);
        if (r == 0)
                r = path_join(bare.json, bench.dir, "hyperfine.json");
        if (r < 0)
                return r;
        memcpy(sandboxed.scratch, none.scratch, sizeof(none.scratch));
        memcpy(bwrap.json, bare.json, sizeof(bare.json));
        if (!bench_has("hyperfine")) {
                bench_skip(names[0], "hyperfine is not installed");
                bench_skip(names[1], "hyperfine is not installed");
                return 0;
        }
        r = bench_compare(&(struct row){.what = names[0],
                                        .against = "hyperfine -N true",
                                        .judge = JUDGE_DIFFERENCE,
                                        .most = 1e-3,
                                        .rounds = MIN(bench.rounds, 15u)},
                          measure_runner, &none, measure_hyperfine, &bare);
        if (r == 0)
                r = bench_compare(&(struct row){.what = names[1],
                                                .against = "hyperfine -N 'bwrap ... true'",
                                                .judge = JUDGE_DIFFERENCE,
                                                .most = 2e-3,
                                                .rounds = MIN(bench.rounds, 15u)},
                                  measure_runner, &sandboxed, measure_hyperfine, &bwrap);
        return r;
}

/* -- a run of one second, from open() to its answer -- */

#define SECONDS 10 /* runs */

static int make_solver(const char *repository)
{
        char path[PATH_SIZE];
        int r = path_join(path, repository, "solver.c");

        if (r == 0)
                r = make_dirs(repository, 0700);
        if (r == 0) {
                static const char text[] =
                        "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n    sleep(1);\n    puts(\"sat\");\n}\n";

                r = write_file_atomic(path, text, sizeof(text) - 1, 0600);
        }
        return r < 0 ? r
                     : bench_shell(repository, "git init -q -b main . && git add . && git -c user.name=A -c "
                                               "user.email=a@example.org commit -qm 1");
}

/* Opens and reads a cell's `time`; *ret_added is what that took beyond the time that it tells. */
static int open_cold(const char *mount, uint32_t number, double *ret_took, double *ret_added)
{
        char path[PATH_SIZE + 64], text[64] = "";
        double began = bench_now(), told;
        int fd;

        snprintf(path, sizeof(path), "%s/second/head/cases/%u/time", mount, number);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        told = read(fd, text, sizeof(text) - 1) > 0 ? atof(text) : 0;
        close(fd);
        *ret_took = bench_now() - began;
        *ret_added = *ret_took - told;
        return told >= 1 ? 0 : errorf(-EIO, "%s reads '%s'", path, text);
}

static int row_second(void)
{
        static const char recipe[] = "[solver]\n paths = solver.c\n build = cc -O2 -o solver solver.c\n output = solver\n run = "
                                     "{bin} {case}\n samples = 1\n";
        char store[PATH_SIZE], mount[PATH_SIZE], repository[PATH_SIZE];
        double took[SECONDS], added[SECONDS], ignored;
        pid_t pid = 0;
        int r = path_join(store, bench.dir, "second/store");

        if (r == 0)
                r = path_join(mount, bench.dir, "second/mount");
        if (r == 0)
                r = path_join(repository, bench.dir, "second/repository");
        if (r == 0)
                r = make_solver(repository);
        if (r == 0)
                r = fixture_add_solver(store, "second", recipe, repository);
        if (r == 0)
                r = fixture_add_cases(store, SECONDS + 1);
        if (r == 0)
                r = fixture_start(store, mount, false, &pid);
        if (r == 0)
                r = open_cold(mount, SECONDS + 1, &ignored, &ignored); /* which builds */
        for (uint32_t i = 0; r == 0 && i < SECONDS; i++)
                r = open_cold(mount, i + 1, &took[i], &added[i]);
        fixture_stop(mount, pid);
        if (r == 0) {
                double median = bench_median(added, SECONDS);

                bench_print(&(struct row){.what = "cold open of a run of 1 s",
                                          .against = "the solver's own time",
                                          .judge = JUDGE_DIFFERENCE,
                                          .most = 15e-3},
                            bench_median(took, SECONDS), bench_median(took, SECONDS) - median, median);
        }
        bench_shell(bench.dir, "rm -rf second");
        return r;
}

int bench_run(void)
{
        int r = rows_true();

        if (r == 0)
                r = bench_runner();
        return r < 0 ? r : row_second();
}
