#include "core/build/dependency.h"

#include <fts.h>
#include <sys/stat.h>

#include "cache/base/mount_table.h"
#include "core/run/file_digest.h"

static int by_name(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int cannot_read(const char *path, int error)
{
        return errorf(-error, "cannot read %s, which is in a folder that builds depend on: %s", path, strerror(error));
}

static int add_link(struct hasher *h, const char *path)
{
        char target[PATH_SIZE];
        ssize_t n = readlink(path, target, sizeof(target));

        if (n < 0)
                return cannot_read(path, errno);
        hasher_field(h, target, (size_t)n);
        return 0;
}

static int add_content(struct hasher *h, const char *path)
{
        struct file_look look;

        file_look(path, &look);
        if (look.kind != FILE_CONTENT)
                return cannot_read(path, look.kind == FILE_ABSENT ? ENOENT : EACCES);
        hasher_add(h, look.digest.bytes, DIGEST_SIZE);
        return 0;
}

static int add_entry(struct hasher *h, const FTSENT *e, size_t skip)
{
        if (e->fts_info == FTS_DP)
                return 0;
        if (e->fts_info == FTS_D && (e->fts_level == 0 || e->fts_dev != e->fts_parent->fts_dev) && mount_table_has(e->fts_path))
                return errorf(-EIO, "%s is in a mount of solverfs, and builds depend on it: change the recipe, or mount elsewhere", e->fts_path);
        if (e->fts_info == FTS_ERR || e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
                return cannot_read(e->fts_path, e->fts_errno);
        hasher_string(h, e->fts_path + skip);
        hasher_number(h, e->fts_statp->st_mode & (S_IFMT | 0111));
        if (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
                return add_link(h, e->fts_path);
        return e->fts_info == FTS_F ? add_content(h, e->fts_path) : 0;
}

int dependency_digest(const char *path, struct digest *ret)
{
        char root[PATH_SIZE];
        char *roots[] = {root, NULL};
        struct hasher *h;
        int r = 0;
        FTS *fts;

        *ret = (struct digest){0};
        if (!realpath(path, root))
                return errno == ENOENT || errno == ENOTDIR ? 0 : errorf(-errno, "cannot find %s: %s", path, strerror(errno));
        fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
        if (!fts)
                return -ENOMEM;
        h = hasher_new();
        for (FTSENT *e; r == 0 && (e = fts_read(fts));)
                r = add_entry(h, e, strlen(root));
        fts_close(fts);
        hasher_finish(h, ret);
        return r;
}
