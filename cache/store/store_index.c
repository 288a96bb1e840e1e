/* Opening the index, and rebuilding it from the journal.
 *
 * A damaged index is never repaired: a new one is built beside it, in a folder that only we know, and takes its name. The old one is set
 * aside (lmdb.damaged-<time>; the last one is kept) for examination. A process that still has the old one open notices before its next
 * transaction and changes over; an open transaction continues on the old one. All of this happens under the store's write lock. A crash
 * leaves an unfinished folder, which is swept, and the complete journal. */
#include "cache/store/store_internal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/pages.h"

#define NEW_NAME "lmdb.new"

/* -- folders ---------------------------------------------------------------------------------------------------- */

/* Removes an index set aside earlier, unless it is `but`. */
static int remove_set_aside(void *but, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);

        if (strncmp(name, "lmdb.damaged-", 13) == 0 && strcmp(name, but) != 0)
                remove_tree(path);
        return 0;
}

static int set_aside(const char *dir, const char *index)
{
        cleanup_free char *to = NULL;
        int64_t now = now_seconds();

        if (rmdir(index) == 0 || errno == ENOENT) /* nothing to set aside */
                return 0;
        do {
                free(to);
                to = format_string("%s.damaged-%lld", index, (long long)now++);
        } while (access(to, F_OK) == 0);
        if (rename(index, to) < 0)
                return errorf(-errno, "cannot set the damaged index %s aside: %s", index, strerror(errno));
        log_warning("the index was set aside as %s; a new one was made from the journal", to);
        return MIN(folder_each(dir, remove_set_aside, strrchr(to, '/') + 1), 0);
}

/* The new index takes the old one's name. */
static int put_in_place(const char *dir, const char *new, const char *index)
{
        int r = sync_folder(new) ?: set_aside(dir, index);

        if (r == 0 && rename(new, index) < 0)
                r = errorf(-errno, "cannot put the new index %s in place: %s", index, strerror(errno));
        return r < 0 ? r : sync_folder(dir);
}

/* -- the index's content ---------------------------------------------------------------------------------------- */

static int check_format(struct environment *e, struct index *x, MDB_txn *txn)
{
        cleanup_blob struct blob value = {0};
        uint32_t format;
        int r = meta_get(x->db, txn, x->meta, META_FORMAT, sizeof(format), &value);

        if (r < 0)
                return r;
        format = key_get_u32(value.data);
        if (format == STORE_FORMAT)
                return 0;
        return errorf(-EPROTONOSUPPORT,
                      "the index in %s/lmdb has format %u and this solverfs knows format %d only; nothing was changed: use %s", e->dir,
                      format, STORE_FORMAT, format > STORE_FORMAT ? "a newer one" : "the one that made it");
}

/* -ENOENT: a table is missing. */
static int open_tables(struct environment *e, struct index *x, MDB_txn *txn, bool create)
{
        bool absent = false;
        int r = db_table(x->db, txn, META_TABLE, create, &x->meta);

        for (size_t i = 0; r == 0 && i < e->n_tables; i++) {
                r = db_table(x->db, txn, e->tables[i], create, &x->tables[i].dbi);
                x->tables[i].present = r == 0;
                absent |= r == -ENOENT;
                if (r == -ENOENT)
                        r = 0;
        }
        return r == 0 && absent ? -ENOENT : r;
}

/* Opens the index without writing, which usually suffices. 1: there is something to write. */
static int look_in(struct environment *e, struct index *x, struct journal_position *at)
{
        MDB_txn *txn;
        int r = db_begin(x->db, DB_READ, &txn), absent;

        if (r < 0)
                return r;
        absent = open_tables(e, x, txn, false);
        r = absent < 0 && (absent != -ENOENT || !x->meta) ? absent : check_format(e, x, txn);
        if (r == -ENOENT && e->read_only)
                r = errorf(-EIO, "the index in %s is empty; open the store for writing to make it from the journal", e->dir);
        if (r == 0)
                r = applied_get(x->db, txn, x->meta, at);
        if (r < 0 && r != -ENOENT) {
                db_abort(x->db, txn);
                return r;
        }
        db_commit(x->db, txn); /* not an abort: it keeps the tables' handles */
        if (e->read_only)
                return 0;
        return r == -ENOENT || absent == -ENOENT ? 1 : journal_pending(e->journal, *at);
}

