/* Transactions, and values in them. A write transaction holds the write lock. It makes each change in LMDB and adds it to a group for the journal; the
 * commit writes the group to the journal first, and then commits LMDB. */
#include "cache/store/store_internal.h"

#include "cache/base/fault.h"
#include "cache/base/lock.h"

#define CLEAR_READERS_NS (60 * NSEC_PER_SEC) /* between two searches for read transactions of dead processes */

/* -- the write lock --------------------------------------------------------------------------------------------- */

int environment_lock(struct environment *e, bool wait)
{
        int r = wait ? pthread_mutex_lock(&e->writer) : pthread_mutex_trylock(&e->writer);

        if (r == EDEADLK)
                return errorf(-EDEADLK, "this thread is writing to the store in %s already", e->dir);
        if (r != 0)
                return r == EBUSY ? -EAGAIN : -r;
        r = e->read_only ? 0 : lock_take(e->write_fd, wait);
        if (r < 0) {
                pthread_mutex_unlock(&e->writer);
                return r == -EAGAIN ? r : errorf(r, "cannot lock %s for writing: %s", e->dir, strerror(-r));
        }
        return 0;
}

void environment_unlock(struct environment *e)
{
        if (!e->read_only)
                lock_drop(e->write_fd);
        pthread_mutex_unlock(&e->writer);
}

/* -- the store's own record ------------------------------------------------------------------------------------- */

/* The value must have `size` bytes; it is framed like all values. -ENOENT: there is none. */
int meta_get(struct db *db, MDB_txn *txn, MDB_dbi meta, const char *key, size_t size, struct blob *ret)
{
        cleanup_blob struct blob frame = {0};
        int r = db_get(db, txn, meta, slice_string(key), &frame);

        if (r < 0)
                return r;
        r = frame_decode(slice_string(key), SLICE(frame.data, frame.size), ret);
        if (r == -EBADMSG || (r == 0 && ret->size != size))
                return db_fail_damaged(db, "the store's own record is damaged");
        if (r == 0 && !ret->owned)
                ret->owned = steal_pointer(frame.owned);
        return r;
}

int meta_put(struct db *db, MDB_txn *txn, MDB_dbi meta, const char *key, struct slice value)
{
        cleanup_buffer struct buffer frame = {0};

        return frame_encode(slice_string(key), value, &frame)
            ?: db_put(db, txn, meta, slice_string(key), SLICE(frame.data, frame.size));
}

/* -- up to where the journal is applied ------------------------------------------------------------------------- */

int applied_get(struct db *db, MDB_txn *txn, MDB_dbi meta, struct journal_position *ret)
{
        cleanup_blob struct blob value = {0};
        int r = meta_get(db, txn, meta, META_APPLIED, 16, &value);

        *ret = (struct journal_position){0};
        if (r == 0)
                *ret = (struct journal_position){key_get_u64(value.data), key_get_u64((const uint8_t *)value.data + 8)};
        return r == -ENOENT ? 0 : r;
}

int applied_put(struct db *db, MDB_txn *txn, MDB_dbi meta, struct journal_position at)
{
        uint8_t bytes[16];

        key_u64(bytes, at.segment);
        key_u64(bytes + 8, at.offset);
        return meta_put(db, txn, meta, META_APPLIED, SLICE(bytes, sizeof(bytes)));
}

/* -- transactions ----------------------------------------------------------------------------------------------- */

static struct store_txn *txn_new(struct store *s, bool write)
{
        struct store_txn *t = allocate(1, sizeof(*t));

        t->store = s;
        t->env = s->env;
        t->write = write;
        return t;
}

static int begin_reading(struct db *db, MDB_txn **ret)
{
        int r = db_begin(db, DB_READ, ret);

        if (r == -EAGAIN) { /* dead processes may hold the slots */
                db_clear_readers(db);
                r = db_begin(db, DB_READ, ret);
        }
        return r;
}

/* A transaction that was reset, of any handle; NULL: there is none. */
static struct store_txn *pool_take(struct environment *e, struct index *x)
{
        cleanup_unlock pthread_mutex_t *held = hold(&e->pool_lock);
        struct store_txn *t = x->pool;

