/* What the search knows at one node: word equations, memberships and the rest, each with its reasons. */
#pragma once
#include "autom.h"
#include "zed.h"

/* A symbol of a word: a character (>= 0), or a variable (-1 - index). */
struct word {
        uint32_t n;
        int32_t s[];
};

#define SYM_IS_VAR(s) ((s) < 0)
#define SYM_VAR(s)    (-1 - (s))

/* Reasons: a bit set over the literals that were assumed, then over the decisions on the path. */
typedef const uint64_t dep;

/* An equation as it came to be, in the variables of that time (label.h). */
struct generalized {
        const struct word *l, *r;
};

struct eqn {
        const struct word *l, *r; /* what is left between the merged ends, in the variables of now */
        struct generalized whole;
        dep *why;
        bool sized; /* its length fact is in */
};

struct member {
        const struct word *w;
        struct aut *a;
        dep *why;
        bool sized;
};

/* Negative facts: l != r, or l does not contain r. */
struct negation {
        const struct word *l, *r;
        dep *why;
};

/* result = function(words, number); checked by value. */
struct link {
        tid app, var;              /* the lowered application and the variable that stands for it */
        const struct word *arg[3]; /* NULL: not a string */
        const struct word *result; /* NULL: the result is the integer `var` */
        dep *why;
        struct aut *seen; /* the language of the result that the argument has been told of */
        bool done;
};

struct fact {
        uint32_t proxy;
        dep *why;
};

struct solved {
        uint32_t var;
        const struct word *w;
};

struct state {
        VEC(struct eqn) eqs;
        VEC(struct member) mems;
        VEC(struct negation) neqs, lacks; /* lacks: l does not contain r */
        VEC(struct link) links;
        VEC(struct fact) facts;
        VEC(struct solved) solved; /* var := w, in order; w has no earlier var */
        uint32_t nfacts_checked;
        uint32_t mends;    /* what mending leaves has cost on this path: 1 for a digit or code, else 4 */
        uint32_t overlaps; /* times a variable that overlaps itself was unfolded on this path */
};

enum outcome {
        OUT_UNSAT,
        OUT_SAT,
        OUT_UNKNOWN
};

struct svar {
        tid var, len;
};

struct search {
        struct lower *lower;
        struct zed *zed;
        struct aut_store *auts;
        struct bank *b;
        const struct strand_options *opt;
        struct strand_stats *stats;
        struct arena scratch; /* released down to a mark when a node is left */
        VEC(struct svar) vars;
        vec_u32 index;           /* by term id of a variable: index + 1 */
        uint32_t nfixed, nfresh; /* of vars: of the problem, and in use */
        uint32_t nlits, dep_words, max_depth;
        dep *no_reason;
        uint64_t nodes, node_limit;
        uint64_t random;
        uint32_t max_mends, max_overlaps; /* on one path */
        VEC(struct generalized) asserted; /* the equations among the literals */
        bool limited;                     /* one of these limits was met: larger ones may help */
        /* the caller's last word on a candidate: values by variable index */
        bool (*accept)(struct search *s, const struct ustr *const *value, void *data);
        void *accept_data;
        vec_u32 *pool; /* fresh variables of earlier searches, to use again */
        uint32_t pool_used;
};

/* reasons */
dep *dep_union(struct search *s, dep *a, dep *b);
dep *dep_of(struct search *s, uint32_t bit);
dep *dep_without(struct search *s, dep *a, uint32_t bit);
static inline bool dep_has(dep *a, uint32_t bit)
{
        return a[bit >> 6] >> (bit & 63) & 1;
}

/* words */
uint32_t search_var(struct search *s, tid v);
uint32_t search_fresh(struct search *s);
tid search_pool(struct search *s);
const struct word *word_of_term(struct search *s, tid t);
const struct word *word_make(struct search *s, const int32_t *sym, size_t n);
const struct word *word_join(struct search *s, const struct word *a, const struct word *b);
const struct word *word_slice(struct search *s, const struct word *w, uint32_t from, uint32_t n);
const struct word *word_var(struct search *s, uint32_t v);
const struct word *word_chars(struct search *s, const uint32_t *c, size_t n);
const struct word *word_subst(struct search *s, const struct word *w, uint32_t v, const struct word *by);
bool word_has(const struct word *w, uint32_t v);
bool word_same(const struct word *a, const struct word *b);
bool word_is_const(const struct word *w);
tid word_len(struct search *s, const struct word *w);
const struct ustr *word_const(struct search *s, const struct word *w);

/* adding to a state; they may leave a conflict in *conflict */
void state_eq(struct search *s, struct state *st, const struct word *l, const struct word *r, dep *why);
void state_member(struct search *s, struct state *st, const struct word *w, struct aut *a, dep *why);
bool state_fact(struct search *s, struct state *st, tid fact, dep *why, dep **conflict);
struct state *state_copy(const struct state *st);
void state_free(struct state *st);

/* Consequences until nothing changes. False: contradiction, with its reasons. */
bool state_simplify(struct search *s, struct state *st, dep **conflict);
/* replace.c: the words that l's function, which replaces by a constant what is constant, takes into `out`. NULL: too large, or not so. */
struct aut *replace_preimage(struct search *s, const struct link *l, struct aut *out);
/* The facts against the integer solver. OUT_UNSAT with reasons, else OUT_SAT (or OUT_UNKNOWN). */
enum outcome state_check_lengths(struct search *s, struct state *st, dep **conflict);
/* What is known of the variable's language (the whole of it: s->auts->all). */
struct aut *state_domain(const struct search *s, const struct state *st, uint32_t v, dep **why);
int64_t state_length(struct search *s, uint32_t v);