/* Makes missing tables and applies what the index lacks of the journal. *damaged: damaged places of the journal. */
static int write_in(struct environment *e, struct index *x, bool alone, struct journal_position *at, uint64_t *damaged)
{
        uint8_t format[4];
        struct journal_position found = *at;
        MDB_txn *txn;
        int r = db_begin(x->db, DB_WRITE, &txn);

        if (r < 0)
                return r;
        key_u32(format, STORE_FORMAT);
        r = open_tables(e, x, txn, true)
            ?: meta_put(x->db, txn, x->meta, META_FORMAT, SLICE(format, sizeof(format)))
            ?: replay(e, x, alone, &txn, at, damaged);
        if (r == 0 && !journal_position_equal(*at, found))
                r = applied_put(x->db, txn, x->meta, *at);
        if (r == 0)
                return db_commit(x->db, txn);
        db_abort(x->db, txn);
        return r;
}

static void log_damaged(const struct environment *e, uint64_t damaged, const char *rest)
{
        log_error("the journal of %s is damaged in %llu places%s", e->dir, (unsigned long long)damaged, rest);
}

/* Opens the tables and applies the rest of the journal. `cut`: as for index_open(). */
static int bring_up(struct environment *e, struct index *x, bool cut)
{
        struct journal_position at = {0};
        uint64_t damaged = 0;
        int r = look_in(e, x, &at);

        if (r == -ENODATA) {
                log_error("a part of the journal in %s/journal is gone; it is written anew from the index", e->dir);
                e->journal_lost = e->journal_anew = true;
                r = 1; /* there may be more behind the lost part */
        }
        if (r > 0)
                r = write_in(e, x, cut, &at, &damaged);
        if (damaged > 0)
                log_damaged(e, damaged, "; 'solverfs fsck' says more");
        /* After a power cut anything may follow the last whole group; it must not look like a part of the next one. */
        if (r == 0 && cut && at.segment != 0 && !e->journal_lost)
                r = journal_cut(e->journal, at);
        return r;
}

/* -- rescuing what only the old index has ----------------------------------------------------------------------- */

struct rescue {
        struct environment *env;
        struct index *index; /* the new one */
        MDB_txn *txn;        /* in it */
        struct db *old;
        MDB_txn *from;                   /* in the old one */
        struct journal_position applied; /* up to where the journal was applied to the old one */
};

/* Damage of the old index is passed over. Another error, such as a lack of memory or descriptors, must stop the rebuilding: nobody else has the
 * values that would be lost. */
static int unless_damaged(int r)
{
        return r == -EIO || r == -ENOENT || r == -EPROTONOSUPPORT ? 0 : r;
}

/* The journal is damaged, too. A value of the old index that passes its checksum was the last one while the index was whole. If a value fails it,
 * the journal's counts only if it is certainly the last. */
static int rescue_value(struct rescue *s, MDB_dbi dbi, const char *name, const struct walk *w)
{
        cleanup_blob struct blob value = {0}, word = {0};
        struct slice key = SLICE(w->key, w->key_size), frame = SLICE(w->frame, w->frame_size);
        int r = frame_decode(key, frame, &value);

        if (r == 0)
                return db_put(s->index->db, s->txn, dbi, key, frame);
        if (r == -EBADMSG)
                r = journal_frame(s->env, s->applied, slice_string(name), key, &word);
        if (r == -ENOENT)
                r = db_delete(s->index->db, s->txn, dbi, key);
        return r == -ENOENT ? 0 : r;
}

/* Rescues as much of the table as can be read. */
static int rescue_table(struct rescue *s, const char *name)
{
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi to, dbi;
        int step = db_table(s->old, s->from, name, DB_EXISTING, &dbi), r;

        if (step < 0)
                return unless_damaged(step);
        r = db_table(s->index->db, s->txn, name, DB_CREATE, &to);
        for (step = walk_first(&w, s->old, s->from, dbi, SLICE(NULL, 0), WALK_FRAMES); r == 0 && step == 0; step = walk_next(&w, WALK_FRAMES))
                r = rescue_value(s, to, name, &w);
        return r < 0 ? r : unless_damaged(step);
}

/* Up to where the journal was applied to the old index; `at` if unknown. */
static int applied_once(struct rescue *s, struct journal_position at)
{
        MDB_dbi meta;
        int r = db_table(s->old, s->from, META_TABLE, DB_EXISTING, &meta)
            ?: applied_get(s->old, s->from, meta, &s->applied);

        if (r < 0 || s->applied.segment == 0)
                s->applied = at;
        return unless_damaged(r);
}

