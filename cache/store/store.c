#include "cache/store/store_internal.h"

#include "cache/base/fault.h"
#include "cache/base/lock.h"

#define CLEAR_READERS_NS (60 * NSEC_PER_SEC)

/* -- the write lock --------------------------------------------------------------------------------------------- */

int environment_lock(struct environment *e)
{
        int r = pthread_mutex_lock(&e->writer);

        if (r == EDEADLK)
                return errorf(-EDEADLK, "this thread is writing to the store in %s already", e->dir);
        if (r != 0)
                return -r;
        r = lock_take(e->write_fd, true);
        if (r < 0) {
                pthread_mutex_unlock(&e->writer);
                return errorf(r, "cannot lock %s for writing: %s", e->dir, strerror(-r));
        }
        return 0;
}

bool environment_trylock(struct environment *e)
{
        if (pthread_mutex_trylock(&e->writer) != 0)
                return false;
        if (lock_take(e->write_fd, false) == 0)
                return true;
        pthread_mutex_unlock(&e->writer);
        return false;
}

void environment_unlock(struct environment *e)
{
        lock_drop(e->write_fd);
        pthread_mutex_unlock(&e->writer);
}

/* -- up to where the journal is applied ------------------------------------------------------------------------- */

int applied_get(struct environment *e, MDB_txn *txn, struct journal_position *ret)
{
        uint8_t bytes[16];
        struct slice value;
        int r = db_get(e->db, txn, e->meta, slice_string(META_APPLIED), &value);

        *ret = (struct journal_position){0};
        if (r == -ENOENT)
                return 0;
        if (r == 0 && value.size != sizeof(bytes))
                return errorf(-EIO, "the index in %s does not say up to where the journal is applied", e->dir);
        if (r == 0)
                r = db_copy(e->db, bytes, value);
        if (r == 0)
                *ret = (struct journal_position){key_get_u64(bytes), key_get_u64(bytes + 8)};
        return r;
}

int applied_put(struct environment *e, MDB_txn *txn, struct journal_position at)
{
        uint8_t bytes[16];

        key_u64(bytes, at.segment);
        key_u64(bytes + 8, at.offset);
        return db_put(e->db, txn, e->meta, slice_string(META_APPLIED), SLICE(bytes, sizeof(bytes)));
}

/* -- transactions ----------------------------------------------------------------------------------------------- */

_Thread_local unsigned transactions;

/* Counts a transaction in: until it is counted out the index stays the one it began on. */
static struct store_txn *count_in(struct environment *e, bool write)
{
        struct store_txn *t = NULL;

        pthread_mutex_lock(&e->pool_lock);
        while (e->healing && transactions == 0)
                pthread_cond_wait(&e->pool_changed, &e->pool_lock);
        e->n_open++;
        transactions++;
        if (!write && (t = e->pool))
                e->pool = t->next;
        pthread_mutex_unlock(&e->pool_lock);
        return t;
}

/* Counts it out; `spare` goes to the pool. */
static void leave(struct environment *e, struct store_txn *spare)
{
        pthread_mutex_lock(&e->pool_lock);
        if (spare) {
                spare->next = e->pool;
                e->pool = spare;
        }
        transactions--;
        if (--e->n_open == 0 && e->healing)
                pthread_cond_broadcast(&e->pool_changed);
        pthread_mutex_unlock(&e->pool_lock);
}

/* While this thread is counted in, once. */
static bool wants_healing(struct environment *e)
{
        return transactions == 1 && !e->read_only && db_is_ours(e->db) && db_usable(e->db) < 0;
}

/* Before every transaction: an index that was found damaged is made anew first, unless this thread stands on the damaged one itself. */
static struct store_txn *enter(struct environment *e, bool write)
{
        struct store_txn *t = count_in(e, write);

        if (!wants_healing(e))
                return t;
        leave(e, t);
        heal(e); /* the transaction says so when it could not */
        return count_in(e, write);
}

static struct store_txn *txn_new(struct store *s, bool write)
{
        struct store_txn *t = malloc(sizeof(*t));

        if (t) {
                memset(t, 0, offsetof(struct store_txn, arena));
                t->store = s;
                t->env = s->env;
                t->write = write;
        }
        return t;
}

