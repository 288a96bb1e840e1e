#include "cache/store/program_folder.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "cache/store/store.h"

/* The mtime of a materialized file lies between 2001 and 2017, in whole seconds, as not every file system keeps more: a different mtime means that
 * somebody wrote to the file. The seconds identify the boot, because files of an earlier boot were never synced. */
#define MATERIALIZED_FIRST 1000000000
#define MATERIALIZED_RANGE 500000000
#define TEMPORARY_STALE    60 /* seconds */

static time_t mtime_of_this_boot(void)
{
        cleanup_blob struct blob id = {0};
        struct digest d = {0};

        if (read_file("/proc/sys/kernel/random/boot_id", 4096, &id) == 0)
                digest_of(id.data, id.size, &d);
        return MATERIALIZED_FIRST + key_get_u32(d.bytes) % MATERIALIZED_RANGE;
}

int program_folder_open(struct program_folder *f, const char *store_dir, bool read_only, uint64_t bound)
{
        int r = path_join(f->dir, store_dir, "programs");

        f->bound = bound;
        f->mtime = mtime_of_this_boot();
        return r == 0 && !read_only ? make_dirs(f->dir, 0700) : r;
}

/* Opens the materialized program under a shared lock. -ENOENT: there is none, or it cannot be trusted. */
static int open_materialized(struct program_folder *f, const char *path, uint64_t size, int *ret_fd)
{
        for (;;) {
                cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
                struct stat st;

                if (fd < 0)
                        return errno == ENOENT || errno == ELOOP ? -ENOENT
                                                                 : errorf(-errno, "cannot open %s: %s", path, strerror(errno));
                if (TEMP_FAILURE_RETRY(flock(fd, LOCK_SH)) < 0 || fstat(fd, &st) < 0)
                        return errorf(-errno, "cannot hold %s: %s", path, strerror(errno));
                if (st.st_nlink == 0)
                        continue; /* evicted between our open and our lock */
                if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != size || st.st_mtim.tv_sec != f->mtime || (st.st_mode & 07777) != 0555)
                        return -ENOENT;
                futimens(fd, (const struct timespec[2]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}}); /* last used now */
                *ret_fd = steal_fd(&fd);
                return 0;
        }
}

/* -- writing ---------------------------------------------------------------------------------------------------- */

/* A file that anybody has open for writing cannot be executed (ETXTBSY). A child forked by another thread may hold our descriptor until it
 * executes. A read lease is refused for exactly that long. */
static void wait_for_no_writer(int fd)
{
        for (unsigned i = 0; i < 1000; i++) {
                if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
                        fcntl(fd, F_SETLEASE, F_UNLCK);
                        return;
                }
                if (errno != EAGAIN)
                        return; /* no leases here */
                usleep(1000);
        }
}

static int write_temporary(struct program_folder *f, const char *temporary, int fd, const struct blob *content)
{
        struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = f->mtime}};
        int r = flock(fd, LOCK_SH | LOCK_NB) < 0 ? -errno : write_all(fd, content->data, content->size);

        if (r == 0 && (fchmod(fd, 0555) < 0 || futimens(fd, times) < 0))
                r = -errno;
        return r < 0 ? errorf(r, "cannot write %s: %s", temporary, strerror(-r)) : 0;
}

/* Does not sync: after a power cut the file is of an earlier boot, and is written again. */
static int write_materialized(struct program_folder *f, const char *path, const struct blob *content, int *ret_fd)
{
        cleanup_free char *temporary = format_string("%s/.new.XXXXXX", f->dir);
        cleanup_close int fd = mkostemp(temporary, O_CLOEXEC);
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot make %s: %s", temporary, strerror(errno));
        r = write_temporary(f, temporary, fd, content);
        if (r == 0) {
                close(steal_fd(&fd));
                r = open_materialized(f, temporary, content->size, &fd);
        }
        if (r == 0) {
                wait_for_no_writer(fd);
                if (rename(temporary, path) < 0)
                        r = errorf(-errno, "cannot move %s to %s: %s", temporary, path, strerror(errno));
        }
        if (r < 0) {
                unlink(temporary);
                return r;
        }
        *ret_fd = steal_fd(&fd);
        return 0;
}

/* -- eviction --------------------------------------------------------------------------------------------------- */

struct entry {
        char *path; /* owned */
        uint64_t size;
        struct timespec used;
};

struct entries {
        struct entry *list; /* malloc'd */
        size_t n;
        uint64_t bytes;
};

static void entries_done(struct entries *e)
{
        for (size_t i = 0; i < e->n; i++)
                free(e->list[i].path);
        free(e->list);
}

static int compare_used(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;

        return ORDER(x->used.tv_sec, y->used.tv_sec) ?: ORDER(x->used.tv_nsec, y->used.tv_nsec);
}

/* True if it was removed. */
static bool remove_unless_held(const char *path)
{
        cleanup_close int fd = lock_if_idle(path);

        return fd >= 0 && unlink(path) == 0;
}

