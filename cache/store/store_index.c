/* The index opened, and made anew from the journal.
 *
 * An index that is odd in any way is not mended: a new one is made beside it, in a folder nobody knows, and takes its name. The old one is set
 * aside (lmdb.damaged-<time>; the last one is kept) to be examined. Whoever still has the old one open notices before the next transaction,
 * in this process or in another, and changes over; a transaction that is open goes on with what it has. All of it happens under
 * the store's write lock. A crash on the way leaves a folder to be swept and the journal, which has it all. */
#include "cache/store/store_internal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/pages.h"

#define NEW_NAME "lmdb.new"

/* -- folders ---------------------------------------------------------------------------------------------------- */

/* Those set aside earlier. */
static void remove_set_aside(const char *dir, const char *but)
{
        cleanup_dir DIR *d = opendir(dir);
        struct dirent *e;

        while (d && (e = readdir(d))) {
                char path[PATH_SIZE];

                if (strncmp(e->d_name, "lmdb.damaged-", 13) == 0 && strcmp(e->d_name, but) != 0 &&
                    path_join(path, dir, e->d_name) == 0)
                        remove_tree(path);
        }
}

static int set_aside(const char *dir, const char *index)
{
        char to[PATH_SIZE + 32];
        int64_t now = now_seconds();

        if (rmdir(index) == 0 || errno == ENOENT) /* there was nothing */
                return 0;
        do
                snprintf(to, sizeof(to), "%s.damaged-%lld", index, (long long)now++);
        while (access(to, F_OK) == 0);
        if (rename(index, to) < 0)
                return errorf(-errno, "cannot set the damaged index %s aside: %s", index, strerror(errno));
        log_warning("the index was set aside as %s; a new one was made from the journal", to);
        remove_set_aside(dir, strrchr(to, '/') + 1);
        return 0;
}

/* The new index takes the old one's name. */
static int put_in_place(const char *dir, const char *new, const char *index)
{
        int r = sync_folder(new);

        if (r == 0)
                r = set_aside(dir, index);
        if (r == 0 && rename(new, index) < 0)
                r = errorf(-errno, "cannot put the new index %s in place: %s", index, strerror(errno));
        return r < 0 ? r : sync_folder(dir);
}

/* -- what is in it ---------------------------------------------------------------------------------------------- */

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

/* -ENOENT: one is not there. */
static int open_tables(struct environment *e, struct index *x, MDB_txn *txn, bool create)
{
        bool absent = false;
        int r = db_table(x->db, txn, META_TABLE, create, &x->meta);

        for (size_t i = 0; r == 0 && i < DB_TABLES && e->tables[i]; i++) {
                r = db_table(x->db, txn, e->tables[i], create, &x->tables[i].dbi);
                x->tables[i].present = r == 0;
                absent |= r == -ENOENT;
                if (r == -ENOENT)
                        r = 0;
        }
        return r == 0 && absent ? -ENOENT : r;
}

/* Without writing, which is what is most often enough. 1: there is something to write. */
static int look_in(struct environment *e, struct index *x, struct journal_position *at)
{
        MDB_txn *txn;
        int r = db_begin(x->db, false, &txn), absent;

        if (r < 0)
                return r;
        absent = open_tables(e, x, txn, false);
        r = absent == -ENOENT && !x->meta ? -ENOENT : absent < 0 && absent != -ENOENT ? absent : check_format(e, x, txn);
        if (r == -ENOENT && e->read_only)
                r = errorf(-EIO, "the index in %s is empty; open the store for writing to make it from the journal", e->dir);
        if (r == 0)
                r = applied_get(x->db, txn, x->meta, at);
        if (r < 0 && r != -ENOENT) {
                db_abort(x->db, txn);
                return r;
        }
        db_commit(x->db, txn); /* keeps the tables' handles */
        if (e->read_only)
                return 0;
        return r == -ENOENT || absent == -ENOENT ? 1 : journal_pending(e->journal, *at);
}

