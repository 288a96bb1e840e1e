#include "core/workspace/meta.h"

uint64_t meta_number_in(struct store_txn *t, const char *key)
{
        cleanup_blob struct blob b = {0};

        return store_get(t, TABLE_META, slice_string(key), &b) == 0 && b.size == 8 ? key_get_u64(b.data) : 0;
}

uint64_t meta_number(struct workspace *w, const char *key)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(workspace_store(w), &t) == 0 ? meta_number_in(t, key) : 0;
}

int meta_number_put(struct store_txn *t, const char *key, uint64_t n)
{
        uint8_t bytes[8];

        key_u64(bytes, n);
        return store_put(t, TABLE_META, slice_string(key), SLICE(bytes, sizeof(bytes)));
}
