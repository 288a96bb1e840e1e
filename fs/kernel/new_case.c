#include "fs/kernel/new_case.h"

#include <sys/stat.h>

#include "cache/base/fault.h"
#include "fs/tree/lock.h"

int new_case_open(struct cases *cases, const char *name, struct new_case **ret)
{
        static _Atomic uint64_t last;
        cleanup(case_info_unrefp) struct case_info *holder = NULL;
        struct new_case *n;
        int r;

        if (cases_find(cases, name, &holder) == 0)
                return errorf(-EEXIST, "the name '%s' is taken by case %u", name, holder->id);
        n = allocate(1, sizeof(*n));
        n->refs = 1;
        n->cases = cases;
        n->number = ++last;
        n->fd = -1;
        pthread_mutex_init(&n->lock, NULL);
        n->name = copy_string(name);
        r = cases_stage(cases, &n->fd, n->path);
        if (r < 0) {
                n->path[0] = '\0';
                n = new_case_unref(n);
        }
        *ret = n;
        return r;
}

static void new_case_free(struct new_case *n)
{
        if (n->fd >= 0)
                close(n->fd);
        if (n->path[0])
                unlink(n->path);
        pthread_mutex_destroy(&n->lock);
        free(n->name);
        free(n);
}
DEFINE_REFS(new_case, new_case_free)

void new_case_name(struct new_case *n, char *ret, size_t size)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);

        snprintf(ret, size, "%s", n->name);
}

void new_case_rename(struct new_case *n, const char *name)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);

        free(n->name);
        n->name = copy_string(name);
}

static void new_case_written(struct new_case *n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);

        n->dirty = true;
}

ssize_t new_case_write(struct new_case *n, const void *data, size_t size, off_t offset)
{
        ssize_t written;

        if ((uint64_t)offset + size > CASE_SIZE_MAX)
                return -EFBIG;
        written = pwrite(n->fd, data, size, offset);
        if (written < 0)
                return -errno;
        new_case_written(n);
        return written;
}

int new_case_truncate(struct new_case *n, off_t size)
{
        if ((uint64_t)size > CASE_SIZE_MAX)
                return -EFBIG;
        if (ftruncate(n->fd, size) < 0)
                return -errno;
        new_case_written(n);
        return 0;
}

/* Makes the case from a copy of the staged bytes, so that the writer can continue. Lock held. */
static int new_case_commit(struct new_case *n)
{
        char path[PATH_SIZE];
        cleanup_close int fd = -1;
        bool shown;
        int r = cases_stage(n->cases, &fd, path);

        if (r < 0)
                return r;
        r = lseek(n->fd, 0, SEEK_SET) < 0 ? -errno : copy_fd(n->fd, fd);
        if (r == 0 && n->made) { /* an earlier flush made a case of a part of these bytes: remove it, which frees the name */
                r = cases_remove(n->cases, n->id);
                if (r == -ENOENT) /* it was removed by other hands */
                        r = 0;
                n->made = r < 0;
        }
        if (r == 0)
                r = cases_commit_given(n->cases, n->name, fd, path, &n->id, &shown);
        if (r < 0)
                unlink(path);
        else
                n->made = shown;
        return r;
}

int new_case_flush(struct new_case *n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);
        struct stat st;
        int r;

        if (!*n->name)
                return 0;
        if (fstat(n->fd, &st) < 0)
                return -errno;
        if (st.st_size == 0)
                return errorf(-EINVAL, "'%s' is empty: not a case", n->name);
        if (!n->dirty)
                return 0;
        r = fault_at("case.flush");
        if (r == 0)
                r = new_case_commit(n);
        n->dirty = r < 0;
        return r;
}
