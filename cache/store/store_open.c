/* Opening a store: the environment that its handles in this process share, and the handles. */
#include "cache/store/store_internal.h"

#include <sys/stat.h>

#include "cache/base/lock.h"

/* Every environment open in this process. */
static struct {
        pthread_mutex_t lock;
        LIST_HEAD(, environment) all; /* under lock */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- the environment -------------------------------------------------------------------------------------------- */

static void environment_free(struct environment *e)
{
        index_close(e);
        for (size_t i = 0; i < e->n_tables; i++)
                free(e->tables[i]);
        journal_close(e->journal);
        if (e->write_fd >= 0)
                close(e->write_fd);
        if (e->open_fd >= 0)
                close(e->open_fd);
        buffer_done(&e->scratch);
        pthread_mutex_destroy(&e->writer);
        pthread_mutex_destroy(&e->pool_lock);
        free(e->dir);
        free(e);
}

static struct environment *environment_new(const char *dir, const char *const *tables, size_t n_tables)
{
        struct environment *e = allocate(1, sizeof(*e));
        pthread_mutexattr_t attributes;

        e->refs = 1;
        e->open_fd = e->write_fd = -1;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes,
                                  PTHREAD_MUTEX_ERRORCHECK); /* a thread that writes twice gets an error, not a deadlock */
        pthread_mutex_init(&e->writer, &attributes);
        pthread_mutexattr_destroy(&attributes);
        pthread_mutex_init(&e->pool_lock, NULL);
        e->dir = copy_string(dir);
        assert(n_tables < DB_TABLES);
        for (; e->n_tables < n_tables; e->n_tables++) {
                assert(strlen(tables[e->n_tables]) <= JOURNAL_TABLE_MAX && tables[e->n_tables][0] != '@');
                e->tables[e->n_tables] = copy_string(tables[e->n_tables]);
        }
        return e;
}

static int prepare_folder(const char *dir, int flags)
{
        cleanup_free char *index = format_string("%s/lmdb", dir), *journal = format_string("%s/journal", dir);
        int r = 0;

        if (access(index, F_OK) < 0 && access(journal, F_OK) < 0) {
                if (!(flags & STORE_CREATE))
                        return errorf(-ENOENT, "there is no store in %s; make one with 'solverfs init'", dir);
                r = make_dirs(dir, 0700);
        }
        if (r < 0 || flags & STORE_READ_ONLY)
                return r;
        r = MIN(make_private_folder(index), 0);
        return r < 0 ? r : MIN(make_private_folder(journal), 0);
}

/* The lock is exclusive if no other process has the store open, so that it can be repaired; later it is shared. */
static int take_open_lock(struct environment *e, bool *ret_alone)
{
        int r = lock_try(e->dir, "store.lock", e->read_only, &e->open_fd);

        *ret_alone = r == 0 && !e->read_only;
        if (r == -EAGAIN)
                r = lock_wait(e->dir, "store.lock", LOCK_SHARED, &e->open_fd);
        if (e->read_only && (r == -EROFS || r == -EACCES || r == -ENOENT))
                return 0;
        return r;
}

/* -- handles ---------------------------------------------------------------------------------------------------- */

static void store_free(struct store *s)
{
        pthread_mutex_destroy(&s->together.lock);
        free(s->dir);
        free(s);
}

static struct store *store_new(const char *dir)
{
        struct store *s = allocate(1, sizeof(*s));

        pthread_mutex_init(&s->together.lock, NULL);
        STAILQ_INIT(&s->together.waiting);
        s->dir = copy_string(dir);
        return s;
}

static struct environment *registry_find(const struct stat *st)
{
        struct environment *e;

        LIST_FOREACH(e, &registry.all, next)
                if (e->device == st->st_dev && e->inode == st->st_ino && db_is_ours(e->index->db))
                        return e;
        return NULL;
}

static void registry_unref(struct environment *e)
{
        if (--e->refs > 0)
                return;
        LIST_REMOVE(e, next);
        environment_free(e);
}

static int open_environment(struct environment *e, bool check)
{
        cleanup_free char *journal = format_string("%s/journal", e->dir);
        bool alone;
        int r = take_open_lock(e, &alone);

        if (r == 0)
                r = journal_open(journal, &e->journal); /* first: it detects a store of a newer solverfs */
        if (e->read_only && r == -ENOENT)
                r = 0;
        if (r == 0 && !e->read_only)
                r = lock_open(e->dir, "write.lock", &e->write_fd);
        if (r == 0)
                r = environment_lock(e, true);
        if (r < 0)
                return r;
        r = index_open(e, alone, check, false, &e->index);
        environment_unlock(e);
        if (r < 0)
                return r;
        if (e->index->db->unlocked)
                log_warning("%s cannot be locked; reading it while another process writes may fail", e->dir);
        if (!e->read_only)
                db_clear_readers(e->index->db);
        if (!alone)
                return 0;
        journal_sweep(e->journal);
        return lock_share(e->open_fd);
}

/* Under the registry's lock. */
static int open_handle(struct store *s, const char *const *tables, size_t n_tables, const struct stat *st, bool check)
{
        struct environment *e = registry_find(st);
        int r;

        if (e) {
                if (e->read_only && !s->read_only)
                        return errorf(-EBUSY, "this process has the store in %s open read-only", s->dir);
                e->refs++;
                s->env = e;
                return 0;
        }
        s->env = e = environment_new(s->dir, tables, n_tables);
        e->device = st->st_dev;
        e->inode = st->st_ino;
        e->read_only = s->read_only;
        LIST_INSERT_HEAD(&registry.all, e, next);
        r = open_environment(e, check);
        if (r < 0)
                registry_unref(e);
        return r;
}

static int choose_read_only(struct store *s)
{
        if (s->read_only || access(s->dir, W_OK) == 0)
                return 0;
        if (errno != EROFS && errno != EACCES)
                return errorf(-errno, "cannot use the store in %s: %s", s->dir, strerror(errno));
        log_warning("%s cannot be written to (%s); the store is open read-only", s->dir, strerror(errno));
        s->read_only = true;
        return 0;
}

int store_open(const char *dir, const char *const *tables, size_t n_tables, int flags, struct store **ret)
{
        struct store *s = store_new(dir);
        struct stat st;
        int r;

        *ret = NULL;
        s->read_only = flags & STORE_READ_ONLY;
        r = access(dir, F_OK) == 0 ? choose_read_only(s) : 0;
        if (r == 0)
                r = prepare_folder(dir, s->read_only ? flags | STORE_READ_ONLY : flags);
        if (r == 0 && stat(dir, &st) < 0)
                r = errorf(-errno, "cannot use the store in %s: %s", dir, strerror(errno));
        if (r == 0) {
                pthread_mutex_lock(&registry.lock);
                r = open_handle(s, tables, n_tables, &st, flags & STORE_CHECK);
                pthread_mutex_unlock(&registry.lock);
        }
        if (r == 0 && s->env->journal_lost) {
                r = store_compact(s);
                if (r < 0)
                        return store_close(s), r;
        }
        if (r < 0) {
                store_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct store *store_close(struct store *s)
{
        if (!s)
                return NULL;
        pthread_mutex_lock(&registry.lock);
        registry_unref(s->env);
        pthread_mutex_unlock(&registry.lock);
        store_free(s);
        return NULL;
}

const char *store_dir(const struct store *s)
{
        return s->dir;
}

bool store_read_only(const struct store *s)
{
        return s->read_only;
}
