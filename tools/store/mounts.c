#include "mounts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "cache/base/hash.h"
#include "cache/base/lock.h"
#include "cache/base/mount_table.h"
#include "cache/base/process.h"
#include "fs/kernel/session.h"

/* -- the lock --------------------------------------------------------------------------------------------------- */

struct mount_lock {
        char dir[PATH_SIZE + 16], name[17], path[PATH_SIZE + 48]; /* path: dir/name */
};

static struct mount_lock lock_of(const char *store, const char *mountpoint)
{
        struct mount_lock ret;
        struct digest d;

        digest_of(mountpoint, strlen(mountpoint), &d);
        snprintf(ret.dir, sizeof(ret.dir), "%s/mounts", store);
        snprintf(ret.name, sizeof(ret.name), "%.16s", digest_text(&d).s);
        snprintf(ret.path, sizeof(ret.path), "%s/%s", ret.dir, ret.name);
        return ret;
}

/* The process that holds the lock, according to the file, which may have been written in another PID namespace; 0: free. */
static pid_t lock_holder(const struct mount_lock *p)
{
        cleanup_blob struct blob text = {0};

        if (!lock_is_held(p->dir, p->name) || read_file(p->path, PATH_SIZE + 32, &text) < 0 || text.size == 0)
                return 0;
        return (pid_t)MAX(strtol(text.data, NULL, 10), 0L);
}

/* True if this number is the holder's here, too: the process has the lock's file open. */
static bool is_holder(const struct mount_lock *p, pid_t pid)
{
        cleanup_free char *path = format_string("/proc/%d/fd", (int)pid);
        cleanup_dir DIR *d = pid > 0 ? opendir(path) : NULL;
        struct stat named, st;
        bool found = false;

        if (stat(p->path, &named) < 0)
                return false;
        for (const struct dirent *e; d && !found && (e = readdir(d));)
                found = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_dev == named.st_dev && st.st_ino == named.st_ino;
        return found;
}

/* True if the process sees the mounts that we see. */
static bool is_in_our_namespace(pid_t pid)
{
        cleanup_free char *path = format_string("/proc/%d/ns/mnt", (int)pid);
        struct stat its, ours;

        return stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 && its.st_ino == ours.st_ino;
}

/* True if the process was killed and is about to end: its memory is gone, its files and locks not yet; or it has not been scheduled since. */
static bool is_dying(pid_t pid)
{
        char text[8192] = "";
        unsigned long long pending, all = 0;

        if (pid <= 0 || process_text(pid, "cmdline", text, sizeof(text)) == 0)
                return pid > 0;
        process_text(pid, "status", text, sizeof(text));
        for (const char *line = text; line; line = strchr(line + 1, '\n'))
                if (sscanf(line, "\nSigPnd: %llx", &pending) == 1 || sscanf(line, "\nShdPnd: %llx", &pending) == 1)
                        all |= pending;
        return all & (1ULL << (SIGKILL - 1));
}

static bool is_mounted_at(const char *mountpoint)
{
        char store[PATH_SIZE];

        return mounts_store(mountpoint, store) == 0;
}

#define LOCK_STEP 20  /* ms between two tries of a lock */
#define SOON      100 /* steps: how long to wait for a daemon that is about to end */

/* Sets the sentence about a daemon that holds the lock and whose mount is not in our table. */
static int refuse_unseen(const struct mount_lock *p, const char *mountpoint)
{
        const pid_t pid = lock_holder(p);

        if (!is_holder(p, pid))
                return errorf(-EBUSY, "a solverfs that cannot be seen from here, as in another container, has the store mounted at %s: unmount it "
                                      "there, or mount at another folder", mountpoint);
        if (!is_in_our_namespace(pid))
                return errorf(-EBUSY, "process %d has the store mounted at %s in another mount namespace (a container, a sandbox): unmount it there, "
                                      "end it by 'kill %d', or mount at another folder", (int)pid, mountpoint, (int)pid);
        return errorf(-EBUSY, "%s is detached already; its daemon, process %d, still serves what is open there: it ends when that is closed, and "
                              "at once by 'kill -KILL %d'", mountpoint, (int)pid, (int)pid);
}

int mounts_claim(const char *store, const char *mountpoint, int *ret_fd)
{
        struct mount_lock p = lock_of(store, mountpoint);
        char mounted[PATH_SIZE];
        int r = mounts_store(mountpoint, mounted);

        if (r < 0 && r != -ENOENT) /* without /proc it would look detached */
                return r;
        r = make_dirs(p.dir, 0700) ?: lock_try(p.dir, p.name, LOCK_ALONE, ret_fd);
        /* A detached daemon may be about to end, if its last file was just closed. */
        for (unsigned i = 0; r == -EAGAIN && i < SOON && (is_dying(lock_holder(&p)) || !is_mounted_at(mountpoint)); i++) {
                usleep(LOCK_STEP * 1000);
                r = lock_try(p.dir, p.name, LOCK_ALONE, ret_fd);
        }
        if (r == -EAGAIN) /* it may have ended between our last looks at the lock and at its holder */
                r = lock_try(p.dir, p.name, LOCK_ALONE, ret_fd);
        if (r == -EAGAIN && is_mounted_at(mountpoint))
                return errorf(-EBUSY, "the store %s is mounted at %s already", store, mountpoint);
        if (r == -EAGAIN)
                return refuse_unseen(&p, mountpoint);
        if (r == 0 && ftruncate(*ret_fd, 0) == 0) /* only the lock counts; the number is a hint (is_holder) */
                dprintf(*ret_fd, "%d %s\n", (int)getpid(), mountpoint);
        return r;
}

