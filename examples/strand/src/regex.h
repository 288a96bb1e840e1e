/* Regular expressions: hash-consed, normalised, with derivatives.
 *
 * J. A. Brzozowski, Derivatives of regular expressions (JACM 11, 1964). Unions and intersections are kept
 * flat, sorted and without duplicates, so that an expression has finitely many derivatives. */
#pragma once
#include "term.h"

/* Of all expressions and automata of a check-sat: what needs more is not built. */
#define RE_MAX_BYTES ((size_t)512 << 20)

typedef uint32_t rid;

enum re_kind {
        RE_NONE,
        RE_EPS,
        RE_CHARS,
        RE_CONCAT,
        RE_UNION,
        RE_INTER,
        RE_STAR,
        RE_COMP,
        RE_LOOP
};

struct re_range {
        uint32_t lo, hi;
};

struct re {
        uint8_t kind;
        bool nullable;
        uint32_t n, hash, height;
        rid next;
        int64_t lo, hi; /* RE_LOOP; hi >= 0 */
        union {
                const rid *kid;
                const struct re_range *range; /* RE_CHARS: disjoint, ascending */
        };
};

struct re_bank {
        struct arena arena;
        VEC(struct re *) nodes;
        rid *bucket;
        size_t nbuckets;
        rid none, eps, any, all;
        uint64_t *memo_key;
        rid *memo_val;
        size_t memo_n, memo_cap;
};

void re_bank_init(struct re_bank *b);
void re_bank_free(struct re_bank *b);
/* From a term of sort RegLan. Returns false for strings that are not constants, for absurd nesting and size. */
bool re_from_term(struct re_bank *b, const struct bank *terms, tid t, rid *out);
rid re_derive(struct re_bank *b, rid r, uint32_t c);
/* The first character of each class of characters that r does not tell apart; ascending, begins with 0. */
void re_classes(const struct re_bank *b, rid r, vec_u32 *out);

rid re_chars(struct re_bank *b, uint32_t lo, uint32_t hi);
rid re_word(struct re_bank *b, const uint32_t *c, size_t n);
rid re_concat(struct re_bank *b, rid x, rid y);
rid re_union(struct re_bank *b, rid x, rid y);
rid re_inter(struct re_bank *b, rid x, rid y);
rid re_star(struct re_bank *b, rid x);
rid re_comp(struct re_bank *b, rid x);