static int begin_reading(struct environment *e, MDB_txn **ret)
{
        int r = db_begin(e->db, false, ret);

        if (r == -EAGAIN) { /* slots of dead processes count, too */
                db_clear_readers(e->db);
                r = db_begin(e->db, false, ret);
        }
        return r;
}

static int begin_or_renew(struct store *s, struct store_txn **t)
{
        if (*t)
                return db_renew(s->env->db, (*t)->txn);
        *t = txn_new(s, false);
        return *t ? begin_reading(s->env, &(*t)->txn) : -ENOMEM;
}

int store_read(struct store *s, struct store_txn **ret)
{
        struct store_txn *t;
        int r = fault_at("store.read");

        *ret = NULL;
        if (r < 0)
                return r;
        t = enter(s->env, false);
        r = begin_or_renew(s, &t);
        if (r < 0) {
                if (t)
                        db_abort(s->env->db, t->txn);
                free(t);
                leave(s->env, NULL);
                return r;
        }
        t->store = s;
        t->arena_used = 0;
        t->error = 0;
        *ret = t;
        return 0;
}

bool txn_begin_again(struct store_txn *t, int error)
{
        struct environment *e = t->env;

        if (error != -EIO || t->write)
                return false;
        if (db_usable(e->db) == 0) /* LMDB gave up the transaction at something it did not tell */
                db_damaged(e->db, error_message(error));
        if (!wants_healing(e))
                return false;
        db_abort(e->db, t->txn);
        t->txn = NULL;
        leave(e, NULL);
        t->error = heal(e);
        enter(e, true);
        if (t->error == 0)
                t->error = begin_reading(e, &t->txn);
        t->renewed++;
        return t->error == 0;
}

/* A process that died between writing its journal and committing leaves a group that LMDB has not got. */
static int catch_up(struct store_txn *t, bool lost)
{
        struct environment *e = t->env;
        struct journal_counts counts = {0};
        int r = journal_pending(e->journal, t->at);

        if (r == -ENODATA && lost)
                return 0;
        if (r <= 0)
                return r;
        r = replay(e, t->store->tables, t->store->n_tables, false, &t->txn, &t->at, &counts);
        return r < 0 ? r : journal_cut(e->journal, t->at);
}

static int begin_writing(struct store_txn *t, bool lost)
{
        struct environment *e = t->env;
        uint64_t now = now_ns();
        int r = db_begin(e->db, true, &t->txn);

        if (r < 0)
                return r;
        if (now - e->readers_cleared_ns > CLEAR_READERS_NS) {
                db_clear_readers(e->db); /* what a dead one was reading would keep pages from reuse */
                e->readers_cleared_ns = now;
        }
        r = applied_get(e, t->txn, &t->found);
        t->at = t->found;
        if (r == 0)
                r = catch_up(t, lost);
        if (r == 0)
                r = fault_at("store.begin");
        t->start = journal_next_group(t->at);
        if (r < 0)
                db_abort(e->db, t->txn);
        return r;
}

int write_begin(struct store *s, bool lost, struct store_txn **ret)
{
        struct store_txn *t;
        int r;

        *ret = NULL;
        if (s->read_only)
                return errorf(-EROFS, "the store in %s is open read-only", s->dir);
        t = txn_new(s, true);
        if (!t)
                return -ENOMEM;
        enter(s->env, true);
        r = environment_lock(s->env);
        if (r == 0) {
                r = begin_writing(t, lost);
                if (r < 0)
                        environment_unlock(s->env);
        }
        if (r < 0) {
                leave(s->env, NULL);
                free(t);
                return r;
        }
        *ret = t;
        return 0;
}

/* A journal that lost a part is written anew from the index, which has it all; an index may turn out to be damaged only here. */
int store_write(struct store *s, struct store_txn **ret)
{
        int r = write_begin(s, false, ret);

        if (r == -ENODATA) {
                log_error("a part of the journal in %s/journal is gone; it is written anew from the index", s->dir);
                r = store_compact(s);
                if (r == 0)
                        r = write_begin(s, false, ret);
        }
        return r == -EIO ? write_begin(s, false, ret) : r;
}

static void txn_free(struct store_txn *t)
{
        buffer_done(&t->group);
        free(t);
}

