/* solverfs mount: becomes the daemon that serves the store, in the background or in the foreground. solverfs unmount: ends it. */
#include "cache/base/lock.h"
#include "cache/base/lost.h"
#include "tools/command.h"
#include "fs/kernel/session.h"
#include "tools/store/host_checks.h"
#include "mounts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#define LOG_MOST (16 << 20) /* a longer log becomes log.1 when a daemon starts */

struct mounting {
        const char *dir;
        struct buffer options; /* of -o, joined by commas */
        bool foreground;

        char store[PATH_SIZE], mountpoint[PATH_SIZE];
        int ready; /* a pipe to the foreground process that waits for us; -1: none */
};

static void add_options(void *to, const char *text)
{
        struct buffer *options = to;

        buffer_addf(options, "%s%s", options->size > 0 ? "," : "", text);
}

/* -- the store and the mount point ------------------------------------------------------------------------------ */

static void find_places(struct mounting *m)
{
        char absolute[PATH_SIZE];
        struct stat st;
        int r;

        command_store_dir(absolute);
        command_need_own_store(absolute);
        if (!realpath(absolute, m->store))
                command_must_as(STATUS_SYSTEM, errorf(-errno, "cannot find the store %s: %s", absolute, strerror(errno)));
        r = session_mountpoint(m->dir, m->mountpoint);
        if (r == -ENOENT)
                command_refuse(STATUS_ABSENT, "no folder %s to mount at: make it with 'mkdir -p %s'", m->dir, m->dir);
        if (r < 0)
                command_must(errorf(r, "cannot mount at %s: %s", m->dir, strerror(-r)));
        if (stat(m->mountpoint, &st) == 0 && !S_ISDIR(st.st_mode))
                command_refuse(STATUS_FAILED, "%s is not a folder: a mount needs one", m->dir);
        if (path_is_in(m->mountpoint, m->store))
                command_refuse(STATUS_FAILED, "%s is inside the store %s, whose files solverfs needs for itself: choose a folder elsewhere", m->mountpoint,
                               m->store);
        if (path_is_in(m->store, m->mountpoint))
                command_refuse(STATUS_FAILED, "the store %s is inside %s, and the mount would cover it: choose a folder elsewhere", m->store,
                               m->mountpoint);
}

/* -- reporting that the mount answers --------------------------------------------------------------------------- */

/* systemd's protocol: one datagram to the socket it names; '@' means the NUL of an abstract address. See sd_notify(3). */
static void notify(const char *text)
{
        const char *path = getenv("NOTIFY_SOCKET");
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        cleanup_close int fd = -1;
        size_t n;

        if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(to.sun_path))
                return;
        n = strlen(path);
        memcpy(to.sun_path, path, n);
        if (*path == '@')
                to.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&to,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
                log_warning("cannot tell the service manager at %s: %s", path, strerror(errno));
}

/* Sends a status and a sentence to the process that started us. */
static void answer(struct mounting *m, int status, const char *sentence)
{
        cleanup_close int fd = steal_fd(&m->ready);
        char text[1200];

        if (fd < 0)
                return;
        snprintf(text, sizeof(text), "%d %s", status, sentence);
        (void)!write(fd, text, strlen(text));
}

/* How a daemon that is lost (lost.h) starts over: in the foreground, with its old log. */
static void set_restart(struct mounting *m)
{
        struct short_text wait = format_duration(common.wait_ns);
        char *argv[16] = {(char *)"solverfs", (char *)"--store", m->store, (char *)"mount", (char *)"--foreground"};
        size_t n = 5;

        if (common.wait_ns != UINT64_MAX) {
                argv[n++] = (char *)"--wait";
                argv[n++] = common.wait_ns > 0 ? wait.s : (char *)"0";
        }
        for (unsigned i = 0; i < MIN(common.verbose, 2U); i++)
                argv[n++] = (char *)"--verbose";
        if (common.quiet && m->foreground)
                argv[n++] = (char *)"--quiet";
        if (m->options.size > 0) {
                argv[n++] = (char *)"--options";
                argv[n++] = m->options.data;
        }
        argv[n++] = (char *)"--";
        argv[n] = m->mountpoint;
        lost_daemon(argv);
}

static void on_ready(void *user, int r)
{
        struct mounting *m = user;

        if (r < 0)
                return; /* session_run() returns the error, and serve() reports it */
        log_info("%s is mounted at %s", m->store, m->mountpoint);
        set_restart(m);
        answer(m, STATUS_OK, "");
        if (m->foreground)
                notify("READY=1");
}