        if (t)
                x->pool = t->next;
        return t;
}

static int begin_or_renew(struct store *s, struct index *x, struct store_txn **t)
{
        *t = pool_take(s->env, x);
        if (*t)
                return db_renew(x->db, (*t)->txn);
        *t = txn_new(s, false);
        return begin_reading(x->db, &(*t)->txn);
}

int store_read(struct store *s, struct store_txn **ret)
{
        struct store_txn *t = NULL;
        struct index *x = NULL;
        int r = fault_at("store.read");

        *ret = NULL;
        if (r == 0)
                r = index_enter(s->env, false, &x) ?: begin_or_renew(s, x, &t);
        if (r < 0) {
                if (t)
                        db_abort(x->db, t->txn);
                free(t);
                index_leave(s->env, x);
                return r;
        }
        t->store = s;
        t->index = x;
        t->error = 0;
        t->was_read = false;
        *ret = t;
        return 0;
}

bool txn_begin_anew(struct store_txn *t, int error)
{
        struct environment *e = t->env;
        struct index *x = NULL;
        int r;

        if (error != -EIO || t->write || t->was_read || e->read_only)
                return false;
        if (db_usable(t->index->db) == 0) /* LMDB ended the transaction without saying why */
                db_condemn(t->index->db, error_message(error));
        r = index_enter(e, false, &x);
        if (r < 0)
                return false;
        db_abort(t->index->db, t->txn);
        index_leave(e, t->index);
        t->index = x;
        t->txn = NULL;
        t->was_read = true; /* restarts once only */
        t->error = begin_reading(x->db, &t->txn);
        return t->error == 0;
}

/* Applies the group of a process that died between writing its journal and committing LMDB. */
static int catch_up(struct store_txn *t, unsigned flags)
{
        struct environment *e = t->env;
        uint64_t damaged = 0;
        int r = journal_pending(e->journal, t->at);

        if (r == -ENODATA && flags & WRITE_LACKING)
                return 0;
        if (r <= 0)
                return r;
        r = replay(e, t->index, false, &t->txn, &t->at, &damaged);
        if (r == 0) /* so that store_check() in this transaction compares the index with the journal up to here */
                r = applied_put(t->index->db, t->txn, t->index->meta, t->at);
        return r < 0 ? r : journal_cut(e->journal, t->at);
}

static int begin_writing(struct store_txn *t, unsigned flags)
{
        struct environment *e = t->env;
        struct db *db = t->index->db;
        uint64_t now = now_ns();
        int r = db_begin(db, DB_WRITE, &t->txn);

        if (r < 0)
                return r;
        if (now - e->readers_cleared_ns > CLEAR_READERS_NS) {
                db_clear_readers(db); /* a dead reader keeps pages from reuse */
                e->readers_cleared_ns = now;
        }
        r = applied_get(db, t->txn, t->index->meta, &t->at) ?: catch_up(t, flags) ?: fault_at("store.begin");
        t->start = journal_next_group(t->at);
        if (r < 0)
                db_abort(db, t->txn);
        return r;
}

/* Under the write lock. No other process can replace the index until the lock is released. */
static int write_enter(struct store_txn *t, unsigned flags)
{
        int r = index_enter(t->env, true, &t->index) ?: begin_writing(t, flags);

        if (r < 0)
                index_leave(t->env, t->index);
        return r;
}

int write_begin(struct store *s, unsigned flags, struct store_txn **ret)
{
        struct store_txn *t;
        int r;

        *ret = NULL;
        if (s->read_only)
                return errorf(-EROFS, "the store in %s is open read-only", s->dir);
        t = txn_new(s, true);
        r = environment_lock(s->env, flags & WRITE_WAITS);
        if (r == 0) {
                r = write_enter(t, flags);
                if (r < 0)
                        environment_unlock(s->env);
        }
        if (r < 0)
                free(t);
        else
                *ret = t;
        return r;
}

/* If the journal lost a part, it is rewritten from the index, which has all of it. If the index proves damaged here, the second attempt rebuilds
 * it. */
