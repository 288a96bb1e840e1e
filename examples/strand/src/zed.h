/* Z3 behind a small door: Booleans, equality and linear integer arithmetic, nothing else (paper, Fig. 1).
 *
 * Lowered terms become Z3 terms; string atoms become free Booleans, lengths of variables become integers.
 * Facts about integers are checked under assumptions: each has a proxy literal, so that unsatisfiable ones
 * are named. */
#pragma once
#include "lower.h"
#include "strand.h"
#include <z3.h>

struct zed {
        struct bank *b;
        Z3_context z;
        Z3_solver master;  /* the Boolean skeleton */
        Z3_solver arith;   /* proxies and what they imply */
        Z3_model model;    /* of the last arith check that was satisfiable, or NULL */
        Z3_model skeleton; /* of the last master check */
        Z3_sort ints, bools;
        VEC(Z3_ast) ast;   /* by term id; NULL: not yet */
        VEC(Z3_ast) proxy; /* by number */
        vec_u32 fact;      /* by number: the term */
        vec_u32 number;    /* by term id: number + 1 */
        struct strand_stats *stats;
        double deadline;
        const struct zed_watcher *watcher; /* a propagator, or NULL */
        void *data;                        /* the watcher's */
        Z3_solver_callback callback;       /* while the watcher's final() runs */
        VEC(Z3_ast) watched;               /* by number of zed_watch() */
        vec_u32 watch_of;                  /* by Z3's id of a watched term: number + 1 */
};

/* A user propagator: what is told of the skeleton's search. Atoms have the numbers of zed_watch(). */
struct zed_watcher {
        bool (*truth)(void *data, tid atom); /* answers zed_truth() */
        void (*push)(void *data);
        void (*pop)(void *data, unsigned n);
        void (*fixed)(void *data, uint32_t number, bool value);
        void (*final)(void *data); /* everything is assigned; may call zed_refute() */
};

/* False: there is no Z3. */
bool zed_init(struct zed *z, struct bank *b, struct strand_stats *stats, double deadline, uint32_t seed);
void zed_free(struct zed *z);

void zed_assert(struct zed *z, tid formula);
/* Adds the clause that not all these literals hold; negative[i]: the literal is the negation of atom[i]. A
 * guard (a Boolean variable, or 0) makes it hold only where the guard is assumed. */
void zed_block(struct zed *z, const tid *atom, const bool *negative, size_t n, tid guard);
/* The skeleton under the guard: VERDICT_SAT leaves a model for zed_truth; VERDICT_UNSAT says whether the
 * guard was needed. */
enum verdict zed_check(struct zed *z, tid guard, bool *guarded);
bool zed_truth(struct zed *z, tid formula);

/* Makes the skeleton's solver tell a watcher, which is borrowed, what it does. */
void zed_propagate(struct zed *z, const struct zed_watcher *w, void *data);
/* Has the watcher told of the atom's value, under the number that is returned: 0, 1, 2, .. */
uint32_t zed_watch(struct zed *z, tid atom);
/* These atoms cannot all have the values that they have. In final() only. */
void zed_refute(struct zed *z, const uint32_t *numbers, size_t n);

uint32_t zed_proxy(struct zed *z, tid fact);
/* Do the facts hold together? VERDICT_UNSAT: core holds indices into proxies. */
enum verdict zed_check_facts(struct zed *z, const uint32_t *proxies, size_t n, vec_u32 *core);
/* Do the facts refute this one? Then core holds the indices of those that do. The model stays the one it is. */
bool zed_refutes(struct zed *z, const uint32_t *proxies, size_t n, tid fact, vec_u32 *core);
/* Can the facts hold together with these? The model stays, too. */
bool zed_allows(struct zed *z, const uint32_t *proxies, size_t n, const tid *facts, size_t m);
/* The value of an integer term in the last model of facts. */
bool zed_value(struct zed *z, tid t, int64_t *out);
