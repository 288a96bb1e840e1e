/* Opening a store: what all its handles in this process share, and bringing the index up to the journal. */
#include "cache/store/store_internal.h"

#include <sys/stat.h>

#include "cache/base/lock.h"

/* Every environment open in this process. */
static struct {
        pthread_mutex_t lock;
        struct environment *first; /* under lock */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- the environment -------------------------------------------------------------------------------------------- */

static void environment_free(struct environment *e)
{
        index_close(e);
        for (size_t i = 0; i < DB_TABLES; i++)
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

static struct environment *environment_new(const char *dir)
{
        struct environment *e = allocate(1, sizeof(*e));
        pthread_mutexattr_t attributes;

        e->refs = 1;
        e->open_fd = e->write_fd = -1;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes,
                                  PTHREAD_MUTEX_ERRORCHECK); /* writing twice in one thread is told, not waited for */
        pthread_mutex_init(&e->writer, &attributes);
        pthread_mutexattr_destroy(&attributes);
        pthread_mutex_init(&e->pool_lock, NULL);
        e->dir = copy_string(dir);
        return e;
}

static bool has(const char *dir, const char *name)
{
        char path[PATH_SIZE];

        return path_join(path, dir, name) == 0 && access(path, F_OK) == 0;
}

static int make_inside(const char *dir, const char *name)
{
        char path[PATH_SIZE];
        int r = path_join(path, dir, name);

        return r < 0 ? r : MIN(make_private_folder(path), 0);
}

static int prepare_folder(const char *dir, int flags)
{
        int r = 0;

        if (!has(dir, "lmdb") && !has(dir, "journal")) {
                if (!(flags & STORE_CREATE))
                        return errorf(-ENOENT, "there is no store in %s; make one with 'solverfs init'", dir);
                r = make_dirs(dir, 0700);
        }
        if (r == 0 && !(flags & STORE_READ_ONLY))
                r = make_inside(dir, "lmdb");
        if (r == 0 && !(flags & STORE_READ_ONLY))
                r = make_inside(dir, "journal");
        return r;
}

static int open_journal(struct environment *e)
{
        char path[PATH_SIZE];
        int r = path_join(path, e->dir, "journal");

        if (r == 0)
                r = journal_open(path, &e->journal);
        return e->read_only && r == -ENOENT ? 0 : r;
}

/* Exclusive while nobody else has it open (so that it can be repaired), shared from then on. */
static int take_open_lock(struct environment *e, bool *ret_alone)
{
        int r = lock_try(e->dir, "store.lock", e->read_only, &e->open_fd);

        *ret_alone = r == 0 && !e->read_only;
        if (r == -EAGAIN)
                r = lock_wait(e->dir, "store.lock", true, &e->open_fd);
        if (e->read_only && (r == -EROFS || r == -EACCES || r == -ENOENT))
                return 0;
        return r;
}

static int environment_open(struct environment *e, bool *ret_alone)
{
        int r = take_open_lock(e, ret_alone);

        if (r == 0)
                r = open_journal(e); /* first: it says when the store is of a newer solverfs */
        if (r == 0 && !e->read_only)
                r = lock_open(e->dir, "write.lock", &e->write_fd);
        return r;
}

/* A handle's tables are the environment's. True: there are new ones. */
static int add_tables(struct environment *e, struct store *s, const char *const *names, bool *ret_added)
{
        for (size_t i = 0; i < s->n_tables; i++) {
                unsigned slot = 0;

                assert(strlen(names[i]) <= JOURNAL_TABLE_MAX && names[i][0] != '@');
                while (slot < DB_TABLES - 1 && e->tables[slot] && strcmp(e->tables[slot], names[i]) != 0)
                        slot++;
                if (slot == DB_TABLES - 1)
                        return errorf(-EINVAL, "too many tables");
                if (!e->tables[slot]) {
                        e->tables[slot] = copy_string(names[i]);
                        *ret_added = true;
                }
                s->tables[i] = (struct table){e->tables[slot], slot};
        }
        return 0;
}

static int open_index_locked(struct store *s, const char *const *tables, bool alone, bool check)
{
        struct environment *e = s->env;
        bool added = false;
        int r = e->read_only ? 0 : environment_lock(e);

        if (r < 0)
                return r;
        r = add_tables(e, s, tables, &added);
        if (r == 0 && !e->index)
                r = index_open(e, alone, check, &e->index);
        else if (r == 0 && added)
                r = index_add_tables(e);
        if (!e->read_only)
                environment_unlock(e);
        return r;
}

/* -- handles ---------------------------------------------------------------------------------------------------- */

static void store_free(struct store *s)
{
        pthread_mutex_destroy(&s->together.lock);
        free(s->dir);
        free(s);
}

static struct store *store_new(const char *dir, size_t n_tables)
{
        struct store *s = allocate(1, sizeof(*s) + n_tables * sizeof(*s->tables));

        s->n_tables = n_tables;
        pthread_mutex_init(&s->together.lock, NULL);
        STAILQ_INIT(&s->together.waiting);
        s->dir = copy_string(dir);
        return s;
}

static struct environment *registry_find(const struct stat *st)
{
        for (struct environment *e = registry.first; e; e = e->next)
                if (e->device == st->st_dev && e->inode == st->st_ino && db_is_ours(e->index->db))
                        return e;
        return NULL;
}

static void registry_unref(struct environment *e)
{
        struct environment **p = &registry.first;

        if (--e->refs > 0)
                return;
        while (*p && *p != e)
                p = &(*p)->next;
        if (*p)
                *p = e->next;
        environment_free(e);
}

/* Under the registry's lock. */
static int open_handle(struct store *s, const char *const *tables, const struct stat *st, bool check)
{
        struct environment *e = registry_find(st);
        bool alone = false, first = !e;
        int r = 0;

        if (e) {
                if (e->read_only && !s->read_only)
                        return errorf(-EBUSY, "this process has the store in %s open read-only", s->dir);
                e->refs++;
                s->env = e;
        } else {
                s->env = e = environment_new(s->dir);
                e->device = st->st_dev;
                e->inode = st->st_ino;
                e->read_only = s->read_only;
                r = environment_open(e, &alone);
        }
        if (r == 0)
                r = open_index_locked(s, tables, alone, check);
        if (r == 0 && first) {
                e->next = registry.first;
                registry.first = e;
                if (e->index->db->unlocked)
                        log_warning("%s cannot be locked; reading it while another process writes may fail", e->dir);
                if (!e->read_only)
                        db_clear_readers(e->index->db);
        }
        if (r == 0 && alone) {
                journal_sweep(e->journal);
                r = lock_share(e->open_fd);
        }
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
        struct store *s = store_new(dir, n_tables);
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
                r = open_handle(s, tables, &st, flags & STORE_CHECK);
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
