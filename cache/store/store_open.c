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

static void drain_pool(struct environment *e)
{
        struct store_txn *t;

        while ((t = e->pool)) {
                e->pool = t->next;
                db_abort(e->db, t->txn);
                free(t);
        }
}

static void environment_free(struct environment *e)
{
        drain_pool(e);
        db_close(e->db);
        journal_close(e->journal);
        if (e->write_fd >= 0)
                close(e->write_fd);
        if (e->open_fd >= 0)
                close(e->open_fd);
        buffer_done(&e->scratch);
        pthread_mutex_destroy(&e->writer);
        pthread_mutex_destroy(&e->pool_lock);
        pthread_cond_destroy(&e->pool_changed);
        free(e->dir);
        free(e);
}

static struct environment *environment_new(const char *dir)
{
        struct environment *e = calloc(1, sizeof(*e));
        pthread_mutexattr_t attributes;
        pthread_condattr_t clock;

        if (!e)
                return NULL;
        e->refs = 1;
        e->open_fd = e->write_fd = -1;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes,
                                  PTHREAD_MUTEX_ERRORCHECK); /* writing twice in one thread is told, not waited for */
        pthread_mutex_init(&e->writer, &attributes);
        pthread_mutexattr_destroy(&attributes);
        pthread_mutex_init(&e->pool_lock, NULL);
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&e->pool_changed, &clock);
        pthread_condattr_destroy(&clock);
        e->dir = strdup(dir);
        if (!e->dir) {
                environment_free(e);
                return NULL;
        }
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

static int open_index_locked(struct environment *e, bool alone)
{
        int r = e->read_only ? 0 : environment_lock(e);

        if (r < 0)
                return r;
        r = index_open(e, alone);
        if (!e->read_only)
                environment_unlock(e);
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

static int check_format(struct environment *e, MDB_txn *txn, bool *ret_fresh)
{
        struct slice value;
        uint8_t bytes[4];
        int r = db_get(e->db, txn, e->meta, slice_string(META_FORMAT), &value);

        *ret_fresh = r == -ENOENT;
        if (r == -ENOENT && e->read_only)
                return errorf(-EIO, "the index in %s is empty; open the store for writing to make it from the journal", e->dir);
        if (r == -ENOENT) {
                key_u32(bytes, STORE_FORMAT);
                return db_put(e->db, txn, e->meta, slice_string(META_FORMAT), SLICE(bytes, sizeof(bytes)));
        }
        if (r == 0 && value.size != sizeof(bytes))
                return db_damaged(e->db, "it has no format number");
        if (r == 0)
                r = db_copy(e->db, bytes, value);
        if (r == 0 && key_get_u32(bytes) != STORE_FORMAT)
                return errorf(
                        -EPROTONOSUPPORT,
                        "the index in %s/lmdb has format %u and this solverfs knows format %d only; nothing was changed: use %s",
                        e->dir, key_get_u32(bytes), STORE_FORMAT,
                        key_get_u32(bytes) > STORE_FORMAT ? "a newer one" : "the one that made it");
        return r;
}

static int open_tables(struct store *s, MDB_txn *txn)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_tables; i++) {
                struct table *t = &s->tables[i];

                r = db_table(s->env->db, txn, t->name, !s->env->read_only, &t->dbi);
                t->present = r == 0;
                if (r == -ENOENT)
                        r = 0;
        }
        return r;
}

/* Under the write lock: tables, format, and what the journal has that LMDB has not. */
static int bring_up(struct store *s, MDB_txn **txn, bool alone)
{
        struct environment *e = s->env;
        struct journal_counts counts = {0};
        struct journal_position found, at;
        bool fresh;
        int r = db_table(e->db, *txn, META_TABLE, true, &e->meta);

        s->journal_lost = false;
        if (r == 0)
                r = check_format(e, *txn, &fresh);
        if (r == 0)
                r = open_tables(s, *txn);
        if (r == 0)
                r = applied_get(e, *txn, &found);
        if (r == 0)
                r = journal_pending(e->journal, found);
        if (r == -ENODATA) {
                log_error("a part of the journal in %s/journal is gone; it is written anew from the index", e->dir);
                s->journal_lost = e->journal_anew = true;
                r = 1; /* there may be more behind the part that is gone */
        }
        if (r < 0)
                return r;
        at = found;
        if (r > 0) {
                e->index_anew |= fresh;
                if (fresh)
                        log_warning("making the index of %s from its journal", e->dir);
                r = replay(e, s->tables, s->n_tables, alone, txn, &at, &counts);
                if (r == 0 && counts.damaged > 0)
                        log_error("the journal of %s is damaged in %llu places; 'solverfs fsck' says more", e->dir,
                                  (unsigned long long)counts.damaged);
        }
        if (r == 0 && !journal_position_equal(at, found))
                r = applied_put(e, *txn, at);
        /* After a power cut there may be anything behind the last whole group; once more is written it must not look like a part of that. */
        if (r == 0 && alone && at.segment != 0 && !s->journal_lost)
                r = journal_cut(e->journal, at);
        return r;
}