/* The journal first, then LMDB; when LMDB cannot, the journal is taken back, under the lock, before anybody could replay it. */
static int commit_writing(struct store_txn *t)
{
        struct environment *e = t->env;
        struct journal_position end = t->at;
        bool journaled = t->n_records > 0;
        int r = t->error;

        if (r == 0)
                r = fault_at("store.commit");
        if (r == 0 && journaled) {
                journal_add_commit(&t->group, t->start, t->n_records);
                r = buffer_error(&t->group);
                end = (struct journal_position){t->start.segment, t->start.offset + t->group.size};
        }
        if (r == 0 && !journal_position_equal(end, t->found))
                r = applied_put(e, t->txn, end);
        if (r == 0 && journaled)
                r = journal_append(e->journal, t->start, SLICE(t->group.data, t->group.size));
        if (r < 0) {
                db_abort(e->db, t->txn);
                return r;
        }
        r = fault_at("store.journaled");
        if (r < 0)
                db_abort(e->db, t->txn);
        else
                r = db_commit(e->db, t->txn);
        if (r < 0 && journaled) {
                cleanup_free char *why = strdup(error_message(r));
                int cut = journal_cut(e->journal, t->start);

                if (cut < 0)
                        log_error("%s", error_message(cut));
                errorf(r, "%s", why ? why : strerror(-r));
        }
        return r;
}

int store_commit(struct store_txn *t)
{
        struct environment *e = t->env;
        int r;

        if (!t->write) {
                store_end(t);
                return 0;
        }
        r = commit_writing(t);
        if (r == 0)
                fault_at("store.committed"); /* a crash: it cannot fail any more */
        environment_unlock(e);
        leave(e, NULL);
        txn_free(t);
        return r;
}

int store_update(struct store *s, store_update_fn fn, void *user)
{
        for (bool again = true;; again = false) {
                struct store_txn *t;
                int r = store_write(s, &t);

                if (r == 0)
                        r = fn(user, t);
                if (r == 0)
                        r = store_commit(t);
                else
                        store_end(t);
                if (r != -EIO || !again)
                        return r;
        }
}

struct store_txn *store_end(struct store_txn *t)
{
        struct environment *e;

        if (!t)
                return NULL;
        e = t->env;
        if (t->write) {
                db_abort(e->db, t->txn);
                environment_unlock(e);
        }
        if (t->write || !t->txn || db_usable(e->db) < 0) {
                if (!t->write)
                        db_abort(e->db, t->txn);
                leave(e, NULL);
                txn_free(t);
                return NULL;
        }
        db_reset(e->db, t->txn);
        leave(e, t);
        return NULL;
}

/* -- values ----------------------------------------------------------------------------------------------------- */

struct table *txn_table(struct store_txn *t, size_t table)
{
        assert(table < t->store->n_tables);
        return &t->store->tables[table];
}

/* Takes a frame out of the map: into the arena, or to memory of its own. */
static int take_frame(struct store_txn *t, struct slice in_map, struct blob *ret)
{
        void *to = t->arena + t->arena_used, *owned = NULL;
        int r;

        if (in_map.size > ARENA_SIZE - t->arena_used)
                to = owned = malloc(in_map.size);
        if (!to)
                return -ENOMEM;
        r = db_copy(t->env->db, to, in_map);
        if (r < 0) {
                free(owned);
                return r;
        }
        if (!owned)
                t->arena_used += (in_map.size + 7) & ~(size_t)7;
        *ret = (struct blob){.data = to, .size = in_map.size, .owned = owned};
        return 0;
}

int txn_open_frame(struct store_txn *t, const struct table *table, struct slice key, struct slice frame, struct blob *ret)
{
        int r = frame_decode(key, frame, ret);

        return r == -EBADMSG ? mend(t, table, key, ret) : r;
}

static int find_frame(struct store_txn *t, const struct table *b, struct slice key, struct blob *ret)
{
        struct slice in_map;
        int r = t->txn ? db_get(t->env->db, t->txn, b->dbi, key, &in_map) : t->error;

        return r == 0 ? take_frame(t, in_map, ret) : r;
}