/* The tables that are not there, and what the journal has that the index has not. `damaged` (may be NULL): places where the journal is. */
static int write_in(struct environment *e, struct index *x, bool alone, struct journal_position *at, uint64_t *damaged)
{
        uint8_t format[4];
        struct journal_counts counts = {0};
        struct journal_position found = *at;
        MDB_txn *txn;
        int r = db_begin(x->db, true, &txn);

        if (r < 0)
                return r;
        key_u32(format, STORE_FORMAT);
        r = open_tables(e, x, txn, true);
        if (r == 0)
                r = meta_put(x->db, txn, x->meta, META_FORMAT, SLICE(format, sizeof(format)));
        if (r == 0)
                r = replay(e, x, alone, &txn, at, &counts);
        if (r == 0 && counts.damaged > 0)
                log_error("the journal of %s is damaged in %llu places; 'solverfs fsck' says more", e->dir,
                          (unsigned long long)counts.damaged);
        if (r == 0 && !journal_position_equal(*at, found))
                r = applied_put(x->db, txn, x->meta, *at);
        if (damaged)
                *damaged = counts.damaged;
        if (r == 0)
                return db_commit(x->db, txn);
        db_abort(x->db, txn);
        return r;
}

static int bring_up(struct environment *e, struct index *x, bool cut)
{
        struct journal_position at = {0};
        int r = look_in(e, x, &at);

        if (r == -ENODATA) {
                log_error("a part of the journal in %s/journal is gone; it is written anew from the index", e->dir);
                e->journal_lost = e->journal_anew = true;
                r = 1; /* there may be more behind the part that is gone */
        }
        if (r > 0)
                r = write_in(e, x, cut, &at, NULL);
        /* After a power cut there may be anything behind the last whole group; once more is written it must not look like a part of that. */
        if (r == 0 && cut && at.segment != 0 && !e->journal_lost)
                r = journal_cut(e->journal, at);
        return r;
}

/* -- what only the old one has ---------------------------------------------------------------------------------- */

/* The journal is damaged, too: a value that checks out in the old index was the last one when the index was whole; of one that does not the
 * journal's word counts only if it is certain to be the last. */
static int rescue_value(struct environment *e, struct index *x, MDB_txn *txn, MDB_dbi dbi, const char *name, const struct walk *w,
                        struct journal_position upto)
{
        cleanup_blob struct blob value = {0}, word = {0};
        struct slice key = SLICE(w->key, w->key_size), frame = SLICE(w->frame, w->frame_size);
        int r = frame_decode(key, frame, &value);

        if (r == 0)
                return db_put(x->db, txn, dbi, key, frame);
        if (r == -EBADMSG)
                r = journal_frame(e, upto, slice_string(name), key, &word);
        if (r == -ENOENT)
                r = db_delete(x->db, txn, dbi, key);
        return r == -ENOENT ? 0 : r;
}

/* As far as it can be read. */
static int rescue_table(struct environment *e, struct index *x, MDB_txn *txn, struct db *old, MDB_txn *from, const char *name,
                        struct journal_position upto)
{
        cleanup(walk_done) struct walk w = {0};
        MDB_dbi to, dbi;
        int r;

        if (db_table(old, from, name, false, &dbi) < 0)
                return 0;
        r = db_table(x->db, txn, name, true, &to);
        for (int step = walk_first(&w, old, from, dbi, SLICE(NULL, 0), true); r == 0 && step == 0; step = walk_next(&w, true))
                r = rescue_value(e, x, txn, to, name, &w, upto);
        return r;
}

/* `at`: up to where the journal was applied to the old one, and to where it is now. */
static int rescue_tables(struct environment *e, struct index *x, MDB_txn **txn, struct db *old, MDB_txn *from,
                         struct journal_position *at)
{
        struct journal_counts counts = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < DB_TABLES && e->tables[i]; i++)
                r = rescue_table(e, x, *txn, old, from, e->tables[i], *at);
        /* A transaction that the old index had not got yet is newer than what it has. */
        return r < 0 ? r : replay(e, x, false, txn, at, &counts);
}

