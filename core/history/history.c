#include "core/history/history.h"

#include <fts.h>
#include <limits.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "core/history/history_internal.h"
#include "core/git/object_reader.h"

/* -- life ------------------------------------------------------------------------------------------------------- */

static void history_free(struct history *h)
{
        for (unsigned i = 0; i < h->n_idle; i++)
                git_repository_free(h->idle[i].git);
        ref_list_unref(h->listed);
        commit_order_unref(h->order);
        for (unsigned i = 0; i < N_DESCENDANTS; i++)
                free(h->descendants[i].has);
        pthread_mutex_destroy(&h->lock);
        free(h->name);
        free(h->repos_dir);
        free(h->path);
        free(h);
}

int history_open(struct store *s, const struct history_tables *tables, const char *repos_dir, const char *name, uint32_t number,
                 struct history **ret)
{
        struct history *h = allocate(1, sizeof(*h));
        struct stat st;

        *h = (struct history){.refs = 1,
                              .store = s,
                              .tables = *tables,
                              .repository = number,
                              .name = copy_string(name),
                              .repos_dir = copy_string(repos_dir),
                              .silence_ns = HISTORY_SILENCE_NS};
        pthread_mutex_init(&h->lock, NULL);
        git_begin_unless_delayed();
        h->path = format_string("%s/%s.git", repos_dir, name);
        if (stat(h->path, &st) < 0) {
                int r = errorf(-errno, "the repository of %s is not at %s: %s", name, h->path, strerror(errno));

                history_free(h);
                return r;
        }
        *ret = h;
        return 0;
}

void history_set_silence(struct history *h, uint64_t silence_ns)
{
        h->silence_ns = silence_ns;
}

DEFINE_REFS(history, history_free)

/* libgit2's lock files, and objects and packs that it had not finished. No ref's name ends in ".lock". */
static bool is_unfinished(const FTSENT *f)
{
        static const char lock[] = ".lock", object[] = "tmp_object_git2_", pack[] = "pack_git2_";

        return f->fts_info == FTS_F &&
               ((f->fts_namelen >= strlen(lock) && strcmp(f->fts_name + f->fts_namelen - strlen(lock), lock) == 0) ||
                strncmp(f->fts_name, object, strlen(object)) == 0 || strncmp(f->fts_name, pack, strlen(pack)) == 0);
}

/* No other solverfs writes to a repository that is locked. A lock file that a killed process left would refuse all later updates. */
static void remove_unfinished(const char *repos_dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s.git", repos_dir, name);
        char *const roots[] = {path, NULL};
        FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

        if (!fts)
                return;
        for (FTSENT *f; (f = fts_read(fts));)
                if (is_unfinished(f) && unlink(f->fts_accpath) < 0)
                        log_warning("cannot remove %s, which a killed update left: %s", f->fts_path, strerror(errno));
        fts_close(fts);
}

int history_lock(const char *repos_dir, const char *name, const struct progress *p, int *ret_fd)
{
        char file[NAME_MAX + 1];
        int r = snprintf(file, sizeof(file), "%s.lock", name) < (int)sizeof(file) ? 0 : -ENAMETOOLONG;

        if (r == 0)
                r = lock_wait_for(repos_dir, file, p, "waiting for another process's update", ret_fd);
        if (r == 0)
                remove_unfinished(repos_dir, name);
        return r < 0 && r != -ECANCELED ? errorf(r, "cannot lock the repository %s/%s.git: %s", repos_dir, name, error_message(r)) : r;
}

/* -- handles ---------------------------------------------------------------------------------------------------- */

