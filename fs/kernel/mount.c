/* The life of a mount: mounting, serving, unmounting. */
#include "fs/kernel/session.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "cache/base/guard.h"
#include "cache/base/mount_table.h"
#include "cache/base/process.h"
#include "fs/kernel/session_internal.h"

/* -- mount points -- */

int session_mountpoint(const char *dir, char ret[PATH_SIZE])
{
        cleanup_free char *whole = realpath(dir, NULL), *copy = NULL, *parent = NULL;
        char *slash;

        if (whole)
                return snprintf(ret, PATH_SIZE, "%s", whole) < PATH_SIZE ? 0 : -ENAMETOOLONG;
        if (errno != ENOTCONN && errno != EACCES && errno != EIO)
                return -errno;
        /* The mount point may be dead; its parent can be resolved. */
        copy = format_string("%s%s", *dir == '/' ? "" : "./", dir);
        for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
                copy[n - 1] = '\0';
        slash = strrchr(copy, '/');
        *slash = '\0';
        parent = realpath(slash == copy ? "/" : copy, NULL);
        if (!parent)
                return -errno;
        return snprintf(ret, PATH_SIZE, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, slash + 1) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

struct mounted {
        const char *path;
        char type[64]; /* "": nothing is mounted there */
        char source[PATH_SIZE];
        uid_t user;
};

static int note_mount(void *user, const struct mount_entry *m)
{
        struct mounted *l = user;

        if (strcmp(m->path, l->path) == 0) {
                snprintf(l->type, sizeof(l->type), "%s", m->type);
                snprintf(l->source, sizeof(l->source), "%s", m->source);
                l->user = m->user;
        }
        return 0;
}

/* The last mount on `path` (absolute, resolved). */
static struct mounted mounted_at(const char *path)
{
        struct mounted m = {.path = path};

        if (mount_table_each(note_mount, &m) < 0)
                m.type[0] = '\0';
        return m;
}

static int run_fusermount(const char *mountpoint, bool lazy)
{
        cleanup_buffer struct buffer command = {0};
        char said[256];
        FILE *f;

        buffer_addf(&command, "fusermount3 %s -- ", lazy ? "-uz" : "-u");
        buffer_add_shell_word(&command, mountpoint);
        buffer_adds(&command, " 2>&1");
        f = popen(command.data, "re");
        if (!f)
                return errorf(-errno, "cannot run fusermount3: %s", strerror(errno));
        if (!fgets(said, sizeof(said), f))
                said[0] = '\0';
        said[strcspn(said, "\n")] = '\0';
        if (pclose(f) == 0)
                return 0;
        return strstr(said, "busy") ? -EBUSY : errorf(-EIO, "cannot unmount %s: %s", mountpoint, *said ? said : "fusermount3 failed");
}

/* -EBUSY without a sentence: it is in use. */
static int detach_once(const char *path, bool lazy)
{
        if (geteuid() != 0)
                return run_fusermount(path, lazy);
        if (umount2(path, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
                return 0;
        return errno == EBUSY ? -EBUSY : errorf(-errno, "cannot unmount %s: %s", path, strerror(errno));
}

#define RELEASE_STEPS 100
#define RELEASE_STEP  20 /* ms */

/* Readers that wait for work keep the mount in use. This asks the daemon to release them, which takes a moment. */
static int detach(const char *path, bool lazy)
{
        int r = detach_once(path, lazy);

        if (r != -EBUSY || lgetxattr(path, RELEASE_XATTR, NULL, 0) >= 0 || errno != ENODATA)
                return r;
        for (unsigned i = 0; r == -EBUSY && i < RELEASE_STEPS; i++) {
                usleep(RELEASE_STEP * 1000);
                r = detach_once(path, lazy);
        }
        return r;
}

int session_unmount(const char *mountpoint, bool lazy)
{
        char path[PATH_SIZE];
        struct mounted m;
        int r = session_mountpoint(mountpoint, path);

        if (r < 0)
                return errorf(r, "%s: %s", mountpoint, strerror(-r));
        m = mounted_at(path);
        if (!*m.type)
                return errorf(-EINVAL, "nothing is mounted at %s", path);
        if (strcmp(m.type, MOUNT_TYPE) != 0)
                return errorf(-EINVAL, "what is mounted at %s is %s, not solverfs", path, m.type);
        if (geteuid() != 0 && geteuid() != m.user)
                return errorf(-EPERM, "%s was mounted by user %u, who can unmount it, or root", path, (unsigned)m.user);
        return detach(path, lazy);
}

static int stop_at_first(void *, const char *, const char *)
{
        return 1;
}

/* A folder that cannot be read counts as empty. */
static bool is_empty(const char *path)
{
        return folder_each(path, stop_at_first, NULL) <= 0;
}

/* Detaches what a killed daemon left. Refuses a mount point that is being served and, unless `nonempty`, a folder with files. */
static int clear_mountpoint(const char *path, bool nonempty)
{
        struct statvfs fs;
        struct stat st;
        int r = statvfs(path, &fs) < 0 || stat(path, &st) < 0 ? -errno : 0; /* the kernel may still know the attributes of a dead mount */

        if (r == -ENOTCONN) {
                log_warning("detaching the dead mount at %s", path);
                r = detach_once(path, true);
                if (r == 0)
                        r = stat(path, &st) < 0 ? -errno : 0;
        } else if (r == 0 && strcmp(mounted_at(path).type, MOUNT_TYPE) == 0)
                return errorf(-EBUSY, "solverfs is mounted at %s already", path);
        if (r < 0)
                return errorf(r, "cannot mount at %s: %s", path, r == -ENOENT ? "no such folder; make it first" : strerror(-r));
        if (!S_ISDIR(st.st_mode))
                return errorf(-ENOTDIR, "cannot mount at %s: not a folder", path);
        if (!nonempty && !is_empty(path))
                return errorf(-ENOTEMPTY,
                              "cannot mount at %s: there are files in it, which the mount would hide; choose an empty folder, or "
                              "mount over them with '-o nonempty'",
                              path);
        return 0;
}

/* -- signals -- */

/* The thread that ends the mount at a signal. */
struct leaver {
        struct session *session;
        struct fuse_session *fuse;
        const char *mountpoint, *store;
        int end; /* eventfd: the loop has ended */
        pthread_t loop, thread;
};

static void ending_signals(sigset_t *set)
{
        process_ending_signals(set);
        sigaddset(set, SIGTERM); /* by which unmount ends a daemon */
}

/* Interrupts the loop where it waits for its readers. The loop's thread is the only one that does not block this signal. */
#define WAKE SIGUSR1

static void on_wake(int sig)
{
}

/* False if something else was mounted there since, or ours is detached. Where the mounts cannot be read, it counts as ours. */
static bool is_there(const struct leaver *l)
{
        struct mounted m = {.path = l->mountpoint};

        return mount_table_each(note_mount, &m) < 0 || (strcmp(m.type, MOUNT_TYPE) == 0 && strcmp(m.source, l->store) == 0);
}

/* True if the kernel has ended the connection: then libfuse unmounts nothing, and frees what it has. */
static bool is_ended(struct fuse_session *fuse)
{
        struct pollfd p = {.fd = fuse_session_fd(fuse)};

        return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* The first signal detaches the mount and releases every waiting reader; the loop ends when the last open file is closed. The second one does
 * not wait for that. If the mount stays without open files (another mount namespace, of a container or sandbox, has a copy), the kernel does
 * not tell us, so this thread ends the loop; not that of a mount of finished values, where nobody knows of open files but the kernel. */
static void *leaver_thread(void *user)
{
        struct leaver *l = user;
        struct timespec tick = {.tv_nsec = 100 * 1000 * 1000};
        bool leaving = false;
        sigset_t set;

        ending_signals(&set);
        for (;;) {
                int signal = sigtimedwait(&set, NULL, &tick);

                if (fd_is_readable(l->end))
                        return NULL;
                if (signal < 0) {
                        if (leaving && session_is_idle(l->session)) {
                                fuse_session_exit(l->fuse);
                                pthread_kill(l->loop, WAKE);
                        }
                        continue;
                }
                if (leaving)
                        _exit(0); /* the kernel ends the connection; the store is sound at any moment */
                leaving = true;
                log_info("signal %d: detaching %s", signal, l->mountpoint);
                waiters_interrupt(l->session->waiters);
                if (is_there(l))
                        detach_once(l->mountpoint, true);
        }
}

/* -- serving -- */

#define MOUNT_THREADS 4 /* that read requests, unless max_threads= is given; with eight, two cores wake the wrong ones */

struct own_options {
        unsigned threads;
        int cached, nonempty, names; /* names: fsname or subtype, which we refuse */
};

static const struct fuse_opt own_options[] = {
        {"max_threads=%u", offsetof(struct own_options, threads), 1}, {"cached", offsetof(struct own_options, cached), 1},
        {"nonempty", offsetof(struct own_options, nonempty), 1},      {"fsname=", offsetof(struct own_options, names), 1},
        {"subtype=", offsetof(struct own_options, names), 1},         FUSE_OPT_END,
};

/* The options for libfuse: the kernel's defaults, which the user may override; the mount's names (tools/mounts.h); then the user's, except our own,
 * which go to *own. */
static int parse_options(const struct session_options *o, const char *store, struct own_options *own, struct fuse_args *ret)
{
        cleanup_free char *source = format_string("fsname=%s", store), *options = NULL, *given = NULL;

        fuse_opt_add_arg(ret, "solverfs");
        if (o->options && *o->options) {
                fuse_opt_add_arg(ret, "-o");
                fuse_opt_add_arg(ret, o->options);
        }
        if (fuse_opt_parse(ret, own, own_options, NULL) < 0)
                return errorf(-EINVAL, "the mount options were not accepted: %s", o->options ? o->options : "");
        if (own->names)
                return errorf(-EINVAL,
                              "the mount options fsname and subtype are not to be given: they say which store is mounted, and "
                              "that it is one");
        fuse_opt_add_opt(&options, "rw,nodev,nosuid,noatime,subtype=solverfs");
        fuse_opt_add_opt_escaped(&options, source); /* escapes commas in the store's path */
        given = format_string("-o%s", options);
        fuse_opt_insert_arg(ret, 1, given);
        /* A cached mount is readable to every user who may enter it. With default_permissions the kernel would check modes, and for that ask
         * for the attributes of every folder on the path that may grow (session_list.c). */
        fuse_opt_add_arg(ret, own->cached ? "-oro" : "-odefault_permissions");
        return 0;
}

static int serve(struct fuse_session *fuse, unsigned threads)
{
        const struct sigaction wake = {.sa_handler = on_wake}; /* no SA_RESTART */
        struct fuse_loop_config *config = fuse_loop_cfg_create();
        sigset_t set;
        int r;

        if (!config)
                return -ENOMEM;
        sigemptyset(&set);
        sigaddset(&set, WAKE);
        sigaction(WAKE, &wake, NULL);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        fuse_loop_cfg_set_clone_fd(config, 0); /* measured: no gain */
        fuse_loop_cfg_set_max_threads(config, threads);
        fuse_loop_cfg_set_idle_threads(config, threads); /* so no idle thread ends */
        r = fuse_session_loop_mt(fuse, config);
        fuse_loop_cfg_destroy(config);
        /* When the mount goes away during a read of the device, some kernels return ECONNABORTED, not ENODEV. A positive number is a signal's,
         * not an error. */
        return r < 0 && r != -ECONNABORTED ? r : 0;
}

static int mount_and_serve(struct session *s, const struct session_options *o, const struct own_options *own,
                           struct fuse_args *args, const char *path)
{
        const struct fuse_lowlevel_ops *operations = own->cached ? &session_finished_operations : &session_operations;
        struct fuse_session *fuse = fuse_session_new(args, operations, sizeof(*operations), s);
        struct leaver leaver = {
                .session = s, .fuse = fuse, .mountpoint = path, .store = workspace_dir(tree_workspace(s->tree)), .loop = pthread_self()};
        int r;

        if (!fuse)
                return errorf(-EINVAL, "the mount options were not accepted: %s", o->options ? o->options : "");
        if (fuse_session_mount(fuse, path) < 0) {
                bool is_for_others = geteuid() != 0 && o->options && strstr(o->options, "allow_");

                fuse_session_destroy(fuse);
                return errorf(-EPERM, "cannot mount at %s%s: the reason is above, or at the end of %s/log; see 'solverfs doctor'", path,
                              is_for_others ? " (allow_other and allow_root need the line 'user_allow_other' in /etc/fuse.conf, unless root mounts)" : "",
                              workspace_dir(tree_workspace(s->tree)));
        }
        leaver.end = eventfd(0, EFD_CLOEXEC);
        r = leaver.end < 0 ? -errno : session_attach(s, fuse);
        if (r == 0)
                r = thread_start(&leaver.thread, leaver_thread, &leaver);
        if (r == 0) {
                if (o->ready)
                        o->ready(o->user, 0);
                r = serve(fuse, MAX(own->threads, 1u));
                eventfd_write(leaver.end, 1);
                pthread_join(leaver.thread, NULL);
        }
        closep(&leaver.end);
        session_drain(s); /* its replies may still notify */
        session_attach(s, NULL);
        /* Either closes the descriptor: no thread may still write to it, as another file may get its number. */
        if (is_ended(fuse) || is_there(&leaver))
                fuse_session_unmount(fuse);
        fuse_session_destroy(fuse);
        return r;
}

int session_run(struct workspace *w, struct engine *e, const struct session_options *o)
{
        struct own_options own = {.threads = MOUNT_THREADS};
        struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
        struct session *s = NULL;
        sigset_t before, ending;
        char path[PATH_SIZE];
        int r;

        guard_block_signals(&before); /* inherited by all later threads: signals go to the leaver */
        ending_signals(&ending);
        sigorset(&before, &before, &ending); /* a further signal during the end changes nothing */
        r = parse_options(o, workspace_dir(w), &own, &args);
        if (r == 0) {
                r = session_mountpoint(o->mountpoint, path);
                r = r < 0 ? errorf(r, "cannot mount at %s: %s", o->mountpoint, strerror(-r))
                          : clear_mountpoint(path, own.nonempty);
        }
        if (r == 0)
                r = session_new(w, e, own.cached, &s) ?: mount_and_serve(s, o, &own, &args, path);
        session_free(s);
        fuse_opt_free_args(&args);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r < 0 && o->ready)
                o->ready(o->user, r);
        return r;
}