int store_write(struct store *s, struct store_txn **ret)
{
        int r = write_begin(s, WRITE_WAITS, ret);

        if (r == -ENODATA) {
                log_error("a part of the journal in %s/journal is gone; it is written anew from the index", s->dir);
                r = store_compact(s) ?: write_begin(s, WRITE_WAITS, ret);
        }
        return r == -EIO ? write_begin(s, WRITE_WAITS, ret) : r;
}

static struct store_txn *txn_free(struct store_txn *t)
{
        index_leave(t->env, t->index);
        if (t->write)
                environment_unlock(t->env);
        buffer_done(&t->group);
        free(t);
        return NULL;
}

/* The journal first, then LMDB. If LMDB fails, the group is cut off the journal, under the lock, before any process could replay it. */
static int commit_writing(struct store_txn *t)
{
        struct environment *e = t->env;
        struct db *db = t->index->db;
        bool changed = t->n_records > 0;
        int r = t->error;

        if (r == 0)
                r = fault_at("store.commit");
        if (r == 0 && changed) {
                journal_add_commit(&t->group, t->start, t->n_records);
                r = buffer_error(&t->group);
        }
        if (r == 0 && changed)
                r = applied_put(db, t->txn, t->index->meta, (struct journal_position){t->start.segment, t->start.offset + t->group.size});
        if (r == 0 && changed)
                r = journal_append(e->journal, t->start, SLICE(t->group.data, t->group.size));
        if (r < 0) {
                db_abort(db, t->txn);
                return r;
        }
        r = fault_at("store.journaled");
        if (r < 0)
                db_abort(db, t->txn);
        else
                r = db_commit(db, t->txn);
        if (r < 0 && changed) {
                cleanup_free char *why = copy_string(error_message(r));
                int cut = journal_cut(e->journal, t->start);

                if (cut < 0)
                        log_error("%s", error_message(cut));
                errorf(r, "%s", why);
        }
        return r;
}

int store_commit(struct store_txn *t)
{
        int r;

        if (!t->write) {
                store_end(t);
                return 0;
        }
        r = commit_writing(t);
        if (r == 0)
                fault_at("store.committed"); /* only for a crash: it cannot fail any more */
        txn_free(t);
        return r;
}

bool store_update_begins(struct store_update *u)
{
        if (u->tries == 0 && u->r != 0)
                return false;
        if (u->txn && u->r == 0)
                u->r = store_commit(u->txn);
        else
                store_end(u->txn);
        u->txn = NULL;
        while (u->tries == 0 || (u->tries == 1 && u->r == -EIO)) {
                u->tries++;
                u->r = u->at_once ? write_begin(u->store, 0, &u->txn) : store_write(u->store, &u->txn);
                if (u->r == 0)
                        return true;
        }
        return false;
}

int store_update(struct store *s, store_update_fn fn, void *user)
{
        struct store_update u = {.store = s};

        while (store_update_begins(&u))
                u.r = fn(user, u.txn);
        return u.r;
}

struct store_txn *store_end(struct store_txn *t)
{
        struct environment *e;
        struct index *x;

        if (!t)
                return NULL;
        e = t->env;
        x = t->index;
        if (t->write || !t->txn || db_usable(x->db) < 0) {
                db_abort(x->db, t->txn);
                return txn_free(t);
        }
        db_reset(x->db, t->txn);
        pthread_mutex_lock(&e->pool_lock);
        t->next = x->pool;
        x->pool = t;
        pthread_mutex_unlock(&e->pool_lock);
        index_leave(e, x);
        return NULL;
}

/* -- values ----------------------------------------------------------------------------------------------------- */

size_t table_named(const struct environment *e, struct slice name)
{
        size_t i = 0;

        while (i < e->n_tables && (strlen(e->tables[i]) != name.size || memcmp(e->tables[i], name.data, name.size) != 0))
                i++;
        return i;
}

int txn_open_frame(struct store_txn *t, size_t table, struct slice key, struct slice frame, struct blob *ret)
{
        int r = frame_decode(key, frame, ret);

        return r == -EBADMSG ? mend(t, table, key, ret) : r;
}

