/* A model by local search, before and beside the search that can also refute.
 *
 * All variables have values; a wish for one of the assertions that are false is passed down through its term to a
 * variable, each function asking of one of its arguments what would make its own value come true (wish.c). That is
 * propagation-based local search: A. Niemetz, M. Preiner, A. Biere, Propagation based local search for bit-precise
 * reasoning (FMSD 51, 2017). False assertions gain weight where no move helps: P. Morris, The breakout method for
 * escaping from local minima (AAAI 1993).
 *
 * It knows nothing of Z3, and what it finds is right by the referee (eval.h) or is not reported. */
#pragma once
#include "autom.h"
#include "eval.h"

struct goal {
        tid t;
        bool want;
        uint32_t weight;
};

struct guess {
        struct bank *b;
        const tid *asserts;
        size_t nasserts;
        VEC(struct goal) goals;
        vec_u32 from, to; /* definitions: variables that are computed, not guessed; later ones may use earlier terms */
        vec_u32 order;    /* terms of the goals, ascending */
        vec_u32 vars;     /* of these */
        vec_u32 text;     /* string constants, as term ids */
        struct value *val;
        uint32_t *stamp, now; /* by term: the move that changed it last */
        VEC(struct {
                tid t;
                struct value was;
        }) undo;
        struct aut_store *auts;
        vec_u32 aut_of; /* by id of a regular term: 0 not asked yet, 1 none, else the automaton's id + 2 */
        uint64_t random;
        size_t memory; /* of the bank when it began */
        uint64_t work; /* terms evaluated so far */
};

/* auts is borrowed, and so are the assertions. */
void guess_init(struct guess *g, struct bank *b, struct aut_store *auts, const tid *asserts, size_t n, uint32_t seed);
void guess_free(struct guess *g);
/* Evaluates about so many more terms. True: the assertions hold under the values it leaves in val (of nval terms). */
bool guess_run(struct guess *g, uint64_t work, struct value *val, size_t nval);

/* What guess.c and wish.c share. */

/* Passes the wish that t have the value v down to a variable. False: no way down. Else *var shall be *out. */
bool wish(struct guess *g, tid t, struct value v, tid *var, struct value *out);
/* Some other value than v. */
struct value wish_other(struct guess *g, struct value v);
/* The automaton of a regular term, or NULL: too large, or over strings that are not constant. */
struct aut *guess_aut(struct guess *g, tid re);

static inline uint32_t guess_random(struct guess *g, uint32_t n)
{
        g->random ^= g->random << 13;
        g->random ^= g->random >> 7;
        g->random ^= g->random << 17;
        return (uint32_t)((g->random >> 16) % n);
}
