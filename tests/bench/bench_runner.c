/* Runs over a sandbox that is kept, against those in a new one each. */
#include <sched.h>

#include "bench.h"

#include "runs.h"

/* The program's own, as it is reported. */
static int measure_program(void *user, double *ret)
{
        return runs_once(user, ret);
}

/* -- `true` -- */

static int row_true(const char *what, enum sandbox_kind sandbox, double most)
{
        cleanup(runner_closep) struct runner *kept = NULL, *fresh = NULL;
        int r = runs_open(&(struct runs_options){.program = "/usr/bin/true", .sandbox = sandbox}, &kept);

        if (r == 0)
                r = runs_open(&(struct runs_options){.program = "/usr/bin/true", .sandbox = sandbox, .fresh = true}, &fresh);
        if (r < 0)
                return r;
        r = bench_compare(&(struct row){.what = what, .judge = JUDGE_ALONE, .most = most}, runs_measure, kept, NULL, NULL);
        if (r == 0)
                r = bench_compare(
                        &(struct row){.what = what,
                                      .against = sandbox == SANDBOX_BWRAP ? "a new sandbox for each" : "a new helper for each",
                                      .judge = JUDGE_RATIO},
                        runs_measure, kept, runs_measure, fresh);
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
        r = runs_open(&(struct runs_options){.program = "/usr/bin/true", .sandbox = SANDBOX_BWRAP, .cpus = &one}, &kept);
        if (r == 0)
                r = bench_compare(&(struct row){.what = "the same, all on one core", .judge = JUDGE_ALONE, .most = 1.0 / 400},
                                  runs_measure, kept, NULL, NULL);
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
                r = runs_open(&(struct runs_options){.program = program, .sandbox = SANDBOX_BWRAP}, &kept);
        if (r == 0)
                r = runs_open(&(struct runs_options){.program = program, .sandbox = SANDBOX_BWRAP, .fresh = true}, &fresh);
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
