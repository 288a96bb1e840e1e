/* The beginning of the helper: it becomes one run, or keeps a sandbox for one run after another. See exec_wire.h.
 *
 * A keeper only forks. Each run is a process of its own (exec_stub.c); in a sandbox it has namespaces of its own, which do not hold the keeper. So a
 * program can neither reach nor signal the keeper, and everything of a run goes with its namespaces.
 *
 * When a run has gone, the keeper makes the process of the next one at once, while the caller reads the result and prepares another input. That
 * process waits for its order, alone in its namespaces. It is a fork of the keeper, so it holds nothing of any run. */
#include "core/sandbox/exec_stub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sandbox/exec_tree.h"

#define UNORDERED  2 /* exit status of a process that never got its order */
#define MANY_AHEAD 2 /* after so many runs more are likely: preparing them pays */

struct keeper {
        bool namespace, user;
        uid_t uid;
        gid_t gid;
        int signals;      /* signalfd */
        pid_t pid;        /* the run, or the process that waits for its order; 0: none */
        unsigned runs;    /* runs that have ended */
        uint64_t network; /* the network's fingerprint before any use */
};

/* -- runs -- */

struct ends {
        int fds[EXEC_FDS_MOST], n;
};

static bool receive(int flags, struct ends *ret)
{
        ret->n = order_receive(EXEC_CONTROL, flags, ret->fds);
        return ret->n >= EXEC_FDS;
}

/* Moves the descriptors to their numbers, in order. Each is above its own number, as the first ones are taken. */
static _Noreturn void become_stub(const struct ends *e, int world)
{
        for (int i = 0; i < e->n; i++)
                if (dup2(e->fds[i], i) < 0)
                        _exit(1);
        syscall(SYS_close_range, e->n, ~0U, 0);
        _exit(stub_main(world));
}

static int await_only_order(void)
{
        struct ends e;

        if (receive(0, &e))
                become_stub(&e, 0);
        return 1;
}

static int prepare_world(const struct keeper *k)
{
        return k->namespace ? world_prepare(k->user, k->uid, k->gid) : 0;
}

static _Noreturn void await_order(const struct keeper *k)
{
        struct ends e;
        int world;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        syscall(SYS_close_range, EXEC_FDS, ~0U, 0);
        setsid();
        world = prepare_world(k);
        if (!receive(0, &e))
                _exit(UNORDERED);
        become_stub(&e, world);
}

/* Makes the process of the next run, which takes its order from the caller itself. */
static void begin_ahead(struct keeper *k)
{
        int pid = world_clone(k->namespace, k->user);

        if (pid == 0)
                await_order(k);
        k->pid = pid > 0 ? pid : 0; /* else begin() tries again when the order is there */
}

static void say(const struct exec_news *news)
{
        send(EXEC_CONTROL, news, sizeof(*news), MSG_NOSIGNAL | MSG_DONTWAIT); /* if the caller has gone, the next look shows it */
}

static void begin(struct keeper *k, const struct ends *e)
{
        int pid = world_clone(k->namespace, k->user);

        if (pid == 0)
                become_stub(e, prepare_world(k));
        if (pid > 0)
                k->pid = pid;
        else
                say(&(struct exec_news){.magic = exec_magic, .error = -pid, .clean = true});
}

/* Ends the rest of a run whose first process was killed before it could end the others. Only needed without namespaces. */
static void end_orphans(void)
{
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, WNOHANG)) >= 0 || errno != ECHILD) {
                if (pid > 0)
                        continue;
                tree_kill(false);
                usleep(1000);
        }
}

/* True if the process was killed, or never got its order: then an order may still be on its way to it, and only our own end tells the caller. */
static bool is_lost(int status)
{
        return WIFSIGNALED(status) || WEXITSTATUS(status) == UNORDERED;
}

/* Reaps ended processes. False if the sandbox cannot be used any more. */
static bool reap(struct keeper *k)
{
        struct exec_news news = {.magic = exec_magic, .clean = true};
        bool lost = false;
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                if (pid != k->pid)
                        continue;
                k->pid = 0;
                k->runs++;
                if (!k->namespace)
                        end_orphans();
                lost = k->namespace && is_lost(status);
                news.status = status;
                news.clean = !k->namespace || world_network() == k->network;
                say(&news);
        }
        return !lost;
}

/* Waits for an order or the end of a run. False at the caller's end. A process made ahead takes the order itself. */
static bool await_event(const struct keeper *k)
{
        struct pollfd from[] = {{.fd = k->signals, .events = POLLIN}, {.fd = EXEC_CONTROL, .events = k->pid == 0 ? POLLIN : 0}};

        ppoll(from, sizeof(from) / sizeof(*from), NULL, NULL);
        signals_drain(k->signals);
        return (from[1].revents & (POLLHUP | POLLERR)) == 0;
}

static bool prepare(struct keeper *k)
{
        prctl(PR_SET_DUMPABLE, 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (k->namespace && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !world_forbid_keys())) /* for all that we start */
                return false;
        if (k->namespace) /* bubblewrap has asked for it, but an execve that changes capabilities (as root) forgets it */
                prctl(PR_SET_PDEATHSIG, SIGKILL);
        k->signals = signals_block();
        if (k->namespace)
                k->network = world_network();
        k->uid = getuid();
        k->gid = getgid();
        return k->signals >= 0;
}

/* Returns the exit status. */
static int keeper_main(const struct exec_request *head)
{
        struct keeper k = {.namespace = head->namespace, .user = !head->drop};
        struct ends e;

        if (!prepare(&k))
                return 1;
        for (;;) {
                if (k.namespace && k.pid == 0 && k.runs >= MANY_AHEAD)
                        begin_ahead(&k);
                if (!await_event(&k) || !reap(&k))
                        break;
                if (k.pid != 0)
                        continue;
                if (receive(MSG_DONTWAIT, &e)) {
                        begin(&k, &e);
                        for (int i = 0; i < e.n; i++)
                                close(e.fds[i]);
                } else if (e.n != 0) {
                        break;
                }
        }
        if (!k.namespace) { /* in a namespace, everything ends with us */
                tree_kill(false);
                end_orphans();
        }
        return 0;
}

int main(void)
{
        struct exec_request head;

        if (pread(EXEC_REQUEST, &head, sizeof(head), 0) != sizeof(head) || head.magic != exec_magic) {
                fputs(EXEC_REFUSAL "\n", stderr);
                return 1;
        }
        if (pwrite(EXEC_REQUEST, &(bool){true}, sizeof(bool), offsetof(struct exec_request, begun)) != sizeof(bool))
                return 1;
        return head.keep ? keeper_main(&head) : await_only_order();
}
