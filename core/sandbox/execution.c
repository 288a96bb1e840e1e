#include "core/sandbox/execution.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "cache/base/process.h"
#include "core/sandbox/sandbox.h"

/* A helper this late was not allowed to run: no load of the machine does that. */
#define PAUSE (2 * NSEC_PER_SEC)

/* -- events on the machine meanwhile -- */

/* Opens the file that counts the kernel's kills for want of memory. It is our cgroup's, which our runs are in, so that another container or service
 * raises no doubt about them: in a container the group may be "/" of version 2. Without a cgroup it is the machine's. */
static FILE *open_memory_kills(void)
{
        cleanup_file FILE *f = fopen("/proc/self/cgroup", "re");
        char line[PATH_SIZE], controllers[256], path[PATH_SIZE], file[2 * PATH_SIZE] = "";

        while (f && fgets(line, sizeof(line), f)) { /* "4:memory:/path" of version 1; "0::/path" of version 2, which may lack memory */
                bool is_old = sscanf(line, "%*d:%255[^:]:%4000[^\n]", controllers, path) == 2 && strcmp(controllers, "memory") == 0;

                if ((is_old || sscanf(line, "0::%4000[^\n]", path) == 1) && (is_old ? path[1] != '\0' : !*file))
                        snprintf(file, sizeof(file), is_old ? "/sys/fs/cgroup/memory%s/memory.oom_control" : "/sys/fs/cgroup%s/memory.events", path);
        }
        return (*file ? fopen(file, "re") : NULL) ?: fopen("/proc/vmstat", "re");
}

/* The number of kills. Unless `fresh`, it is read at most once a second: the kernel makes the whole file anew for each reader, and a run should not
 * wait for that. */
static uint64_t memory_kills(bool fresh)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static uint64_t count, when;
        cleanup_file FILE *f = NULL;
        unsigned long long n;
        char line[128];
        cleanup_unlock pthread_mutex_t *held = hold(&lock);

        if (fresh || when == 0 || now_ns() - when > NSEC_PER_SEC) {
                f = open_memory_kills();
                while (f && fgets(line, sizeof(line), f))
                        if (sscanf(line, "oom_kill %llu", &n) == 1)
                                count = n;
                when = now_ns();
        }
        return count;
}

/* -- its ends -- */

