/* The helper's one run: starts a program, times and limits it, ends all it started, and reports. See execute.h and exec_wire.h.
 *
 * Small and static: the peak memory of a process counts from its parent's before execve (ru_maxrss), it must start in a fraction of a millisecond,
 * and the sandbox may have no library for it. It trusts nothing the program does. It is not dumpable, so a program of the same user can neither trace
 * it nor reach its descriptors. As PID 1 it gets no signal from inside; otherwise it is a subreaper, so that every orphan becomes its child and is
 * found, accounted and ended. */
#include "core/sandbox/exec_stub.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/sandbox/exec_tree.h"
#include "core/sandbox/execute.h"

/* How often the tree is looked at: often enough that a limit is not passed by much, rarely enough to cost nothing (at most a twentieth of one core if
 * a look is slow). */
#define POLL_FIRST   (5 * NSEC_PER_MSEC)
#define POLL_MOST    (50 * NSEC_PER_MSEC)
#define POLL_LEAST   (2 * NSEC_PER_MSEC)
#define POLL_SHARE   20
#define FOLDER_FIRST (100 * NSEC_PER_MSEC)
#define FOLDER_MOST  (1000 * NSEC_PER_MSEC)
#define REAP_MOST    256 /* children at once: a flood of orphans must not keep us from the limits */

struct run {
        const struct order *order;
        int signals; /* signalfd */
        int news;    /* from the new process, until its execve; then -1 */
        pid_t pid;
        bool over;  /* the program has gone */
        bool unreaped; /* more children may have ended than reap() took */
        bool ended; /* by us: reply.end says why */
        int status;
        uint64_t begin, end;
        uint64_t stood_still; /* total time stopped, between its shares or while runs had its cores */
        uint64_t frozen;      /* since when it is stopped because runs have all of its cores; 0: it runs */
        uint64_t standing;    /* total time stopped for runs, also before it began */
        struct lender lender;
        struct watch *watch; /* NULL: not asked for, or not available */
        cpu_set_t cpus; /* the cores it may be on now, if order->head->has_cpus */
        uint64_t bound; /* when its cores last changed; 0: never */
        unsigned bound_again; /* how often all were bound again since: BOUND_AGAIN */
        uint64_t share;       /* its wall time at the end of the share; UINT64_MAX: no end */
        uint64_t next_look, look_interval, next_folder;
        uint64_t awake; /* when the last wait ended; 0: none has yet */
        int64_t suspended; /* how long the machine had been suspended before the program began, at most */
        uint64_t space; /* the most address space seen in one process */
        struct waiting waiting;
        bool processes_hit; /* as many tasks were seen as it may have */
        struct exec_reply reply;
};

/* The new process's message before its execve: the time of the execve, or the failed step. */
struct news {
        uint32_t step, part;
        int32_t error;
        uint64_t time, waited;
};

