#include "cache/store/store_internal.h"

#include <fcntl.h>

#include "cache/store/pages.h"

/* Looks for one key in the journal. */
struct finder {
        struct slice table, key;
        struct blob frame; /* the last one put; empty when it was deleted since */
        struct journal_counts counts;
        uint64_t damaged; /* places before it */
};

static int find_record(void *user, const struct journal_record *record)
{
        struct finder *f = user;
        void *copy;

        if (record->op == JOURNAL_COMMIT || record->table.size != f->table.size || record->key.size != f->key.size ||
            memcmp(record->table.data, f->table.data, f->table.size) != 0 ||
            memcmp(record->key.data, f->key.data, f->key.size) != 0)
                return 0;
        blob_done(&f->frame);
        if (record->op == JOURNAL_DELETE)
                return 0;
        copy = malloc(MAX(record->frame.size, (size_t)1));
        if (!copy)
                return -ENOMEM;
        memcpy(copy, record->frame.data, record->frame.size);
        f->frame = (struct blob){.data = copy, .size = record->frame.size, .owned = copy};
        f->damaged = f->counts.damaged;
        return 0;
}

/* Once more when the journal was compacted under our hands: what we were about to read is gone then. */
static int search(struct journal *j, struct journal_position upto, struct finder *f)
{
        struct journal_position before, after;
        int r = journal_first(j, &before, NULL);

        if (r == 0)
                r = journal_read_all(j, upto, find_record, f, &f->counts);
        if (r == 0)
                r = journal_first(j, &after, NULL);
        if (r < 0 || before.segment == after.segment)
                return r;
        blob_done(&f->frame);
        return search(j, upto, f);
}

/* The frame of a key as the journal has it, up to what this transaction sees. When the journal is damaged behind it, it may not be the last
 * word, and an old value is worse than none. */
static int journal_frame(struct store_txn *t, const struct table *table, struct slice key, struct blob *ret)
{
        struct finder f = {.table = slice_string(table->name), .key = key};
        struct journal_position upto;
        int r = applied_get(t->env, t->txn, &upto);

        if (r == 0)
                r = search(t->env->journal, upto, &f);
        if (r == 0 && (!f.frame.owned || f.damaged != f.counts.damaged))
                r = -ENOENT;
        if (r < 0) {
                blob_done(&f.frame);
                return r;
        }
        *ret = f.frame;
        return 0;
}

int check_pages(struct environment *e, MDB_txn *txn, bool writing)
{
        cleanup_close int fd = -1;
        struct pages_report report;
        char path[PATH_SIZE];
        int r = path_join(path, e->dir, "lmdb/data.mdb");

        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        /* A writer stands on the snapshot of the transaction before its own. */
        r = pages_check(fd, path, mdb_txn_id(txn) - writing, 0, &report);
        return r == -EIO ? db_damaged(e->db, error_message(r)) : r;
}

/* In LMDB only: the journal has the good one, or must not be told that it is gone. */
static int replace(struct environment *e, MDB_txn *txn, const struct table *table, struct slice key, struct slice frame)
{
        return frame.size > 0 ? db_put(e->db, txn, table->dbi, key, frame) : db_delete(e->db, txn, table->dbi, key);
}

static bool is_still_damaged(struct environment *e, MDB_txn *txn, const struct table *table, struct slice key)
{
        cleanup_free void *copy = NULL;
        cleanup_blob struct blob value = {0};
        struct slice in_map;

        if (db_get(e->db, txn, table->dbi, key, &in_map) < 0)
                return false;
        copy = malloc(MAX(in_map.size, (size_t)1));
        return copy && db_copy(e->db, copy, in_map) == 0 && frame_decode(key, SLICE(copy, in_map.size), &value) == -EBADMSG;
}

/* For a reader, if nobody else writes just now: one that waited here could hold what the writer waits for. Else the next reader does. */
static void replace_beside(struct environment *e, const struct table *table, struct slice key, struct slice frame)
{
        MDB_txn *txn = NULL;
        int r;

        if (e->read_only || !environment_trylock(e))
                return;
        r = db_begin(e->db, true, &txn);
        if (r == 0)
                r = check_pages(e, txn, true);
        if (r == 0 && is_still_damaged(e, txn, table, key))
                r = replace(e, txn, table, key, frame);
        if (r == 0)
                r = db_commit(e->db, txn);
        else
                db_abort(e->db, txn);
        environment_unlock(e);
        if (r < 0)
                log_warning("cannot mend a value in the table %s: %s", table->name, error_message(r));
}

int mend(struct store_txn *t, const struct table *table, struct slice key, struct blob *ret)
{
        cleanup_blob struct blob frame = {0}, value = {0};
        struct environment *e = t->env;
        int r = table->journaled && e->journal ? journal_frame(t, table, key, &frame) : -ENOENT;

        if (r == 0)
                r = frame_decode(key, SLICE(frame.data, frame.size), &value);
        if (r < 0 && r != -ENOENT && r != -EBADMSG) /* an unreadable journal proves nothing about the value */
                return r;
        log_error("a value in the table %s of %s does not check out; %s", table->name, e->dir,
                  r == 0 ? "the journal has it" : "it is dropped, to be worked out again");
        if (r < 0)
                blob_done(&frame);
        if (!t->write)
                replace_beside(e, table, key, SLICE(frame.data, frame.size));
        else if (check_pages(e, t->txn, true) == 0)
                replace(e, t->txn, table, key, SLICE(frame.data, frame.size));
        if (r < 0) {
                error_clear();
                return -ENOENT;
        }
        if (!value.owned) /* it lies raw in the frame */
                value.owned = steal_pointer(frame.owned);
        *ret = value;
        value = (struct blob){0};
        return 0;
}