int history_repository(struct history *h, git_repository **ret)
{
        int r;

        git_begin();
        r = git_repository_open_ext(ret, h->path, GIT_REPOSITORY_OPEN_BARE | GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
        if (r < 0)
                return errorf(git_errno(r) == -ENOENT ? -EIO : git_errno(r), "cannot open the repository %s: %s", h->path,
                              git_error_text());
        r = object_reader_install(*ret);
        if (r < 0)
                git_repository_free(steal_pointer(*ret));
        return r;
}

int history_handle(struct history *h, struct handle *ret)
{
        *ret = (struct handle){.history = h};
        pthread_mutex_lock(&h->lock);
        if (h->n_idle > 0)
                *ret = h->idle[--h->n_idle];
        pthread_mutex_unlock(&h->lock);
        return ret->git ? 0 : history_repository(h, &ret->git);
}

void history_handle_done(struct handle *handle)
{
        struct history *h = handle->history;

        if (!handle->git)
                return;
        pthread_mutex_lock(&h->lock);
        if (h->n_idle < N_IDLE && handle->uses + 1 < HANDLE_USES) {
                h->idle[h->n_idle++] = (struct handle){h, handle->git, handle->uses + 1};
                handle->git = NULL;
        }
        pthread_mutex_unlock(&h->lock);
        git_repository_free(handle->git);
        handle->git = NULL;
}

int history_object(struct history *h, git_repository *git, uint32_t number, git_commit **ret)
{
        struct commit c;
        int r = history_commit(h, number, &c);

        if (r < 0)
                return r;
        r = git_commit_lookup(ret, git, &c.oid);
        if (r == GIT_ENOTFOUND)
                return errorf(-ESTALE, "the repository %s has lost commit %s; run 'git fetch --refetch' twice in it to get it back", h->path,
                              oid_text(&c.oid));
        return r < 0 ? errorf(-EIO, "commit %s of %s is damaged: %s", oid_text(&c.oid), h->path, git_error_text()) : 0;
}

/* -- commits ---------------------------------------------------------------------------------------------------- */

static struct index_count count_of(struct history *h)
{
        cleanup_txn struct store_txn *t = NULL;
        struct index_count count = {0};

        if (store_read(h->store, &t) == 0)
                index_get_count(h, t, &count);
        return count;
}

uint32_t history_count(struct history *h)
{
        return count_of(h).commits;
}

uint64_t history_generation(struct history *h)
{
        return count_of(h).generation;
}

static int get_commit(struct history *h, struct store_txn *t, uint32_t number, struct blob *ret)
{
        struct index_key key = index_key_number(h, number);
        int r = store_get(t, h->tables.commits, index_slice(&key), ret);

        if (r == -ENOENT)
                return errorf(r, "%s has no commit number %u", h->name, number);
        if (r == 0 && (ret->size < COMMIT_FIXED || (ret->size - COMMIT_FIXED) % 4 != 0)) {
                blob_done(ret);
                r = errorf(-EIO, "commit number %u of %s is damaged in the index", number, h->name);
        }
        return r;
}

static uint32_t first_parent(const struct blob *b)
{
        return b->size > COMMIT_FIXED ? record_parent(SLICE(b->data, b->size), 0) : COMMIT_NONE;
}

int history_commit(struct history *h, uint32_t number, struct commit *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        const uint8_t *p;
        int r = store_read(h->store, &t) ?: get_commit(h, t, number, &b);

        if (r < 0)
                return r;
        p = b.data;
        memcpy(ret->oid.id, p, GIT_OID_RAWSZ);
        ret->committed = (int64_t)key_get_u64(p + GIT_OID_RAWSZ);
        ret->indexed = (int64_t)key_get_u64(p + GIT_OID_RAWSZ + 8);
        ret->first_parent = first_parent(&b);
        return 0;
}

int history_number(struct history *h, const git_oid *oid, uint32_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(h->store, &t) ?: index_get_number(h, t, oid, ret);

        return r == -ENOENT ? errorf(r, "%s has no commit %s", h->name, oid_text(oid)) : r;
}

int history_parents(struct history *h, uint32_t number, uint32_t **ret_numbers, size_t *ret_n)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        int r = store_read(h->store, &t) ?: get_commit(h, t, number, &b);

        if (r < 0)
                return r;
        *ret_n = record_n_parents(SLICE(b.data, b.size));
        *ret_numbers = allocate(*ret_n + 1, sizeof(**ret_numbers));
        for (size_t i = 0; i < *ret_n; i++)
                (*ret_numbers)[i] = record_parent(SLICE(b.data, b.size), i);
        return 0;
}

int history_oids(struct history *h, uint32_t from, uint32_t n, git_oid *ret)
{
        struct index_key all = index_key(h, NULL, 0), first = index_key_number(h, from);
        cleanup_walk struct store_walk w = {.store = h->store, .table = h->tables.commits, .prefix = index_slice(&all), .from = index_slice(&first)};
        uint32_t i = 0;
        int r = 0;

        while (i < n && (r = store_walk(&w)) > 0) {
                if (w.value.size < COMMIT_FIXED || key_get_u32((const uint8_t *)w.key.data + 4) != from + i) /* numbers are dense: a gap is damage */
                        return errorf(-EIO, "the index of %s is damaged at commit number %u; 'solverfs fsck' repairs it", h->name, from + i);
                memcpy(ret[i++].id, w.value.data, GIT_OID_RAWSZ);
        }
        return r < 0 ? r : (int)i;
}

int history_line(struct history *h, uint32_t tip, uint32_t **ret_numbers, size_t *ret_n)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_free uint32_t *list = NULL;
        size_t n = 0;
        int r = tip == COMMIT_NONE ? history_head(h, &tip) : 0;

        if (r == 0)
                r = store_read(h->store, &t);
        while (r == 0 && tip != COMMIT_NONE) {
                cleanup_blob struct blob b = {0};

                list_add(list, n, tip);
                r = get_commit(h, t, tip, &b);
                if (r == 0 && first_parent(&b) != COMMIT_NONE && first_parent(&b) >= tip)
                        r = errorf(-EIO, "commit number %u of %s is damaged in the index", tip, h->name); /* parents come first */
                if (r == 0)
                        tip = first_parent(&b);
        }
        if (r < 0)
                return r;
        *ret_numbers = allocate(n, sizeof(**ret_numbers));
        *ret_n = n;
        for (size_t i = 0; i < n; i++)
                (*ret_numbers)[i] = list[n - 1 - i];
        return 0;
}
