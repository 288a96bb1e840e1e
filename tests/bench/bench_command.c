/* The command as a process: CPU time for what is known already, from execve to exit. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

#define RUNS 20 /* of a round */

struct process {
        const char *const *argv;
};

static int run_once(const struct process *p)
{
        posix_spawn_file_actions_t quiet;
        int status, r;
        pid_t pid;

        posix_spawn_file_actions_init(&quiet);
        posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        r = posix_spawnp(&pid, p->argv[0], &quiet, NULL, (char *const *)p->argv, environ);
        posix_spawn_file_actions_destroy(&quiet);
        if (r != 0)
                return errorf(-r, "cannot start %s: %s", p->argv[0], strerror(r));
        if (waitpid(pid, &status, 0) != pid || status != 0)
                return errorf(-EIO, "%s %s failed", p->argv[0], p->argv[1]);
        return 0;
}

static int measure_process(void *user, double *ret)
{
        double began = bench_cpu(RUSAGE_CHILDREN);

        for (unsigned i = 0; i < RUNS; i++) {
                int r = run_once(user);

                if (r < 0)
                        return r;
        }
        *ret = (bench_cpu(RUSAGE_CHILDREN) - began) / RUNS;
        return 0;
}

/* A store with a cell that is known. */
static int make_store(void)
{
        char store[PATH_SIZE];
        int r = path_join(store, bench.dir, "known");

        if (r < 0 || setenv("SOLVERFS_STORE", store, 1) < 0)
                return r;
        return bench_shell(bench.dir,
                           "rm -rf known known-solver && mkdir known-solver && git init -q -b main known-solver && "
                           "printf '#!/bin/sh\\necho sat\\n' >known-solver/solver && chmod +x known-solver/solver && git -C known-solver add . && "
                           "git -C known-solver -c user.name=A -c user.email=a@example.org commit -qm 1 && git -C known-solver tag v1 && "
                           "printf '[solver]\\n\\tformat = smt2\\n\\tbuild = true\\n\\toutput = solver\\n\\trun = {bin} {case}\\n' >known.recipe && "
                           "printf '(check-sat)\\n' >known.smt2 && \"$SOLVERFS\" -q init && \"$SOLVERFS\" -q solver add known known-solver --recipe known.recipe && "
                           "\"$SOLVERFS\" -q case add known.smt2 && \"$SOLVERFS\" -q run known v1 1");
}

int bench_command(void)
{
        const char *const solverfs = getenv("SOLVERFS");
        const char *const git[] = {"git", "--version", NULL}, *const version[] = {solverfs, "version", NULL},
                          *const status[] = {solverfs, "status", NULL}, *const run[] = {solverfs, "run", "known", "v1", "1", NULL};
        const struct {
                const char *what;
                struct process process;
        } rows[] = {{"solverfs version", {version}}, {"solverfs status", {status}}, {"solverfs run of a known cell", {run}}};
        struct process theirs = {git};
        int r = solverfs ? make_store() : errorf(-EINVAL, "$SOLVERFS does not say where the command is");

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
                r = bench_compare(&(struct row){.what = rows[i].what, .against = "git --version", .most = 3}, measure_process,
                                  (void *)&rows[i].process, measure_process, &theirs);
        unsetenv("SOLVERFS_STORE");
        return r;
}