static uint64_t read_clock(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t clock_now(void)
{
        return read_clock(CLOCK_MONOTONIC);
}

/* For how long the machine has been suspended: CLOCK_MONOTONIC stands still meanwhile. Whatever comes between the two readings makes the first larger,
 * and the second smaller. */
static int64_t suspended_at_most(void)
{
        uint64_t awake = clock_now();

        return (int64_t)(read_clock(CLOCK_BOOTTIME) - awake);
}

static int64_t suspended_at_least(void)
{
        uint64_t all = read_clock(CLOCK_BOOTTIME);

        return (int64_t)(all - clock_now());
}

/* -- the request -- */

#define N_STRINGS 4 /* before the arguments */

/* The strings behind the request, with a NULL after the arguments and after the environment. */
static char **read_strings(const struct exec_request *head, size_t size)
{
        const size_t behind_arguments = N_STRINGS + (size_t)head->n_arguments, n = behind_arguments + head->n_environment;
        char *at = (char *)(head + 1), *end = (char *)head + size, **list = n <= size ? calloc(n + 2, sizeof(*list)) : NULL;

        for (size_t i = 0; list && i < n; i++) {
                char *nul = memchr(at, '\0', (size_t)(end - at));

                if (!nul)
                        return NULL;
                list[i + (i >= behind_arguments)] = at;
                at = nul + 1;
        }
        return list;
}

static int order_read(int fd, struct order *ret)
{
        struct exec_request *head;
        struct stat st;
        char **strings;

        if (fstat(fd, &st) < 0)
                return -errno;
        if ((size_t)st.st_size < sizeof(*head))
                return -EBADMSG;
        head = malloc((size_t)st.st_size);
        if (!head)
                return -ENOMEM;
        if (pread(fd, head, (size_t)st.st_size, 0) != st.st_size || head->magic != exec_magic || head->n_arguments == 0)
                return -EBADMSG;
        strings = read_strings(head, (size_t)st.st_size);
        if (!strings)
                return -EBADMSG;
        *ret = (struct order){.head = head, .directory = strings[0], .scratch = strings[1], .runs_scratch = strings[2], .input = strings[3],
                              .arguments = strings + N_STRINGS, .environment = strings + N_STRINGS + head->n_arguments + 1};
        return 0;
}

/* -- becoming the program -- */

/* The tasks that RLIMIT_NPROC counts already: in a user namespace of its own the helper and the program; on the bare machine all of that user. */
static uint64_t tasks_already(const struct exec_request *r)
{
        if (r->drop || r->processes == 0)
                return 0;
        return r->namespace ? 1 + r->watch : tree_tasks_of(getuid());
}

static bool set_capabilities(const struct __user_cap_data_struct data[2])
{
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

        return syscall(SYS_capset, &head, data) == 0;
}

/* Keeps root's power over files in a process that is no longer root, and in programs it executes: capabilities(7), "ambient". */
static bool keep_files(void)
{
        static const int wanted[] = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_CHOWN};
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];
        uint32_t kept = 0;

        if (syscall(SYS_capget, &head, data) < 0)
                return false;
        for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
                kept |= data[0].permitted & (UINT32_C(1) << wanted[i]); /* in a container some may be missing */
        data[0] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept, .inheritable = kept};
        data[1] = (struct __user_cap_data_struct){0};
        if (!set_capabilities(data))
                return false;
        for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
                if ((kept & (UINT32_C(1) << wanted[i])) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, wanted[i], 0, 0) < 0)
                        return false;
        return true;
}

static bool drop_user(const struct exec_request *r)
{
        if (!r->drop)
                return true;
        /* Otherwise access(), which checks the real user, fails where open() works. A container without CAP_SETPCAP cannot set this. */
        if (r->keep_files)
                prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0);
        /* By system calls: the C library's functions change all threads of this memory, which is shared. */
        return (!r->keep_files || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0) && syscall(SYS_setgroups, 0, NULL) == 0 &&
               syscall(SYS_setresgid, r->gid, r->gid, r->gid) == 0 && syscall(SYS_setresuid, r->uid, r->uid, r->uid) == 0 &&
               (!r->keep_files || keep_files());
}

static void say(int fd, enum exec_step step, uint32_t part, int error)
{
        struct news n = {.step = step, .part = part, .error = error};

        waiting_read(getpid(), &n.waited);
        n.time = clock_now();

        if (write(fd, &n, sizeof(n)) != sizeof(n))
                _exit(127);
}

/* No signal is ignored: spawn() resets them. The program does not get our mask. */
static void unblock_signals(void)
{
        sigprocmask(SIG_SETMASK, &(sigset_t){0}, NULL);
}

/* Opens the file as the program itself could, with the same mounts and rights. Never blocks: we stand still meanwhile. */
static bool open_input(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

        return fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 && dup2(fd, STDIN_FILENO) >= 0;
}

/* Returns only if it fails, with errno. A name without a slash is looked up in the PATH of the program's environment, as in a shell. */
static void execute_program(const struct order *o)
{
        const char *name = o->arguments[0], *path = "";
        char file[PATH_MAX];
        int why = ENOENT;

        if (strchr(name, '/')) {
                execve(name, o->arguments, o->environment);
                return;
        }
        for (char *const *e = o->environment; *e; e++)
                if (strncmp(*e, "PATH=", 5) == 0)
                        path = *e + 5;
        for (size_t n; *path; path += n + (path[n] == ':')) {
                n = strcspn(path, ":");
                if (snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name) >= (int)sizeof(file))
                        continue;
                execve(file, o->arguments, o->environment);
                if (errno == EACCES)
                        why = EACCES;
                else if (errno != ENOENT && errno != ENOTDIR)
                        return;
        }
        errno = why;
}

