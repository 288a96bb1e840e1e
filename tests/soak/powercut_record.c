/* Records what a process does to the files of a store, in the order in which it happens, for powercut.py: LD_PRELOAD this, with $POWERCUT_STORE
 * the store's real path and $POWERCUT_LOG an existing file. Every call that changes something below the store is made and written down
 * under a lock between all processes, so that the log's order is the order of the calls. What the kernel is told by other means (stdio's own
 * writes, system calls made directly) is not seen; powercut.py compares the end with the real store, and says so.
 *
 * With $POWERCUT_BOOT, which is all that counts then, the machine has this boot id: behind a power cut it is another one.
 *
 * A record: op u8, 7 bytes 0, inode u64, offset u64, size of the path u32, size of the data u32, path, data. Ops: o made or opened with
 * O_CREAT, t truncated, w written, s synced, S everything synced, r renamed (data: the new path), l linked (likewise), u unlinked,
 * m folder made, d folder removed. */
#undef _FORTIFY_SOURCE   /* a package is built with it, and it defines what is defined here */
#undef _FILE_OFFSET_BITS /* it would make open() open64(), and both are to be here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define API          __attribute__((visibility("default")))
#define REAL(f)      ((__typeof__(&f))dlsym(RTLD_NEXT, #f))
#define COPY_AT_ONCE (1 << 20)

struct header {
        uint8_t op, zero[7];
        uint64_t inode, offset;
        uint32_t path_size, data_size;
};

static const char *store;
static size_t store_size;
static _Thread_local int log_fd = -1;
static _Thread_local pid_t log_pid;
static _Thread_local int depth;

__attribute__((constructor)) static void begin(void)
{
        store = getenv("POWERCUT_LOG") ? getenv("POWERCUT_STORE") : NULL;
        store_size = store ? strlen(store) : 0;
}

/* -- the log ---------------------------------------------------------------------------------------------------- */

/* Each thread has an open file of its own, a child of fork() too: flock() is between those. */
static void lock(void)
{
        if (depth++ > 0)
                return;
        if (log_fd < 0 || log_pid != getpid()) {
                log_fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("POWERCUT_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
                log_pid = getpid();
        }
        while (flock(log_fd, LOCK_EX) < 0 && errno == EINTR)
                ;
}

static void unlock(void)
{
        int saved = errno;

        if (--depth == 0)
                flock(log_fd, LOCK_UN);
        errno = saved;
}

static void put(char op, uint64_t inode, uint64_t offset, const char *path, const void *data, size_t size)
{
        struct header h = {.op = (uint8_t)op,
                           .inode = inode,
                           .offset = offset,
                           .path_size = (uint32_t)strlen(path),
                           .data_size = (uint32_t)size};
        struct iovec v[] = {{&h, sizeof(h)}, {(void *)path, h.path_size}, {(void *)data, size}};
        int saved = errno;

        if (syscall(SYS_writev, log_fd, v, 3) != (ssize_t)(sizeof(h) + h.path_size + size))
                abort();
        errno = saved;
}

/* -- what is the store's ---------------------------------------------------------------------------------------- */

static bool is_ours(const char *path)
{
        return store && strncmp(path, store, store_size) == 0 && (path[store_size] == '/' || path[store_size] == '\0');
}

static bool fd_path(int fd, char ret[PATH_MAX])
{
        char link[64];
        ssize_t n;

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, ret, PATH_MAX - 1);
        if (n >= 0)
                ret[n] = '\0';
        return n >= 0;
}

static bool at_path(int dir, const char *path, char ret[PATH_MAX])
{
        char folder[PATH_MAX];

        if (path[0] == '/')
                return snprintf(ret, PATH_MAX, "%s", path) < PATH_MAX && is_ours(ret);
        if (dir == AT_FDCWD ? !getcwd(folder, sizeof(folder)) : !fd_path(dir, folder))
                return false;
        return snprintf(ret, PATH_MAX, "%s/%s", folder, path) < PATH_MAX && is_ours(ret);
}

