#include "core/build/dependency.h"

#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <sys/stat.h>

#define LOOK_AGAIN NSEC_PER_SEC

static int by_name(const FTSENT **a, const FTSENT **b)
{
        return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_link(struct hasher *h, const char *path)
{
        char target[PATH_SIZE];
        ssize_t n = readlink(path, target, sizeof(target));

        if (n < 0)
                return errorf(-errno, "cannot read the link %s: %s", path, strerror(errno));
        hasher_field(h, target, (size_t)n);
        return 0;
}

static int add_content(struct hasher *h, const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct digest d;
        uint64_t size;
        int r = fd < 0 ? -errno : digest_of_fd(fd, &d, &size);

        if (r < 0)
                return errorf(r, "cannot read %s, which is in a folder that builds depend on: %s", path, strerror(-r));
        hasher_add(h, d.bytes, DIGEST_SIZE);
        return 0;
}

static void add_times(struct hasher *h, const struct stat *st)
{
        const uint64_t parts[] = {st->st_ino,
                                  (uint64_t)st->st_size,
                                  (uint64_t)st->st_mtim.tv_sec,
                                  (uint64_t)st->st_mtim.tv_nsec,
                                  (uint64_t)st->st_ctim.tv_sec,
                                  (uint64_t)st->st_ctim.tv_nsec};

        hasher_add(h, parts, sizeof(parts));
}

static int add_entry(struct hasher *h, const FTSENT *e, size_t skip, bool content)
{
        int r = 0;

        if (e->fts_info == FTS_DP)
                return 0;
        if (e->fts_info == FTS_ERR || e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
                return errorf(-e->fts_errno, "cannot read %s, which is in a folder that builds depend on: %s", e->fts_path,
                              strerror(e->fts_errno));
        hasher_string(h, e->fts_path + skip);
        hasher_number(h, e->fts_statp->st_mode & (S_IFMT | 0111));
        if (!content)
                add_times(h, e->fts_statp);
        else if (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
                r = add_link(h, e->fts_path);
        else if (e->fts_info == FTS_F)
                r = add_content(h, e->fts_path);
        return r;
}

/* The digest covers the bytes, or only what stat() says. */
static int digest_tree(const char *path, bool content, struct digest *ret)
{
        char root[PATH_SIZE];
        char *roots[] = {root, NULL};
        struct hasher *h;
        int r = 0;
        FTS *fts;

        if (!realpath(path, root)) {
                *ret = (struct digest){0};
                return errno == ENOENT || errno == ENOTDIR ? 0 : errorf(-errno, "cannot find %s: %s", path, strerror(errno));
        }
        fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
        if (!fts)
                return -ENOMEM;
        h = hasher_new();
        for (FTSENT *e; r == 0 && (e = fts_read(fts));)
                r = add_entry(h, e, strlen(root), content);
        fts_close(fts);
        hasher_finish(h, ret);
        return r;
}

struct known {
        struct known *next;
        char *path;      /* owned */
        uint64_t looked; /* ns */
        struct digest times, content;
};

static struct {
        pthread_mutex_t lock;
        struct known *list; /* under lock; for good: recipes name a handful */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct known *find_known(const char *path)
{
        struct known *k = cache.list;

        while (k && strcmp(k->path, path) != 0)
                k = k->next;
        if (k)
                return k;
        k = allocate(1, sizeof(*k));
        if (k && !(k->path = copy_string(path))) {
                free(k);
                return NULL;
        }
        if (k) {
                k->next = cache.list;
                cache.list = k;
        }
        return k;
}

static int look(struct known *k)
{
        struct digest times;
        int r = digest_tree(k->path, false, &times);

        if (r == 0 && (k->looked == 0 || !digest_equal(&times, &k->times)))
                r = digest_tree(k->path, true, &k->content);
        if (r < 0)
                return r;
        k->times = times;
        k->looked = now_ns();
        return 0;
}

int dependency_digest(const char *path, bool now, struct digest *ret)
{
        struct known *k;
        int r = 0;

        pthread_mutex_lock(&cache.lock);
        k = find_known(path);
        if (now || k->looked == 0 || now_ns() - k->looked >= LOOK_AGAIN)
                r = look(k);
        if (r == 0)
                *ret = k->content;
        pthread_mutex_unlock(&cache.lock);
        return r;
}
