#include "tests/support/test.h"
#include "tests/support/toy_run.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/run/effort.h"
#include "core/run/measure.h"

/* The solver is a shell script that the test writes. */
static char program[PATH_SIZE], input[PATH_SIZE], scratch[PATH_SIZE];
static const struct run_program toy = {.path = program, .name = "toy"};

static struct measure_request request_for(const struct recipe *recipe, const char *script)
{
        char dir[PATH_SIZE - 100];

        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
        snprintf(program, sizeof(program), "%s/solver", dir);
        snprintf(input, sizeof(input), "%s/input", dir);
        snprintf(scratch, sizeof(scratch), "%s/scratch", dir);
        mkdir(scratch, 0700);
        assert_ok(write_file_atomic(program, script, strlen(script), 0500));
        assert_ok(write_file_atomic(input, "(check-sat)\n", 12, 0600));
        return (struct measure_request){
                .runner.recipe = recipe,
                .runner.limits = {.wall_ns = 20 * NSEC_PER_SEC,
                           .cpu_ns = 20 * NSEC_PER_SEC,
                           .memory = 1 << 30,
                           .output = 1 << 20,
                           .processes = 64},
                .runner.programs = &toy,
                .runner.n_programs = 1,
                .case_path = input,
                .runner.scratch_parent = scratch,
                .cancel_fd = -1,
        };
}

static struct fact *measured(const struct measure_request *q)
{
        struct fact *f = NULL;

        assert_ok(measure(q, &f));
        ck_assert(fact_covers(f, &q->runner.limits));
        return f;
}

static json_t *json_of(const struct fact *f)
{
        json_error_t error;
        json_t *j = json_loadb(f->json.data, f->json.size, 0, &error);

        ck_assert_msg(j != NULL, "%s", error.text);
        return j;
}

static const char *string_at(json_t *j, const char *key)
{
        const char *s = json_string_value(json_object_get(j, key));

        return s ? s : "";
}

static bool blob_equals(const struct blob *b, const char *text)
{
        return b->size == strlen(text) && memcmp(b->data, text, b->size) == 0;
}

static bool is_empty(const char *path)
{
        return rmdir(path) == 0;
}

static size_t count_undisturbed(json_t *j)
{
        json_t *samples = json_object_get(j, "samples"), *sample;
        size_t i, n = 0;

        json_array_foreach (samples, i, sample)
                n += json_is_false(json_object_get(sample, "disturbed"));
        return n;
}

/* A second is what sampling may take. */
START_TEST(test_a_short_run)
{
        uint64_t start = now_ns();
        struct recipe r = toy_recipe("{bin} --mode {case}", 5);
        struct measure_request q =
                request_for(&r, "#!/bin/sh\necho \"$1\" >&2\nread line <\"$2\" && echo sat && echo \"; $line of $2\"\n");
        enum verdict expected = VERDICT_UNSAT;
        struct fact *f;
        json_t *j;
        size_t n;

        q.expected = &expected;
        q.n_expected = 1;
        q.about = json_pack("{s:s, s:s}", "solver", "toy", "verdict", "overridden");
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_SAT);
        ck_assert(f->wrong);
        ck_assert(blob_equals(&f->results, "sat\n"));
        ck_assert(blob_equals(&f->out, "sat\n; (check-sat) of /case/input.smt2\n"));
        ck_assert(blob_equals(&f->err, "--mode\n"));
        ck_assert_int_gt(f->measured, 1700000000);
        ck_assert_int_eq(f->remeasured, 0);
        ck_assert_uint_gt(f->wall_ns, 0);
        j = json_of(f);
        ck_assert_str_eq(string_at(j, "solver"), "toy");
        ck_assert_str_eq(string_at(j, "verdict"), "sat");
        n = json_array_size(json_object_get(j, "samples"));
        ck_assert(n >= 3 || now_ns() - start >= NSEC_PER_SEC); /* the median of three can be certain */
        ck_assert(count_undisturbed(j) <= 5);
        ck_assert(json_is_true(json_object_get(j, "wrong")));
        ck_assert(json_is_null(json_object_get(j, "seed")));
        ck_assert_str_eq(json_string_value(json_array_get(json_object_get(j, "command"), 0)), "/solver/toy");
        ck_assert_str_eq(string_at(j, "machine"), host_machine());
        ck_assert(fabs(json_real_value(json_object_get(j, "time")) - (double)f->wall_ns / 1e9) < 1e-9);
        ck_assert_int_eq(strncmp(f->json.data, "{\n  \"solver\": \"toy\",\n", 21),
                         0); /* ours after what was given, always in order */
        json_decref(j);
        json_decref(q.about);
        fact_unref(f);
        ck_assert(is_empty(scratch));
}
END_TEST

