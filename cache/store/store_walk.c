/* Walking over a table, also over an index that is made anew on the way. */
#include "cache/store/store_internal.h"

void walk_done(struct walk *w)
{
        free(w->frame);
        if (w->cursor)
                db_cursor_close(w->env->db, w->cursor);
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
        return db_copy(w->env->db, w->frame, in_map);
}

/* Keys that do not ascend are pages out of place, perhaps in a ring. */
static int walk_step(struct walk *w, MDB_cursor_op op, bool frames)
{
        struct slice in_map = {0};
        int r = db_cursor_get(w->env->db, w->cursor, op, w->key, &w->key_size, frames ? &in_map : NULL);

        if (r < 0)
                return r;
        if (w->last_size > 0 && compare_keys(w->key, w->key_size, w->last, w->last_size) <= 0)
                return db_damaged(w->env->db, "its keys are out of order");
        memcpy(w->last, w->key, w->key_size);
        w->last_size = w->key_size;
        return frames ? walk_frame(w, in_map) : 0;
}

int walk_first(struct walk *w, struct environment *e, MDB_txn *txn, MDB_dbi dbi, struct slice from, bool frames)
{
        int r = db_cursor(e->db, txn, dbi, &w->cursor);

        w->env = e;
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

static bool begins_with(const struct walk *w, struct slice prefix)
{
        return prefix.size == 0 || (w->key_size >= prefix.size && memcmp(w->key, prefix.data, prefix.size) == 0);
}

/* Continues behind the last key, after the index was made anew during the walk. */
static int walk_again(struct walk *w, struct store_txn *t, const struct table *b, struct slice from, bool frames)
{
        uint8_t last[sizeof(w->last)];
        size_t size = w->last_size;
        int r;

        memcpy(last, w->last, size);
        walk_done(w);
        *w = (struct walk){.env = t->env};
        if (!t->txn)
                return t->error;
        r = walk_first(w, t->env, t->txn, b->dbi, size > 0 ? SLICE(last, size) : from, frames);
        return r == 0 && size > 0 && compare_keys(w->key, w->key_size, last, size) == 0 ? walk_next(w, frames) : r;
}

/* The next key of a walk, or its first. */
static int each_step(struct walk *w, struct store_txn *t, const struct table *b, struct slice from, bool frames,
                     unsigned *renewed)
{
        int r = 0;

        if (*renewed == t->renewed)
                r = w->cursor ? walk_next(w, frames) : walk_first(w, t->env, t->txn, b->dbi, from, frames);
        if (*renewed == t->renewed && !txn_begin_again(t, r))
                return r;
        *renewed = t->renewed;
        return walk_again(w, t, b, from, frames);
}

int store_each(struct store_txn *t, size_t table, struct slice prefix, struct slice from, bool values, store_each_fn fn,
               void *user)
{
        struct table *b = txn_table(t, table);
        cleanup(walk_done) struct walk w = {.env = t->env};
        struct slice first = compare_keys(prefix.data, prefix.size, from.data, from.size) > 0 ? prefix : from;
        unsigned renewed = t->renewed;
        int r;

        if (!b->present || first.size > STORE_KEY_MAX)
                return 0;
        if (!t->txn)
                return t->error;
        while ((r = each_step(&w, t, b, first, values, &renewed)) == 0 && begins_with(&w, prefix)) {
                cleanup_blob struct blob value = {0};
                struct slice key = SLICE(w.key, w.key_size);

                if (values)
                        r = txn_open_frame(t, b, key, SLICE(w.frame, w.frame_size), &value);
                if (r == -ENOENT) /* damaged: passed over */
                        continue;
                if (r == 0)
                        r = fn(user, key, SLICE(value.data, value.size));
                if (r != 0)
                        return r;
        }
        return r == -ENOENT ? 0 : r;
}