/* -- serving ---------------------------------------------------------------------------------------------------- */

static int serve(struct mounting *m)
{
        cleanup_workspace struct workspace *w = NULL;
        cleanup_engine struct engine *e = NULL;
        const struct session_options options = {.mountpoint = m->mountpoint, .options = m->options.data, .ready = on_ready, .user = m};
        int r = workspace_open(m->store, 0, &w);

        if (r == 0) {
                workspace_set_wait(w, common.wait_ns);
                r = workspace_engine(w, NULL, &e);
        }
        return r == 0 ? session_run(w, e, &options) : r;
}

/* The daemon's work: serves until the mount ends, with the mount point claimed. */
static int serve_claimed(struct mounting *m)
{
        struct host_check fuse;
        const char *why;
        int lock, r = mounts_claim(m->store, m->mountpoint, &lock); /* held until we are gone: never closed */

        if (r < 0 && !lock_error_is_disk(r)) /* a store on a full or read-only disk is served, too; unmount cannot wait for its daemon */
                return r;
        r = serve(m);
        mounts_forget(m->store, m->mountpoint);
        if (r == -EPERM && (why = host_check_fuse(&fuse)))
                return errorf(r, "cannot mount at %s: %s; see also the end of %s/log", m->mountpoint, why, m->store);
        return r;
}

/* -- in the background ------------------------------------------------------------------------------------------ */

static FILE *open_log(const char *store)
{
        cleanup_free char *path = format_string("%s/log", store), *old = format_string("%s/log.1", store);
        struct stat st;
        int fd;

        if (stat(path, &st) == 0 && st.st_size > LOG_MOST)
                rename(path, old);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        return fd < 0 ? NULL : fdopen(fd, "a");
}

/* The daemon: a session of its own, no terminal, its log in the store. Never returns. */
static void become_daemon(struct mounting *m)
{
        FILE *log = open_log(m->store);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC), r;

        lost_output(); /* a restarted process could not answer the waiting one */
        setsid();
        if (chdir("/") < 0 || null < 0)
                _exit(STATUS_SYSTEM);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(log ? fileno(log) : null, STDERR_FILENO); /* messages of libraries go to the log */
        if (log) {
                setvbuf(log, NULL, _IOLBF, 0);
                log_set(common.verbose > 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO, log);
        }
        r = serve_claimed(m);
        if (r < 0) {
                log_error("%s", error_message(r));
                answer(m, status_of(r), error_message(r));
        }
        exit(r < 0 ? STATUS_SYSTEM : STATUS_OK);
}

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
        stopped = 1;
}

/* Waits for the daemon's answer (answer()), prints it and returns its status. A signal that arrives meanwhile ends the daemon. */
static int await(struct mounting *m, pid_t daemon, int from)
{
        const struct sigaction stop = {.sa_handler = on_stop}; /* no SA_RESTART: it ends read() */
        char text[1200] = "", *sentence;
        size_t n = 0;
        long status;

        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGTERM, &stop, NULL);
        while (n < sizeof(text) - 1) {
                ssize_t got = read(from, text + n, sizeof(text) - 1 - n);

                if (got > 0)
                        n += (size_t)got;
                else if (got == 0 || errno != EINTR)
                        break;
                else if (stopped) {
                        stopped = 0;
                        kill(daemon, SIGTERM);
                }
        }
        if (n == 0) { /* it died without an answer */
                int end = 0;

                waitpid(daemon, &end, 0);
                if (WIFEXITED(end) && WEXITSTATUS(end) == STATUS_INTERRUPTED)
                        return STATUS_INTERRUPTED;
                command_refuse(STATUS_SYSTEM, "the daemon of %s ended before it answered; %s/log may say why", m->mountpoint, m->store);
        }
        status = strtol(text, &sentence, 10);
        if (status == STATUS_OK)
                note("%s is mounted at %s; %s/README says what is where", m->store, m->mountpoint, m->mountpoint);
        else {
                waitpid(daemon, NULL, 0);
                complain("%s", *sentence ? sentence + 1 : sentence);
        }
        return (int)status;
}