START_TEST(test_a_question_without_an_answer)
{
        static const struct {
                const char *solver;
                enum verdict verdict;
                const char *results;
        } rows[] = {{"#!/bin/sh\necho sat\n", VERDICT_UNKNOWN, "sat\nunknown\n"},
                    {"#!/bin/sh\necho sat\nexit 1\n", VERDICT_ERROR, "sat\nerror\n"},
                    {"#!/bin/sh\necho sat\necho unknown\n", VERDICT_UNKNOWN, "sat\nunknown\n"},
                    {"#!/bin/sh\necho sat\necho sat\nexit 1\n", VERDICT_SAT, "sat\nsat\n"}};
        const enum verdict expected[] = {VERDICT_SAT, VERDICT_UNKNOWN};

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct recipe r = toy_recipe("{bin} {case}", 1);
                struct measure_request q = request_for(&r, rows[i].solver);
                struct fact *f;

                q.expected = expected;
                q.n_expected = 2;
                f = measured(&q);
                ck_assert_int_eq(f->verdict, rows[i].verdict);
                ck_assert(blob_equals(&f->results, rows[i].results));
                fact_unref(f);
        }
}
END_TEST

START_TEST(test_the_lower_median_is_chosen)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho sat\necho $$ $(cat /proc/uptime)\n");
        struct fact *f = measured(&q);
        json_t *j = json_of(f), *samples = json_object_get(j, "samples");
        double chosen = json_real_value(
                json_object_get(json_array_get(samples, (size_t)json_integer_value(json_object_get(j, "chosen"))), "time"));
        size_t below = 0, above = 0, n = count_undisturbed(j);

        for (size_t i = 0; i < json_array_size(samples); i++) {
                const json_t *sample = json_array_get(samples, i);
                double t = json_real_value(json_object_get(sample, "time"));
                bool counts = json_is_false(json_object_get(sample, "disturbed"));

                below += counts && t < chosen;
                above += counts && t > chosen;
        }
        ck_assert(f->disturbed == (n == 0)); /* then it is another rule that chooses: test_waiting */
        ck_assert_uint_eq(below, n == 0 ? 0 : (n - 1) / 2);
        ck_assert_uint_eq(above, n / 2);
        ck_assert(fabs((double)f->wall_ns / 1e9 - chosen) < 1e-9);
        json_decref(j);
        fact_unref(f);
}
END_TEST

START_TEST(test_samples)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho sat\n");
        struct fact *f;
        json_t *j;

        r.samples = 1;
        f = measured(&q);
        j = json_of(f);
        ck_assert_int_eq(json_array_size(json_object_get(j, "samples")), 1);
        json_decref(j);
        fact_unref(f);
        r.samples = 5;
        q = request_for(&r, "#!/bin/sh\nsleep 1.01\necho sat\n"); /* long enough to be believed */
        f = measured(&q);
        j = json_of(f);
        ck_assert(count_undisturbed(j) == 1 || f->disturbed);
        json_decref(j);
        fact_unref(f);
        q = request_for(&r, "#!/bin/sh\nkill -SEGV $$\n");
        f = measured(&q);
        j = json_of(f);
        ck_assert_int_eq(f->verdict, VERDICT_CRASH);
        ck_assert_int_eq(json_array_size(json_object_get(j, "samples")), 1);
        ck_assert_str_eq(string_at(json_object_get(j, "end"), "signal"), "SEGV");
        json_decref(j);
        fact_unref(f);
}
END_TEST