/* `ret` may be NULL, to ask only whether the key exists. Without a transaction of LMDB, its restart has failed (txn_begin_anew()). */
static int find_frame(struct store_txn *t, size_t table, struct slice key, struct blob *ret)
{
        return t->txn ? db_get(t->index->db, t->txn, txn_dbi(t, table), key, ret) : t->error;
}

static bool is_key(struct slice key)
{
        return key.size > 0 && key.size <= STORE_KEY_MAX;
}

/* -ENOENT without a sentence, also for what cannot be a key. */
static int find(struct store_txn *t, size_t table, struct slice key, struct blob *ret)
{
        int r;

        if (!txn_has(t, table) || !is_key(key)) {
                error_clear();
                return -ENOENT;
        }
        r = find_frame(t, table, key, ret);
        if (txn_begin_anew(t, r))
                r = find_frame(t, table, key, ret);
        t->was_read = true;
        return r;
}

int store_get(struct store_txn *t, size_t table, struct slice key, struct blob *ret)
{
        cleanup_blob struct blob frame = {0};
        int r = find(t, table, key, &frame);

        *ret = (struct blob){0};
        if (r == 0)
                r = txn_open_frame(t, table, key, SLICE(frame.data, frame.size), ret);
        if (r == 0 && !ret->owned) /* the value is raw bytes in the frame */
                ret->owned = steal_pointer(frame.owned);
        return r;
}

bool store_has(struct store_txn *t, size_t table, struct slice key)
{
        return find(t, table, key, NULL) == 0;
}

/* Adds to the group a change that the index has. After an error LMDB's transaction may hold a part of the change, so it can only be aborted. */
static int note_change(struct store_txn *t, int r, enum journal_op op, size_t table, struct slice key, struct slice frame)
{
        if (r == 0) {
                journal_add(&t->group, t->start, op, slice_string(t->env->tables[table]), key, frame);
                t->n_records++;
                r = buffer_error(&t->group);
        }
        t->error = r;
        return r;
}

int store_put(struct store_txn *t, size_t table, struct slice key, struct slice value)
{
        struct buffer *frame = &t->env->scratch;
        int r;

        assert(t->write && table < t->env->n_tables);
        if (t->error < 0)
                return t->error;
        if (!is_key(key))
                return t->error = errorf(-EINVAL, "a key of %zu bytes: the table %s takes 1 to %d", key.size, t->env->tables[table], STORE_KEY_MAX);
        frame->size = 0;
        r = frame_encode(key, value, frame)
            ?: db_put(t->index->db, t->txn, txn_dbi(t, table), key, SLICE(frame->data, frame->size));
        r = note_change(t, r, JOURNAL_PUT, table, key, SLICE(frame->data, frame->size));
        if (frame->failed || frame->capacity > (1 << 20)) /* do not keep memory for the largest value ever put */
                buffer_done(frame);
        return r;
}

int store_delete(struct store_txn *t, size_t table, struct slice key)
{
        int r;

        assert(t->write && table < t->env->n_tables);
        if (t->error < 0)
                return t->error;
        if (!is_key(key))
                error_clear();
        r = is_key(key) ? db_delete(t->index->db, t->txn, txn_dbi(t, table), key) : -ENOENT;
        return r == -ENOENT ? r : note_change(t, r, JOURNAL_DELETE, table, key, SLICE(NULL, 0));
}

/* -- one-shot forms --------------------------------------------------------------------------------------------- */

int store_fetch(struct store *s, size_t table, struct slice key, struct blob *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(s, &t);

        *ret = (struct blob){0};
        return r < 0 ? r : store_get(t, table, key, ret);
}

int store_set(struct store *s, size_t table, struct slice key, struct slice value)
{
        struct store_update u = {.store = s};

        while (store_update_begins(&u))
                u.r = store_put(u.txn, table, key, value);
        return u.r;
}

/* A rebuilt index counts transactions from the start, so its inode is part of the number. */
uint64_t store_generation(struct store *s)
{
        struct index *x;
        uint64_t n = 0;

        if (index_enter(s->env, false, &x) == 0) {
                n = db_last_txn(x->db) ^ (uint64_t)x->db->inode << 32;
                index_leave(s->env, x);
        }
        return n;
}