/* Runs in our memory until its execve, while we are stopped: it must not change anything that we use afterwards. */
static _Noreturn void become(const struct run *run, int news, pid_t stub)
{
        const struct order *o = run->order;
        const struct exec_request *r = o->head;
        enum exec_step failed = STEP_NONE;
        uint32_t part = 0;

        setpgid(0, 0);
        if (r->has_cpus && sched_setaffinity(0, sizeof(run->cpus), &run->cpus) < 0)
                failed = STEP_AFFINITY;
        else if (!surroundings_set(&r->surroundings, tasks_already(r), &part))
                failed = STEP_SURROUNDINGS;
        else if (!drop_user(r) || (r->namespace && !r->kept && !world_forbid_keys()))
                failed = STEP_USER;
        else if (chdir(o->directory) < 0)
                failed = STEP_DIRECTORY;
        else if (*o->input && !open_input(o->input))
                failed = STEP_INPUT;
        if (failed != STEP_NONE) {
                say(news, failed, part, errno);
                _exit(127);
        }
        /* After the change of user, which clears it. In a namespace everything ends with PID 1 anyway. */
        if (!r->namespace && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != stub))
                _exit(127);
        unblock_signals();
        if (!watch_enter(run->watch))
                _exit(127);
        /* Root of our own user namespace keeps them over execve, unlike other users. */
        if (r->namespace && !r->drop && !set_capabilities((struct __user_cap_data_struct[2]){0}))
                _exit(127);
        for (int i = 0; i < 200; i++) { /* ETXTBSY: the file was just written, and a fork elsewhere holds it open until its execve */
                say(news, STEP_NONE, 0, 0);
                execute_program(o);
                if (errno != ETXTBSY)
                        break;
                usleep(2000);
        }
        say(news, STEP_EXECVE, 0, errno);
        _exit(127);
}

/* Gives the helper its own schedule, so that its looks are not late; the program inherits it. */
static int set_schedule(struct run *run)
{
        enum surroundings_part part;

        if (!run->order->head->surroundings.timed || surroundings_set_schedule(&part))
                return 0;
        run->reply.part = part;
        return -errno;
}

/* Opens our score for the kernel's out-of-memory killer. Only a dumpable process, or root, may write it. -1 if the score must stay. */
static int open_oom_score(char ret_now[16])
{
        ssize_t n;
        int fd;

        prctl(PR_SET_DUMPABLE, 1);
        fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
        prctl(PR_SET_DUMPABLE, 0);
        n = fd >= 0 ? pread(fd, ret_now, 15, 0) : 0;
        ret_now[n > 0 ? n : 0] = '\0';
        return fd;
}

static void set_oom_score(int fd, const char *text)
{
        if (fd >= 0 && pwrite(fd, text, strlen(text), 0) < 0)
                (void)errno; /* no harm */
}

/* Starts the program by vfork(): a copy of our memory would cost as much as all else here. The program inherits the raised score, so that the
 * out-of-memory killer takes it before us and our caller. */
static int start(struct run *run)
{
        pid_t stub = getpid();
        char score[16];
        int fds[2], oom_score, error;

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        oom_score = open_oom_score(score);
        set_oom_score(oom_score, "800");
        run->suspended = suspended_at_most();
        run->begin = run->awake = clock_now(); /* a pause may come before the first wait */
        run->pid = vfork();
        if (run->pid == 0)
                become(run, fds[1], stub);
        error = run->pid < 0 ? -errno : 0;
        set_oom_score(oom_score, score);
        closep(&oom_score);
        close(fds[1]);
        watch_entered(run->watch);
        run->news = fds[0];
        return error;
}

static void read_news(struct run *run)
{
        struct news n;
        ssize_t size;

        while (run->news >= 0 && (size = read(run->news, &n, sizeof(n))) != -1) {
                if (size != sizeof(n)) { /* closed by the process's execve or its end */
                        close(run->news);
                        run->news = -1;
                } else if (n.step == STEP_NONE) {
                        run->begin = n.time;
                        run->waiting.before = n.waited;
                } else {
                        run->reply.step = n.step;
                        run->reply.part = n.part;
                        run->reply.error = n.error;
                }
        }
}

/* -- watching it -- */