/* If the journal is damaged, or ends (at `at`) before what the old index has applied, takes over what the old index still has and rewrites the
 * journal. An old index that precedes the whole journal is not used. */
static int rescue_facts(struct rescue *s, uint64_t damaged, struct journal_position at, uint64_t *ret_segment)
{
        struct environment *e = s->env;
        struct journal_position first;
        int r = journal_first(e->journal, &first, NULL) ?: applied_once(s, at);

        damaged += s->applied.segment > at.segment || (s->applied.segment == at.segment && s->applied.offset > at.offset);
        if (r < 0 || damaged == 0 || s->applied.segment < first.segment)
                return r;
        log_warning("the journal of %s is damaged as well; taking over what the old index still has", e->dir);
        for (size_t i = 0; r == 0 && i < e->n_tables; i++)
                r = rescue_table(s, e->tables[i]);
        if (r == 0) /* transactions that the old index lacks are newer than its content */
                r = replay(e, s->index, false, &s->txn, &s->applied, &damaged);
        return r < 0 ? r : compact_index(e, s->index, s->txn, s->applied, ret_segment);
}

/* Completes the new index by rescue_facts(), if the old one can be opened. *ret_segment is set if the journal was rewritten. */
static int rescue(struct environment *e, struct index *x, const char *path, uint64_t damaged, struct journal_position at,
                  uint64_t *ret_segment)
{
        struct rescue s = {.env = e, .index = x};
        int r = db_open(path, DB_READ_ONLY | DB_UNLOCKED, &s.old);

        if (r < 0)
                return unless_damaged(r);
        r = unless_damaged(db_begin(s.old, DB_READ, &s.from));
        if (s.from)
                r = db_begin(x->db, DB_WRITE, &s.txn);
        if (s.txn) {
                r = rescue_facts(&s, damaged, at, ret_segment);
                if (r == 0)
                        r = db_commit(x->db, s.txn);
                else
                        db_abort(x->db, s.txn);
        }
        db_abort(s.old, s.from);
        db_close(s.old);
        return r;
}

/* -- rebuilding ------------------------------------------------------------------------------------------------- */

static void index_free(struct environment *e, struct index *x)
{
        struct store_txn *t;

        while ((t = x->pool)) {
                x->pool = t->next;
                db_abort(x->db, t->txn);
                free(t);
        }
        db_close(x->db);
        free(x);
}

/* Fills a new index from the journal and, where that is damaged, from the old index. */
static int fill(struct environment *e, const char *new, const char *old, uint64_t *ret_damaged, uint64_t *ret_segment)
{
        struct index x = {0};
        struct journal_position at = {0};
        int r = db_open(new, DB_FRESH, &x.db)
            ?: write_in(e, &x, true, &at, ret_damaged)
            ?: rescue(e, &x, old, *ret_damaged, at, ret_segment)
            ?: db_sync(x.db);

        db_close(x.db);
        return r;
}

/* Makes a new index in place of the one that is damaged or absent. */
static int make_anew(struct environment *e, const char *index)
{
        cleanup_free char *new = format_string("%s/" NEW_NAME, e->dir), *old = format_string("%s/data.mdb", index);
        const bool absent = access(old, F_OK) < 0;
        uint64_t damaged = 0, segment = 0;
        int r = remove_tree(new); /* left by a crash */

        if (r == 0)
                r = MIN(make_private_folder(new), 0);
        if (r == 0)
                log_warning("making the index of %s from its journal", e->dir);
        if (r == 0)
                r = fill(e, new, index, &damaged, &segment) ?: put_in_place(e->dir, new, index);
        if (r == 0 && segment != 0) {
                journal_remove_before(e->journal, segment);
                e->journal_anew = true;
        } else if (r == 0 && damaged > 0) {
                log_damaged(e, damaged, absent ? ", and there was no index: what only they had is lost" : "; 'solverfs fsck' says more");
                if (absent)
                        e->journal_lost = e->journal_anew = true;
        }
        if (r == 0) {
                e->index_absent = absent && !e->index_anew;
                e->index_anew = true;
        }
        if (r < 0) {
                cleanup_free char *why = copy_string(error_message(r));

                remove_tree(new); /* it may be what filled the disk */
                errorf(r, "%s", why);
        }
        return r;
}