START_TEST(test_limits)
{
        static const struct {
                const char *script;
                enum verdict verdict;
                const char *results;
                const char *reason;
                const char *not_started;
        } rows[] = {
                {"#!/bin/sh\necho unsat\nsleep 100\n", VERDICT_TIMEOUT, "unsat\ntimeout\n", "timeout"},
                {"#!/bin/sh\nwhile :; do :; done\n", VERDICT_TIMEOUT, "timeout\n", "timeout"},
                {"#!/usr/bin/perl\n$x='x'; while (1) { $x .= $x; }\n", VERDICT_MEMOUT, "memout\n", NULL},
                {"#!/bin/sh\nexec yes sat\n", VERDICT_ERROR, NULL, "output"},
                {"#!/bin/sh\nexit 3\n", VERDICT_ERROR, "error\n", "exit"},
                {"#!/no/such/interpreter\n", VERDICT_ERROR, "error\n", "noexec",
                 "the program cannot be executed: No such file or directory; its interpreter or loader is missing"},
                {"", VERDICT_ERROR, "error\n", "noexec",
                 "the program cannot be executed: Exec format error; it is no program of this machine, and names no interpreter"},
                {"#!/bin/sh\necho 'toy: error while loading shared libraries: libnone.so.1: cannot open shared object file: No such file' >&2\nexit 127\n",
                 VERDICT_ERROR, "error\n", "exit", "the program cannot be executed: it needs the shared library libnone.so.1, which is missing"},
                {"#!/bin/sh\necho '(error \"x\")'\nexit 1\n", VERDICT_ERROR, "error\n", "exit"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct recipe r = toy_recipe("{bin} {case}", 5);
                struct measure_request q = request_for(&r, rows[i].script);
                struct fact *f;
                json_t *j;

                q.runner.limits.wall_ns =
                        rows[i].verdict == VERDICT_TIMEOUT ? 300 * NSEC_PER_MSEC : 60 * NSEC_PER_SEC; /* a busy machine is slow */
                q.runner.limits.memory = 100 << 20;
                f = measured(&q);
                ck_assert_msg(f->verdict == rows[i].verdict, "%s: %s", rows[i].script, verdict_name(f->verdict));
                if (rows[i].results)
                        ck_assert_msg(blob_equals(&f->results, rows[i].results), "%s", rows[i].script);
                if (f->verdict == VERDICT_TIMEOUT)
                        ck_assert_uint_eq(f->wall_ns, q.runner.limits.wall_ns);
                j = json_of(f);
                if (rows[i].reason)
                        ck_assert_str_eq(string_at(json_object_get(j, "end"), "reason"), rows[i].reason);
                ck_assert_pstr_eq(f->not_started, rows[i].not_started);
                ck_assert_pstr_eq(json_string_value(json_object_get(json_object_get(j, "end"), "error")), rows[i].not_started);
                if (rows[i].not_started && strcmp(rows[i].reason, "noexec") == 0)
                        ck_assert(f->err.size == strlen(rows[i].not_started) + 1 && memcmp(f->err.data, rows[i].not_started, f->err.size - 1) == 0);
                json_decref(j);
                fact_unref(f);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

/* A program that ends with a status other than 0 near a limit has failed for it, unless it has answered. */
START_TEST(test_answers_near_a_limit)
{
#define NEARLY "#!/usr/bin/perl\nsub resident { open(F, '/proc/self/status'); (join('', <F>) =~ /VmRSS:\\s*(\\d+)/)[0] }\n" \
               "push @x, 'x' x 1e6 while (resident() < 180 << 10);\n"
#define MANY   "#!/bin/sh\nfor i in 1 2 3 4 5; do sleep 99 & done\n"
        static const struct {
                enum format format;
                const char *script;
                enum verdict verdict;
                const char *results, *reason;
        } rows[] = {
                {FORMAT_CNF, NEARLY "print \"s SATISFIABLE\\n\"; exit 10;\n", VERDICT_SAT, "sat\n", "exit"},
                {FORMAT_SMT2, NEARLY "print \"unsat\\n\"; exit 1;\n", VERDICT_UNSAT, "unsat\n", "exit"},
                {FORMAT_SMT2, NEARLY "exit 1;\n", VERDICT_MEMOUT, "memout\n", "memory"},
                {FORMAT_CNF, MANY "echo s UNSATISFIABLE\nexit 20\n", VERDICT_UNSAT, "unsat\n", "exit"},
                {FORMAT_CNF, MANY "exit 1\n", VERDICT_ERROR, "error\n", "processes"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct recipe r = toy_recipe("{bin} {case}", 1);
                struct measure_request q = request_for(&r, rows[i].script);
                struct fact *f;
                json_t *j;

                r.format = rows[i].format;
                q.runner.limits.memory = 200 << 20;
                q.runner.limits.processes = 10;
                f = measured(&q);
                ck_assert_msg(f->verdict == rows[i].verdict, "%s: %s", rows[i].script, verdict_name(f->verdict));
                ck_assert_msg(blob_equals(&f->results, rows[i].results), "%s", rows[i].script);
                j = json_of(f);
                ck_assert_str_eq(string_at(json_object_get(j, "end"), "reason"), rows[i].reason);
                json_decref(j);
                fact_unref(f);
        }
}
END_TEST

struct elsewhere {
        struct run_remote remote;
        struct execute_result result;
        unsigned runs, pauses; /* the first so many stood still for a while */
};

static int run_elsewhere(struct run_remote *a, const struct runner_options *options, const struct run_input *what, int cancel_fd,
                         struct execute_result *ret)
{
        struct elsewhere *e = (struct elsewhere *)a;

        (void)options, (void)what, (void)cancel_fd;
        *ret = e->result;
        if (e->runs++ < e->pauses)
                ret->doubt = DOUBT_PAUSE;
        return 0;
}

/* The kernel's kill of another process has not harmed a run that answered. */
START_TEST(test_an_answer_while_the_machine_lacked_memory)
{
        struct elsewhere e = {.remote = {.machine = "there", .run = run_elsewhere},
                              .result = {.end = END_EXIT, .code = 20, .doubt = DOUBT_MEMORY, .wall_ns = 3 * NSEC_PER_SEC, .method = "rusage"}};
        struct recipe r = toy_recipe("{bin} {case}", 1);
        struct measure_request q = request_for(&r, "");
        struct fact *f;

        r.format = FORMAT_CNF;
        q.runner.remote = &e.remote;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_UNSAT);
        ck_assert_uint_eq(e.runs, 1);
        fact_unref(f);
        e.result.code = 1;
        assert_error(measure(&q, &f), EIO);
        ck_assert_uint_eq(e.runs, 3);
}
END_TEST

/* As by a suspend: nobody knows how much of it is in the time. */
START_TEST(test_a_run_that_stood_still)
{
        for (unsigned pauses = 0; pauses <= 2; pauses++) {
                struct elsewhere e = {.remote = {.machine = "there", .run = run_elsewhere},
                                      .result = {.end = END_EXIT, .code = 20, .wall_ns = 3 * NSEC_PER_SEC, .method = "rusage"},
                                      .pauses = pauses};
                struct recipe r = toy_recipe("{bin} {case}", 1);
                struct measure_request q = request_for(&r, "");
                struct fact *f;

                r.format = FORMAT_CNF;
                r.samples = 1;
                q.runner.remote = &e.remote;
                f = measured(&q);
                ck_assert_uint_eq(e.runs, 1 + (pauses > 0));
                ck_assert_int_eq(f->disturbed, pauses == 2);
                fact_unref(f);
        }
}
END_TEST

START_TEST(test_effort)
{
        char *effort[] = {(char *)":rlimit-count +([0-9]+)", (char *)"^c conflicts: *([0-9]+)", (char *)"absent ([0-9]+)",
                          (char *)"seconds=([0-9.]+)", NULL};
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho sat\necho 'c conflicts: 1'\necho 'c conflicts: 22'\n"
                                                   "echo '(:a 1 :rlimit-count   5 :rlimit-count 12345678901)'\n"
                                                   "echo 'x c conflicts: 333'\necho 'seconds=1.5' >&2\necho 'seconds=9'\n");
        cleanup_buffer struct buffer text = {0};
        json_t *j, *e;
        struct fact *f;

        r.effort = effort;
        r.samples = 1;
        f = measured(&q);
        j = json_of(f);
        e = json_object_get(j, "effort");
        ck_assert_int_eq(json_integer_value(json_object_get(e, "rlimit-count")), 12345678901);
        ck_assert_int_eq(json_integer_value(json_object_get(e, "conflicts")), 22);
        ck_assert(json_real_value(json_object_get(e, "seconds")) == 1.5);
        ck_assert(json_is_null(json_object_get(e, "absent")));
        ck_assert_int_eq(json_object_size(e), 4);
        json_decref(j);
        effort[0] = (char *)":rlimit-count.*count +([0-9]{3})"; /* patterns of the same labels, changed after the run */
        effort[1] = (char *)"^x c conflicts: ([0-9]+)";
        effort[2] = (char *)"^c conflicts: no such ([0-9]+)";
        effort_print(f, &r, &text);
        ck_assert_str_eq(text.data, "123\trlimit-count\n333\tconflicts\n1.5\tseconds\n");
        ck_assert_double_eq_tol(fact_effort(f, &r), 123, 0.5);
        effort[0] = (char *)"nothing like :rlimit-count +([0-9]+)";
        ck_assert_double_nan(fact_effort(f, &r));
        fact_unref(f);
}
END_TEST

START_TEST(test_seed_cnf_and_more_programs)
{
        struct recipe r = toy_recipe("{bin} {seed} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho \"$*\"\n/solver/other\nexit 20\n");
        char other[PATH_SIZE + 16];
        const struct run_program programs[] = {toy, {.path = other, .name = "other"}};
        char *environment[] = {(char *)"NAME=value", NULL};
        struct fact *f;
        json_t *j;

        snprintf(other, sizeof(other), "%s/../1234abcd", scratch); /* as its digest has it */
        assert_ok(write_file_atomic(other, "#!/bin/sh\necho other $NAME\n", 26, 0700));
        r.format = FORMAT_CNF;
        r.seed = (char *)"--seed={n}";
        r.environment = environment;
        q.runner.has_seed = true;
        q.runner.seed = 7;
        q.runner.programs = programs;
        q.runner.n_programs = ARRAY_SIZE(programs);
        q.again = true;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_UNSAT);
        ck_assert(blob_equals(&f->out, "--seed=7 /case/input.cnf\nother value\n"));
        ck_assert_int_gt(f->remeasured, 0);
        j = json_of(f);
        ck_assert_int_eq(json_integer_value(json_object_get(j, "seed")), 7);
        json_decref(j);
        fact_unref(f);
}
END_TEST

START_TEST(test_without_a_sandbox)
{
        struct recipe r = toy_recipe("{bin} --input={case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\ncat \"${1#--input=}\"\necho \"$1\"\n");
        struct fact *f;

        q.runner.sandbox = SANDBOX_NONE;
        r.samples = 1;
        f = measured(&q);
        ck_assert_int_eq(strncmp(f->out.data, "(check-sat)\n--input=/", 21), 0);
        ck_assert_ptr_nonnull(memmem(f->out.data, f->out.size, input, strlen(input)));
        fact_unref(f);
}
END_TEST

START_TEST(test_cancelled)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\nsleep 100\n");
        struct fact *f;
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        q.cancel_fd = fds[0];
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
        assert_error(measure(&q, &f), ECANCELED);
        ck_assert(is_empty(scratch));
        close(fds[0]);
        close(fds[1]);
}
END_TEST