/* The program's wall time until `now`, without the time that it was stopped. */
static uint64_t wall_at(const struct run *run, uint64_t now)
{
        uint64_t before = run->begin + run->stood_still;

        if (run->frozen != 0)
                now = MIN(now, run->frozen);
        return now > before ? now - before : 0;
}

/* The time at which its wall time will have that value. */
static uint64_t time_of_wall(const struct run *run, uint64_t wall)
{
        return wall > UINT64_MAX / 2 ? UINT64_MAX : run->begin + run->stood_still + wall;
}

/* Ends the program for this reason, unless it was ended before. */
static void end_for(struct run *run, enum execute_end why)
{
        if (!run->ended && !run->over)
                run->reply.end = why;
        run->ended = true;
}

static uint64_t nanoseconds(const struct timeval *t)
{
        return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

/* Waits for one child. Reads its waiting time before it is reaped, as it is lost then. */
static pid_t wait_for_one(struct run *run, int *ret_status, struct rusage *ret_usage)
{
        siginfo_t info = {0};

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
                return -1;
        if (info.si_pid == 0)
                return 0;
        waiting_end(&run->waiting, info.si_pid);
        return wait4(info.si_pid, ret_status, WNOHANG, ret_usage);
}

/* Reaps the children that have ended, at most REAP_MOST; the program first, as it is our first child. False if there is no child left. */
static bool reap(struct run *run)
{
        struct rusage u;
        int status;
        pid_t pid = 0;

        for (unsigned i = 0; i < REAP_MOST && (pid = wait_for_one(run, &status, &u)) > 0; i++) {
                struct exec_reply *r = &run->reply;

                if (pid == run->pid) {
                        run->end = clock_now();
                        run->over = true;
                        run->status = status;
                } else if (run->over && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
                        r->killed++;
                }
                r->user_ns += nanoseconds(&u.ru_utime);
                r->system_ns += nanoseconds(&u.ru_stime);
                r->voluntary += (uint64_t)u.ru_nvcsw;
                r->involuntary += (uint64_t)u.ru_nivcsw;
                r->largest = MAX(r->largest, (uint64_t)u.ru_maxrss * 1024);
        }
        run->unreaped = pid > 0;
        return pid >= 0 || errno != ECHILD;
}

static uint64_t reaped_cpu(const struct run *run)
{
        return run->reply.user_ns + run->reply.system_ns;
}

static bool is_over(uint64_t value, uint64_t limit)
{
        return limit != 0 && value > limit;
}

/* True if there are so many tasks that a fork may have failed. Several forks at one moment all fail if they would exceed the limit together. */
static bool is_near_processes(const struct exec_request *r, uint64_t tasks)
{
        return r->processes != 0 && tasks > 1 && tasks + r->processes / 8 >= r->processes;
}

/* Notes a point of the growth. Drops every second point if there is no room. */
static void note_growth(struct run *run, uint64_t memory)
{
        struct exec_reply *a = &run->reply;

        if (a->n_growth > 0 && memory < a->growth[a->n_growth - 1].memory / 8 * 9)
                return;
        if (a->n_growth == EXEC_GROWTH) {
                for (size_t i = 0; i < EXEC_GROWTH / 2; i++)
                        a->growth[i] = a->growth[2 * i + 1];
                a->n_growth = EXEC_GROWTH / 2;
        }
        a->growth[a->n_growth++] = (struct exec_growth){wall_at(run, clock_now()), memory};
}

/* The time until the next look: twice the last one, but less near a limit. */
static uint64_t next_interval(const struct run *run, const struct tree *t, uint64_t memory)
{
        const struct exec_request *r = run->order->head;
        uint64_t interval = MIN(run->look_interval * 2, POLL_MOST);

        if (r->cpu_ns != 0) {
                uint64_t cores = r->has_cpus ? (uint64_t)CPU_COUNT(&r->cpus) : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
                uint64_t used = reaped_cpu(run) + t->cpu_ns, left = used < r->cpu_ns ? r->cpu_ns - used : 0;

                interval = MIN(interval, left / MIN(MAX(t->threads, 1), MAX(cores, 1)) + NSEC_PER_MSEC);
        }
        if (r->memory != 0 && memory > r->memory / 2)
                interval = MIN(interval, 2 * POLL_FIRST);
        return MAX(interval, POLL_LEAST);
}

/* Reads the tree, and ends the program if it is beyond a limit. */
static void look(struct run *run)
{
        const struct exec_request *r = run->order->head;
        uint64_t memory;
        struct tree t;

        if (tree_read(r->namespace, &t, &run->waiting) < 0)
                return;
        run->waiting.most = MAX(run->waiting.most, (unsigned)t.threads);
        memory = is_over(t.memory, r->memory) ? tree_checked_memory(r->namespace, &t, r->memory) : t.memory;
        run->reply.tree = MAX(run->reply.tree, memory);
        note_growth(run, memory);
        run->space = MAX(run->space, t.largest_space);
        run->processes_hit |= is_near_processes(r, t.threads);
        if (is_over(memory, r->memory))
                end_for(run, END_MEMORY);
        else if (is_over(reaped_cpu(run) + t.cpu_ns, r->cpu_ns))
                end_for(run, END_TIMEOUT);
        else if (is_over(t.threads, r->processes)) /* for where RLIMIT_NPROC does not hold */
                end_for(run, END_PROCESSES);
        run->look_interval = next_interval(run, &t, memory);
}

/* The cost of a look is its CPU time: among sixty busy processes a look takes a second by the clock, and waiting twenty times that would be too late. */
static void look_if_due(struct run *run)
{
        uint64_t begin, used;

        if (clock_now() < run->next_look)
                return;
        begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        look(run);
        used = read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
        run->next_look = clock_now() + MAX(run->look_interval, used * POLL_SHARE);
}

static bool is_folder_over(const struct run *run)
{
        const uint64_t most = run->order->head->file_size;

        return most != 0 && folder_usage(run->order->scratch, most) > most;
}

static void look_at_folder_if_due(struct run *run)
{
        uint64_t begin = clock_now(), end;

        if (run->order->head->file_size == 0 || begin < run->next_folder)
                return;
        if (is_folder_over(run))
                end_for(run, END_OUTPUT);
        end = clock_now();
        run->next_folder = end + MAX(MIN(2 * (begin - run->begin), FOLDER_MOST), (end - begin) * POLL_SHARE);
}

/* Obeys the caller: ends the program, or notes its next share. True: it may go on. */
static bool read_control(struct run *run)
{
        struct exec_command c;
        ssize_t n = recv(EXEC_CONTROL, &c, sizeof(c), MSG_DONTWAIT);

        if (n == sizeof(c) && c.kind == COMMAND_CONTINUE) {
                run->share = c.share_ns == 0 ? UINT64_MAX : run->share + c.share_ns;
                return true;
        }
        if (n == sizeof(c))
                end_for(run, END_OUTPUT);
        else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
                end_for(run, END_CANCELLED);
        return false;
}

int signals_block(void)
{
        sigset_t all;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        sigemptyset(&all);
        sigaddset(&all, SIGCHLD);
        return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

void signals_drain(int fd)
{
        struct signalfd_siginfo info;

        while (read(fd, &info, sizeof(info)) == sizeof(info))
                ;
}

/* Notes a pause: how much later than expected we woke. It may come during a wait, between two, or after the last one. */
static void note_late(struct run *run, uint64_t expected)
{
        uint64_t now = clock_now();

        if (expected != 0 && now > expected && now - expected > run->reply.late_ns)
                run->reply.late_ns = now - expected;
}

/* The new process's messages wake nobody, as that would be twice for each run: they are read at the next wakening. */
static void wait_for_something(struct run *run, uint64_t until)
{
        struct pollfd fds[] = {
                {.fd = run->signals, .events = POLLIN},
                {.fd = run->ended || run->over ? -1 : EXEC_CONTROL, .events = POLLIN},
        };
        uint64_t now = clock_now(), left = until > now && !run->unreaped ? until - now : 0;
        struct timespec t = {.tv_sec = (time_t)(left / NSEC_PER_SEC), .tv_nsec = (long)(left % NSEC_PER_SEC)};

        note_late(run, run->awake);
        ppoll(fds, ARRAY_SIZE(fds), &t, NULL);
        note_late(run, now + left);
        run->awake = clock_now();
}

static bool send_reply(const struct run *run)
{
        return send(EXEC_CONTROL, &run->reply, sizeof(run->reply), MSG_NOSIGNAL) == sizeof(run->reply);
}

/* Stops the whole tree, and waits until it is stopped: a process on a processor may run for a moment longer. */
static void stop_all(const struct run *run)
{
        bool namespace = run->order->head->namespace;

        tree_stop(namespace);
        for (int i = 0; i < 100 && tree_goes_on(namespace); i++) {
                usleep(200);
                if (i % 10 == 9)
                        tree_stop(namespace);
        }
}

/* Replies with the numbers so far. */
static void say_paused(struct run *run, uint64_t now)
{
        const struct exec_reply kept = run->reply;
        struct tree t = {0};

        tree_read(run->order->head->namespace, &t, NULL);
        run->reply.paused = true;
        run->reply.wall_ns = wall_at(run, now);
        run->reply.user_ns += run->reply.system_ns + t.cpu_ns;
        run->reply.system_ns = 0;
        run->reply.tree_now = t.memory;
        if (!send_reply(run))
                end_for(run, END_CANCELLED);
        run->reply = kept;
}

/* At the end of a share: stops the tree until it gets another share or is ended. Memory is read once more when all has stopped. */
static void stand_still(struct run *run)
{
        uint64_t began = clock_now();

        stop_all(run);
        reap(run);
        if (run->over)
                return;
        look(run);
        if (run->ended)
                return;
        say_paused(run, began);
        while (!run->over && !run->ended && !read_control(run)) {
                wait_for_something(run, clock_now() + NSEC_PER_SEC);
                signals_drain(run->signals);
                reap(run);
        }
        run->stood_still += (run->over ? run->end : clock_now()) - began;
        run->next_look = clock_now() + POLL_FIRST;
        if (!run->over && !run->ended)
                tree_continue(run->order->head->namespace);
}

/* -- its cores -- */

static void say_standing(const struct run *run)
{
        const struct exec_standing s = {.total_ns = run->standing, .since_ns = run->frozen};

        if (pwrite(EXEC_REQUEST, &s, sizeof(s), offsetof(struct exec_request, standing)) != sizeof(s))
                (void)errno; /* a file in memory */
}

static void freeze(struct run *run)
{
        run->frozen = clock_now();
        stop_all(run);
        say_standing(run);
}

static void thaw(struct run *run)
{
        uint64_t now = clock_now(), stood = now - run->frozen;

        run->stood_still += stood;
        run->standing += stood;
        run->frozen = 0;
        run->next_look = now + POLL_FIRST;
        say_standing(run);
        tree_continue(run->order->head->namespace);
}

/* A process being forked has the cores that its parent had when fork() began, and is seen only when fork() ends, which may wait long for a core. So
 * all are bound again, after 5 ms, 10 ms, …. */
#define BOUND_AGAIN       8
#define BOUND_AGAIN_FIRST (5 * NSEC_PER_MSEC)

static bool bind_again_is_due(const struct run *run, uint64_t now)
{
        return run->bound != 0 && run->frozen == 0 && run->bound_again < BOUND_AGAIN && now - run->bound >= BOUND_AGAIN_FIRST << run->bound_again;
}

/* Moves the tree off the cores that runs want, and stops it while runs want all of its cores. */
static void lend_if_due(struct run *run)
{
        const bool namespace = run->order->head->namespace;
        uint64_t now = clock_now();

        if (now < lender_next(&run->lender))
                return;
        if (!lender_look(&run->lender, now, &run->cpus)) {
                if (bind_again_is_due(run, now)) {
                        tree_bind(namespace, &run->cpus);
                        run->bound_again++;
                }
                return;
        }
        run->bound = now;
        run->bound_again = 0;
        if (CPU_COUNT(&run->cpus) > 0) {
                tree_bind(namespace, &run->cpus);
                sched_setaffinity(0, sizeof(run->cpus), &run->cpus); /* our looks are part of the build, too */
                watch_bind(run->watch, &run->cpus);
        } else if (run->frozen == 0) {
                freeze(run);
        }
        lender_leave(&run->lender, now);
        if (CPU_COUNT(&run->cpus) > 0 && run->frozen != 0)
                thaw(run);
}

/* Waits for a core before the program begins. */
static void await_core(struct run *run)
{
        lender_begin(&run->lender, run->order->head);
        if (run->lender.n == 0)
                return;
        run->frozen = clock_now();
        say_standing(run);
        while (!lender_look(&run->lender, clock_now(), &run->cpus) && !run->ended) {
                wait_for_something(run, lender_next(&run->lender));
                read_control(run);
        }
        sched_setaffinity(0, sizeof(run->cpus), &run->cpus);
        run->standing = clock_now() - run->frozen;
        run->frozen = 0;
        say_standing(run);
}

static uint64_t next_event(const struct run *run)
{
        const struct exec_request *r = run->order->head;
        uint64_t until = lender_next(&run->lender);

        if (run->frozen != 0)
                return until;
        until = MIN(until, MIN(run->next_look, time_of_wall(run, run->share)));
        if (r->file_size != 0)
                until = MIN(until, run->next_folder);
        return r->wall_ns != 0 ? MIN(until, time_of_wall(run, r->wall_ns)) : until;
}

static void watch(struct run *run)
{
        const struct exec_request *r = run->order->head;

        while (!run->over && !run->ended) {
                wait_for_something(run, next_event(run));
                signals_drain(run->signals);
                read_news(run);
                reap(run);
                if (run->over)
                        break;
                read_control(run);
                lend_if_due(run);
                if (run->frozen != 0)
                        continue;
                if (r->wall_ns != 0 && wall_at(run, clock_now()) >= r->wall_ns)
                        end_for(run, END_TIMEOUT);
                look_if_due(run);
                look_at_folder_if_due(run);
                if (!run->ended && wall_at(run, clock_now()) >= run->share)
                        stand_still(run);
        }
        note_late(run, run->awake);
}

/* -- its end -- */

static void end_all(struct run *run)
{
        while (reap(run)) {
                tree_kill(run->order->head->namespace);
                wait_for_something(run, clock_now() + 20 * NSEC_PER_MSEC);
                signals_drain(run->signals);
        }
        read_news(run);
}

/* After a failure: counts the tasks at its end (its leftovers, and itself) against the limit. The kernel counts a task from the beginning of the
 * fork that makes it, and we see it from the end on. Each visible task is in the middle of one fork at most, so at least half of the limit is visible
 * when a fork fails for it. */
static void count_what_is_left(struct run *run)
{
        const struct exec_request *r = run->order->head;
        struct tree t;

        if (r->processes != 0 && !(WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0) &&
            tree_read(r->namespace, &t, NULL) == 0)
                run->processes_hit |= t.threads > 0 && 2 * (t.threads + 1) >= r->processes;
}

/* Sets how it ended, if it ended by itself. A limit that it passed counts all the same, so that a result reported as within its limits was within
 * them. */
static void judge(struct run *run)
{
        const struct exec_request *r = run->order->head;
        struct exec_reply *a = &run->reply;
        bool exited = WIFEXITED(run->status), failed = !exited || WEXITSTATUS(run->status) != 0;
        int sig = exited ? 0 : WTERMSIG(run->status);
        bool is_sent = exec_is_sent(sig); /* no limit that it ran into makes these */
        bool is_lonely = r->processes != 0 && r->processes <= 2; /* no look may find a second task: the end tells whether a fork may have failed */
        uint64_t memory = MAX(a->largest, a->tree);

        a->code = exited ? WEXITSTATUS(run->status) : sig;
        if (is_over(a->wall_ns, r->wall_ns) || is_over(reaped_cpu(run), r->cpu_ns))
                a->end = END_TIMEOUT;
        else if (is_over(memory, r->memory))
                a->end = END_MEMORY;
        else if (sig == SIGXFSZ || is_folder_over(run))
                a->end = END_OUTPUT;
        /* Under a limit on address space malloc() fails before the limit is reached, and most programs then give up. */
        else if (failed && !is_sent && r->memory != 0 && (run->space > r->memory / 16 * 15 || memory > r->memory / 8 * 7))
                a->end = END_MEMORY;
        else if (failed && !is_sent && (run->processes_hit || (is_lonely && (exited || sig == SIGABRT))))
                a->end = END_PROCESSES;
        else
                a->end = exited ? END_EXIT : END_SIGNAL;
        a->guessed = exited && !is_over(memory, r->memory) && (a->end == END_MEMORY || a->end == END_PROCESSES);
}

static void prepare(struct run *run)
{
        prctl(PR_SET_DUMPABLE, 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        fcntl(EXEC_CONTROL, F_SETFD, FD_CLOEXEC);
        fcntl(EXEC_REQUEST, F_SETFD, FD_CLOEXEC);
        for (uint32_t i = 0; i < run->order->head->n_loans; i++)
                fcntl((int)(EXEC_FDS + i), F_SETFD, FD_CLOEXEC);
        /* bubblewrap has set this for PID 1, but an execve that changes capabilities (as root) clears it. */
        if (getpid() == 1 || run->order->head->kept)
                prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid(); /* the terminal's signals are for our caller to handle */
        run->signals = signals_block();
}

static bool look_at_cores(const struct run *run, uint64_t *ret_busy, uint64_t *ret_steal)
{
        const struct exec_request *r = run->order->head;

        return waiting_cores(r->has_cpus ? &r->cpus : NULL, ret_busy, ret_steal);
}

static void end_waiting(struct run *run)
{
        const struct waiting *w = &run->waiting;
        struct exec_reply *a = &run->reply;
        uint64_t busy, steal;

        a->waiting_unknown = w->unknown;
        a->waited_ns = waiting_total(w);
        a->threads = MAX(w->most, w->seen > 0 ? 1 : 0);
        if (w->seen > a->threads && a->threads == 1)
                a->threads = 2; /* short-lived threads that no look has seen */
        if (look_at_cores(run, &busy, &steal)) {
                busy -= MIN(busy, w->busy);
                a->others_ns = busy - MIN(busy, reaped_cpu(run));
                a->steal_ns = steal - MIN(steal, w->steal);
        }
}

/* Notes the step as failed if there is an error. True if there is one. */
static bool failed(struct run *run, enum exec_step step, int error)
{
        if (error < 0) {
                run->reply.step = step;
                run->reply.error = -error;
        }
        return error < 0;
}

/* `error`: of making the run's world; 0 or -errno. */
static void run_it(struct run *run, int error)
{
        const struct exec_request *r = run->order->head;

        if (error == 0 && r->kept && r->namespace)
                error = world_make(run->order);
        if (failed(run, STEP_NAMESPACE, error) || failed(run, STEP_SURROUNDINGS, set_schedule(run)))
                return;
        run->cpus = r->cpus;
        await_core(run);
        if (run->ended)
                return;
        run->watch = watch_begin(run->order);
        run->waiting.unknown = !waiting_read(getpid(), &(uint64_t){0});
        look_at_cores(run, &run->waiting.busy, &run->waiting.steal);
        if (failed(run, STEP_FORK, start(run)))
                return;
        run->next_look = run->begin + POLL_FIRST;
        run->next_folder = run->begin + FOLDER_FIRST;
        run->share = r->share_ns == 0 ? UINT64_MAX : r->share_ns;
        watch(run);
        if (run->over && !run->ended)
                count_what_is_left(run);
        end_all(run);
        watch_end(run->watch);
        if (suspended_at_least() > run->suspended + (int64_t)NSEC_PER_MSEC)
                run->reply.late_ns = UINT64_MAX; /* the clock ran on while tasks and devices were being stopped, and no counter says how long */
        run->reply.wall_ns = wall_at(run, run->end);
        run->reply.begin_ns = run->begin;
        end_waiting(run);
        if (run->reply.step == STEP_EXECVE) {
                run->reply.end = END_NOEXEC;
                run->reply.code = run->reply.error;
        } else if (!run->ended) {
                judge(run);
        }
}

int stub_main(int world)
{
        struct order order = {.head = &(struct exec_request){0}};
        struct run run = {
                .order = &order, .news = -1, .look_interval = POLL_FIRST, .reply = {.magic = exec_magic, .step = STEP_NONE}};
        int r = order_read(EXEC_REQUEST, &order);

        prepare(&run);
        if (pwrite(EXEC_REQUEST, &(bool){true}, sizeof(bool), offsetof(struct exec_request, begun)) != sizeof(bool))
                return 1;
        if (r == 0 && run.signals < 0)
                r = -errno;
        if (!failed(&run, STEP_REQUEST, r)) {
                run_it(&run, world);
                lender_end(&run.lender);
        }
        return send_reply(&run) ? 0 : 1;
}
