#include "core/workspace/meta.h"

static uint64_t number_of(int r, const struct blob *b)
{
        return r == 0 && b->size == 8 ? key_get_u64(b->data) : 0;
}

uint64_t meta_number(struct workspace *w, const char *key)
{
        cleanup_blob struct blob b = {0};
        int r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);

        return number_of(r, &b);
}

uint64_t meta_number_in(struct store_txn *t, const char *key)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, TABLE_META, slice_string(key), &b);

        return number_of(r, &b);
}

int meta_number_put(struct store_txn *t, const char *key, uint64_t n)
{
        uint8_t bytes[8];

        key_u64(bytes, n);
        return store_put(t, TABLE_META, slice_string(key), SLICE(bytes, sizeof(bytes)));
}
