/* The programs made by an attempt. */
#include "core/build/attempt.h"

#include <fts.h>
#include <sys/stat.h>

#define PROGRAMS_NAMED 5

void build_outputs_free(struct build_output *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(list[i].name);
        free(list);
}

static bool is_committed(const struct attempt *a, const char *path)
{
        const struct manifest *m = &a->sources.files;

        return find_in_list(&path, m->list, m->n, sizeof(*m->list), compare_strings) != NULL;
}

/* The programs that a build has made: executable files that are not sources, and not leftovers of libtool, CMake or autoconf. */
static void list_programs(const struct attempt *a, struct buffer *ret)
{
        char *roots[] = {a->worktree->path, NULL};
        size_t skip = strlen(a->worktree->path) + 1, n = 0;
        FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

        for (FTSENT *e; fts && n <= PROGRAMS_NAMED && (e = fts_read(fts));) {
                if (e->fts_info == FTS_D && (strcmp(e->fts_name, "CMakeFiles") == 0 || strcmp(e->fts_name, ".libs") == 0))
                        fts_set(fts, e, FTS_SKIP);
                if (e->fts_info != FTS_F || !(e->fts_statp->st_mode & 0100) || e->fts_statp->st_size == 0 ||
                    is_committed(a, e->fts_path + skip) || strcmp(e->fts_name, "config.status") == 0)
                        continue;
                if (n++ < PROGRAMS_NAMED)
                        buffer_addf(ret, "%s%s", n > 1 ? ", " : "; programs that it made: ", e->fts_path + skip);
                else
                        buffer_adds(ret, " and more");
        }
        if (fts)
                fts_close(fts);
}

/* The build made no such output: names the programs that it made. */
static int fail_without(struct attempt *a, const char *path)
{
        cleanup_buffer struct buffer made = {0};

        buffer_add(&made, "", 0);
        list_programs(a, &made);
        return attempt_fail(a, "the build made no %s%s", path, made.data);
}

static int put_output(struct attempt *a, size_t i)
{
        const char *path = a->request->recipe->outputs[i];
        const struct digest *near = i < a->worktree->programs.n ? &a->worktree->programs.list[i] : NULL;
        struct build_output *o = &a->made.outputs[i];
        cleanup_close int fd = -1;
        struct stat st;
        int r = checkout_open(a->worktree->path, path, &fd);

        if (r == -ENOENT || r == -ENOTDIR)
                return fail_without(a, path);
        if (r == -EACCES)
                return attempt_fail(a, "output %s cannot be read: the build removed the permission", path);
        if (r == -EISDIR)
                return attempt_fail(a, "output %s is a folder: name the files in it", path);
        if (r == -EXDEV)
                return attempt_fail(a, "output %s is a link out of the build's folder, or an absolute one: make it relative", path);
        if (r == -ELOOP || r == -ENAMETOOLONG || r == -EINVAL || r == -ENXIO)
                return attempt_fail(a, "output %s is not a regular file of the build", path);
        if (r < 0 || fstat(fd, &st) < 0) /* this machine's failure, not the commit's */
                return errorf(r < 0 ? r : -errno, "cannot open output %s: %s", path, strerror(r < 0 ? -r : errno));
        if (st.st_size == 0)
                return attempt_fail(a, "output %s is empty", path);
        if ((uint64_t)st.st_size > PROGRAM_MOST)
                return attempt_fail(a, "output %s " PROGRAM_TOO_LARGE, path);
        *o = (struct build_output){.name = copy_string(basename(path)), .executable = st.st_mode & 0111};
        a->made.n_outputs++;
        if (a->given)
                return a->given->output(a->given->user, fd, &o->id, &o->size);
        return programs_put(a->request->programs, fd, near, &o->id, &o->size);
}

int attempt_put_outputs(struct attempt *a)
{
        size_t n = strings_count(a->request->recipe->outputs);
        int r = 0;

        a->made.outputs = allocate(n + 1, sizeof(*a->made.outputs));
        if (chmod(a->worktree->path, 0700) < 0) /* the build may have changed its mode */
                return errorf(-errno, "cannot open %s: %s", a->worktree->path, strerror(errno));
        progress_tell(a->request->progress, "storing programs", 0, n); /* the build is done: too late to cancel */
        for (size_t i = 0; r == 0 && !a->made.reason && i < n; i++)
                r = put_output(a, i);
        return r;
}
