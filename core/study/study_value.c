#include "core/study/study_value.h"

int study_value_get(struct workspace *w, const struct digest *key, json_t **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        int r = store_read(workspace_store(w), &t);

        if (r == 0)
                r = store_get(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), &b);
        if (r < 0)
                return r;
        *ret = json_loadb(b.data, b.size, 0, NULL);
        return *ret ? 0 : -ENOENT;
}

int study_value_put(struct workspace *w, const struct digest *key, const json_t *value)
{
        cleanup_free char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

        if (!text)
                return -ENOMEM;
        return store_set(workspace_store(w), TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), slice_string(text));
}
