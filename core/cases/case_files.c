/* The bytes of cases, as files: written to staged/, moved to their places, opened and checked. */
#include "core/cases/cases_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define STALE_SECONDS 60 /* an older staged file is a crash's, unless its writer still holds the lock */

/* -- places ----------------------------------------------------------------------------------------------------- */

static int path_of(struct case_files *f, const struct digest *d, char ret[PATH_SIZE])
{
        char hex[DIGEST_HEX_SIZE];

        digest_hex(d, hex);
        return snprintf(ret, PATH_SIZE, "%s/%.2s/%s", f->dir, hex, hex) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

int case_files_place(struct case_files *f, const struct digest *d, const char *staged)
{
        char path[PATH_SIZE], folder[PATH_SIZE];
        int r = path_of(f, d, path);

        if (r < 0)
                return r;
        snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
        r = make_private_folder(folder);
        if (r > 0)
                r = sync_folder(f->dir);
        if (r < 0)
                return r;
        if (rename(staged, path) < 0)
                return errorf(-errno, "cannot move %s to %s: %s", staged, path, strerror(errno));
        return sync_folder(folder);
}

int case_files_look(struct case_files *f, const struct digest *d, uint64_t *ret_bytes, int64_t *ret_placed)
{
        char path[PATH_SIZE];
        struct stat st;
        int r = path_of(f, d, path) ?: (lstat(path, &st) < 0 ? -errno : 0);

        if (r < 0)
                return r;
        *ret_bytes = (uint64_t)st.st_blocks * 512;
        *ret_placed = st.st_mtime;
        return 0;
}

int case_files_unlink(struct case_files *f, const struct digest *d)
{
        char path[PATH_SIZE];
        int r = path_of(f, d, path);

        return r == 0 && unlink(path) < 0 ? -errno : r;
}

/* -- staged files ----------------------------------------------------------------------------------------------- */

/* Deletes a file left by a crash: not locked, and older than STALE_SECONDS. */
static int sweep_staged(void *, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);
        cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat st;

        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_older_than(st.st_mtime, STALE_SECONDS) && flock(fd, LOCK_EX | LOCK_NB) == 0)
                unlink(path);
        return 0;
}

int case_files_open_folder(struct case_files *f, const char *store_dir, bool read_only)
{
        char staged[PATH_SIZE];
        int r = path_join(f->dir, store_dir, "cases");

        pthread_mutex_init(&f->lock, NULL);
        if (r == 0)
                r = path_join(staged, f->dir, "staged");
        if (r < 0 || read_only)
                return r;
        r = make_dirs(staged, 0700);
        if (r == 0)
                folder_each(staged, sweep_staged, NULL);
        return r;
}

void case_files_done(struct case_files *f)
{
        pthread_mutex_destroy(&f->lock);
        free(f->verified);
}

int case_files_stage(struct case_files *f, int *ret_fd, char ret_path[PATH_SIZE])
{
        int fd, r = path_join(ret_path, f->dir, "staged/XXXXXX");

        if (r < 0)
                return r;
        fd = mkostemp(ret_path, O_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot make %s: %s", ret_path, strerror(errno));
        if (fchmod(fd, 0600) < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0) { /* the lock: sweep_staged() */
                r = errorf(-errno, "cannot hold %s: %s", ret_path, strerror(errno));
                unlink(ret_path);
                close(fd);
                return r;
        }
        *ret_fd = fd;
        return 0;
}

/* -- reading ---------------------------------------------------------------------------------------------------- */

/* True if the case's digest was checked in this process before. `now` marks it as checked. */
static bool was_verified(struct case_files *f, uint32_t id, bool now)
{
        bool was;
        cleanup_unlock pthread_mutex_t *held = hold(&f->lock);

        while (id >= f->n_verified)
                list_add(f->verified, f->n_verified, false);
        was = f->verified[id];
        f->verified[id] |= now;
        return was;
}

int case_files_open(struct case_files *f, const struct case_info *info, bool always, int *ret_fd, char ret_path[PATH_SIZE])
{
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        struct digest d;
        struct stat st;
        int r = path_of(f, &info->sha256, path);

        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT)
                return errorf(-EILSEQ, "the bytes of case %u are gone from %s; add the case again to repair it", info->id, path);
        if (fd < 0 || fstat(fd, &st) < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        if ((uint64_t)st.st_size != info->size)
                return errorf(-EILSEQ, "%s has %lld bytes where case %u has %llu; add the case again to repair it", path,
                              (long long)st.st_size, info->id, (unsigned long long)info->size);
        if (always || !was_verified(f, info->id, false)) {
                r = digest_of_fd(fd, &d, NULL);
                if (r < 0)
                        return errorf(r, "cannot read %s: %s", path, strerror(-r));
                if (!digest_equal(&d, &info->sha256))
                        return errorf(-EILSEQ, "the bytes of case %u in %s are not what was added; add the case again to repair it",
                                      info->id, path);
                was_verified(f, info->id, true);
        }
        if (ret_path)
                memcpy(ret_path, path, sizeof(path));
        *ret_fd = steal_fd(&fd);
        return 0;
}

/* -- all of them ------------------------------------------------------------------------------------------------ */

struct each {
        case_file_fn fn;
        void *user;
};

static int each_file(void *user, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);
        const struct each *e = user;
        struct digest d;
        struct stat st;

        if (digest_parse(name, &d) == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
                e->fn(e->user, &d, (uint64_t)st.st_blocks * 512);
        return 0;
}

/* A folder of cases has two hexadecimal digits for a name. */
static int each_folder(void *user, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);

        return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2 ? folder_each(path, each_file, user) : 0;
}

int case_files_each(struct case_files *f, case_file_fn fn, void *user)
{
        return folder_each(f->dir, each_folder, &(struct each){fn, user});
}
