/* Facts as earlier versions of the store have them. */
#pragma once

#include "tests/support/test.h"

/* Makes an encoded fact one of format 3, or 2, which has no waiting time, or 1, which has no stack either. */
static inline void make_old_fact(struct buffer *fact, char version)
{
        const size_t stack = 8 + 8 * 8, waited = stack + 3 * 8, gone[] = {waited, stack}; /* from the end, so that places stay */

        for (int v = 2; v >= version; v--) {
                size_t at = gone[2 - v];

                memmove(fact->data + at, fact->data + at + 8, fact->size - at - 8);
                fact->size -= 8;
        }
        fact->data[0] = version;
}