/* A regular file of the store, or (with `folder`) one of its folders. */
static bool fd_is_ours(int fd, bool folder, struct stat *st, char path[PATH_MAX])
{
        int saved = errno;
        bool ours = store && fstat(fd, st) == 0 && (S_ISREG(st->st_mode) || (folder && S_ISDIR(st->st_mode))) &&
                    fd_path(fd, path) && is_ours(path);

        errno = saved;
        return ours;
}

static void wrote(int fd, const void *data, size_t size, off_t offset)
{
        char path[PATH_MAX];
        struct stat st;

        if (!fd_is_ours(fd, false, &st, path))
                return;
        put('w', st.st_ino, (uint64_t)offset, path, data, size);
        if (fcntl(fd, F_GETFL) & O_DSYNC)
                put('s', st.st_ino, 0, path, NULL, 0);
}

/* Where a write without an offset went: it is behind it now. */
static void wrote_here(int fd, const void *data, ssize_t n)
{
        char path[PATH_MAX];
        struct stat st;

        if (n > 0 && fd_is_ours(fd, false, &st, path))
                wrote(fd, data, (size_t)n, (fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR)) - n);
}

/* What was put there without going through us, read again. */
static void wrote_unseen(int fd, off_t offset, size_t size)
{
        char *data = malloc(COPY_AT_ONCE);

        for (ssize_t n; data && size > 0; size -= (size_t)n, offset += n) {
                int again;
                char path[64];

                snprintf(path, sizeof(path), "/proc/self/fd/%d", fd); /* it may be open for writing only */
                again = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
                n = pread(again, data, size < COPY_AT_ONCE ? size : COPY_AT_ONCE, offset);
                close(again);
                if (n <= 0)
                        break;
                wrote(fd, data, (size_t)n, offset);
        }
        free(data);
}

#define LOCKED(type, call)       \
        ({                       \
                type locked_r;   \
                if (store)       \
                        lock();  \
                locked_r = call; \
                locked_r;        \
        })
#define UNLOCK()                  \
        do {                      \
                if (store)        \
                        unlock(); \
        } while (0)

/* -- opening ---------------------------------------------------------------------------------------------------- */

