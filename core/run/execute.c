#include "core/run/execute.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cache/base/fault.h"
#include "core/run/capture.h"
#include "core/run/exec_wire.h"
#include "cache/base/process.h"
#include "core/run/sandbox.h"
#include "core/run/surroundings.h"

/* How long a sandbox may take to be made; how long the helper may take to end everything after it was told to, before the sandbox is
 * killed from outside; and how much longer than the program's own limit the whole may last. They are passed only when something is badly
 * wrong: something else in bubblewrap's place, a stopped helper, a process that the kernel cannot kill. */
#define START_GRACE (30 * NSEC_PER_SEC)
#define END_GRACE   (5 * NSEC_PER_SEC)
#define WALL_GRACE  (30 * NSEC_PER_SEC)

/* For so long no helper is late, however busy the machine: it was not allowed to run. */
#define PAUSE (2 * NSEC_PER_SEC)

#define RUN_MARK "SOLVERFS_RUN="

/* One execution, while it lasts. */
struct execution {
        const struct execute_request *request;
        bool inside;                    /* in the sandbox; else bare */
        int control, out, err, process; /* our ends; the process's is a pidfd, or -1 */
        int wire;                       /* the request, in which the helper says that it has begun */
        uid_t uid;                      /* whom the program runs as, when we are root */
        int lease;                      /* the lock on that user, or -1 */
        pid_t pid;                      /* bubblewrap, or the helper itself; not yet waited for */
        struct capture out_capture, err_capture;
        struct exec_reply reply;
        size_t reply_size;                /* bytes of it read */
        bool begun;                       /* the helper was seen to have */
        bool told_output;                 /* that it prints too much */
        bool cancelled, lost;             /* lost: it went beyond every deadline and was killed */
        bool all_gone;                    /* nothing of it is left, as the helper has said, or nothing was begun */
        uint64_t deadline;                /* 0: none */
        uint64_t memory_kills;            /* of this machine, when it began */
        char mark[sizeof(RUN_MARK) + 32]; /* an environment variable by which a bare run's processes are found again */
};

static void execution_done(struct execution *x)
{
        closep(&x->control);
        closep(&x->out);
        closep(&x->err);
        closep(&x->process);
        closep(&x->wire);
        sandbox_release(x->lease, x->all_gone);
        capture_done(&x->out_capture);
        capture_done(&x->err_capture);
}

/* -- where the helper is -- */