int store_get(struct store_txn *t, size_t table, struct slice key, struct blob *ret)
{
        struct table *b = txn_table(t, table);
        struct blob frame = {0};
        int r;

        *ret = (struct blob){0};
        if (!b->present || key.size == 0 || key.size > STORE_KEY_MAX) {
                error_clear();
                return -ENOENT;
        }
        r = find_frame(t, b, key, &frame);
        if (txn_begin_again(t, r))
                r = find_frame(t, b, key, &frame);
        if (r == 0)
                r = txn_open_frame(t, b, key, SLICE(frame.data, frame.size), ret);
        if (r == 0 && !ret->owned) /* it lies raw in the frame */
                ret->owned = steal_pointer(frame.owned);
        blob_done(&frame);
        return r;
}

bool store_has(struct store_txn *t, size_t table, struct slice key)
{
        struct table *b = txn_table(t, table);
        struct slice in_map;
        int r;

        if (!b->present || key.size == 0 || key.size > STORE_KEY_MAX || !t->txn)
                return false;
        r = db_get(t->env->db, t->txn, b->dbi, key, &in_map);
        if (txn_begin_again(t, r))
                r = db_get(t->env->db, t->txn, b->dbi, key, &in_map);
        return r == 0;
}

/* After an error LMDB's transaction may hold a part of the change: it can only be given up. */
static int spoil(struct store_txn *t, int r)
{
        if (r < 0 && t->error == 0)
                t->error = r;
        return r;
}

int store_put(struct store_txn *t, size_t table, struct slice key, struct slice value)
{
        struct table *b = txn_table(t, table);
        struct buffer *frame = &t->env->scratch;
        int r;

        assert(t->write);
        if (key.size == 0 || key.size > STORE_KEY_MAX)
                return errorf(-EINVAL, "a key of %zu bytes: the table %s takes 1 to %d", key.size, b->name, STORE_KEY_MAX);
        if (t->error < 0)
                return t->error;
        frame->size = 0;
        r = frame_encode(key, value, frame);
        if (r == 0)
                r = db_put(t->env->db, t->txn, b->dbi, key, SLICE(frame->data, frame->size));
        if (r == 0 && b->journaled) {
                journal_add(&t->group, t->start, JOURNAL_PUT, slice_string(b->name), key, SLICE(frame->data, frame->size));
                t->n_records++;
                r = buffer_error(&t->group);
        }
        if (frame->failed || frame->capacity > (1 << 20)) /* do not sit on the largest value ever put */
                buffer_done(frame);
        return spoil(t, r);
}

int store_delete(struct store_txn *t, size_t table, struct slice key)
{
        struct table *b = txn_table(t, table);
        int r;

        assert(t->write);
        if (t->error < 0)
                return t->error;
        if (key.size == 0 || key.size > STORE_KEY_MAX) {
                error_clear();
                return -ENOENT;
        }
        r = db_delete(t->env->db, t->txn, b->dbi, key);
        if (r == -ENOENT)
                return r;
        if (r == 0 && b->journaled) {
                journal_add(&t->group, t->start, JOURNAL_DELETE, slice_string(b->name), key, SLICE(NULL, 0));
                t->n_records++;
                r = buffer_error(&t->group);
        }
        return spoil(t, r);
}

/* -- one-shot forms --------------------------------------------------------------------------------------------- */

int store_fetch(struct store *s, size_t table, struct slice key, struct blob *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        struct blob b = {0};
        int r = store_read(s, &t);

        *ret = (struct blob){0};
        if (r == 0)
                r = store_get(t, table, key, &b);
        if (r == 0 && !b.owned) { /* in the transaction's arena */
                b.owned = malloc(b.size + 1);
                if (!b.owned)
                        return -ENOMEM;
                b.data = memcpy(b.owned, b.data, b.size);
        }
        if (r == 0)
                *ret = b;
        return r;
}

struct set {
        size_t table;
        struct slice key, value;
};

static int set_value(void *user, struct store_txn *t)
{
        struct set *v = user;

        return store_put(t, v->table, v->key, v->value);
}

int store_set(struct store *s, size_t table, struct slice key, struct slice value)
{
        return store_update(s, set_value, &(struct set){table, key, value});
}

uint64_t store_generation(struct store *s)
{
        uint64_t n;

        enter(s->env, true);
        n = db_last_txn(s->env->db);
        leave(s->env, NULL);
        return n;
}