static int other_boot(void)
{
        const char *id = getenv("POWERCUT_BOOT");
        int fd = memfd_create("boot", MFD_CLOEXEC);

        if (fd < 0 || write(fd, id, strlen(id)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return -1;
        return fd;
}

static int opened(int fd, int flags)
{
        char path[PATH_MAX];
        struct stat st;

        if (fd >= 0 && flags & (O_CREAT | O_TRUNC) && fd_is_ours(fd, false, &st, path)) {
                put('o', st.st_ino, 0, path, NULL, 0);
                if (flags & O_TRUNC)
                        put('t', st.st_ino, 0, path, NULL, 0);
        }
        return fd;
}

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
        int fd;

        if (getenv("POWERCUT_BOOT") && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
                return other_boot();
        if (!store || !(flags & (O_CREAT | O_TRUNC)))
                return (int)syscall(SYS_openat, dir, path, flags | O_LARGEFILE, mode);
        lock();
        fd = opened((int)syscall(SYS_openat, dir, path, flags | O_LARGEFILE, mode), flags);
        unlock();
        return fd;
}

#define MODE_OF(flags)                                 \
        ({                                             \
                mode_t m = 0;                          \
                if ((flags) & (O_CREAT | O_TMPFILE)) { \
                        va_list args;                  \
                        va_start(args, flags);         \
                        m = va_arg(args, mode_t);      \
                        va_end(args);                  \
                }                                      \
                m;                                     \
        })

#undef open
#undef openat
#define OPEN(name)                                                      \
        API int name(const char *path, int flags, ...)                  \
        {                                                               \
                return open_any(AT_FDCWD, path, flags, MODE_OF(flags)); \
        }
#define OPENAT(name)                                               \
        API int name(int dir, const char *path, int flags, ...)    \
        {                                                          \
                return open_any(dir, path, flags, MODE_OF(flags)); \
        }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

API int __open_2(const char *path, int flags);
API int __open_2(const char *path, int flags)
{
        return open_any(AT_FDCWD, path, flags, 0);
}
API int __open64_2(const char *path, int flags);
API int __open64_2(const char *path, int flags)
{
        return open_any(AT_FDCWD, path, flags, 0);
}
API int creat(const char *path, mode_t mode)
{
        return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

API int mkostemp(char *template, int flags)
{
        int fd = LOCKED(int, REAL(mkostemp)(template, flags));

        opened(fd, O_CREAT);
        UNLOCK();
        return fd;
}
API int mkostemp64(char *template, int flags)
{
        return mkostemp(template, flags);
}
API int mkstemp(char *template)
{
        return mkostemp(template, 0);
}
API int mkstemp64(char *template)
{
        return mkostemp(template, 0);
}

/* -- writing ---------------------------------------------------------------------------------------------------- */

API ssize_t write(int fd, const void *data, size_t size)
{
        ssize_t n = LOCKED(ssize_t, syscall(SYS_write, fd, data, size));

        wrote_here(fd, data, n);
        UNLOCK();
        return n;
}

API ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
        ssize_t n = LOCKED(ssize_t, syscall(SYS_pwrite64, fd, data, size, offset));

        if (n > 0)
                wrote(fd, data, (size_t)n, offset);
        UNLOCK();
        return n;
}
API ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
        return pwrite(fd, data, size, offset);
}

API ssize_t writev(int fd, const struct iovec *v, int n_v)
{
        ssize_t n = LOCKED(ssize_t, syscall(SYS_writev, fd, v, n_v));
        struct stat st;
        char path[PATH_MAX];

        if (n > 0 && fd_is_ours(fd, false, &st, path))
                wrote_unseen(fd, (fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR)) - n, (size_t)n);
        UNLOCK();
        return n;
}

API ssize_t pwritev(int fd, const struct iovec *v, int n_v, off_t offset)
{
        ssize_t n = LOCKED(ssize_t, syscall(SYS_pwritev, fd, v, n_v, offset, 0));

        if (n > 0)
                wrote_unseen(fd, offset, (size_t)n);
        UNLOCK();
        return n;
}
API ssize_t pwritev64(int fd, const struct iovec *v, int n_v, off64_t offset)
{
        return pwritev(fd, v, n_v, offset);
}

API ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags)
{
        off_t at = to_offset ? *to_offset : lseek(to, 0, SEEK_CUR);
        ssize_t n = LOCKED(ssize_t, syscall(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags));

        if (n > 0)
                wrote_unseen(to, at, (size_t)n);
        UNLOCK();
        return n;
}

API ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
        off_t at = lseek(to, 0, SEEK_CUR);
        ssize_t n = LOCKED(ssize_t, syscall(SYS_sendfile, to, from, offset, size));

        if (n > 0 && at >= 0)
                wrote_unseen(to, at, (size_t)n);
        UNLOCK();
        return n;
}
API ssize_t sendfile64(int to, int from, off64_t *offset, size_t size)
{
        return sendfile(to, from, offset, size);
}

static int truncated(int r, int fd, off_t size)
{
        char path[PATH_MAX];
        struct stat st;

        if (r == 0 && fd_is_ours(fd, false, &st, path))
                put('t', st.st_ino, (uint64_t)size, path, NULL, 0);
        UNLOCK();
        return r;
}

API int ftruncate(int fd, off_t size)
{
        return truncated(LOCKED(int, (int)syscall(SYS_ftruncate, fd, size)), fd, size);
}
API int ftruncate64(int fd, off64_t size)
{
        return ftruncate(fd, size);
}

