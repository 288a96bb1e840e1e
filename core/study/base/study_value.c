#include "core/study/base/study_value.h"

struct value *study_value_new(const struct query_type *type, json_t *result)
{
        struct study_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = type, .refs = 1};
        v->result = json_incref(result);
        return &v->value;
}

void study_value_free(struct value *value)
{
        struct study_value *v = (struct study_value *)value;

        json_decref(v->result);
        free(v);
}

int study_value_find(struct workspace *w, struct query *query, struct value **ret)
{
        json_t *result;
        int r = study_value_get(w, &query->key, &result);

        if (r < 0)
                return r;
        *ret = study_value_new(query->type, result);
        json_decref(result);
        return *ret ? 0 : -ENOMEM;
}

int study_value_read(struct store_txn *t, const struct digest *key, json_t **ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), &b);

        if (r < 0)
                return r;
        *ret = json_loadb(b.data, b.size, 0, NULL);
        return *ret ? 0 : -ENOENT;
}

int study_value_get(struct workspace *w, const struct digest *key, json_t **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : study_value_read(t, key, ret);
}

int study_value_write(struct store_txn *t, const struct digest *key, const json_t *value)
{
        cleanup_free char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);

        return text ? store_put(t, TABLE_LOCALIZED, SLICE(key->bytes, DIGEST_SIZE), slice_string(text)) : -ENOMEM;
}

struct putting {
        const struct digest *key;
        const json_t *value;
};

static int put_in(void *user, struct store_txn *t)
{
        const struct putting *p = user;

        return study_value_write(t, p->key, p->value);
}

int study_value_put(struct workspace *w, const struct digest *key, const json_t *value)
{
        return store_update(workspace_store(w), put_in, &(struct putting){.key = key, .value = value});
}