/* JSON holds only UTF-8. */
START_TEST(test_names_in_latin_1)
{
        struct recipe r = toy_recipe("{bin} n\xe9 {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho sat\n");
        struct fact *f;
        json_t *j;

        setenv("SOLVERFS_MACHINE", "caf\xe9", 1);
        f = measured(&q);
        j = json_of(f);
        ck_assert_int_eq(strncmp(string_at(j, "machine"), "caf\\xe9/", 8), 0);
        ck_assert_str_eq(string_at(json_object_get(j, "host"), "host"), "caf\\xe9");
        ck_assert_str_eq(json_string_value(json_array_get(json_object_get(j, "command"), 1)), "n\\xe9");
        ck_assert(json_is_null(json_object_get(j, "seed")));
        json_decref(j);
        fact_unref(f);
        runner_close(q.opened);
}
END_TEST

START_TEST(test_host)
{
        char hex[65] = "", again[65] = "";
        int cpus[64];
        size_t n;
        json_t *facts;

        setenv("SOLVERFS_MACHINE", "testbed", 1);
        ck_assert_int_eq(strncmp(host_machine(), "testbed/", 8), 0);
        ck_assert_ptr_nonnull(strchr(host_machine() + 8, '/'));
        facts = host_facts();
        ck_assert_str_eq(string_at(facts, "host"), "testbed");
        ck_assert_int_gt(json_integer_value(json_object_get(facts, "memory")), 1 << 20);
        json_decref(facts);
        n = host_cores(cpus, 64);
        ck_assert_uint_ge(n, 1);
        ck_assert_uint_eq(host_cores(cpus, 1), 1);
        host_toolchain(hex);
        host_toolchain(again);
        ck_assert_uint_eq(strlen(hex), 64);
        ck_assert_str_eq(hex, again);
}
END_TEST

