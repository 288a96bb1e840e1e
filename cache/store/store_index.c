/* LMDB's folder: opening it, and setting aside one that is damaged. */
#include "cache/store/store_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/pages.h"

#define CHECK_NS (NSEC_PER_SEC / 4) /* to look at the index's pages when it is opened; fsck takes the time it needs */

/* Those set aside earlier. */
static void remove_set_aside(const char *dir, const char *but)
{
        DIR *d = opendir(dir);
        struct dirent *e;

        while (d && (e = readdir(d))) {
                char path[PATH_SIZE];

                if (strncmp(e->d_name, "lmdb.damaged-", 13) == 0 && strcmp(e->d_name, but) != 0 &&
                    path_join(path, dir, e->d_name) == 0)
                        remove_tree(path);
        }
        if (d)
                closedir(d);
}

/* Truncates an index that was set aside, so that processes that still have it open fault at their next read and change over to the new one.
 * A copy stays. */
static void take_from_under(const char *aside)
{
        char path[PATH_SIZE], copy[PATH_SIZE];
        cleanup_close int fd = -1, copy_to = -1;

        if (path_join(path, aside, "data.mdb") < 0 || path_join(copy, aside, "copy.mdb") < 0)
                return;
        fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
                return;
        copy_to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (copy_to < 0 || copy_fd(fd, copy_to) < 0)
                unlink(copy); /* no room for something to look at */
        if (ftruncate(fd, 0) < 0)
                log_warning("cannot empty %s: %s", path, strerror(errno));
}

int index_set_aside(const char *dir)
{
        char from[PATH_SIZE], to[PATH_SIZE + 32];
        int64_t now = now_seconds();
        int r = path_join(from, dir, "lmdb");

        if (r < 0)
                return r;
        for (unsigned i = 0;; i++) {
                snprintf(to, sizeof(to), "%s.damaged-%lld", from, (long long)now + i);
                if (access(to, F_OK) < 0)
                        break;
        }
        if (rename(from, to) < 0)
                return errorf(-errno, "cannot set the damaged index %s aside: %s", from, strerror(errno));
        log_warning("the index was set aside as %s; a new one is made from the journal", to);
        take_from_under(to);
        remove_set_aside(dir, strrchr(to, '/') + 1);
        r = make_private_folder(from);
        return r < 0 ? r : sync_folder(dir);
}

/* Is the index marked as damaged, or does it look so? 0, or -EIO with a sentence. */
static int look_at_index(const char *path)
{
        cleanup_close int fd = -1;
        char mark[PATH_SIZE], data[PATH_SIZE];
        struct pages_report report;
        int r = path_join(mark, path, DB_DAMAGED);

        if (r == 0)
                r = path_join(data, path, "data.mdb");
        if (r < 0)
                return r;
        if (access(mark, F_OK) == 0)
                return errorf(-EIO, "the index in %s was found damaged", path);
        fd = open(data, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot open %s: %s", data, strerror(errno));
        r = pages_check(fd, data, 0, now_ns() + CHECK_NS, &report);
        if (r == 0 && !report.complete)
                log_debug("looked at %llu pages of %s, not at all", (unsigned long long)report.pages, data);
        return r;
}

int index_open(struct environment *e, bool alone)
{
        char path[PATH_SIZE], mark[PATH_SIZE];
        int r = path_join(path, e->dir, "lmdb");

        if (r == 0)
                r = path_join(mark, path, DB_DAMAGED);
        if (r < 0)
                return r;
        if (alone)
                r = look_at_index(path);
        else if (access(mark, F_OK) == 0)
                r = errorf(-EIO, "the index in %s was found damaged; 'solverfs fsck' makes it anew from the journal", path);
        if (r == 0)
                r = db_open(path, e->read_only, &e->db);
        if (r != -EIO || e->read_only)
                return r;
        log_error("%s", error_message(r));
        r = index_set_aside(e->dir);
        e->index_anew = r == 0;
        return r < 0 ? r : db_open(path, e->read_only, &e->db);
}