static int in_background(struct mounting *m)
{
        int ends[2], r;
        pid_t daemon;

        if (pipe2(ends, O_CLOEXEC) < 0)
                command_must_as(STATUS_SYSTEM, errorf(-errno, "cannot make a pipe: %s", strerror(errno)));
        fflush(stdout);
        daemon = fork(); /* before threads and an open LMDB, which do not survive a fork */
        if (daemon < 0)
                command_must_as(STATUS_SYSTEM, errorf(-errno, "cannot fork: %s", strerror(errno)));
        close(ends[daemon == 0 ? 0 : 1]);
        if (daemon == 0) {
                m->ready = ends[1];
                become_daemon(m);
        }
        r = await(m, daemon, ends[0]);
        close(ends[0]);
        return r;
}

void cmd_mount(int argc, char **argv)
{
        static const char doc[] =
                "Mount the store at DIR, an existing folder outside of it. Returns when the mount answers; the daemon's log is STORE/log.\v"
                "'solverfs unmount DIR' ends it. For fstab see mount.solverfs(8).";
        struct mounting m = {.ready = -1};
        int r = 0;
        const struct command_option options[] = {
                {"foreground", 'f', NULL, "Stay in the foreground; notifies systemd ($NOTIFY_SOCKET) when the mount answers", .on = &m.foreground},
                {"options", 'o', "OPT,...",
                 "Mount options: cached (only what is finished, to be read: for backups, indexers and plots), allow_other, allow_root, nonempty "
                 "(over a folder with files in it), max_threads=N, and the kernel's", .parse = add_options, .to = &m.options},
                {0}};
        struct words words = command_parse(argc, argv, "DIR", doc, options);

        m.dir = words.list[0];
        find_places(&m);
        if (m.foreground) {
                output_quiet(common.quiet, common.verbose + 1); /* standard error is its log */
                r = serve_claimed(&m);
                notify("STOPPING=1");
        }
        command_worse(!m.foreground ? in_background(&m) : r < 0 ? fail(r) : STATUS_OK);
        buffer_done(&m.options);
}

/* -- unmount ---------------------------------------------------------------------------------------------------------- */

static void say_late(const char *mountpoint, pid_t daemon)
{
        note("%s is detached here, but another mount namespace (a container, a sandbox) still has it, or has something open there; its daemon, process "
             "%d, ends when that is closed, and at once by 'kill %d'. Waiting for it",
             mountpoint, (int)daemon, (int)daemon);
}

/* No mount is to be seen there. Ends with a sentence if a daemon of our store serves it all the same. */
static void refuse_if_unseen(const char *mountpoint)
{
        char given[PATH_SIZE], store[PATH_SIZE];

        if (workspace_default_dir(common.store, given) == 0 && realpath(given, store))
                command_must(mounts_refuse_unseen(store, mountpoint));
}

void cmd_unmount(int argc, char **argv)
{
        static const char doc[] = "Unmount DIR and wait until its daemon has gone: work in progress is cancelled, nothing finished is lost.";
        bool lazy = false;
        char mountpoint[PATH_SIZE], store[PATH_SIZE];
        struct mount_daemon daemon;
        int r, known;
        const struct command_option options[] = {
                {"lazy", 'l', NULL, "Detach it even while it is in use; open files stay readable", .on = &lazy},
                {0}};
        const char *dir = command_parse(argc, argv, "DIR", doc, options).list[0];

        r = session_mountpoint(dir, mountpoint);
        if (r < 0)
                command_must_as(STATUS_ABSENT, errorf(r, "nothing of solverfs is mounted at %s: %s", dir, strerror(-r)));
        r = mounts_store(mountpoint, store);
        if (r == -ENOENT) {
                refuse_if_unseen(mountpoint);
                r = errorf(r, "nothing of solverfs is mounted at %s", mountpoint);
        }
        command_must(r);
        known = mounts_daemon(store, mountpoint, &daemon);
        r = session_unmount(mountpoint, lazy);
        if (r == -EBUSY)
                command_refuse(STATUS_FAILED, "%s is in use: leave it and try again ('fuser -vm %s' says who is there), or use --lazy", dir, dir);
        command_must_as(r == -EINVAL ? STATUS_ABSENT : STATUS_FAILED, r);
        if (lazy)
                return;
        r = mounts_end(store, mountpoint, &daemon, say_late);
        r = known ?: r;
        if (r != -EACCES && r != -ENOENT && !lock_error_is_disk(r)) /* another user's store, or none: it is detached, and we cannot know more */
                command_must(r);
}