static int bring_up_writing(struct store *s, bool alone)
{
        struct environment *e = s->env;
        MDB_txn *txn = NULL;
        int r = environment_lock(e);

        if (r < 0)
                return r;
        r = db_begin(e->db, true, &txn);
        if (r == 0)
                r = bring_up(s, &txn, alone);
        if (r == 0)
                r = db_commit(e->db, txn);
        else
                db_abort(e->db, txn);
        environment_unlock(e);
        return r;
}

/* -- making it anew while it is open ---------------------------------------------------------------------------- */

#define HEAL_NS (5 * NSEC_PER_SEC) /* for the transactions of other threads to end; they are short */

/* No transaction begins from here on, and none is open. */
static bool heal_begin(struct environment *e)
{
        uint64_t until = now_ns() + HEAL_NS;
        struct timespec at = {.tv_sec = (time_t)(until / NSEC_PER_SEC), .tv_nsec = (long)(until % NSEC_PER_SEC)};
        int rc = 0;

        pthread_mutex_lock(&e->pool_lock);
        e->healing = true;
        while (e->n_open > 0 && rc == 0)
                rc = pthread_cond_timedwait(&e->pool_changed, &e->pool_lock, &at);
        if (e->n_open == 0)
                drain_pool(e);
        rc = e->n_open;
        pthread_mutex_unlock(&e->pool_lock);
        return rc == 0;
}

static void heal_end(struct environment *e)
{
        pthread_mutex_lock(&e->pool_lock);
        e->healing = false;
        pthread_cond_broadcast(&e->pool_changed);
        pthread_mutex_unlock(&e->pool_lock);
}

/* All handles have numbers of their own for the new index's tables. */
static int bring_up_again(struct environment *e, bool anew)
{
        MDB_txn *txn = NULL;
        int r = db_begin(e->db, true, &txn);

        for (struct store *s = e->handles; r == 0 && s; s = s->next)
                r = bring_up(s, &txn, anew);
        if (r == 0)
                return db_commit(e->db, txn);
        db_abort(e->db, txn);
        return r;
}

/* Under the write lock. Another process may have been first. */
static int renew_index(struct environment *e)
{
        struct db *old = e->db, *new;
        bool anew = db_is_current(old);
        int r = anew ? index_set_aside(e->dir) : 0;

        if (r == 0)
                r = db_open(old->dir, false, &new);
        if (r < 0)
                return r;
        e->db = new;
        e->index_anew = true;
        r = bring_up_again(e, anew);
        if (r < 0) {
                e->db = old;
                db_close(new);
                return r;
        }
        db_close(old);
        log_info("the index in %s is whole again", e->dir);
        return 0;
}

int heal(struct environment *e)
{
        int r;

        pthread_mutex_lock(&registry.lock);
        r = db_usable(e->db);
        if (r == 0 || e->read_only || !db_is_ours(e->db)) {
                pthread_mutex_unlock(&registry.lock);
                return r;
        }
        if (!heal_begin(e))
                r = errorf(-EIO, "the index in %s is damaged, and cannot be made anew while it is being read", e->dir);
        else
                r = environment_lock(e);
        if (r == 0) {
                r = renew_index(e);
                environment_unlock(e);
        }
        heal_end(e);
        pthread_mutex_unlock(&registry.lock);
        return r;
}

static int bring_up_reading(struct store *s)
{
        struct environment *e = s->env;
        MDB_txn *txn;
        bool fresh;
        int r = db_begin(e->db, false, &txn);

        if (r < 0)
                return r;
        r = db_table(e->db, txn, META_TABLE, false, &e->meta);
        if (r == -ENOENT)
                r = errorf(-EIO, "the index in %s is empty; open the store for writing to make it from the journal", e->dir);
        if (r == 0)
                r = check_format(e, txn, &fresh);
        if (r == 0)
                r = open_tables(s, txn);
        if (r == 0)
                return db_commit(e->db, txn); /* keeps the tables' handles */
        db_abort(e->db, txn);
        return r;
}

