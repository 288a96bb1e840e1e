/* Terms: one hash-consed DAG per input.
 *
 * A term is built only after its arguments, so ids are a topological order: every pass over a formula is a
 * loop over ids, never a recursion, and nesting depth costs no stack. */
#pragma once
#include "ustr.h"

typedef uint32_t tid;

enum sort {
        SORT_BOOL,
        SORT_INT,
        SORT_STR,
        SORT_RE
};

enum op {
        OP_TRUE,
        OP_FALSE,
        OP_VAR,
        OP_NUM,
        OP_STR,
        OP_NOT,
        OP_AND,
        OP_OR,
        OP_XOR,
        OP_IMPLIES,
        OP_EQ,
        OP_DISTINCT,
        OP_ITE,
        OP_ADD,
        OP_SUB,
        OP_MUL,
        OP_DIV,
        OP_MOD,
        OP_ABS,
        OP_LE,
        OP_LT,
        OP_GE,
        OP_GT,
        OP_CONCAT,
        OP_LEN,
        OP_AT,
        OP_SUBSTR,
        OP_PREFIXOF,
        OP_SUFFIXOF,
        OP_CONTAINS,
        OP_INDEXOF,
        OP_LASTINDEXOF,
        OP_REPLACE,
        OP_REPLACE_ALL,
        OP_REPLACE_RE,
        OP_REPLACE_RE_ALL,
        OP_IS_DIGIT,
        OP_TO_CODE,
        OP_FROM_CODE,
        OP_TO_INT,
        OP_FROM_INT,
        OP_STR_LT,
        OP_STR_LE,
        OP_IN_RE,
        OP_RE_NONE,
        OP_RE_ALL,
        OP_RE_ALLCHAR,
        OP_TO_RE,
        OP_RE_CONCAT,
        OP_RE_UNION,
        OP_RE_INTER,
        OP_RE_STAR,
        OP_RE_PLUS,
        OP_RE_OPT,
        OP_RE_COMP,
        OP_RE_DIFF,
        OP_RE_RANGE,
        OP_RE_LOOP,
        OP_COUNT
};

struct term {
        uint8_t op, sort;
        uint32_t nargs, hash;
        tid next;     /* in the bucket; 0 ends it */
        int64_t a, b; /* OP_NUM: the value in a; OP_RE_LOOP: the bounds; OP_VAR: a serial number */
        union {
                const struct ustr *str; /* OP_STR */
                const char *name;       /* OP_VAR */
        };
        const tid *args;
};

struct bank {
        struct arena arena;
        struct ustr_table strings;
        VEC(struct term *) terms; /* [0] is unused */
        tid *bucket;
        size_t nbuckets;
        int64_t nvars;
        tid t_true, t_false;
};

void term_bank_init(struct bank *b);
void term_bank_free(struct bank *b);

tid term_app(struct bank *b, enum op op, enum sort sort, const tid *args, size_t n);
tid term_num(struct bank *b, int64_t v);
tid term_str(struct bank *b, const struct ustr *s);
tid term_loop(struct bank *b, tid re, int64_t lo, int64_t hi);
/* Always a new variable. The name is copied. */
tid term_var(struct bank *b, enum sort sort, const char *name);
const char *term_sort_name(enum sort s);

static inline const struct term *term_get(const struct bank *b, tid t)
{
        return b->terms.d[t];
}

/* The terms that the roots reach, ascending (so arguments come first). The caller frees the array. */
void term_reach(const struct bank *b, const tid *roots, size_t n, vec_u32 *out);

/* Replaces from[i] by to[i] everywhere in t. */
tid term_subst(struct bank *b, tid t, const tid *from, const tid *to, size_t n);
/* Builds the term like `like` over other arguments. */
tid term_rebuild(struct bank *b, tid like, const tid *args);

/* Maps from term ids to numbers; 0 where nothing was set. */
static inline uint32_t map_get(const vec_u32 *m, tid t)
{
        return t < m->n ? m->d[t] : 0;
}

static inline void map_set(vec_u32 *m, tid t, uint32_t x)
{
        while (m->n <= t)
                vec_push(m, 0);
        m->d[t] = x;
}