/* Three others on the only core that it may use. */
struct crowd {
        pid_t pids[3];
        cpu_set_t core;
};

static void crowd_start(struct crowd *c)
{
        CPU_ZERO(&c->core);
        CPU_SET(sched_getcpu(), &c->core);
        for (size_t i = 0; i < ARRAY_SIZE(c->pids); i++) {
                c->pids[i] = fork();
                if (c->pids[i] == 0) {
                        prctl(PR_SET_PDEATHSIG, SIGKILL);
                        setpriority(PRIO_PROCESS, 0, 0);
                        sched_setaffinity(0, sizeof(c->core), &c->core);
                        for (;;)
                                ;
                }
        }
}

static void crowd_end(struct crowd *c)
{
        for (size_t i = 0; i < ARRAY_SIZE(c->pids); i++) {
                kill(c->pids[i], SIGKILL);
                waitpid(c->pids[i], NULL, 0);
        }
}

#define BUSY "#!/bin/sh\ni=0\nwhile [ $i -lt 150000 ]; do i=$((i+1)); done\necho sat\n"

START_TEST(test_waiting)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, BUSY);
        struct crowd crowd;
        struct fact *f;
        json_t *j, *sample;
        size_t i;

        crowd_start(&crowd);
        q.runner.cpus = &crowd.core;
        f = measured(&q);
        j = json_of(f);
        ck_assert_int_eq(f->verdict, VERDICT_SAT);
        ck_assert(f->disturbed);
        ck_assert(json_is_true(json_object_get(j, "disturbed")));
        ck_assert_uint_eq(json_array_size(json_object_get(j, "samples")), 1 + MEASURE_RETRIES); /* and no more */
        json_array_foreach (json_object_get(j, "samples"), i, sample) {
                double wall = json_real_value(json_object_get(sample, "time")),
                       waited = json_real_value(json_object_get(sample, "waited"));

                ck_assert_msg(waited > wall / 4 && waited < wall * 1.01, "waited %f of %f", waited, wall);
        }
        json_decref(j);
        fact_unref(f);
        r.samples = 1; /* never repeated, and flagged all the same */
        f = measured(&q);
        ck_assert(f->disturbed);
        j = json_of(f);
        ck_assert_uint_eq(json_array_size(json_object_get(j, "samples")), 1);
        json_decref(j);
        fact_unref(f);
        crowd_end(&crowd);
}
END_TEST