/* Up to where the journal was applied to the old index; `at` when it cannot be told. */
static struct journal_position applied_once(struct db *old, MDB_txn *from, struct journal_position at)
{
        struct journal_position applied = {0};
        MDB_dbi meta;

        if (db_table(old, from, META_TABLE, false, &meta) < 0 || applied_get(old, from, meta, &applied) < 0 || applied.segment == 0)
                return at;
        return applied;
}

/* If the journal is damaged, or ends before what was applied, which is `at` now. It is written anew then, from what there is; but from no index
 * that is older than all of it. */
static int rescue_facts(struct environment *e, struct index *x, MDB_txn **txn, struct db *old, MDB_txn *from, uint64_t damaged,
                        struct journal_position at, uint64_t *ret_segment)
{
        struct journal_position applied = applied_once(old, from, at), first;
        int r = journal_first(e->journal, &first, NULL);

        damaged += applied.segment > at.segment || (applied.segment == at.segment && applied.offset > at.offset);
        if (r < 0 || damaged == 0 || applied.segment < first.segment)
                return r;
        log_warning("the journal of %s is damaged as well: what the old index still has is taken over", e->dir);
        r = rescue_tables(e, x, txn, old, from, &applied);
        return r < 0 ? r : compact_index(e, x, *txn, applied, ret_segment);
}

static int rescue(struct environment *e, struct index *x, const char *path, uint64_t damaged, struct journal_position at,
                  uint64_t *ret_segment)
{
        struct db *old;
        MDB_txn *from, *txn;
        int r;

        if (db_open(path, DB_READ_ONLY | DB_UNLOCKED, &old) < 0)
                return 0;
        if (db_begin(old, false, &from) < 0) {
                db_close(old);
                return 0;
        }
        r = db_begin(x->db, true, &txn);
        if (r == 0) {
                r = rescue_facts(e, x, &txn, old, from, damaged, at, ret_segment);
                if (r == 0)
                        r = db_commit(x->db, txn);
                else
                        db_abort(x->db, txn);
        }
        db_abort(old, from);
        db_close(old);
        return r;
}

/* -- making it anew --------------------------------------------------------------------------------------------- */

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

static int fill(struct environment *e, const char *new, const char *old, uint64_t *ret_segment)
{
        struct index x = {0};
        struct journal_position at = {0};
        uint64_t damaged = 0;
        int r = db_open(new, DB_FRESH, &x.db);

        if (r == 0)
                r = write_in(e, &x, true, &at, &damaged);
        if (r == 0)
                r = rescue(e, &x, old, damaged, at, ret_segment);
        if (r == 0)
                r = db_sync(x.db);
        db_close(x.db);
        return r;
}

static int make_anew(struct environment *e, const char *index)
{
        char new[PATH_SIZE];
        uint64_t segment = 0;
        int r = path_join(new, e->dir, NEW_NAME);

        if (r == 0 && access(new, F_OK) == 0)
                r = remove_tree(new); /* a crash left it */
        if (r == 0)
                r = MIN(make_private_folder(new), 0);
        if (r == 0)
                log_warning("making the index of %s from its journal", e->dir);
        if (r == 0)
                r = fill(e, new, index, &segment);
        if (r == 0)
                r = put_in_place(e->dir, new, index);
        if (r == 0 && segment != 0) {
                journal_remove_before(e->journal, segment);
                e->journal_anew = true;
        }
        e->index_anew |= r == 0;
        return r;
}

static int try_open(struct environment *e, const char *path, bool cut, struct index **ret)
{
        struct index *x = allocate(1, sizeof(*x));
        int r = db_open(path, e->read_only ? DB_READ_ONLY : 0, &x->db);

        if (r == 0)
                r = bring_up(e, x, cut);
        if (r == 0) {
                x->refs = 1;
                *ret = x;
        } else if (x) {
                index_free(e, x);
        }
        return r;
}