static bool is_program(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int execute_helper_path(char ret[PATH_SIZE])
{
        static const char *const beside[] = {"solverfs-exec",
                                             /* in the build folder, of the command and of a room's tests */
                                             "../core/run/solverfs-exec", "../../core/run/solverfs-exec"};
        const char *given = getenv("SOLVERFS_EXEC");
        char self[PATH_SIZE];
        char *slash;
        ssize_t n;

        if (given) {
                if (snprintf(ret, PATH_SIZE, "%s", given) < PATH_SIZE && given[0] == '/' && is_program(ret))
                        return 0;
                return errorf(-ENOENT, "$SOLVERFS_EXEC is '%s', which is not an absolute path of a program", given);
        }
        n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[MAX(n, 0)] = '\0';
        slash = strrchr(self, '/');
        if (slash)
                *slash = '\0';
        for (size_t i = 0; slash && i < ARRAY_SIZE(beside); i++) {
                if (path_join(ret, self, beside[i]) == 0 && is_program(ret))
                        return 0;
        }
        if (is_program(SOLVERFS_LIBEXECDIR "/solverfs-exec")) {
                snprintf(ret, PATH_SIZE, "%s", SOLVERFS_LIBEXECDIR "/solverfs-exec");
                return 0;
        }
        return errorf(-ENOENT, "the helper solverfs-exec is neither beside the program in %s nor in %s; install solverfs again",
                      self, SOLVERFS_LIBEXECDIR);
}

/* -- the request on the wire -- */

static bool is_path_character(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* The bind whose target stands at `text`, as a whole path or the beginning of one. */
static bool target_at(const char *text, const struct bind *b)
{
        size_t n = strlen(b->target);

        return strncmp(text, b->target, n) == 0 && !is_path_character(text[n]);
}

/* A text as the program is to see it: bare, a bind's target becomes its source wherever it stands as a path. */
static void add_seen(struct buffer *b, const struct execution *x, const char *text)
{
        const struct execute_request *q = x->request;
        const struct bind scratch = {.source = q->scratch, .target = "/scratch"};

        for (const char *at = text; *at && !x->inside; at++) {
                if (*at != '/' || (at > text && (at[-1] == '/' || is_path_character(at[-1]))))
                        continue;
                for (size_t i = 0; i <= q->n_binds; i++) {
                        const struct bind *bind = i < q->n_binds ? &q->binds[i] : &scratch;

                        if (!target_at(at, bind))
                                continue;
                        buffer_add(b, text, (size_t)(at - text));
                        buffer_adds(b, bind->source);
                        text = at + strlen(bind->target);
                        at = text - 1;
                        break;
                }
        }
        buffer_adds(b, text);
}

static void add_variable(struct buffer *b, const struct execution *x, const char *variable)
{
        const char *value = strchr(variable, '=');

        if (value) {
                buffer_add(b, variable, (size_t)(value + 1 - variable));
                add_seen(b, x, value + 1);
        } else {
                buffer_adds(b, variable);
        }
        buffer_add(b, "", 1);
}

static uint32_t add_environment(struct buffer *b, const struct execution *x)
{
        const char *variable;
        uint32_t n = 0;

        for (; (variable = surroundings_variable(x->request, n)); n++)
                add_variable(b, x, variable);
        if (x->inside)
                return n;
        buffer_add(b, x->mark, strlen(x->mark) + 1);
        return n + 1;
}

static int write_request(const struct execution *x, int *ret_fd)
{
        const struct execute_request *q = x->request;
        cleanup_buffer struct buffer b = {0};
        cleanup_close int fd = -1;
        struct exec_request head = {
                .magic = EXEC_MAGIC,
                .namespace = x->inside,
                .drop = sandbox_has_users(),
                .keep_files = !x->inside,
                .has_cpus = q->cpus != NULL,
                .uid = x->uid,
                .gid = SANDBOX_GID,
                .wall_ns = q->wall_ns,
                .cpu_ns = q->cpu_ns,
                .memory = q->memory,
                .address_space = q->memory,
                .file_size = q->file_size,
                .processes = q->processes,
        };
        int r;

        surroundings_of(q, &head.surroundings);
        if (q->cpus)
                head.cpus = *q->cpus;
        buffer_add(&b, &head, sizeof(head));
        add_seen(&b, x, q->directory ? q->directory : "/scratch");
        buffer_add(&b, "", 1);
        add_seen(&b, x, "/scratch");
        buffer_add(&b, "", 1);
        for (char *const *a = q->argv; *a; a++, head.n_arguments++) {
                add_seen(&b, x, *a);
                buffer_add(&b, "", 1);
        }
        head.n_environment = add_environment(&b, x);
        r = buffer_error(&b);
        if (r < 0)
                return r;
        memcpy(b.data, &head, sizeof(head));
        fd = memfd_create("solverfs-exec", MFD_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot hold a request in memory: %s", strerror(errno));
        r = write_all(fd, b.data, b.size);
        if (r < 0)
                return errorf(r, "cannot write a request: %s", strerror(-r));
        *ret_fd = steal_fd(&fd);
        return 0;
}

/* -- starting -- */

/* The child's ends of everything, above the numbers they will get, so that none is overwritten before it is moved. */
struct ends {
        int in, out, err, control, request;
};

static void ends_done(struct ends *e)
{
        closep(&e->in);
        closep(&e->out);
        closep(&e->err);
        closep(&e->control);
        closep(&e->request);
}

static int lift(int *fd)
{
        int high;

        if (*fd < 0 || *fd > EXEC_REQUEST)
                return 0;
        high = fcntl(*fd, F_DUPFD_CLOEXEC, EXEC_REQUEST + 1);
        if (high < 0)
                return -errno;
        close(*fd);
        *fd = high;
        return 0;
}

static int open_pipe(int *ret_read, int *ret_write)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_ends(struct execution *x, struct ends *e)
{
        const struct execute_request *q = x->request;
        int sockets[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
                return -errno;
        x->control = sockets[0];
        e->control = sockets[1];
        e->in = q->input_fd >= 0 ? fcntl(q->input_fd, F_DUPFD_CLOEXEC, 3) : open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (e->in < 0)
                return -errno;
        e->request = fcntl(x->wire, F_DUPFD_CLOEXEC, 3);
        if (e->request < 0)
                return -errno;
        r = open_pipe(&x->out, &e->out);
        if (r == 0 && !q->merge)
                r = open_pipe(&x->err, &e->err);
        if (r == 0 && q->merge)
                r = (e->err = fcntl(e->out, F_DUPFD_CLOEXEC, 3)) < 0 ? -errno : 0;
        int *const all[] = {&e->in, &e->out, &e->err, &e->control, &e->request};
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(all); i++)
                r = lift(all[i]);
        return r;
}

/* Default signals and an empty mask, whatever the caller's are. */
static int set_attributes(posix_spawnattr_t *a)
{
        sigset_t all, none;
        int r;

        sigfillset(&all);
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        sigemptyset(&none);
        r = posix_spawnattr_setsigdefault(a, &all);
        if (r == 0)
                r = posix_spawnattr_setsigmask(a, &none);
        if (r == 0)
                r = posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        return -r;
}

static int set_actions(posix_spawn_file_actions_t *a, const struct ends *e)
{
        const int from[] = {e->in, e->out, e->err, e->control, e->request};
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(from); i++)
                r = posix_spawn_file_actions_adddup2(a, from[i], (int)i);
        if (r == 0) /* whatever else of our process was not marked close-on-exec */
                r = posix_spawn_file_actions_addclosefrom_np(a, (int)ARRAY_SIZE(from));
        return -r;
}

static int spawn(struct execution *x, const struct ends *e, char **arguments)
{
        char *const nothing[] = {NULL};
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        int r;

        r = -posix_spawn_file_actions_init(&actions);
        if (r < 0)
                return r;
        r = -posix_spawnattr_init(&attributes);
        if (r < 0) {
                posix_spawn_file_actions_destroy(&actions);
                return r;
        }
        r = set_attributes(&attributes);
        if (r == 0)
                r = set_actions(&actions, e);
        if (r == 0)
                r = -posix_spawn(&x->pid, arguments[0], &actions, &attributes, arguments, nothing);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

static int start(struct execution *x)
{
        cleanup(ends_done) struct ends e = {.in = -1, .out = -1, .err = -1, .control = -1, .request = -1};
        cleanup(sandbox_arguments_freep) char **sandboxed = NULL;
        char helper[PATH_SIZE];
        char *bare[] = {helper, NULL};
        int r;

        r = execute_helper_path(helper);
        if (r == 0 && x->inside)
                r = sandbox_arguments(x->request, helper, &sandboxed);
        if (r == 0)
                r = sandbox_lease(x->request->slot, &x->uid, &x->lease);
        if (r == 0)
                r = sandbox_hand_over(x->request, x->uid);
        if (r == 0)
                r = write_request(x, &x->wire);
        if (r < 0)
                return r;
        r = open_ends(x, &e);
        if (r < 0)
                return errorf(r, "cannot make the pipes of a run: %s", strerror(-r));
        r = spawn(x, &e, x->inside ? sandboxed : bare);
        if (r < 0)
                return errorf(r, "cannot start %s: %s", x->inside ? sandboxed[0] : helper, strerror(-r));
        x->all_gone = false;
        x->process = (int)syscall(SYS_pidfd_open, x->pid, 0); /* -1: then only the socket's end tells */
        return 0;
}

/* -- watching -- */

/* Reads what there is. Closes the descriptor at its end. */
static void read_stream(int *fd, struct capture *c)
{
        for (int i = 0; i < 64 && *fd >= 0; i++) { /* a flood must not keep us from the rest */
                char block[1 << 16];
                ssize_t n = read(*fd, block, sizeof(block));

                if (n > 0) {
                        capture_add(c, block, (size_t)n);
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

static void read_streams(struct execution *x)
{
        read_stream(&x->out, &x->out_capture);
        read_stream(&x->err, &x->err_capture);
        if (!x->told_output && (prints_too_much(&x->out_capture) || prints_too_much(&x->err_capture))) {
                x->told_output = true;
                send(x->control, "o", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
                x->deadline = now_ns() + END_GRACE;
        }
}

/* Returns false when there is nothing more to come. */
static bool read_reply(struct execution *x)
{
        ssize_t n = recv(x->control, (char *)&x->reply + x->reply_size, sizeof(x->reply) - x->reply_size, MSG_DONTWAIT);

        if (n > 0)
                x->reply_size += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                return false;
        return x->reply_size < sizeof(x->reply);
}

static bool has_begun(const struct execution *x)
{
        bool begun = false;

        return x->begun ||
               (pread(x->wire, &begun, sizeof(begun), offsetof(struct exec_request, begun)) == sizeof(begun) && begun);
}

/* The time for making the sandbox is over. Returns false when that was not all the time it had. */
static bool is_late(struct execution *x)
{
        const uint64_t wall = x->request->wall_ns;

        if (x->begun || x->cancelled || x->told_output || !has_begun(x))
                return true;
        x->begun = true;
        x->deadline = wall != 0 ? now_ns() + wall + WALL_GRACE : 0;
        return false;
}

static void cancel(struct execution *x)
{
        x->cancelled = true;
        shutdown(x->control, SHUT_WR);
        x->deadline = now_ns() + END_GRACE;
}

enum source {
        FROM_CONTROL,
        FROM_OUT,
        FROM_ERR,
        FROM_PROCESS,
        FROM_CANCEL,
        N_SOURCES
};

static void wait_for_something(const struct execution *x, bool ret_from[N_SOURCES])
{
        struct pollfd fds[N_SOURCES] = {
                [FROM_CONTROL] = {.fd = x->control, .events = POLLIN},
                [FROM_OUT] = {.fd = x->out, .events = POLLIN},
                [FROM_ERR] = {.fd = x->err, .events = POLLIN},
                [FROM_PROCESS] = {.fd = x->process, .events = POLLIN},
                [FROM_CANCEL] = {.fd = x->cancelled ? -1 : x->request->cancel_fd, .events = POLLIN},
        };
        uint64_t now = now_ns(), left = x->deadline > now ? x->deadline - now : 0;
        struct timespec t = {.tv_sec = (time_t)(left / NSEC_PER_SEC), .tv_nsec = (long)(left % NSEC_PER_SEC)};
        int n = ppoll(fds, N_SOURCES, x->deadline ? &t : NULL, NULL);

        for (size_t i = 0; i < N_SOURCES; i++)
                ret_from[i] = n > 0 && fds[i].revents != 0;
}

/* Until the reply is there, or can come no more. */
static void watch(struct execution *x)
{
        bool from[N_SOURCES] = {false};

        while (!from[FROM_PROCESS]) {
                wait_for_something(x, from);
                read_streams(x);
                if (!read_reply(x))
                        return;
                if (from[FROM_CANCEL])
                        cancel(x);
                if (x->deadline != 0 && now_ns() >= x->deadline && is_late(x)) {
                        x->lost = true;
                        return;
                }
        }
}

/* -- the end -- */

static bool replied(const struct execution *x)
{
        return x->reply_size == sizeof(x->reply) && x->reply.magic == EXEC_MAGIC && x->reply.step < N_STEPS &&
               x->reply.part < N_SURROUNDINGS_PARTS && x->reply.end <= END_NOEXEC;
}

static void wait_for_process(struct execution *x)
{
        struct pollfd fd = {.fd = x->process, .events = POLLIN};

        if (!replied(x) || (x->process >= 0 && poll(&fd, 1, END_GRACE / NSEC_PER_MSEC) == 0))
                kill(x->pid, SIGKILL); /* stopped, perhaps; a process not yet waited for keeps its number */
        while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

static bool is_control_open(const struct execution *x)
{
        char trash[256];
        ssize_t n;

        while ((n = recv(x->control, trash, sizeof(trash), MSG_DONTWAIT)) > 0)
                ;
        return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* bubblewrap was killed. Its first process dies with it or, should it have begun only now, by the socket's end; all else dies with that
 * one. When the last has closed our pipes all is gone. */
static void wait_for_sandbox(struct execution *x)
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

/* Without a sandbox nothing dies with the helper but the program itself. What it started has inherited its environment. */
static void kill_marked(const struct execution *x)
{
        for (int rounds = 0; rounds < 100; rounds++) {
                struct marked m = {.mark = x->mark};

                process_each(kill_if_marked, &m);
                if (m.killed == 0)
                        return;
        }
}

/* bubblewrap says on standard error why it cannot; the program has not begun then. */
static int explain_loss(const struct execution *x)
{
        const struct buffer *said = x->request->merge ? &x->out_capture.head : &x->err_capture.head;
        const char *line = said->data;

        if (x->lost && !has_begun(x))
                return errorf(-EIO,
                              "the sandbox of a run of %s did not begin in time: the machine is overloaded, or bwrap is stuck",
                              x->request->argv[0]);
        if (x->lost)
                return errorf(-EIO, "a run went on beyond every limit and was killed: %s", x->request->argv[0]);
        if (x->inside && line && strncmp(line, "bwrap: ", 7) == 0)
                return errorf(-EIO, "bubblewrap cannot make a sandbox here: %.*s; 'solverfs doctor' says more",
                              (int)strcspn(line + 7, "\n"), line + 7);
        return errorf(-EIO, "the helper of a run of %s ended without a result; was it killed?", x->request->argv[0]);
}

static int explain_step(const struct execution *x)
{
        static const char *const doing[N_STEPS] = {
                [STEP_FORK] = "start a process",
                [STEP_AFFINITY] = "bind it to its cores",
                [STEP_USER] = "give it a user of its own",
                [STEP_DIRECTORY] = "enter its working directory",
                [STEP_REQUEST] = "read the request (another version of solverfs-exec?)",
        };
        const char *what = doing[x->reply.step] ? doing[x->reply.step] : "run";
        int error = x->reply.error > 0 ? x->reply.error : EIO;

        if (x->reply.step == STEP_SURROUNDINGS)
                return surroundings_refusal(x->request, x->reply.part, error);
        return errorf(-error, "the helper of a run of %s could not %s: %s", x->request->argv[0], what, strerror(error));
}

/* How many processes the kernel has killed on this machine for want of memory. Read at most once a second: all of the file is made anew at
 * each look, and a run should not wait for that. */
static uint64_t memory_kills(bool fresh)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static uint64_t count, when;
        cleanup_file FILE *f = NULL;
        unsigned long long n;
        char line[128];

        pthread_mutex_lock(&lock);
        if (fresh || when == 0 || now_ns() - when > NSEC_PER_SEC) {
                f = fopen("/proc/vmstat", "re");
                while (f && fgets(line, sizeof(line), f))
                        if (sscanf(line, "oom_kill %llu", &n) == 1)
                                count = n;
                when = now_ns();
        }
        n = count;
        pthread_mutex_unlock(&lock);
        return n;
}

/* Nobody can tell who sent a signal to somebody else. */
static enum execute_doubt doubt_of(const struct execution *x, const struct execute_result *r)
{
        bool failed = r->end == END_SIGNAL || (r->end == END_EXIT && r->code != 0);

        if (failed && memory_kills(true) != x->memory_kills)
                return DOUBT_MEMORY;
        if (x->reply.late_ns >= PAUSE)
                return DOUBT_PAUSE;
        if (r->end == END_SIGNAL && (r->code == SIGKILL || r->code == SIGTERM || r->code == SIGINT || r->code == SIGHUP))
                return DOUBT_SIGNAL;
        return DOUBT_NONE;
}

static int make_result(struct execution *x, struct execute_result *ret)
{
        const struct exec_reply *a = &x->reply;
        struct execute_result r = {
                .end = (enum execute_end)a->end,
                .code = a->code,
                .wall_ns = a->wall_ns,
                .user_ns = a->user_ns,
                .system_ns = a->system_ns,
                .memory = MAX(a->largest, a->tree),
                .voluntary = a->voluntary,
                .involuntary = a->involuntary,
                .killed = a->killed,
                .out_size = x->out_capture.total,
                .err_size = x->err_capture.total,
                .method = "rusage",
        };
        int k;

        if (r.end == END_EXIT && (prints_too_much(&x->out_capture) || prints_too_much(&x->err_capture)))
                r.end = END_OUTPUT; /* it had ended before we had read it all */
        r.doubt = doubt_of(x, &r);
        k = capture_finish(&x->out_capture, &r.out, &r.out_cut);
        if (k == 0)
                k = capture_finish(&x->err_capture, &r.err, &r.err_cut);
        if (k < 0) {
                execute_result_done(&r);
                return k;
        }
        *ret = r;
        return 0;
}

static int finish(struct execution *x, struct execute_result *ret)
{
        wait_for_process(x);
        x->all_gone = replied(x);
        if (!replied(x)) {
                if (x->inside)
                        wait_for_sandbox(x);
                else
                        kill_marked(x);
        }
        if (x->cancelled || (replied(x) && x->reply.end == END_CANCELLED))
                return errorf(-ECANCELED, "cancelled");
        read_streams(x); /* all writers are gone: what is left in the pipes is all there will be */
        if (!replied(x))
                return explain_loss(x);
        if (x->reply.step != STEP_NONE && x->reply.step != STEP_EXECVE)
                return explain_step(x);
        return make_result(x, ret);
}

static void sweep_once(void)
{
        sandbox_sweep();
}

int execute(const struct execute_request *request, struct execute_result *ret)
{
        cleanup(execution_done) struct execution x = {
                .request = request,
                .inside = request->sandbox == SANDBOX_BWRAP,
                .control = -1,
                .out = -1,
                .err = -1,
                .process = -1,
                .wire = -1,
                .lease = -1,
                .all_gone = true,
                .out_capture = {.limit = request->out},
                .err_capture = {.limit = request->err},
        };
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        uint64_t random[2];
        int r;

        pthread_once(&once, sweep_once); /* after a caller that was killed */
        assert(request->argv && request->argv[0] && request->scratch);
        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return errorf(-EIO, "the kernel gives no random numbers");
        snprintf(x.mark, sizeof(x.mark), RUN_MARK "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
        x.memory_kills = memory_kills(false);
        r = fault_at("execute.start");
        if (r == 0)
                r = start(&x);
        if (r < 0)
                return r;
        x.deadline = now_ns() + (request->start_ns ?: START_GRACE);
        fault_at("execute.started");
        watch(&x);
        fault_at("execute.end");
        return finish(&x, ret);
}

void execute_result_done(struct execute_result *r)
{
        blob_done(&r->out);
        blob_done(&r->err);
}