/* A timeout for want of CPU is no fact while there is a way to know better. */
START_TEST(test_a_timeout_of_others)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\nwhile :; do :; done\n");
        struct crowd crowd;
        struct fact *f;

        q.runner.limits.wall_ns = q.runner.limits.cpu_ns = 400 * NSEC_PER_MSEC;
        crowd_start(&crowd);
        q.runner.cpus = &crowd.core;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_TIMEOUT);
        ck_assert(f->disturbed);
        fact_unref(f);
        crowd_end(&crowd);
}
END_TEST

/* One that sleeps times out with no CPU time: believed when it comes a second time. */
START_TEST(test_a_timeout_asleep)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\nexec sleep 30\n");
        struct fact *f;
        json_t *j;

        q.runner.limits.wall_ns = q.runner.limits.cpu_ns = 200 * NSEC_PER_MSEC;
        f = measured(&q);
        j = json_of(f);
        ck_assert_int_eq(f->verdict, VERDICT_TIMEOUT);
        ck_assert_uint_ge(json_array_size(json_object_get(j, "samples")), 2);
        ck_assert(!f->disturbed || count_undisturbed(j) < 2);
        json_decref(j);
        fact_unref(f);
}
END_TEST

/* A smaller limit of CPU time ended it: it took no longer than that, and not the whole time limit. */
START_TEST(test_a_timeout_by_cpu_time)
{
        struct recipe r = toy_recipe("{bin} {case}", 1);
        struct measure_request q = request_for(&r, "#!/bin/sh\nwhile :; do :; done\n");
        struct fact *f;

        q.runner.limits.cpu_ns = 300 * NSEC_PER_MSEC;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_TIMEOUT);
        ck_assert_uint_ge(f->wall_ns, q.runner.limits.cpu_ns);
        ck_assert_uint_lt(f->wall_ns, q.runner.limits.wall_ns);
        fact_unref(f);
}
END_TEST

