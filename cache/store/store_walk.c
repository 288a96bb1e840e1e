/* Walking over a table. */
#include "cache/store/store_internal.h"

void walk_done(struct walk *w)
{
        free(w->frame);
        if (w->cursor)
                db_cursor_close(w->db, w->cursor);
}

static int compare_keys(const void *a, size_t a_size, const void *b, size_t b_size)
{
        size_t common = MIN(a_size, b_size);
        int c = common > 0 ? memcmp(a, b, common) : 0; /* an empty slice may have no address */

        return c != 0 ? c : (a_size > b_size) - (a_size < b_size);
}

/* Copies the frame out of the map. */
static int walk_frame(struct walk *w, struct slice in_map)
{
        if (in_map.size > w->capacity) {
                char *grown = realloc(w->frame, in_map.size);

                if (!grown)
                        return -ENOMEM;
                w->frame = grown;
                w->capacity = in_map.size;
        }
        w->frame_size = in_map.size;
        return db_copy(w->db, w->frame, in_map);
}

/* Keys that do not ascend are pages out of place, perhaps in a ring. */
static int walk_step(struct walk *w, MDB_cursor_op op, bool frames)
{
        struct slice in_map = {0};
        int r = db_cursor_get(w->db, w->cursor, op, w->key, &w->key_size, frames ? &in_map : NULL);

        if (r < 0)
                return r;
        if (w->last_size > 0 && compare_keys(w->key, w->key_size, w->last, w->last_size) <= 0)
                return db_damaged(w->db, "its keys are out of order");
        memcpy(w->last, w->key, w->key_size);
        w->last_size = w->key_size;
        return frames ? walk_frame(w, in_map) : 0;
}

int walk_first(struct walk *w, struct db *db, MDB_txn *txn, MDB_dbi dbi, struct slice from, bool frames)
{
        int r = db_cursor(db, txn, dbi, &w->cursor);

        w->db = db;
        if (r < 0)
                return r;
        if (from.size > 0)
                memcpy(w->key, from.data, from.size);
        w->key_size = from.size;
        return walk_step(w, from.size > 0 ? MDB_SET_RANGE : MDB_FIRST, frames);
}

int walk_next(struct walk *w, bool frames)
{
        return walk_step(w, MDB_NEXT, frames);
}

int store_each(struct store_txn *t, size_t table, struct slice prefix, struct slice from, bool values, store_each_fn fn,
               void *user)
{
        cleanup(walk_done) struct walk w = {0};
        struct slice first = compare_keys(prefix.data, prefix.size, from.data, from.size) > 0 ? prefix : from;
        int r;

        if (!txn_has(t, table) || first.size > STORE_KEY_MAX)
                return 0;
        if (!t->txn)
                return t->error;
        r = walk_first(&w, t->index->db, t->txn, txn_dbi(t, table), first, values);
        if (r < 0 && r != -ENOENT) {
                walk_done(&w); /* its cursor is the old transaction's */
                w = (struct walk){0};
                if (txn_begin_anew(t, r))
                        r = walk_first(&w, t->index->db, t->txn, txn_dbi(t, table), first, values);
        }
        t->was_read = true;
        for (; r == 0 && w.key_size >= prefix.size && compare_keys(w.key, prefix.size, prefix.data, prefix.size) == 0; r = walk_next(&w, values)) {
                cleanup_blob struct blob value = {0};
                struct slice key = SLICE(w.key, w.key_size);

                if (values)
                        r = txn_open_frame(t, table, key, SLICE(w.frame, w.frame_size), &value);
                if (r == -ENOENT) /* damaged: passed over */
                        continue;
                if (r == 0)
                        r = fn(user, key, SLICE(value.data, value.size));
                if (r != 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}
