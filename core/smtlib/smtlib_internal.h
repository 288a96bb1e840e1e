/* Shared by the files of this room: the bank's tables, and making terms without checks. */
#pragma once

#include <xxhash.h>

#include "core/smtlib/print.h"

/* -- short texts: names have a few bytes, for which a call would cost more than the work ----------------------------- */

/* For up to 16 bytes: two words that may overlap and cover all of them, multiplied into 128 bits. */
static inline uint64_t text_hash(uint64_t seed, struct slice text)
{
        const char *p = text.data;
        size_t n = text.size;
        uint64_t a = 0, b = 0;
        unsigned __int128 product;

        if (n > 16)
                return XXH3_64bits_withSeed(p, n, seed);
        if (n >= 8) {
                a = load_8(p);
                b = load_8(p + n - 8);
        } else if (n >= 4) {
                a = load_4(p);
                b = load_4(p + n - 4);
        } else if (n > 0) {
                a = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1];
        }
        a ^= seed + n * UINT64_C(0x9e3779b97f4a7c15);
        b ^= (seed << 32 | seed >> 32) ^ UINT64_C(0xe7037ed1a0b428db);
        product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* -- memory that is freed all at once ----------------------------------------------------------------------------- */

struct arena_chunk;
struct arena {
        struct arena_chunk *chunks;
        char *p, *end;
        size_t size; /* of all chunks */
};
void *arena_take_chunk(struct arena *a, size_t size); /* when the last chunk has no room */
/* Aligned to 8, not cleared. */
static inline void *arena_take(struct arena *a, size_t size)
{
        size_t whole = (size + 7) & ~(size_t)7;
        void *p = a->p;

        if (size > (size_t)(a->end - a->p) || whole > (size_t)(a->end - a->p))
                return arena_take_chunk(a, size);
        a->p += whole;
        return p;
}
void arena_done(struct arena *a);

/* Makes room for one more in a list of `n` whose capacity is `size`. For stacks: list_grow() would shrink them when they get shorter. */
#define grow(list, n, size)                                           \
        do {                                                          \
                if ((n) == (size))                                    \
                        grow_sized(&(list), &(size), sizeof(*(list))); \
        } while (false)
void grow_sized(void *list, size_t *size, size_t each);

/* -- tables of unique things ----------------------------------------------------------------------------------------- */

/* Open addressing. A slot holds the hash beside the item, so that a failed search reads the slots only. */
struct table {
        struct table_slot {
                uint32_t hash;
                void *item; /* NULL: empty */
        } * slots;
        size_t n, mask;
};
void table_add(struct table *t, uint32_t hash, void *item);
void table_done(struct table *t);

/* The slots that may hold an item with this hash: table_first() (NULL for an empty table), then table_next() up to an empty slot. */
static inline struct table_slot *table_first(const struct table *t, uint32_t hash)
{
        return t->slots ? &t->slots[hash & t->mask] : NULL;
}
static inline struct table_slot *table_next(const struct table *t, struct table_slot *s)
{
        return &t->slots[(size_t)(s + 1 - t->slots) & t->mask];
}

/* -- the bank ------------------------------------------------------------------------------------------------------------- */

struct bank {
        unsigned refs;
        int error;
        uint64_t seed; /* of its hashes */
        struct arena arena;
        struct table symbols, sorts, functions, terms;
        size_t n_terms; /* including those in no table: term.c */
        const struct sort *simple[SORT_BITVEC];
        const struct term *bool_terms[2];
        uint64_t fresh; /* the last number given to a fresh symbol */
};

struct slice bank_keep_text(struct bank *b, struct slice text); /* a copy, with a NUL after it */

static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
        h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        return h ^ h >> 32;
}
/* Keeps the sentence and the error. Returns -EINVAL. */
#define bank_errorf(b, ...) ((b)->error = errorf(-EINVAL, __VA_ARGS__))

/* All that identifies a term, except its arguments; unused members are zero. */
struct term_head {
        enum term_kind kind;
        enum op op;
        bool is_qualified;
        bool is_open; /* set for quantifiers only: for other terms the arguments decide */
        const struct sort *sort;
        union {
                uint32_t index[2];
                uint32_t n_bound;
                const struct symbol *value;
                uint64_t extra;
        };
        union {
                const struct symbol *symbol;
                const struct function *function;
                const void *head;
        };
};
/* The term of a function without arguments, if function.constant holds it and it is not written (as f sort); else NULL. */
static inline const struct term *known_constant(const struct function *f)
{
        return f->constant && !f->constant->is_qualified ? f->constant : NULL;
}

bool command_is_text(enum command_kind kind); /* true if it is printed as it was read */

/* The term with this head and these arguments, which must not be NULL: the existing one, or a new one. Does not check sorts. */
const struct term *term_intern(struct bank *b, const struct term_head *h, const struct term *const *args, size_t n);
const struct term *term_literal(struct bank *b, const struct sort *sort, struct slice text);

const struct sort *quantifier_sort(struct bank *b, enum term_kind kind, const struct term *const *variables, size_t n,
                                   const struct term *body);

const struct sort *sort_named_kind(struct bank *b, enum sort_kind kind, const struct symbol *s, const struct sort *const *args,
                                   size_t n);
/* The sort with `with` in place of its parameters. NULL, with the bank's error, if that is too large. */
const struct sort *sort_instantiate(struct bank *b, const struct sort *s, const struct sort *const *parameters,
                                    const struct sort *const *with, size_t n);

bool sort_takes(const struct sort *wanted, const struct sort *is); /* true if it agrees, or is Int where Real is wanted */

struct slice digits_trimmed(struct slice digits); /* without leading zeros */
bool digits_only(struct slice s);
