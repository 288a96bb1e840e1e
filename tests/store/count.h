/* How many keys a table has. */
#pragma once

#include "cache/store/store.h"
#include "tests/support/test.h"

static inline int count_key(void *user, struct slice key, struct slice value)
{
        ++*(unsigned *)user;
        return 0;
}

static inline unsigned count(struct store *s, size_t table)
{
        struct store_txn *t;
        unsigned n = 0;

        assert_ok(store_read(s, &t));
        assert_ok(store_each(t, table, SLICE(NULL, 0), SLICE(NULL, 0), true, count_key, &n));
        store_end(t);
        return n;
}
