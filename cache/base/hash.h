/* Content hashes: SHA-256 by Nettle. A digest identifies content or a query's inputs.
 * Thread-safe: a hasher is for one thread, and nothing else has state. Only digest_of_fd() and digest_parse() can fail. */
#pragma once

#include "cache/base/util.h"

#define DIGEST_SIZE     32
#define DIGEST_HEX_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
        uint8_t bytes[DIGEST_SIZE];
};

struct hasher;
struct hasher *hasher_new(void);
void hasher_add(struct hasher *h, const void *data, size_t size);
/* A field is its length and its bytes, so that ("ab","c") and ("a","bc") differ. */
void hasher_field(struct hasher *h, const void *data, size_t size);
void hasher_string(struct hasher *h, const char *s);      /* NULL and "" differ */
void hasher_number(struct hasher *h, uint64_t n);         /* 8 bytes, little-endian */
void hasher_finish(struct hasher *h, struct digest *ret); /* frees h */

void digest_of(const void *data, size_t size, struct digest *ret);
int digest_of_fd(int fd, struct digest *ret, uint64_t *ret_size); /* from offset 0 to the end, by pread; ret_size may be NULL */
void digest_hex(const struct digest *d, char ret[DIGEST_HEX_SIZE]);
struct digest_text {
        char s[DIGEST_HEX_SIZE];
};
struct digest_text digest_text(const struct digest *d); /* the same by value, for a message or a path: digest_text(&d).s */
int digest_compare(const void *a, const void *b); /* for sort_list(), on digests or structures that begin with one */
int digest_parse(const char *hex, struct digest *ret); /* exactly 64 hex digits, in lower case, else -EINVAL */
/* A list of digests. digest_list_find() needs them in ascending order: added in this order, or sorted. */
struct digest_list {
        struct digest *list; /* owned */
        size_t n;
};
void digest_list_add(struct digest_list *l, const void *bytes); /* DIGEST_SIZE of them */
void digest_list_sort(struct digest_list *l);
const struct digest *digest_list_find(const struct digest_list *l, const struct digest *d); /* NULL: not in the list */
void digest_list_done(struct digest_list *l);
#define cleanup_digests cleanup(digest_list_done)

/* XXH3: a fast checksum. Not against an adversary, and never for a key. */
uint64_t hash_quick(const void *data, size_t size);
static inline bool digest_equal(const struct digest *a, const struct digest *b)
{
        return memcmp(a->bytes, b->bytes, DIGEST_SIZE) == 0;
}
static inline bool digest_is_zero(const struct digest *d)
{
        static const struct digest zero;
        return digest_equal(d, &zero);
}
