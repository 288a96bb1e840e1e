#include "cache/base/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOOK_MS 50

static int open_lock(const char *path, bool shared, int *ret_fd)
{
        cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
        struct stat st;

        if (fd < 0 && shared && (errno == EROFS || errno == EACCES))
                fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
        if (fd < 0)
                return -errno;
        /* The umask may have removed our own permission; the next opener would fail. */
        if (fstat(fd, &st) == 0 && (st.st_mode & 0600) != 0600 && st.st_uid == geteuid())
                fchmod(fd, 0600);
        *ret_fd = steal_fd(&fd);
        return 0;
}

static int set_lock(int fd, short type, bool wait)
{
        struct flock region = {.l_type = type, .l_whence = SEEK_SET}; /* l_pid must be 0 for these locks */

        if (TEMP_FAILURE_RETRY(fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &region)) < 0)
                return errno == EACCES ? -EAGAIN : -errno;
        return 0;
}

bool fd_is_named(int fd, int dir_fd, const char *name)
{
        struct stat open_file, named;

        return fstat(fd, &open_file) == 0 && fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && open_file.st_dev == named.st_dev &&
               open_file.st_ino == named.st_ino;
}

/* Opens and locks the file of this name, again if its holder has removed it meanwhile. */
static int open_and_lock(const char *dir, const char *name, bool shared, bool wait, int *ret_fd)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        int r = 0;

        while (r == 0) {
                cleanup_close int fd = -1;

                r = open_lock(path, shared, &fd);
                if (r < 0)
                        break;
                r = set_lock(fd, shared ? F_RDLCK : F_WRLCK, wait);
                if (r == -EAGAIN)
                        return r; /* no sentence: callers expect it */
                if (r < 0)
                        break;
                if (fd_is_named(fd, AT_FDCWD, path)) {
                        *ret_fd = steal_fd(&fd);
                        return 0;
                }
        }
        return errorf(r, "cannot lock %s: %s", path, strerror(-r));
}

int lock_try(const char *dir, const char *name, bool shared, int *ret_fd)
{
        return open_and_lock(dir, name, shared, false, ret_fd);
}

/* The file gets its permissions before its name. In a 1777 folder O_CREAT on another user's file is refused
 * (fs.protected_regular). */
static int make_public(const char *path)
{
        cleanup_free char *fresh = format_string("%s.XXXXXX", path);
        cleanup_close int fd = mkostemp(fresh, O_CLOEXEC);
        int r = 0;

        if (fd < 0)
                return -errno;
        if (fchmod(fd, 0666) < 0 || (link(fresh, path) < 0 && errno != EEXIST))
                r = -errno;
        unlink(fresh);
        return r;
}

static int open_public(const char *path, bool shared, int *ret_fd)
{
        const int flags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK; /* of a FIFO: anybody can put one there */
        int fd = open(path, O_RDWR | flags);

        if (fd < 0 && errno == ENOENT) {
                int r = make_public(path);

                if (r < 0)
                        return r;
                fd = open(path, O_RDWR | flags);
        }
        if (fd < 0 && shared && (errno == EROFS || errno == EACCES))
                fd = open(path, O_RDONLY | flags);
        *ret_fd = fd;
        return fd < 0 ? -errno : 0;
}

int lock_open_public(const char *dir, const char *name, bool shared, int *ret_fd)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        int r = open_public(path, shared, ret_fd);

        return r < 0 ? errorf(r, "cannot lock %s: %s", path, strerror(-r)) : 0;
}

int lock_wait(const char *dir, const char *name, bool shared, int *ret_fd)
{
        return open_and_lock(dir, name, shared, true, ret_fd);
}

int lock_wait_for(const char *dir, const char *name, const struct progress *p, const char *what, int *ret_fd)
{
        int r = p ? -EAGAIN : lock_wait(dir, name, LOCK_ALONE, ret_fd);

        while (r == -EAGAIN && (r = lock_try(dir, name, LOCK_ALONE, ret_fd)) == -EAGAIN) {
                if (progress_step(p, what, 0, 0) < 0)
                        return -ECANCELED;
                poll(NULL, 0, LOOK_MS);
        }
        return r;
}

int lock_share(int fd)
{
        return set_lock(fd, F_RDLCK, false);
}

int lock_open(const char *dir, const char *name, int *ret_fd)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        int r = open_lock(path, false, ret_fd);

        return r < 0 ? errorf(r, "cannot open the lock %s: %s", path, strerror(-r)) : 0;
}

int lock_take(int fd, bool wait)
{
        return set_lock(fd, F_WRLCK, wait);
}

void lock_drop(int fd)
{
        set_lock(fd, F_UNLCK, false);
}

bool lock_is_held_fd(int fd)
{
        struct flock region = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        return fcntl(fd, F_OFD_GETLK, &region) == 0 && region.l_type != F_UNLCK;
}

bool lock_error_is_disk(int r)
{
        return r == -EROFS || r == -ENOSPC || r == -EDQUOT;
}

bool lock_is_held(const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);

        return fd >= 0 && lock_is_held_fd(fd);
}

void lock_release_unlink(const char *dir, const char *name, int fd)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);

        /* While others share the lock the name must stay: a newcomer could lock a new file of that name. */
        if (set_lock(fd, F_WRLCK, false) == 0 && fd_is_named(fd, AT_FDCWD, path))
                unlink(path);
        close(fd);
}

int lock_if_idle(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? steal_fd(&fd) : -1;
}