void mounts_forget(const char *store, const char *mountpoint)
{
        unlink(lock_of(store, mountpoint).path);
}

int mounts_daemon(const char *store, const char *mountpoint, struct mount_daemon *ret)
{
        struct mount_lock p = lock_of(store, mountpoint);

        *ret = (struct mount_daemon){.lock = -1};
        if (access(p.dir, F_OK) < 0)
                return 0;
        ret->pid = lock_holder(&p);
        return lock_open(p.dir, p.name, &ret->lock);
}

/* True if the daemon was killed, and another one locked the file that it left. */
static bool has_successor(const struct mount_lock *p, const struct mount_daemon *d)
{
        return fd_is_named(d->lock, AT_FDCWD, p->path) && lock_holder(p) != d->pid;
}

int mounts_end(const char *store, const char *mountpoint, const struct mount_daemon *d, void (*late)(const char *mountpoint, pid_t daemon))
{
        struct mount_lock p = lock_of(store, mountpoint);
        int r;

        if (is_holder(&p, d->pid))
                kill(d->pid, SIGTERM); /* the last unmount ends it anyway, but not if another mount namespace has a copy */
        if (d->lock < 0)
                return 0;
        for (unsigned i = 0; (r = lock_take(d->lock, false)) == -EAGAIN && !has_successor(&p, d) && i < SOON; i++)
                usleep(LOCK_STEP * 1000);
        if (r == -EAGAIN && !has_successor(&p, d)) {
                late(mountpoint, d->pid);
                r = lock_take(d->lock, true);
        }
        if (r == 0)
                lock_release_unlink(p.dir, p.name, d->lock);
        else
                close(d->lock);
        return r == -EAGAIN ? 0 : r;
}

int mounts_refuse_unseen(const char *store, const char *mountpoint)
{
        struct mount_lock p = lock_of(store, mountpoint);

        for (unsigned i = 0; i < SOON && lock_is_held(p.dir, p.name); i++)
                usleep(LOCK_STEP * 1000);
        return lock_is_held(p.dir, p.name) ? refuse_unseen(&p, mountpoint) : 0;
}

/* -- the table of mounts ---------------------------------------------------------------------------------------- */

struct mount_search {
        const char *mountpoint;
        char *ret_store;
        bool found;
};

static int is_at(void *user, const struct mount_entry *m)
{
        struct mount_search *f = user;

        if (strcmp(m->type, MOUNT_TYPE) == 0 && strcmp(m->path, f->mountpoint) == 0) { /* the last one is on top */
                f->found = true;
                snprintf(f->ret_store, PATH_SIZE, "%s", m->source);
        }
        return 0;
}

int mounts_store(const char *mountpoint, char ret_store[PATH_SIZE])
{
        struct mount_search f = {.mountpoint = mountpoint, .ret_store = ret_store};
        int r = mount_table_each(is_at, &f);

        return r < 0 ? r : f.found ? 0 : errorf(-ENOENT, "nothing of solverfs is mounted at %s", mountpoint);
}

struct visiting {
        void (*fn)(void *user, const char *mountpoint, const char *store, bool alive);
        void *user;
};

static int visit(void *user, const struct mount_entry *m)
{
        struct visiting *v = user;
        struct mount_lock p = lock_of(m->source, m->path);

        /* A store that we may not enter is another user's: its mount counts neither as alive nor as stale. */
        if (strcmp(m->type, MOUNT_TYPE) == 0 && (access(p.dir, X_OK) == 0 || errno != EACCES))
                v->fn(v->user, m->path, m->source, lock_is_held(p.dir, p.name) && !is_dying(lock_holder(&p)));
        return 0;
}

static void settle(void *user, const char *mountpoint, const char *store, bool alive)
{
        if (alive && strcmp(store, user) == 0)
                lgetxattr(mountpoint, SETTLED_XATTR, NULL, 0); /* fails at a mount of an older version, or one that refuses us */
}

void mounts_settle(const char *store)
{
        char real[PATH_SIZE];

        if (realpath(store, real))
                mounts_each(settle, real);
}

int mounts_each(void (*fn)(void *user, const char *mountpoint, const char *store, bool alive), void *user)
{
        return mount_table_each(visit, &(struct visiting){fn, user});
}
