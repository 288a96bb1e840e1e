#include "fs/kernel/new_case.h"

#include <ctype.h>
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

int new_case_rename_made(struct cases *cases, uint32_t id, bool made, const char *name)
{
        cleanup(case_info_unrefp) struct case_info *holder = NULL;
        cleanup_free char *name_of_case = copy_prefix(name, case_unpacked_name(name)); /* a compressed file's: without .gz and the like */

        if (cases_find(cases, name, &holder) == 0 && holder->id != id)
                return errorf(-EEXIST, "the name '%s' is taken by case %u", name, holder->id);
        return made && !holder ? cases_rename(cases, id, name_of_case) : 0; /* bytes that were a case before keep their name */
}

int new_case_rename(struct new_case *n, const char *name)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock); /* a flush may be making the case */
        int r = new_case_rename_made(n->cases, n->id, n->made, name);

        if (r == 0) {
                free(n->name);
                n->name = copy_string(name);
        }
        return r;
}

/* Refuses at once a file whose first line is not a case's: a shell's `echo hello >cases/x` checks write(), not close(). Hidden files that programs keep
 * beside another (.x.swp) are accepted. The header of DIMACS may still come behind its comments; close() checks the whole. */
static int check_first_lines(struct new_case *n, struct slice head)
{
        const char *begin = head.data, *end = begin + head.size, *p = begin, *newline;
        char name[NAME_MAX + 1];

        new_case_name(n, name, sizeof(name));
        while ((newline = memchr(p, '\n', (size_t)(end - p))) && ((*p == 'c' && isspace((unsigned char)p[1])) || (*p == '\n' && p > begin)))
                p = newline + 1;
        return name[0] == '.' || !newline ? 0 : case_check_head(name, head);
}

/* Lock held. Notes a change, or that it failed: bytes from this place on are missing. */
static void note_change(struct new_case *n, off_t at, int r)
{
        if (r == 0) {
                n->dirty = true;
                return;
        }
        n->missing = n->failed < 0 ? MIN(n->missing, at) : at;
        n->failed = r;
}

ssize_t new_case_write(struct new_case *n, const void *data, size_t size, off_t offset)
{
        cleanup_unlock pthread_mutex_t *held = NULL;
        ssize_t written = 0;
        int r = offset == 0 ? check_first_lines(n, SLICE(data, size)) : 0;

        if ((uint64_t)offset + size > CASE_SIZE_MAX)
                r = errorf(-EFBIG, "a case has at most %llu bytes", (unsigned long long)CASE_SIZE_MAX);
        if (r == 0 && (written = pwrite(n->fd, data, size, offset)) < 0)
                r = -errno;
        held = hold(&n->lock);
        note_change(n, offset, r);
        return r < 0 ? r : written;
}

int new_case_truncate(struct new_case *n, off_t size)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);
        int r = (uint64_t)size > CASE_SIZE_MAX ? -EFBIG : ftruncate(n->fd, size) < 0 ? -errno : 0;

        if (r == 0 && size <= n->missing)
                n->failed = 0;
        note_change(n, size, r);
        return r;
}

/* Lock held. Removes the case that an earlier flush made of a part of these bytes, which frees the name. */
static int take_back(struct new_case *n)
{
        int r = n->made ? cases_remove(n->cases, n->id) : 0;

        if (r == -ENOENT) /* it was removed by other hands */
                r = 0;
        n->made = r < 0;
        return r;
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
        if (r == 0)
                r = take_back(n) ?: cases_commit_given(n->cases, n->name, fd, path, &n->id, &shown);
        if (r < 0)
                unlink(path);
        else
                n->made = shown;
        return r;
}

int new_case_remove(struct new_case *n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);
        int r = take_back(n);

        if (r == 0)
                *n->name = '\0';
        return r;
}

int new_case_flush(struct new_case *n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock);
        struct stat st;
        int r;

        if (!*n->name)
                return 0;
        if (n->failed < 0) {
                r = take_back(n);
                return r < 0 ? r : errorf(n->failed, "a part of '%s' could not be written: %s", n->name, strerror(-n->failed));
        }
        if (fstat(n->fd, &st) < 0)
                return -errno;
        if (st.st_size == 0)
                return -ENODATA;
        if (!n->dirty)
                return 0;
        r = fault_at("case.flush") ?: new_case_commit(n);
        n->dirty = r < 0;
        return r;
}