static int sleep_and_answer_once_there(struct run_remote *, const struct runner_options *, const struct run_input *, int, struct execute_result *ret)
{
        static unsigned runs;

        *ret = (struct execute_result){.end = END_EXIT, .wall_ns = 900 * NSEC_PER_MSEC, .user_ns = 200 * NSEC_PER_MSEC, .method = "test"};
        if (runs++ == 0)
                ret->out = (struct blob){.data = "sat\n", .size = 4};
        else
                *ret = (struct execute_result){.end = END_TIMEOUT, .wall_ns = 500 * NSEC_PER_MSEC, .user_ns = 500 * NSEC_PER_MSEC, .method = "test"};
        ret->out_size = ret->out.size;
        return 0;
}

START_TEST(test_a_timeout_by_cpu_time_is_longer_than_an_answer)
{
        struct recipe r = toy_recipe("{bin} {case}", 2);
        struct measure_request q = request_for(&r, "#!/bin/sh\n");
        json_t *facts = json_object();
        struct run_remote there = {.machine = "lab/Abacus/2", .facts = facts, .run = sleep_and_answer_once_there};
        struct fact *f;

        q.runner.limits.cpu_ns = 500 * NSEC_PER_MSEC;
        q.runner.remote = &there;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_SAT);
        fact_unref(f);
        json_decref(facts);
}
END_TEST

