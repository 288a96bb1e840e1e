#include "core/sandbox/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cache/base/fault.h"
#include "cache/base/helper.h"
#include "cache/base/spawn.h"
#include "core/sandbox/sandbox.h"

struct keeper {
        bool inside;
        bool many; /* for many runs */
        uid_t uid;
        int lease;      /* the lock on its user, or -1 */
        int control;    /* SEQPACKET */
        int request_fd; /* the request, in which the helper sets `begun` */
        int said;       /* bubblewrap's standard error */
        int process;    /* pidfd, or -1: then only the socket's end shows its end */
        pid_t pid;      /* bubblewrap, or the helper itself; 0: none any more */
        bool busy;      /* it was given a run and has not reported its end */
        bool dirty;
        bool empty; /* no process of it is left, or none was begun */
};

/* -- its beginning -- */

static int write_wire(struct keeper *k)
{
        const struct exec_request head = {.magic = exec_magic, .keep = k->many, .namespace = k->inside, .drop = sandbox_has_users()};

        k->request_fd = memfd_create("solverfs-keeper", MFD_CLOEXEC);
        k->said = memfd_create("solverfs-bwrap", MFD_CLOEXEC);
        if (k->request_fd < 0 || k->said < 0)
                return errorf(-errno, "cannot hold a request in memory: %s", strerror(errno));
        return write_all(k->request_fd, &head, sizeof(head));
}

/* Duplicates the descriptors above the numbers that they get in the helper. */
static int lift(const int from[EXEC_FDS], int ret[EXEC_FDS])
{
        for (size_t i = 0; i < EXEC_FDS; i++) {
                ret[i] = fcntl(from[i], F_DUPFD_CLOEXEC, EXEC_FDS);
                if (ret[i] < 0)
                        return -errno;
        }
        return 0;
}

static int start_helper(struct keeper *k, char *const *arguments)
{
        int sockets[2], fds[EXEC_FDS] = {-1, -1, -1, -1, -1}, null = open("/dev/null", O_RDONLY | O_CLOEXEC), r;

        r = null < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0 ? -errno : 0;
        if (r == 0) {
                k->control = sockets[0];
                r = lift((int[]){null, k->said, k->said, sockets[1], k->request_fd}, fds);
                close(sockets[1]);
        }
        closep(&null);
        if (r == 0)
                r = spawn(&(struct spawn_request){.fds = fds, .n_fds = EXEC_FDS, .arguments = arguments, .own_session = true}, &k->pid);
        for (size_t i = 0; i < EXEC_FDS; i++)
                closep(&fds[i]);
        if (r == 0)
                return 0;
        /* -EAGAIN and -ENOENT would mean "later" and "no such thing in the store" to callers. */
        return errorf(r == -EAGAIN ? -ENOMEM : r == -ENOENT ? -ENODEV : r, "cannot start %s: %s", arguments[0], strerror(-r));
}

/* Starts solverfs-exec ($SOLVERFS_EXEC), in the sandbox or bare. */
static int start(struct keeper *k, const struct execute_request *like, const char *runs)
{
        cleanup(strings_freep) char **sandboxed = NULL;
        char helper[PATH_SIZE];
        char *bare[] = {helper, NULL};
        int r = sandbox_lease(like->slot, &k->uid, &k->lease)
            ?: write_wire(k)
            ?: helper_path("solverfs-exec", "core/sandbox", "SOLVERFS_EXEC", helper);

        if (r == 0 && k->inside)
                r = sandbox_arguments(like, runs, helper, &sandboxed);
        if (r == 0)
                r = start_helper(k, sandboxed ?: bare);
        if (r < 0)
                return r;
        k->process = pidfd_open(k->pid, 0);
        k->empty = false;
        return 0;
}

int keeper_open(const struct execute_request *like, const char *runs, struct keeper **ret)
{
        cleanup(keeper_closep) struct keeper *k = allocate(1, sizeof(*k));
        int r;

        *k = (struct keeper){.inside = like->sandbox == SANDBOX_BWRAP,
                             .many = runs,
                             .lease = -1,
                             .control = -1,
                             .request_fd = -1,
                             .said = -1,
                             .process = -1,
                             .empty = true};
        sandbox_sweep_once();
        r = runs ? fault_at("keeper.start") : 0;
        if (r == 0)
                r = start(k, like, runs);
        if (r == 0)
                *ret = steal_pointer(k);
        return r;
}

/* -- its end -- */

/* Ends keeper and sandbox. In a PID namespace everything ends before its first process has gone; the bare keeper ends all its processes before
 * itself. A sandbox killed as it began leaves bubblewrap's inner half, which is swept away. */
static void end(struct keeper *k, bool by_force)
{
        struct pollfd fd = {.fd = k->process, .events = POLLIN};
        int status = -1;

        closep(&k->control);
        if (by_force || k->process < 0 || poll(&fd, 1, END_GRACE / NSEC_PER_MSEC) == 0)
                kill(k->pid, SIGKILL); /* the number stays valid until the process is waited for */
        TEMP_FAILURE_RETRY(waitpid(k->pid, &status, 0));
        k->pid = 0;
        k->empty = status == 0;
        if (k->inside && !k->empty)
                sandbox_sweep();
}

