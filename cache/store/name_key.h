/* Keys that are names. A name too long for a key is represented by its hash. */
#pragma once

#include "cache/base/hash.h"
#include "cache/store/store.h"

#define NAME_KEY_DIRECT 400 /* bytes of the longest name that is its own key */

struct name_key {
        uint8_t bytes[NAME_KEY_DIRECT + 2];
        size_t size;
};

/* `kind` and `space` separate keys of different meaning; kinds are lower-case letters. */
static inline void name_key(struct name_key *k, char kind, uint8_t space, const char *name, size_t size)
{
        bool direct = size <= NAME_KEY_DIRECT;

        k->bytes[0] = (uint8_t)(direct ? kind : kind - 'a' + 'A');
        k->bytes[1] = space;
        if (direct) {
                memcpy(k->bytes + 2, name, size);
                k->size = 2 + size;
        } else {
                struct digest d;

                digest_of(name, size, &d);
                memcpy(k->bytes + 2, d.bytes, sizeof(d.bytes));
                k->size = 2 + sizeof(d.bytes);
        }
}
static inline struct slice name_key_slice(const struct name_key *k)
{
        return SLICE(k->bytes, k->size);
}