static int check_all_pages(const char *data)
{
        cleanup_close int fd = open(data, O_RDONLY | O_CLOEXEC);

        return fd < 0 ? errorf(-errno, "cannot open %s: %s", data, strerror(errno)) : pages_check(fd, data, 0);
}

/* Is it marked as damaged, or not there (or empty) although the journal has something? 0, or -EIO with a sentence. */
static int look_at(struct environment *e, const char *path, bool check)
{
        char mark[PATH_SIZE], data[PATH_SIZE];
        struct journal_position first;
        struct stat st;
        int r = path_join(mark, path, DB_DAMAGED);

        if (r == 0)
                r = path_join(data, path, "data.mdb");
        if (r == 0 && access(mark, F_OK) == 0)
                return errorf(-EIO, "the index in %s was found damaged%s", path,
                              e->read_only ? "; 'solverfs fsck' makes it anew from the journal" : "");
        if (r < 0 || e->read_only)
                return r;
        if (stat(data, &st) == 0 && st.st_size > 0)
                return check ? check_all_pages(data) : 0;
        r = journal_first(e->journal, &first, NULL);
        return r == 0 && first.segment != 0 ? errorf(-EIO, "there is no index in %s: it is made from the journal", path) : r;
}

static int open_or_make(struct environment *e, bool cut, bool check, bool anew, struct index **ret)
{
        char path[PATH_SIZE];
        int r = path_join(path, e->dir, "lmdb");

        if (r < 0)
                return r;
        if (!anew) {
                r = look_at(e, path, check);
                if (r == 0)
                        r = try_open(e, path, cut, ret);
                if (r != -EIO || e->read_only)
                        return r;
                log_error("%s", error_message(r));
        }
        r = make_anew(e, path);
        return r == 0 ? try_open(e, path, cut, ret) : r;
}

int index_open(struct environment *e, bool cut, bool check, struct index **ret)
{
        return open_or_make(e, cut, check, false, ret);
}

int index_add_tables(struct environment *e)
{
        struct journal_position at = {0};
        int r = look_in(e, e->index, &at);

        return r > 0 ? write_in(e, e->index, false, &at, NULL) : r == -ENODATA ? 0 : r;
}

/* -- which one is in force -------------------------------------------------------------------------------------- */

_Thread_local unsigned transactions;

static bool in_force(struct environment *e, const struct index *x)
{
        bool is;

        pthread_mutex_lock(&e->pool_lock);
        is = e->index == x;
        pthread_mutex_unlock(&e->pool_lock);
        return is;
}

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

/* Under the write lock. Another thread may have been first. */
static int renew(struct environment *e, struct index *old)
{
        struct index *x;
        int r;

        if (!in_force(e, old))
                return 0;
        r = open_or_make(e, false, false, !e->read_only && db_is_current(old->db), &x);
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
        int r;

        if (e->read_only) { /* nobody but us is kept out */
                pthread_mutex_lock(&e->writer);
                r = renew(e, old);
                pthread_mutex_unlock(&e->writer);
                return r;
        }
        r = environment_lock(e);
        if (r < 0)
                return r;
        r = renew(e, old);
        environment_unlock(e);
        return r;
}

/* A read-only one that is damaged stays so; what a forked child has is not its own. */
static bool is_fit(struct environment *e, struct index *x)
{
        if (!db_is_ours(x->db))
                return true; /* the transaction says so */
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
                transactions++;
                if (r == -EDEADLK || tries == 2 || is_fit(e, x)) {
                        *ret = x;
                        return 0;
                }
                r = locked ? renew(e, x) : renew_locked(e, x);
                index_leave(e, x);
                if (r < 0 && r != -EDEADLK) /* this thread writes to the one that is odd */
                        return r;
        }
}

void index_leave(struct environment *e, struct index *x)
{
        if (!x)
                return;
        transactions--;
        unref(e, x);
}
