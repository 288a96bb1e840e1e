/* Runs over a sandbox that is kept, against those in a new one each. */
#include <sched.h>

#include "bench.h"

#include "core/run/runner.h"

#define RUNS 50 /* of a round */

static char *none[] = {NULL};
static struct recipe recipe = {.refs = 1,
                               .name = (char *)"bench",
                               .format = FORMAT_SMT2,
                               .paths = none,
                               .build = none,
                               .outputs = none,
                               .effort = none,
                               .environment = none,
                               .run = (char *)"{bin} {case}",
                               .samples = 1};

static int open_runner(const char *program, enum sandbox_kind sandbox, bool fresh, const cpu_set_t *cpus, struct runner **ret)
{
        static char scratch[PATH_SIZE];
        const struct run_program p = {.path = program, .name = "bench"};
        int r = path_join(scratch, bench.dir, "runs");

        if (r == 0)
                r = make_dirs(scratch, 0700);
        if (r < 0)
                return r;
        return runner_open(
                &(struct runner_options){.recipe = &recipe,
                                         .programs = &p,
                                         .n_programs = 1,
                                         .limits = {.wall_ns = 60 * NSEC_PER_SEC, .memory = UINT64_C(2) << 30, .output = 4096},
                                         .scratch_parent = scratch,
                                         .sandbox = sandbox,
                                         .cpus = cpus,
                                         .fresh = fresh},
                ret);
}

static int run_once(struct runner *r, double *ret_wall)
{
        struct run_result result = {0};
        int k = runner_run(r, &(struct run_input){.bytes = slice_string("(check-sat)\n")}, -1, &result);

        if (k == 0 && (result.run.end != END_EXIT || result.run.code != 0))
                k = errorf(-EIO, "a run ended with %d, %d", result.run.end, result.run.code);
        *ret_wall = (double)result.run.wall_ns / 1e9;
        run_result_done(&result);
        return k;
}

/* From the bytes to the result. */
static int measure_runs(void *user, double *ret)
{
        double began = bench_now(), ignored;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < RUNS; i++)
                r = run_once(user, &ignored);
        *ret = (bench_now() - began) / RUNS;
        return r;
}

/* The program's own, as it is reported. */
static int measure_program(void *user, double *ret)
{
        return run_once(user, ret);
}

/* -- `true` -- */

static int row_true(const char *what, enum sandbox_kind sandbox, double most)
{
        cleanup(runner_closep) struct runner *kept = NULL, *fresh = NULL;
        int r = open_runner("/usr/bin/true", sandbox, false, NULL, &kept);

        if (r == 0)
                r = open_runner("/usr/bin/true", sandbox, true, NULL, &fresh);
        if (r < 0)
                return r;
        r = bench_compare(&(struct row){.what = what, .judge = JUDGE_ALONE, .most = most}, measure_runs, kept, NULL, NULL);
        if (r == 0)
                r = bench_compare(
                        &(struct row){.what = what,
                                      .against = sandbox == SANDBOX_BWRAP ? "a new sandbox for each" : "a new helper for each",
                                      .judge = JUDGE_RATIO},
                        measure_runs, kept, measure_runs, fresh);
        return r;
}

/* All on one core: caller, helper and program. */
static int row_one_core(void)
{
        cleanup(runner_closep) struct runner *kept = NULL;
        cpu_set_t before, one;
        int r;

        if (sched_getaffinity(0, sizeof(before), &before) < 0)
                return -errno;
        CPU_ZERO(&one);
        CPU_SET((size_t)sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                return -errno;
        r = open_runner("/usr/bin/true", SANDBOX_BWRAP, false, &one, &kept);
        if (r == 0)
                r = bench_compare(&(struct row){.what = "the same, all on one core", .judge = JUDGE_ALONE, .most = 1.0 / 400},
                                  measure_runs, kept, NULL, NULL);
        kept = runner_close(kept);
        sched_setaffinity(0, sizeof(before), &before);
        return r;
}

/* -- what a program takes in a kept sandbox, and in a new one -- */

static const char cpu_bound[] = "int main(void)\n{\n\tvolatile unsigned x = 1;\n\tfor (unsigned i = 0; i < 60000000; i++)\n"
                                "\t\tx = x * 1664525u + 1013904223u;\n\treturn 0;\n}\n";
static const char memory_bound[] =
        "#include <stdlib.h>\n#define N (8u << 20)\nint main(void)\n{\n\tunsigned *next = malloc(N * sizeof(*next)), at = 0;\n"
        "\tfor (unsigned i = 0; i < N; i++)\n\t\tnext[i] = (i * 1664525u + 1013904223u) % N;\n"
        "\tfor (unsigned i = 0; i < 2000000; i++)\n\t\tat = next[at];\n\treturn at == N;\n}\n";

static int compile(const char *name, const char *text, size_t size, char ret[PATH_SIZE])
{
        char source[PATH_SIZE];
        int r = path_join(ret, bench.dir, name);

        if (r == 0 && snprintf(source, sizeof(source), "%s.c", ret) >= (int)sizeof(source))
                r = -ENAMETOOLONG;
        if (r == 0)
                r = write_file_atomic(source, text, size, 0600);
        return r < 0 ? r : bench_shell(bench.dir, "cc -O1 -o '%s' '%s' && chmod 755 '%s'", ret, source, ret);
}

static int row_same(const char *what, const char *name, const char *text, size_t size)
{
        cleanup(runner_closep) struct runner *kept = NULL, *fresh = NULL;
        char program[PATH_SIZE];
        int r = compile(name, text, size, program);

        if (r == 0)
                r = open_runner(program, SANDBOX_BWRAP, false, NULL, &kept);
        if (r == 0)
                r = open_runner(program, SANDBOX_BWRAP, true, NULL, &fresh);
        return r < 0 ? r
                     : bench_compare(&(struct row){.what = what,
                                                   .against = "in a new sandbox",
                                                   .judge = JUDGE_RATIO,
                                                   .most = 1.02,
                                                   .rounds = MAX(bench.rounds, 61u)},
                                     measure_program, kept, measure_program, fresh);
}

int bench_runner(void)
{
        int r = row_true("running true over a kept sandbox", SANDBOX_BWRAP, 1.5e-3);

        if (r == 0)
                r = row_one_core();
        if (r == 0)
                r = row_true("running true over a kept helper, unsandboxed", SANDBOX_NONE, 0);
        if (r == 0)
                r = row_same("a CPU-bound program's own time in a kept sandbox", "cpu", cpu_bound, sizeof(cpu_bound) - 1);
        if (r == 0)
                r = row_same("a memory-bound program's own time in a kept sandbox", "memory", memory_bound,
                             sizeof(memory_bound) - 1);
        return r;
}