static int environment_open(struct environment *e, bool *ret_alone)
{
        int r = take_open_lock(e, ret_alone);

        if (r == 0)
                r = open_journal(e); /* first: it says when the store is of a newer solverfs */
        if (r == 0 && !e->read_only)
                r = lock_open(e->dir, "write.lock", &e->write_fd);
        if (r == 0)
                r = open_index_locked(e, *ret_alone);
        if (r == 0 && e->db->unlocked)
                log_warning("%s cannot be locked; reading it while another process writes may fail", e->dir);
        if (r == 0 && !e->read_only)
                db_clear_readers(e->db);
        return r;
}

/* -- handles ---------------------------------------------------------------------------------------------------- */

static void store_free(struct store *s)
{
        for (size_t i = 0; i < s->n_tables; i++)
                free(s->tables[i].name);
        pthread_mutex_destroy(&s->together.lock);
        free(s->dir);
        free(s);
}

static struct store *store_new(const char *dir, const struct store_table *tables, size_t n_tables)
{
        struct store *s = calloc(1, sizeof(*s) + n_tables * sizeof(*s->tables));

        if (!s)
                return NULL;
        s->n_tables = n_tables;
        pthread_mutex_init(&s->together.lock, NULL);
        STAILQ_INIT(&s->together.waiting);
        s->dir = strdup(dir);
        for (size_t i = 0; i < n_tables; i++) {
                assert(strlen(tables[i].name) <= JOURNAL_TABLE_MAX && tables[i].name[0] != '@');
                s->tables[i].journaled = tables[i].journaled;
                s->tables[i].name = strdup(tables[i].name);
                if (!s->tables[i].name || !s->dir) {
                        store_free(s);
                        return NULL;
                }
        }
        return s;
}

static struct environment *registry_find(const struct stat *st)
{
        for (struct environment *e = registry.first; e; e = e->next)
                if (e->device == st->st_dev && e->inode == st->st_ino && db_is_ours(e->db))
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

static void handle_drop(struct store *s)
{
        struct store **p = &s->env->handles;

        while (*p && *p != s)
                p = &(*p)->next;
        if (*p)
                *p = s->next;
        registry_unref(s->env);
}

/* Under the registry's lock. */
static int open_handle(struct store *s, const struct stat *st)
{
        struct environment *e = registry_find(st);
        bool alone = false;
        int r = 0;

        if (e) {
                if (e->read_only && !s->read_only)
                        return errorf(-EBUSY, "this process has the store in %s open read-only", s->dir);
                e->refs++;
                s->env = e;
        } else {
                s->env = e = environment_new(s->dir);
                if (!e)
                        return -ENOMEM;
                e->device = st->st_dev;
                e->inode = st->st_ino;
                e->read_only = s->read_only;
                r = environment_open(e, &alone);
                if (r == 0) {
                        e->next = registry.first;
                        registry.first = e;
                }
        }
        if (r == 0)
                r = e->read_only ? bring_up_reading(s) : bring_up_writing(s, alone);
        if (r == 0) {
                s->next = e->handles;
                e->handles = s;
        }
        if (r == 0 && alone) {
                journal_sweep(e->journal);
                r = lock_share(e->open_fd);
        }
        if (r < 0)
                handle_drop(s);
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

static int open_once(const char *dir, const struct store_table *tables, size_t n_tables, int flags, struct store **ret)
{
        struct store *s = store_new(dir, tables, n_tables);
        struct stat st;
        int r;

        *ret = NULL;
        if (!s)
                return -ENOMEM;
        s->read_only = flags & STORE_READ_ONLY;
        r = access(dir, F_OK) == 0 ? choose_read_only(s) : 0;
        if (r == 0)
                r = prepare_folder(dir, s->read_only ? flags | STORE_READ_ONLY : flags);
        if (r == 0 && stat(dir, &st) < 0)
                r = errorf(-errno, "cannot use the store in %s: %s", dir, strerror(errno));
        if (r == 0) {
                pthread_mutex_lock(&registry.lock);
                r = open_handle(s, &st);
                pthread_mutex_unlock(&registry.lock);
        }
        if (r == 0 && s->journal_lost) {
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

#define OPEN_TRIES 3

int store_open(const char *dir, const struct store_table *tables, size_t n_tables, int flags, struct store **ret)
{
        char mark[PATH_SIZE];
        int r = path_join(mark, dir, "lmdb/" DB_DAMAGED);

        for (unsigned tries = 1; r == 0; tries++) {
                r = open_once(dir, tables, n_tables, flags, ret);
                if (r != -EIO || flags & STORE_READ_ONLY || tries == OPEN_TRIES || access(mark, F_OK) < 0)
                        break;
                r = 0; /* another process found it damaged behind our look at it: now it is made anew */
        }
        return r;
}

struct store *store_close(struct store *s)
{
        if (!s)
                return NULL;
        pthread_mutex_lock(&registry.lock);
        handle_drop(s);
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
