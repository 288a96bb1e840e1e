#include "cache/base/spawn.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

/* Default signals and an empty mask. With valid arguments none of these calls fails. */
static void set_attributes(const struct spawn_request *q, posix_spawnattr_t *a)
{
        int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (q->own_group ? POSIX_SPAWN_SETPGROUP : 0) |
                    (q->own_session ? POSIX_SPAWN_SETSID : 0);
        sigset_t all, none;

        sigfillset(&all);
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        sigemptyset(&none);
        posix_spawnattr_init(a);
        posix_spawnattr_setsigdefault(a, &all);
        posix_spawnattr_setsigmask(a, &none);
        posix_spawnattr_setpgroup(a, 0);
        posix_spawnattr_setflags(a, (short)flags);
}

static int set_actions(posix_spawn_file_actions_t *a, const int *fds, size_t n)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = posix_spawn_file_actions_adddup2(a, fds[i], (int)i);
        if (r == 0) /* descriptors that were not marked close-on-exec */
                r = posix_spawn_file_actions_addclosefrom_np(a, (int)n);
        return -r;
}

int spawn(const struct spawn_request *q, pid_t *ret)
{
        char *const nothing[] = {NULL};
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        int r;

        set_attributes(q, &attributes);
        posix_spawn_file_actions_init(&actions);
        r = set_actions(&actions, q->fds, q->n_fds);
        if (r == 0)
                r = -posix_spawn(ret, q->arguments[0], &actions, &attributes, q->arguments, q->environment ?: nothing);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

int spawn_shell(const char *command, const int fds[3], char *const *environment, pid_t *ret)
{
        char shell[] = "/bin/sh", option[] = "-c";

        return spawn(&(struct spawn_request){.fds = fds,
                                             .n_fds = 3,
                                             .arguments = (char *[]){shell, option, (char *)command, NULL},
                                             .environment = environment,
                                             .own_group = true},
                     ret);
}

int spawn_wait(pid_t pid, uint64_t most_ns, bool kills_rest, int cancel_fd, int *ret_status)
{
        cleanup_close int process = pidfd_open(pid, 0);
        struct pollfd fds[] = {{.fd = process, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
        uint64_t end = now_ns() + most_ns;
        int r = process < 0 ? errorf(-errno, "cannot watch a process: %s", strerror(errno)) : 1;

        while (r == 1) {
                uint64_t now = now_ns();

                if (now >= end)
                        r = -ETIME;
                else if (poll(fds, 2, (int)MIN((end - now) / NSEC_PER_MSEC + 1, (uint64_t)INT32_MAX)) < 0)
                        r = errno == EINTR ? 1 : -errno;
                else if (fds[0].revents != 0)
                        r = 0;
                else if (fds[1].revents != 0)
                        r = -ECANCELED;
        }
        if (r < 0 || kills_rest)
                kill(-pid, SIGKILL);
        TEMP_FAILURE_RETRY(waitpid(pid, ret_status, 0));
        return r;
}
