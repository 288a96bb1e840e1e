/* The journal's last value of a key whose value in the index fails its checksum. */
#include "cache/store/store_internal.h"

/* Looks for one key in the journal. */
struct finder {
        struct slice table, key;
        struct blob frame; /* the last one put; empty if deleted since */
        struct journal_walk walk;
        uint64_t damaged; /* damaged places before it */
};

static int find_record(void *user, const struct journal_record *record)
{
        struct finder *f = user;
        void *copy;

        if (record->op == JOURNAL_COMMIT || !same_bytes(record->table, f->table) || !same_bytes(record->key, f->key))
                return 0;
        blob_done(&f->frame);
        if (record->op == JOURNAL_DELETE)
                return 0;
        copy = malloc(MAX(record->frame.size, (size_t)1));
        if (!copy)
                return -ENOMEM;
        memcpy(copy, record->frame.data, record->frame.size);
        f->frame = (struct blob){.data = copy, .size = record->frame.size, .owned = copy};
        f->damaged = f->walk.counts.damaged;
        return 0;
}

int journal_frame(struct environment *e, struct journal_position upto, struct slice table, struct slice key, struct blob *ret)
{
        struct finder f = {.table = table, .key = key};
        int r = e->journal ? -EAGAIN : -ENOENT;

        while (r == -EAGAIN) { /* if it was compacted, searches what it is now, which is as new or newer */
                blob_done(&f.frame);
                f.walk = (struct journal_walk){.upto = upto, .thorough = true, .fn = find_record, .user = &f};
                r = journal_walk(e->journal, &f.walk);
                upto = f.walk.upto;
        }
        if (r == 0 && (!f.frame.owned || f.damaged != f.walk.counts.damaged))
                r = -ENOENT;
        if (r < 0) {
                blob_done(&f.frame);
                return r;
        }
        *ret = f.frame;
        return 0;
}

/* Until the next opening, or fsck, rebuilds the index, each reader searches the journal. */
int mend(struct store_txn *t, size_t table, struct slice key, struct blob *ret)
{
        cleanup_blob struct blob frame = {0}, value = {0};
        struct journal_position upto;
        int r = applied_get(t->index->db, t->txn, t->index->meta, &upto)
            ?: journal_frame(t->env, upto, slice_string(t->env->tables[table]), key, &frame)
            ?: frame_decode(key, SLICE(frame.data, frame.size), &value);

        if (r < 0 && r != -ENOENT && r != -EBADMSG) /* an unreadable journal says nothing about the value */
                return r;
        log_error("a value in the table %s of %s fails its checksum; %s", t->env->tables[table], t->env->dir,
                  r == 0 ? "the journal has it" : "it counts as absent and will be computed again");
        db_mark_damaged(t->index->db, "a value fails its checksum");
        if (r < 0) {
                error_clear();
                return -ENOENT;
        }
        if (!value.owned) /* the value is raw bytes in the frame */
                value.owned = steal_pointer(frame.owned);
        *ret = value;
        value = (struct blob){0};
        return 0;
}