static int add_entry(void *user, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);
        struct entries *e = user;
        struct digest digest;
        struct timespec used;
        struct stat st;
        int lock;

        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        if (digest_parse(name, &digest) == 0) {
                used = st.st_atim.tv_sec <= now_seconds() + 60 ? st.st_atim : (struct timespec){0}; /* else by a wrong clock: use since then is newer */
                list_add(e->list, e->n, (struct entry){.path = steal_pointer(path), .size = (uint64_t)st.st_size, .used = used});
                e->bytes += (uint64_t)st.st_size;
        } else if (strncmp(name, ".new.", 5) == 0 && is_older_than(st.st_ctime, TEMPORARY_STALE)) {
                remove_unless_held(path); /* left by a crash */
        } else if (fnmatch(".*.lock", name, 0) == 0 && lock_try(folder, name, LOCK_ALONE, &lock) == 0) {
                lock_release_unlink(folder, name, lock); /* likewise */
        }
        return 0;
}

/* Deletes the least recently used files, down to the bound; a lazy folder's further, or the next file would list it again. Files in use stay. */
static int evict(struct program_folder *f)
{
        const uint64_t most = f->is_lazy ? f->bound / 8 * 7 : f->bound;
        cleanup(entries_done) struct entries all = {0};
        int r = folder_each(f->dir, add_entry, &all);

        if (r == 0 && all.bytes > f->bound) {
                sort_list(all.list, all.n, sizeof(*all.list), compare_used);
                for (size_t i = 0; i < all.n && all.bytes > most; i++)
                        if (remove_unless_held(all.list[i].path))
                                all.bytes -= all.list[i].size;
        }
        f->room = (int64_t)f->bound - (int64_t)all.bytes;
        return r;
}

/* -- the whole -------------------------------------------------------------------------------------------------- */

struct wanted {
        const struct digest *id;
        uint64_t size;
        program_content_fn content;
        void *user;
        char hex[DIGEST_HEX_SIZE], path[PATH_SIZE];
};

static int materialize(struct program_folder *f, const struct wanted *w, int *ret_fd)
{
        cleanup_blob struct blob content = {0};
        int evicted = 0, r = w->content(w->user, w->id, &content);

        if (r == 0)
                r = write_materialized(f, w->path, &content, ret_fd);
        if (r < 0)
                return r;
        if (!f->is_lazy || atomic_fetch_sub(&f->room, (int64_t)content.size) < (int64_t)content.size)
                evicted = evict(f);
        if (evicted < 0) /* a folder beyond its bound does not keep a program from running */
                log_warning("%s", error_message(evicted));
        return 0;
}

/* One process materializes; the others wait. */
static int materialize_once(struct program_folder *f, const struct wanted *w, int *ret_fd)
{
        char name[DIGEST_HEX_SIZE + 8];
        int lock, r;

        snprintf(name, sizeof(name), ".%s.lock", w->hex);
        r = lock_wait(f->dir, name, LOCK_ALONE, &lock);
        if (r < 0)
                return r;
        r = open_materialized(f, w->path, w->size, ret_fd);
        if (r == -ENOENT)
                r = materialize(f, w, ret_fd);
        lock_release_unlink(f->dir, name, lock);
        return r;
}

/* For a read-only store: the program as a file in memory, whose path is valid while the descriptor is open. */
static int keep_in_memory(struct wanted *w, int *ret_fd)
{
        cleanup_blob struct blob content = {0};
        cleanup_close int fd = -1;
        int r = w->content(w->user, w->id, &content);

        if (r < 0)
                return r;
        fd = memfd_create(w->hex, MFD_CLOEXEC);
        if (fd < 0 || fchmod(fd, 0555) < 0)
                return errorf(-errno, "cannot keep a program in memory: %s", strerror(errno));
        r = write_all(fd, content.data, content.size);
        if (r < 0)
                return errorf(r, "cannot keep a program in memory: %s", strerror(-r));
        snprintf(w->path, sizeof(w->path), "/proc/%d/fd/%d", getpid(), fd); /* opened again: what is open for writing cannot be executed */
        *ret_fd = open(w->path, O_RDONLY | O_CLOEXEC);
        if (*ret_fd < 0)
                return errorf(-errno, "cannot open %s: %s", w->path, strerror(errno));
        snprintf(w->path, sizeof(w->path), "/proc/%d/fd/%d", getpid(), *ret_fd);
        return 0;
}

int program_folder_get(struct program_folder *f, const struct digest *id, uint64_t size, program_content_fn content, void *user,
                       int *ret_fd, char ret_path[PATH_SIZE])
{
        struct wanted w = {.id = id, .size = size, .content = content, .user = user};
        int r;

        digest_hex(id, w.hex);
        r = path_join(w.path, f->dir, w.hex) ?: open_materialized(f, w.path, size, ret_fd);
        if (r == -ENOENT)
                r = materialize_once(f, &w, ret_fd);
        if (r == -EROFS || r == -EACCES)
                r = keep_in_memory(&w, ret_fd);
        if (r == 0 && ret_path)
                memcpy(ret_path, w.path, sizeof(w.path));
        return r;
}

void program_folder_remove(struct program_folder *f, const struct digest *id)
{
        cleanup_free char *path = format_string("%s/%s", f->dir, digest_text(id).s);

        remove_unless_held(path);
}