static int open_pipe(int *ret_read, int *ret_write)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_ends(struct execution *x)
{
        int sockets[2], r;

        x->theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (x->theirs[0] < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
                return -errno;
        x->control = sockets[0];
        x->theirs[EXEC_CONTROL] = sockets[1];
        r = open_pipe(&x->out, &x->theirs[1]);
        if (r < 0 || !x->request->merge)
                return r < 0 ? r : open_pipe(&x->err, &x->theirs[2]);
        x->theirs[2] = fcntl(x->theirs[1], F_DUPFD_CLOEXEC, 0);
        return x->theirs[2] < 0 ? -errno : 0;
}

int execution_init(struct execution *x, const struct execute_request *request)
{
        uint64_t random[2];

        *x = (struct execution){
                .request = request,
                .inside = request->sandbox == SANDBOX_BWRAP,
                .runs_scratch = "",
                .cancel_fd = request->cancel_fd,
                .process = -1,
                .control = -1,
                .out = -1,
                .err = -1,
                .theirs = {-1, -1, -1, -1},
                .request_fd = -1,
                .out_capture = {.limit = request->out},
                .err_capture = {.limit = request->err},
        };
        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return errorf(-EIO, "cannot get random numbers from the kernel");
        snprintf(x->mark, sizeof(x->mark), RUN_MARK "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
        x->memory_kills = memory_kills(false);
        return 0;
}

void execution_done(struct execution *x)
{
        closep(&x->control);
        closep(&x->out);
        closep(&x->err);
        closep(&x->request_fd);
        for (size_t i = 0; i < ARRAY_SIZE(x->theirs); i++)
                closep(&x->theirs[i]);
        capture_done(&x->out_capture);
        capture_done(&x->err_capture);
        timeline_done(&x->printed);
}

int execution_prepare(struct execution *x)
{
        int r = execution_write_request(x, &x->request_fd);

        if (r < 0)
                return r;
        r = open_ends(x);
        return r < 0 ? errorf(r, "cannot make the pipes of a run: %s", strerror(-r)) : 0;
}

/* -- watching -- */

/* Reads the available output. Closes the descriptor at its end. */
static void read_stream(int *fd, struct capture *c, const struct listener *l)
{
        for (int i = 0; i < 64 && *fd >= 0; i++) { /* limited, as a flood must not block the other descriptors */
                char block[1 << 16];
                ssize_t n = read(*fd, block, sizeof(block));

                if (n > 0) {
                        capture_add(c, block, (size_t)n);
                        if (l)
                                l->hear(l->user, SLICE(block, (size_t)n));
                } else if (n < 0 && errno == EINTR) {
                        continue;
                } else {
                        if (n == 0 || errno != EAGAIN)
                                close(steal_fd(fd));
                        break;
                }
        }
}

static bool prints_too_much(const struct capture *c)
{
        return c->limit.most != 0 && c->total > c->limit.most;
}

static void command(const struct execution *x, enum exec_command_kind kind, uint64_t share_ns)
{
        const struct exec_command c = {.kind = kind, .share_ns = share_ns};

        send(x->control, &c, sizeof(c), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void read_streams(struct execution *x)
{
        const uint64_t before = x->out_capture.total;

        read_stream(&x->out, &x->out_capture, x->request->listener);
        if (x->request->times && x->out_capture.total > before)
                timeline_add(&x->printed, now_ns(), x->out_capture.total);
        read_stream(&x->err, &x->err_capture, x->request->err_listener);
        if (!x->told_output && (prints_too_much(&x->out_capture) || prints_too_much(&x->err_capture))) {
                x->told_output = true;
                command(x, COMMAND_TOO_MUCH, 0);
                x->deadline = now_ns() + END_GRACE;
        }
}

/* Returns false if nothing more will come. */
static bool read_reply(struct execution *x)
{
        ssize_t n = recv(x->control, (char *)&x->reply + x->reply_size, sizeof(x->reply) - x->reply_size, MSG_DONTWAIT);

        if (n > 0)
                x->reply_size += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                return false;
        return x->reply_size < sizeof(x->reply);
}

bool request_has_begun(int request_fd)
{
        bool begun = false;

        return pread(request_fd, &begun, sizeof(begun), offsetof(struct exec_request, begun)) == sizeof(begun) && begun;
}

bool execution_begun(const struct execution *x)
{
        return x->begun || request_has_begun(x->request_fd);
}

/* How long it has been stopped because runs had all of its cores. */
static uint64_t stood_still(const struct execution *x)
{
        struct exec_standing s;

        if (x->request->n_loans == 0 || pread(x->request_fd, &s, sizeof(s), offsetof(struct exec_request, standing)) != sizeof(s))
                return 0;
        return s.total_ns + (s.since_ns ? now_ns() - s.since_ns : 0);
}

/* Handles a passed deadline. The first is for making the sandbox: if the helper has begun by then, the whole run gets one, which moves by the time for
 * which runs had its cores. False: there is more time. */
static bool is_late(struct execution *x)
{
        const uint64_t wall = x->request->wall_ns, stood = stood_still(x);

        if (x->cancelled || x->told_output || !execution_begun(x) || (x->begun && stood == x->stood_still))
                return true;
        if (!x->begun)
                x->deadline = wall != 0 ? now_ns() + wall + WALL_GRACE : 0;
        if (x->deadline != 0)
                x->deadline += stood - x->stood_still;
        x->stood_still = stood;
        x->begun = true;
        return false;
}

void execution_continue(struct execution *x, uint64_t share_ns)
{
        x->reply_size = 0;
        x->share_ns = share_ns;
        x->begun = false;
        x->deadline = now_ns() + START_GRACE;
        command(x, COMMAND_CONTINUE, share_ns);
}

void execution_cancel(struct execution *x)
{
        if (execution_replied(x) && x->reply.paused)
                x->reply_size = 0; /* another reply will come */
        x->cancelled = true;
        shutdown(x->control, SHUT_WR);
        x->deadline = now_ns() + END_GRACE;
}

void execution_watch(struct execution *x)
{
        bool ended = false;

        while (!ended) {
                struct pollfd fds[] = {{.fd = x->process, .events = POLLIN},
                                       {.fd = x->cancelled ? -1 : x->cancel_fd, .events = POLLIN},
                                       {.fd = x->control, .events = POLLIN},
                                       {.fd = x->out, .events = POLLIN},
                                       {.fd = x->err, .events = POLLIN}};
                uint64_t now = now_ns(), left = x->deadline > now ? x->deadline - now : 0;
                struct timespec t = {.tv_sec = (time_t)(left / NSEC_PER_SEC), .tv_nsec = (long)(left % NSEC_PER_SEC)};
                bool some = ppoll(fds, ARRAY_SIZE(fds), x->deadline ? &t : NULL, NULL) > 0;

                ended = some && fds[0].revents != 0;
                read_streams(x);
                if (!read_reply(x))
                        return;
                if (some && fds[1].revents != 0)
                        execution_cancel(x);
                if (x->deadline != 0 && now_ns() >= x->deadline && is_late(x)) {
                        x->lost = true;
                        return;
                }
        }
}

/* -- the end -- */

bool execution_replied(const struct execution *x)
{
        return x->reply_size == sizeof(x->reply) && x->reply.magic == exec_magic && x->reply.step < N_STEPS && x->reply.part < N_SURROUNDINGS_PARTS &&
               x->reply.end <= END_NOEXEC;
}

static bool is_control_open(const struct execution *x)
{
        char trash[256];
        ssize_t n;

        while ((n = recv(x->control, trash, sizeof(trash), MSG_DONTWAIT)) > 0)
                ;
        return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The sandbox's first process dies with bubblewrap or, if it only begins now, by the socket's end; everything else dies with that process. */
void execution_await_end(struct execution *x)
{
        uint64_t deadline = now_ns() + END_GRACE;

        shutdown(x->control, SHUT_WR);
        while ((x->out >= 0 || x->err >= 0 || is_control_open(x)) && now_ns() < deadline) {
                struct pollfd fds[] = {{.fd = x->out, .events = POLLIN}, {.fd = x->err, .events = POLLIN}};

                if (poll(fds, ARRAY_SIZE(fds), x->out >= 0 || x->err >= 0 ? 20 : 1) == 0)
                        sandbox_sweep();
                read_streams(x);
        }
}

static bool is_marked(pid_t pid, const char *mark)
{
        cleanup_blob struct blob environment = {0};
        cleanup_close int fd = -1;
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && read_fd(fd, 1 << 22, &environment) == 0 && environment.size > 0 &&
               memmem(environment.data, environment.size, mark, strlen(mark));
}

struct marked {
        const char *mark;
        int killed;
};

static bool kill_if_marked(void *user, pid_t pid)
{
        struct marked *m = user;

        if (is_marked(pid, m->mark) && kill(pid, SIGKILL) == 0)
                m->killed++;
        return true;
}

/* All processes of the run have inherited its environment. One that forks and exits during the scan hides its child from that scan. */
void execution_kill_marked(const struct execution *x)
{
        for (int rounds = 0, clean = 0; rounds < 100 && clean < 3; rounds++) {
                struct marked m = {.mark = x->mark};

                process_each(kill_if_marked, &m);
                clean = m.killed == 0 ? clean + 1 : 0;
                if (clean > 0)
                        usleep(1000);
        }
}

static int explain_loss(const struct execution *x)
{
        if (x->lost && !execution_begun(x))
                return errorf(-EIO,
                              "the sandbox of a run of %s did not begin in time: the machine is overloaded, or bwrap is stuck",
                              x->request->argv[0]);
        if (x->lost)
                return errorf(-EIO, "a run went on beyond every limit and was killed: %s", x->request->argv[0]);
        return errorf(-EIO, "the helper of a run of %s ended without a result; was it killed?", x->request->argv[0]);
}

static int explain_step(const struct execution *x)
{
        static const char *const doing[N_STEPS] = {
                [STEP_FORK] = "start a process",
                [STEP_AFFINITY] = "bind it to its cores",
                [STEP_USER] = "give it a user of its own",
                [STEP_DIRECTORY] = "enter its working directory",
                [STEP_INPUT] = "open its standard input",
                [STEP_NAMESPACE] = "make a view of its own for it",
                [STEP_REQUEST] = "read the request (another version of solverfs-exec?)",
        };
        const char *what = doing[x->reply.step] ? doing[x->reply.step] : "run";
        int error = x->reply.error > 0 ? x->reply.error : EIO;

        if (x->reply.step == STEP_SURROUNDINGS)
                return surroundings_refusal(x->request, x->reply.part, error);
        return errorf(-error, "the helper of a run of %s could not %s: %s", x->request->argv[0], what, strerror(error));
}

/* The sender of a signal to another process cannot be found out. */
static enum execute_doubt doubt_of(const struct execution *x, const struct execute_result *r)
{
        bool is_guess = r->guessed || r->end == END_PROCESSES || (r->end == END_MEMORY && r->memory <= x->request->memory);
        bool failed = r->end == END_SIGNAL || is_guess || (r->end == END_EXIT && r->code != 0);

        if (failed && memory_kills(true) != x->memory_kills)
                return DOUBT_MEMORY;
        if (r->end == END_SIGNAL && exec_is_sent(r->code))
                return DOUBT_SIGNAL;
        return x->reply.late_ns >= PAUSE ? DOUBT_PAUSE : DOUBT_NONE;
}

/* Several threads wait for each other, too: then at most what others used of its cores. Where the kernel does not count it, an estimate: wall time without
 * CPU time, if the program was taken off its core more often than it left it. */
static uint64_t waited(const struct exec_reply *a)
{
        uint64_t cpu = a->user_ns + a->system_ns;

        if (a->waiting_unknown)
                return a->involuntary > a->voluntary && a->threads <= 1 && a->wall_ns > cpu ? a->wall_ns - cpu : 0;
        return a->threads > 1 ? MIN(a->waited_ns, a->others_ns) : a->waited_ns;
}

/* Reads the list of files that it asked for, which follows the request. */
static void read_watched(const struct execution *x, struct execute_result *r)
{
        struct exec_watched w = {0};
        char *bytes;

        if (!x->request->watch || pread(x->request_fd, &w, sizeof(w), offsetof(struct exec_request, watched)) != sizeof(w) || w.size == 0)
                return;
        bytes = allocate(w.size, 1);
        r->watched = (struct blob){.data = bytes, .size = w.size, .owned = bytes};
        r->is_watched = w.is_whole && pread(x->request_fd, bytes, w.size, (off_t)w.at) == (ssize_t)w.size && bytes[w.size - 1] == '\0';
}

/* Converts times to those since the program's begin, within its run: we read a little later than it writes. */
static void read_times(struct execution *x, struct execute_result *r)
{
        const struct exec_reply *a = &x->reply;

        if (!x->request->times || x->share_ns != 0)
                return;
        for (size_t i = 0; i < x->printed.n; i++) {
                uint64_t *ns = &x->printed.list[i].ns;

                *ns = MIN(*ns > a->begin_ns ? *ns - a->begin_ns : 0, a->wall_ns);
        }
        r->printed = x->printed;
        x->printed = (struct timeline){0};
        for (size_t i = 0; i < MIN(a->n_growth, EXEC_GROWTH); i++)
                timeline_add(&r->grown, a->growth[i].ns, a->growth[i].memory);
}

static int make_result(struct execution *x, struct execute_result *ret)
{
        const struct exec_reply *a = &x->reply;
        struct execute_result r = {
                .end = (enum execute_end)a->end,
                .code = a->code,
                .guessed = a->guessed,
                .wall_ns = a->wall_ns,
                .user_ns = a->user_ns,
                .system_ns = a->system_ns,
                .memory = MAX(a->largest, a->tree),
                .voluntary = a->voluntary,
                .involuntary = a->involuntary,
                .waited_ns = waited(a),
                .stolen_ns = a->steal_ns,
                .killed = a->killed,
                .out_size = x->out_capture.total,
                .err_size = x->err_capture.total,
                .method = "rusage",
        };
        int k;

        if ((r.end == END_EXIT || r.guessed) && (prints_too_much(&x->out_capture) || prints_too_much(&x->err_capture))) {
                r.end = END_OUTPUT; /* it had ended before we had read all output */
                r.guessed = false;
        }
        r.doubt = doubt_of(x, &r);
        k = capture_finish(&x->out_capture, &r.out, &r.out_cut)
            ?: capture_finish(&x->err_capture, &r.err, &r.err_cut);
        if (k < 0) {
                execute_result_done(&r);
                return k;
        }
        read_watched(x, &r);
        read_times(x, &r);
        *ret = r;
        return 0;
}

int execution_result(struct execution *x, struct execute_result *ret)
{
        if (x->cancelled || (execution_replied(x) && x->reply.end == END_CANCELLED))
                return errorf(-ECANCELED, "cancelled");
        read_streams(x); /* all writers are gone: the pipes hold the rest of the output */
        if (!execution_replied(x))
                return explain_loss(x);
        if (x->reply.step != STEP_NONE && x->reply.step != STEP_EXECVE)
                return explain_step(x);
        return make_result(x, ret);
}