/* Only the growing: nothing here makes holes. */
API int fallocate(int fd, int mode, off_t offset, off_t size)
{
        struct stat st;
        char path[PATH_MAX];
        int r = LOCKED(int, (int)syscall(SYS_fallocate, fd, mode, offset, size));

        if (r == 0 && fd_is_ours(fd, false, &st, path))
                put('t', st.st_ino, (uint64_t)st.st_size, path, NULL, 0);
        UNLOCK();
        return r;
}
API int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
        return fallocate(fd, mode, offset, size);
}
API int posix_fallocate(int fd, off_t offset, off_t size)
{
        return fallocate(fd, 0, offset, size) < 0 ? errno : 0;
}
API int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
        return posix_fallocate(fd, offset, size);
}

/* -- syncing ---------------------------------------------------------------------------------------------------- */

static int synced(int r, int fd)
{
        char path[PATH_MAX];
        struct stat st;

        if (r == 0 && fd_is_ours(fd, true, &st, path))
                put('s', st.st_ino, 0, path, NULL, 0);
        UNLOCK();
        return r;
}
API int fsync(int fd)
{
        return synced(LOCKED(int, (int)syscall(SYS_fsync, fd)), fd);
}
API int fdatasync(int fildes)
{
        return synced(LOCKED(int, (int)syscall(SYS_fdatasync, fildes)), fildes);
}

API int syncfs(int fd)
{
        int r = LOCKED(int, (int)syscall(SYS_syncfs, fd));

        if (r == 0 && store)
                put('S', 0, 0, store, NULL, 0);
        UNLOCK();
        return r;
}

/* -- names ------------------------------------------------------------------------------------------------------ */

static int moved(char op, int r, int from_dir, const char *from, int to_dir, const char *to)
{
        char old[PATH_MAX], new[PATH_MAX];

        if (r == 0 && ((int)at_path(from_dir, from, old) | (int)at_path(to_dir, to, new)))
                put(op, 0, 0, old, new, strlen(new));
        UNLOCK();
        return r;
}
API int rename(const char *from, const char *to)
{
        return moved('r', LOCKED(int, (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)), AT_FDCWD, from, AT_FDCWD,
                     to);
}
API int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
        return moved('r', LOCKED(int, (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0)), from_dir, from, to_dir, to);
}
API int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
        return moved('r', LOCKED(int, (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags)), from_dir, from, to_dir,
                     to);
}
API int link(const char *from, const char *to)
{
        return moved('l', LOCKED(int, (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0)), AT_FDCWD, from, AT_FDCWD, to);
}
API int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
        return moved('l', LOCKED(int, (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags)), from_dir, from, to_dir, to);
}

static int named(char op, int r, int dir, const char *path)
{
        char whole[PATH_MAX];

        if (r == 0 && at_path(dir, path, whole))
                put(op, 0, 0, whole, NULL, 0);
        UNLOCK();
        return r;
}
API int unlink(const char *path)
{
        return named('u', LOCKED(int, (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0)), AT_FDCWD, path);
}
API int unlinkat(int dir, const char *path, int flags)
{
        return named(flags & AT_REMOVEDIR ? 'd' : 'u', LOCKED(int, (int)syscall(SYS_unlinkat, dir, path, flags)), dir, path);
}
API int rmdir(const char *path)
{
        return named('d', LOCKED(int, (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR)), AT_FDCWD, path);
}
API int mkdir(const char *path, mode_t mode)
{
        return named('m', LOCKED(int, (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode)), AT_FDCWD, path);
}
API int mkdirat(int dir, const char *path, mode_t mode)
{
        return named('m', LOCKED(int, (int)syscall(SYS_mkdirat, dir, path, mode)), dir, path);
}
API char *mkdtemp(char *template)
{
        char *r = LOCKED(char *, REAL(mkdtemp)(template));

        if (r && is_ours(r))
                put('m', 0, 0, r, NULL, 0);
        UNLOCK();
        return r;
}
