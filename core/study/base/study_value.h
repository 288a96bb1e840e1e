/* The result of a localization, kept for good as JSON under the digest of all that it depends on. Threads: any. */
#pragma once

#include <jansson.h>

#include "core/query/workspace.h"

/* The value of such a query. */
struct study_value {
        struct value value;
        json_t *result;
};
/* With a reference of its own to the result. NULL: no memory. */
struct value *study_value_new(const struct query_type *type, json_t *result);
void study_value_free(struct value *value);
/* For a query type's `find`: the value is made of the result that is kept under the query's key. */
int study_value_find(struct workspace *w, struct query *query, struct value **ret);

/* A new reference. -ENOENT: it is not known, or cannot be read and is to be worked out again, from facts that are there. */
int study_value_get(struct workspace *w, const struct digest *key, json_t **ret);
int study_value_read(struct store_txn *t, const struct digest *key, json_t **ret);
int study_value_write(struct store_txn *t, const struct digest *key, const json_t *value);
int study_value_put(struct workspace *w, const struct digest *key, const json_t *value);
