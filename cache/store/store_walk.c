/* Walking over a table: walk_…() steps through keys and frames, copied out of the map; store_walk() gives callers the values in them. */
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

        return c ?: ORDER(a_size, b_size);
}

/* Copies the frame out of the map. */
static int walk_frame(struct walk *w, struct slice in_map)
{
        if (in_map.size > w->capacity) {
                char *grown = realloc(w->frame, in_map.size);

                if (!grown)
                        return errorf(-ENOMEM, "no memory for a value of %zu bytes", in_map.size);
                w->frame = grown;
                w->capacity = in_map.size;
        }
        w->frame_size = in_map.size;
        return db_copy(w->db, w->frame, in_map);
}

/* Keys that do not ascend mean misplaced pages, perhaps a cycle. */
static int walk_step(struct walk *w, MDB_cursor_op op, bool frames)
{
        struct slice in_map = {0};
        int r = db_cursor_get(w->db, w->cursor, op, w->key, &w->key_size, frames ? &in_map : NULL);

        if (r < 0)
                return r;
        if (w->last_size > 0 && compare_keys(w->key, w->key_size, w->last, w->last_size) <= 0)
                return db_fail_damaged(w->db, "its keys are out of order");
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

/* Goes to the first key that is not below `first`. -ENOENT: there is none. */
static int begin(struct store_walk *w, struct slice first)
{
        struct store_txn *t = w->txn;
        int r;

        if (!txn_has(t, w->table) || first.size > STORE_KEY_MAX)
                return -ENOENT;
        if (!t->txn)
                return t->error ?: -ENOENT;
        w->at = allocate(1, sizeof(*w->at));
        r = walk_first(w->at, t->index->db, t->txn, txn_dbi(t, w->table), first, !w->keys_only);
        if (r < 0 && r != -ENOENT) {
                walk_done(w->at); /* its cursor belongs to the old transaction */
                *w->at = (struct walk){0};
                if (txn_begin_anew(t, r))
                        r = walk_first(w->at, t->index->db, t->txn, txn_dbi(t, w->table), first, !w->keys_only);
        }
        t->was_read = true;
        return r;
}

static bool has_prefix(const struct store_walk *w)
{
        return w->at->key_size >= w->prefix.size && compare_keys(w->at->key, w->prefix.size, w->prefix.data, w->prefix.size) == 0;
}

/* The next key, and its value unless it is damaged: 1; 0: there is none; -errno. */
static int step(struct store_walk *w)
{
        struct slice first = compare_keys(w->prefix.data, w->prefix.size, w->from.data, w->from.size) > 0 ? w->prefix : w->from;
        int r;

        do {
                blob_done(&w->decoded);
                r = w->at ? walk_next(w->at, !w->keys_only) : begin(w, first);
                if (r < 0 || !has_prefix(w))
                        return r == -ENOENT ? 0 : r;
                w->key = SLICE(w->at->key, w->at->key_size);
                if (!w->keys_only)
                        r = txn_open_frame(w->txn, w->table, w->key, SLICE(w->at->frame, w->at->frame_size), &w->decoded);
        } while (r == -ENOENT); /* damaged: skipped */
        w->value = SLICE(w->decoded.data, w->decoded.size);
        return r < 0 ? r : 1;
}

int store_walk(struct store_walk *w)
{
        int r = w->txn ? 0 : store_read(w->store, &w->txn);

        r = r == 0 ? step(w) : r;
        if (r <= 0)
                store_walk_done(w);
        return r;
}

void store_walk_done(struct store_walk *w)
{
        if (w->at)
                walk_done(w->at);
        free(steal_pointer(w->at));
        blob_done(&w->decoded);
        if (w->store)
                w->txn = store_end(w->txn);
}
