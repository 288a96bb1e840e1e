#include "fs/kernel/new_case.h"

#include <sys/stat.h>

#include "cache/base/fault.h"

int new_case_open(struct cases *cases, const char *name, struct new_case **ret)
{
        static _Atomic uint64_t last;
        cleanup(case_info_unrefp) struct case_info *holder = NULL;
        struct new_case *n;
        int r;

        if (cases_find(cases, name, &holder) == 0)
                return errorf(-EEXIST, "the name '%s' is taken by case %u", name, holder->id);
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        n->refs = 1;
        n->cases = cases;
        n->number = ++last;
        n->fd = -1;
        pthread_mutex_init(&n->lock, NULL);
        n->name = strdup(name);
        r = n->name ? cases_stage(cases, &n->fd, n->path) : -ENOMEM;
        if (r < 0) {
                n->path[0] = '\0';
                new_case_unref(n);
                return r;
        }
        *ret = n;
        return 0;
}

struct new_case *new_case_ref(struct new_case *n)
{
        __atomic_add_fetch(&n->refs, 1, __ATOMIC_RELAXED);
        return n;
}

struct new_case *new_case_unref(struct new_case *n)
{
        if (!n || __atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        if (n->fd >= 0)
                close(n->fd);
        if (n->path[0])
                unlink(n->path);
        pthread_mutex_destroy(&n->lock);
        free(n->name);
        free(n);
        return NULL;
}

void new_case_name(struct new_case *n, char *ret, size_t size)
{
        pthread_mutex_lock(&n->lock);
        snprintf(ret, size, "%s", n->name);
        pthread_mutex_unlock(&n->lock);
}

int new_case_rename(struct new_case *n, const char *name)
{
        char *copy = strdup(name);

        if (!copy)
                return -ENOMEM;
        pthread_mutex_lock(&n->lock);
        free(n->name);
        n->name = copy;
        pthread_mutex_unlock(&n->lock);
        return 0;
}

static void new_case_written(struct new_case *n)
{
        pthread_mutex_lock(&n->lock);
        n->dirty = true;
        pthread_mutex_unlock(&n->lock);
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

/* Makes a copy of the staged bytes the case, so that the writer can continue. Lock held. */
static int new_case_commit(struct new_case *n)
{
        char path[PATH_SIZE];
        cleanup_close int fd = -1;
        bool shown;
        int r = cases_stage(n->cases, &fd, path);

        if (r < 0)
                return r;
        r = lseek(n->fd, 0, SEEK_SET) < 0 ? -errno : copy_fd(n->fd, fd);
        if (r == 0 && n->made) { /* what an earlier flush made is a part of this: it gives the name back */
                r = cases_remove(n->cases, n->id);
                n->made = false;
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
        struct stat st;
        int r = 0;

        pthread_mutex_lock(&n->lock);
        if (fstat(n->fd, &st) < 0)
                r = -errno;
        else if (st.st_size == 0)
                r = errorf(-EINVAL, "'%s' is empty: not a case", n->name);
        else if (n->dirty)
                r = fault_at("case.flush");
        if (r == 0 && n->dirty)
                r = new_case_commit(n);
        if (r == 0)
                n->dirty = false;
        pthread_mutex_unlock(&n->lock);
        return r;
}