static int try_open(struct environment *e, const char *path, bool cut, struct index **ret)
{
        struct index *x = allocate(1, sizeof(*x));
        int r = db_open(path, e->read_only ? DB_READ_ONLY : 0, &x->db) ?: bring_up(e, x, cut);

        x->refs = 1;
        if (r == 0)
                *ret = x;
        else
                index_free(e, x);
        return r;
}

/* -EIO with a sentence if the index is marked as damaged, or is absent or empty although the journal has something; else 0. */
static int look_at(struct environment *e, const char *path, bool check)
{
        cleanup_free char *mark = format_string("%s/" DB_DAMAGED, path), *data = format_string("%s/data.mdb", path);
        cleanup_close int fd = check ? open(data, O_RDONLY | O_CLOEXEC) : -1;
        struct journal_position first;
        struct stat st;
        int r;

        if (access(mark, F_OK) == 0)
                return errorf(-EIO, "the index in %s was found damaged%s", path,
                              e->read_only ? "; 'solverfs fsck' makes it anew from the journal" : "");
        if (e->read_only)
                return 0;
        if (stat(data, &st) == 0 && st.st_size > 0)
                return fd >= 0 ? pages_check(fd, data, 0) : 0; /* a file that cannot be opened is reported later, by opening it */
        r = journal_first(e->journal, &first, NULL);
        return r == 0 && first.segment != 0 ? errorf(-EIO, "there is no index in %s: it is made from the journal", path) : r;
}

int index_open(struct environment *e, bool cut, bool check, bool anew, struct index **ret)
{
        cleanup_free char *path = format_string("%s/lmdb", e->dir);
        int r;

        if (!anew) {
                r = look_at(e, path, check) ?: try_open(e, path, cut, ret);
                if (r != -EIO || e->read_only)
                        return r;
                log_error("%s", error_message(r));
        }
        return make_anew(e, path) ?: try_open(e, path, cut, ret);
}

/* -- which one is in force -------------------------------------------------------------------------------------- */

_Thread_local unsigned open_transactions;

static void unref(struct environment *e, struct index *x)
{
        bool last;

        pthread_mutex_lock(&e->pool_lock);
        last = --x->refs == 0;
        pthread_mutex_unlock(&e->pool_lock);
        if (last)
                index_free(e, x);
}

void index_close(struct environment *e)
{
        if (e->index)
                unref(e, e->index);
        e->index = NULL;
}

/* Puts another index in force, unless another thread has done so: the one that another process made in the place of `old`, or a new one. Under the write
 * lock. */
static int renew(struct environment *e, struct index *old)
{
        struct index *x;
        int r;

        if (e->index != old)
                return 0;
        r = index_open(e, false, false, !e->read_only && db_is_current(old->db), &x);
        if (r < 0)
                return r;
        pthread_mutex_lock(&e->pool_lock);
        e->index = x;
        pthread_mutex_unlock(&e->pool_lock);
        unref(e, old);
        log_info("the index in %s was made anew", e->dir);
        return 0;
}

static int renew_locked(struct environment *e, struct index *old)
{
        int r = environment_lock(e, true);

        if (r < 0)
                return r;
        r = renew(e, old);
        environment_unlock(e);
        return r;
}

/* True if the index can be used as it is. A damaged one that is read-only stays; so does a forked child's, which is its parent's. */
static bool is_fit(struct environment *e, struct index *x)
{
        if (!db_is_ours(x->db))
                return true; /* the transaction reports it */
        return db_is_current(x->db) && (e->read_only || db_usable(x->db) == 0);
}

int index_enter(struct environment *e, bool locked, struct index **ret)
{
        int r = 0;

        for (unsigned tries = 0;; tries++) {
                struct index *x;

                pthread_mutex_lock(&e->pool_lock);
                x = e->index;
                x->refs++;
                pthread_mutex_unlock(&e->pool_lock);
                open_transactions++;
                if (r == -EDEADLK || tries == 2 || is_fit(e, x)) { /* one that stays unfit is used: the transaction reports it */
                        *ret = x;
                        return 0;
                }
                r = locked ? renew(e, x) : renew_locked(e, x);
                index_leave(e, x);
                if (r < 0 && r != -EDEADLK) /* -EDEADLK: this thread is writing to the damaged one */
                        return r;
        }
}

void index_leave(struct environment *e, struct index *x)
{
        if (!x)
                return;
        open_transactions--;
        unref(e, x);
}