/* A worker of a cluster with time for one run. */
static unsigned runs_there;

static int run_once_there(struct run_remote *, const struct runner_options *options, const struct run_input *, int, struct execute_result *ret)
{
        if (runs_there++ > 0)
                return -ERESTART;
        *ret = (struct execute_result){.end = END_TIMEOUT, .wall_ns = options->limits.wall_ns, .method = "test"};
        return 0;
}

START_TEST(test_a_timeout_asleep_at_the_end_of_a_worker)
{
        struct recipe r = toy_recipe("{bin} {case}", 5);
        struct measure_request q = request_for(&r, "#!/bin/sh\n");
        struct run_remote there = {.machine = "lab/Abacus/2", .run = run_once_there};
        struct fact *f;

        there.facts = json_object();
        q.runner.remote = &there;
        f = measured(&q);
        ck_assert_int_eq(f->verdict, VERDICT_TIMEOUT);
        ck_assert(f->disturbed);
        ck_assert_uint_eq(runs_there, 2);
        fact_unref(f);
        assert_error(measure(&q, &f), ERESTART);
        json_decref((json_t *)there.facts);
}
END_TEST

/* As jobs do it (job_runner()). */
static struct fact *measured_in(struct measure_request *q)
{
        if (q->opened && !runner_reuse(q->opened, &q->runner))
                q->opened = runner_close(q->opened);
        if (!q->opened)
                q->opened = runner_open(&q->runner);
        return measured(q);
}

START_TEST(test_an_opened_runner)
{
        static char *conflicts[] = {(char *)"conflicts ([0-9]+)", NULL};
        struct recipe r = toy_recipe("{bin} {seed} {case}", 1), other = toy_recipe("{bin} {seed} {case}", 1);
        struct measure_request q = request_for(&r, "#!/bin/sh\necho \"seed $1\"; echo conflicts 7\necho sat\n");
        struct runner *first;
        struct fact *f;

        r.seed = other.seed = (char *)"{n}";
        other.effort = conflicts;
        q.runner.has_seed = true;
        q.runner.seed = 1;
        fact_unref(measured_in(&q));
        first = q.opened;
        q.runner.seed = 2;
        q.runner.recipe = &other;
        q.runner.limits.wall_ns /= 2;
        f = measured_in(&q);
        ck_assert(blob_equals(&f->out, "seed 2\nconflicts 7\nsat\n"));
        fact_unref(f);
        ck_assert_ptr_eq(q.opened, first);
        ck_assert_uint_eq(runner_counters(first).sandboxes, 1);
        ck_assert_uint_eq(runner_counters(first).runs, 2);

        assert_ok(write_file_atomic(program, "#!/bin/sh\necho unsat\n", 21, 0500)); /* another file by the same name */
        f = measured_in(&q);
        ck_assert_int_eq(f->verdict, VERDICT_UNSAT);
        fact_unref(f);
        ck_assert_uint_eq(runner_counters(q.opened).runs, 1);
        runner_close(q.opened);
        ck_assert(is_empty(scratch));
}
END_TEST

SUITE("measure", test_an_opened_runner, test_waiting, test_a_timeout_of_others, test_a_timeout_asleep, test_a_timeout_by_cpu_time,
      test_a_timeout_by_cpu_time_is_longer_than_an_answer, test_a_timeout_asleep_at_the_end_of_a_worker, test_a_short_run,
      test_a_question_without_an_answer, test_the_lower_median_is_chosen, test_samples, test_limits, test_answers_near_a_limit,
      test_an_answer_while_the_machine_lacked_memory, test_a_run_that_stood_still, test_effort, test_seed_cnf_and_more_programs,
      test_without_a_sandbox, test_cancelled,
      test_names_in_latin_1, test_host)
