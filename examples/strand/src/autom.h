/* Deterministic automata over classes of characters: complete, minimal, immutable, kept by a store.
 *
 * State 0 is the start. What leads nowhere goes to AUT_DEAD. */
#pragma once
#include "regex.h"

#define AUT_DEAD UINT32_MAX

typedef VEC(uint64_t) bits64;

/* Which lengths the words of a language have: an ultimately periodic set (exact), or only its minimum. */
struct aut_lengths {
        bool exact;
        bool finite;          /* no word is longer than `pre` - 1 */
        uint32_t min;         /* of a nonempty language */
        uint32_t pre, period; /* n >= pre is a length iff n + period is */
        const uint8_t *has;   /* for n < pre + period */
};

struct aut {
        uint32_t n, nclasses, id;
        const uint32_t *first; /* first character of each class; first[0] = 0 */
        const uint32_t *step;  /* [state * nclasses + class] */
        const uint8_t *accept;
        struct aut *next;                  /* in the store's bucket */
        const struct aut_lengths *lengths; /* computed by need */
        const uint32_t *distance;          /* to acceptance, by state; by need */
        uint64_t hash;
};

struct aut_store {
        struct arena arena;
        struct re_bank re;
        struct aut **bucket;
        size_t n, nbuckets;
        struct aut *empty, *all;
        VEC(struct aut *) of_re; /* by rid */
        VEC(struct aut *) autos; /* by id */
        /* memo of binary operations */
        uint64_t *memo_key;
        struct aut **memo_val;
        size_t memo_n, memo_cap;
        /* memo of replace_preimage() */
        VEC(struct {
                uint32_t app;
                const struct aut *out;
                struct aut *pre; /* or NULL */
        }) images;
        double deadline;
};

void aut_store_init(struct aut_store *s, double deadline);
void aut_store_free(struct aut_store *s);

/* NULL: too many states. */
struct aut *aut_from_re(struct aut_store *s, rid r);
struct aut *aut_inter(struct aut_store *s, struct aut *a, struct aut *b);
struct aut *aut_comp(struct aut_store *s, struct aut *a);
/* The language of the words that lead from state q to a state of target (a bit set; NULL: the accepting
 * ones). */
struct aut *aut_between(struct aut_store *s, struct aut *a, uint32_t q, const uint64_t *target);

/* From an automaton that is not deterministic: n states, the sets of those where it starts and accepts, and step(), which adds to `to`
 * where q goes with the character c. first: characters of all classes that step() tells apart, ascending from 0. NULL: too many sets. */
struct aut *aut_determinise(struct aut_store *s, const vec_u32 *first, uint32_t n, const uint64_t *start, const uint64_t *accept,
                            void (*step)(void *data, uint32_t q, uint32_t c, uint64_t *to), void *data);
/* Adds the first characters of a's classes to those in `first`. */
void aut_classes(const struct aut *a, vec_u32 *first);
/* The words w for which w read backward leads from state q to a state of target; avoid: through no accepting state but q. target has
 * one bit more, whether the empty word is among them. NULL: too many states. */
struct aut *aut_reverse(struct aut_store *s, const struct aut *a, uint32_t q, const uint64_t *target, bool avoid);

uint32_t aut_class(const struct aut *a, uint32_t c);
uint32_t aut_step(const struct aut *a, uint32_t q, uint32_t c);
/* All states that a word of d can lead to from the states in `from`; adds them to `to`. False: out of time.
 */
bool aut_image(struct aut_store *s, const struct aut *a, const uint64_t *from, const struct aut *d, uint64_t *to);

const struct aut_lengths *aut_lengths(struct aut_store *s, struct aut *a);
bool aut_has_length(const struct aut_lengths *l, uint64_t n);

/* Some word of that length, appended to out; which one depends on *random. False if there is none. */
bool aut_sample(struct aut_store *s, struct aut *a, uint32_t len, uint64_t *random, vec_u32 *out);

static inline bool bit_get(const uint64_t *b, uint32_t i)
{
        return b[i >> 6] >> (i & 63) & 1;
}
static inline void bit_set(uint64_t *b, uint32_t i)
{
        b[i >> 6] |= 1ull << (i & 63);
}
