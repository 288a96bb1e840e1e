#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "core/sandbox/sandbox.h"
#include "cache/base/spawn.h"

/* What begins like the inner half of bubblewrap: says that it is there, waits for a line, and says that it still is. */
#define FAKE "bash -c 'exec -a bwrap sh -c \"echo ready; read line; echo alive\" fake /.solverfs-exec'"
#define CONTAINER "exec unshare --user --map-root-user --pid --fork --kill-child "

/* Sweeps while the command is there. Is it alive behind that? It is not if it ends without a word: solverfs sweeps in the tests beside this one,
 * too. */
static bool survives(const char *command)
{
        int to[2], from[2], status;
        char text[16] = "";
        ssize_t n;
        pid_t pid;

        ck_assert_int_eq(pipe2(to, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(from, O_CLOEXEC), 0);
        assert_ok(spawn_shell(command, (const int[]){to[0], from[1], STDERR_FILENO}, environ, &pid));
        close(to[0]);
        close(from[1]);
        n = read(from[0], text, sizeof(text));
        ck_assert(n == 0 || n == strlen("ready\n"));
        sandbox_sweep();
        dprintf(to[1], "go on\n"); /* what was killed may have gone */
        n = read(from[0], text, sizeof(text));
        close(to[1]);
        close(from[0]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return n == strlen("alive\n");
}

/* The first process of a sandbox whose bubblewrap is gone. */
START_TEST(test_sweep)
{
        signal(SIGPIPE, SIG_IGN);
        ck_assert(!survives(CONTAINER FAKE));
}
END_TEST

/* A bubblewrap in a container of this machine belongs to a solverfs there. */
START_TEST(test_sweep_spares_containers)
{
        ck_assert(survives(CONTAINER "sh -c \"$(cat <<'END'\n" FAKE "; true\nEND\n)\""));
}
END_TEST

SUITE("sandbox", test_sweep, test_sweep_spares_containers)
