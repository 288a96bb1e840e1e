/* How many keys a table has. */
#pragma once

#include "cache/store/store.h"
#include "tests/support/test.h"

static inline unsigned count(struct store *s, size_t table)
{
        cleanup_walk struct store_walk w = {.store = s, .table = table};
        unsigned n = 0;
        int r;

        while ((r = store_walk(&w)) > 0)
                n++;
        assert_ok(r);
        return n;
}