struct keeper *keeper_close(struct keeper *k)
{
        if (!k)
                return NULL;
        if (k->pid != 0)
                end(k, false);
        sandbox_release(k->lease, k->empty);
        closep(&k->control);
        closep(&k->request_fd);
        closep(&k->said);
        closep(&k->process);
        free(k);
        return NULL;
}

/* -- runs -- */

/* Reads the keeper's report on its run. -ETIME if none came; -EPIPE if the keeper is gone. */
static int read_news(struct keeper *k, uint64_t patience, struct exec_news *ret)
{
        uint64_t deadline = now_ns() + patience;
        struct pollfd fd = {.fd = k->control, .events = POLLIN};
        ssize_t n;

        do {
                uint64_t now = now_ns(), left = deadline > now ? deadline - now : 0;

                if (poll(&fd, 1, (int)(left / NSEC_PER_MSEC)) == 0)
                        return -ETIME;
                n = recv(k->control, ret, sizeof(*ret), MSG_DONTWAIT);
        } while (n < 0 && (errno == EINTR || errno == EAGAIN));
        if (n != sizeof(*ret) || ret->magic != exec_magic)
                return -EPIPE;
        k->busy = false;
        k->dirty |= !ret->clean;
        return 0;
}

enum keeper_state keeper_state(struct keeper *k)
{
        struct exec_news news;
        char trash;

        if (k->pid == 0 || (k->busy && read_news(k, END_GRACE, &news) < 0))
                return KEEPER_LOST;
        if (k->dirty)
                return KEEPER_DIRTY;
        /* The keeper sends nothing unasked, but its end is seen. */
        return recv(k->control, &trash, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 ? KEEPER_LOST : KEEPER_CLEAN;
}

uid_t keeper_uid(const struct keeper *k)
{
        return k->uid;
}

static int send_order(struct keeper *k, const struct execution *x)
{
        const size_t n_loans = x->request->n_loans;
        int fds[EXEC_FDS_MOST];

        memcpy(fds, x->theirs, sizeof(x->theirs));
        fds[EXEC_REQUEST] = x->request_fd;
        for (size_t i = 0; i < n_loans; i++)
                fds[EXEC_FDS + i] = x->request->loans[i].lock;
        return order_send(k->control, fds, EXEC_FDS + n_loans);
}

/* The reason on bubblewrap's standard error, or the helper's. */
static int explain_start(const struct keeper *k)
{
        char said[512] = "";
        ssize_t n = pread(k->said, said, sizeof(said) - 1, 0);

        if (n > 0 && strncmp(said, EXEC_REFUSAL, strlen(EXEC_REFUSAL)) == 0)
                return errorf(-EIO, "the helper solverfs-exec is of another version than this process; after an upgrade, start the process again");
        if (n <= 0 || strncmp(said, "bwrap: ", 7) != 0)
                return 0;
        return errorf(-EIO, "bubblewrap cannot make a sandbox here: %.*s; 'solverfs doctor' says more",
                      (int)strcspn(said + 7, "\n"), said + 7);
}

int keeper_begin(struct keeper *k, struct execution *x)
{
        int r;

        x->kept = k->many;
        x->uid = k->uid;
        x->process = k->process;
        r = x->handed ? 0 : sandbox_hand_over(x->request, k->uid);
        if (r == 0)
                r = execution_prepare(x);
        if (r == 0 && k->many)
                r = fault_at("keeper.begin");
        if (r < 0)
                return r;
        r = send_order(k, x);
        for (size_t i = 0; i < ARRAY_SIZE(x->theirs); i++)
                closep(&x->theirs[i]);
        if (r < 0)
                return request_has_begun(k->request_fd) || explain_start(k) == 0 ? errorf(-EPIPE, "the helper that keeps a sandbox has ended")
                                                                                 : -EIO;
        k->busy = true;
        x->deadline = now_ns() + (x->request->start_ns ?: START_GRACE);
        if (k->many)
                fault_at("keeper.begun");
        return 0;
}

/* Ends the sandbox of a lost run, whatever the cause. 0: nothing explains the loss; execution_result() does. */
static int lose(struct keeper *k, struct execution *x)
{
        struct exec_news news = {0};
        bool begun;

        if (!x->lost && !x->cancelled && read_news(k, END_GRACE, &news) == 0 && news.error != 0)
                return errorf(-ENOSYS, "cannot make namespaces in a sandbox here: %s", strerror(news.error));
        begun = request_has_begun(k->request_fd);
        end(k, true);
        if (x->inside)
                execution_await_end(x);
        else
                execution_kill_marked(x);
        return begun ? 0 : explain_start(k);
}

int keeper_finish(struct keeper *k, struct execution *x, struct execute_result *ret)
{
        int r = 0;

        if (!execution_replied(x) || x->reply.paused)
                r = lose(k, x);
        else if (x->reply.step == STEP_NAMESPACE)
                r = errorf(-ENOSYS, "cannot make namespaces in a sandbox here: %s", strerror(x->reply.error));
        if (k->many)
                fault_at("keeper.end");
        return r < 0 && !x->cancelled ? r : execution_result(x, ret);
}
