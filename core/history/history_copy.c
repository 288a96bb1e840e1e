/* Copies the objects of a repository on this machine as files. This takes a second for Z3's; libgit2's transport, which unpacks and repacks them,
 * takes more than a minute. It is all or nothing: a fetch into half of the objects would find the tips there and take the rest for complete.
 *
 * The other repository may belong to anyone. Only regular files with an object's or a pack's name are taken, never through a link
 * (CVE-2022-39253), and none of its configuration, hooks or alternates. */
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/fault.h"
#include "core/git/regular_files.h"
#include "core/history/history_internal.h"

static bool is_hex(const char *s, size_t n)
{
        return strspn(s, "0123456789abcdef") >= n;
}

/* True for a file of a pack with this suffix, or with `suffix` NULL for a loose object. */
static bool is_wanted(const char *name, const char *suffix)
{
        if (!suffix)
                return strlen(name) == GIT_OID_HEXSZ - 2 && is_hex(name, GIT_OID_HEXSZ - 2);
        return strncmp(name, "pack-", 5) == 0 && is_hex(name + 5, GIT_OID_HEXSZ) && strcmp(name + 5 + GIT_OID_HEXSZ, suffix) == 0;
}

static int copy_file(int from_dir, int to_dir, const char *name)
{
        cleanup_close int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to = -1;
        struct stat st;

        if (from < 0 || fstat(from, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        to = openat(to_dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400);
        if (to < 0)
                return -errno;
        return copy_fd(from, to);
}

static DIR *open_folder(int above, const char *name)
{
        int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? NULL : fdopendir(fd);
}

/* Copies the wanted files of one folder, which may be absent. */
static int copy_folder(int from, int to, const char *folder, const char *suffix)
{
        cleanup_dir DIR *from_dir = open_folder(from, folder);
        cleanup_close int to_dir = -1;
        struct dirent *e;
        int r = 0;

        if (!from_dir)
                return errno == ENOENT ? 0 : -errno;
        if (mkdirat(to, folder, 0700) < 0 && errno != EEXIST)
                return -errno;
        to_dir = openat(to, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (to_dir < 0)
                return -errno;
        while (r == 0 && (errno = 0, e = readdir(from_dir)))
                if (is_wanted(e->d_name, suffix))
                        r = copy_file(dirfd(from_dir), to_dir, e->d_name);
        return r < 0 ? r : -errno;
}

static int find_promise(void *, const char *, const char *name)
{
        return strstr(name, ".promisor") != NULL;
}

static int find_promises(const char *objects)
{
        cleanup_free char *packs = format_string("%s/pack", objects);

        return folder_each(packs, find_promise, NULL);
}

bool history_is_partial(git_repository *git)
{
        cleanup_free char *objects = format_string("%s/objects", git_repository_commondir(git));

        return objects_each(objects, find_promises) == 1;
}

/* The times of the last changes of the folders of objects; zero for a folder that is not there. */
static struct digest objects_changed(int objects)
{
        struct timespec changed[257] = {0};
        struct digest d;

        for (unsigned i = 0; i < ARRAY_SIZE(changed); i++) {
                char folder[8] = "pack";
                struct stat st;

                if (i < 256)
                        snprintf(folder, sizeof(folder), "%02x", i);
                if (fstatat(objects, folder, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        changed[i] = st.st_mtim;
        }
        digest_of(changed, sizeof(changed), &d);
        return d;
}

static int copy_objects(int from, int to)
{
        const struct digest before = objects_changed(from);
        struct digest after;
        int r = copy_folder(from, to, "pack", ".pack");

        if (r == 0) /* packs before their indexes: an index without its pack is an error, a pack without an index is ignored */
                r = copy_folder(from, to, "pack", ".idx");
        for (unsigned i = 0; r == 0 && i < 256; i++) {
                char folder[3];

                snprintf(folder, sizeof(folder), "%02x", i);
                r = fault_at("history.copy") ?: copy_folder(from, to, folder, NULL);
        }
        after = objects_changed(from);
        if (r == 0 && !digest_equal(&before, &after)) /* a new commit may be here without its tree, or objects that were packed are missing */
                r = errorf(-EAGAIN, "they changed meanwhile");
        return r == 0 && syncfs(to) < 0 ? -errno : r;
}

int history_copy_objects(git_repository *from, git_repository *to)
{
        cleanup_free char *from_path = format_string("%s/objects", git_repository_commondir(from));
        cleanup_free char *to_path = format_string("%s/objects", git_repository_commondir(to));
        cleanup_close int from_fd = -1, to_fd = -1;

        from_fd = open(from_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        to_fd = open(to_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (from_fd < 0 || to_fd < 0)
                return -errno;
        if (faccessat(from_fd, "info/alternates", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || history_is_partial(from))
                return -EXDEV; /* not all objects are here */
        return copy_objects(from_fd, to_fd);
}
