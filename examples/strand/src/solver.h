/* One check-sat in the making: what the front ends (loop.c, propagator.c) share. A front end has a Boolean
 * assignment; justify() says which literals of it matter, conjunction_search() whether they hold together. */
#pragma once
#include "guess.h"
#include "search.h"

/* Limits of the search on one conjunction grow with the level: what exceeds those of one is set aside and
 * looked at again at the next when nothing else is left. */
#define SOLVER_LEVELS 7

struct literal {
        tid atom;
        bool negative;
};

struct solver {
        struct bank *b;
        struct lower lower;
        struct zed zed;
        struct aut_store auts;
        struct guess guess; /* goes on beside the search: solver_guess() */
        const struct strand_options *opt;
        struct strand_stats *stats;
        const tid *asserts;
        size_t nasserts;
        vec_u32 roots; /* lowered */
        vec_u32 pool;  /* fresh variables for the search */
        VEC(struct literal) lits;
        vec_u32 lit_index; /* by term id: 2 * (index + 1) + negative */
        vec_u32 truth;     /* by term id, under the skeleton's model: 0 unknown, 1 false, 2 true */
        vec_u32 truth_round;
        uint32_t round;
        size_t ndefs; /* definitions asserted so far */
        struct value *val;
        size_t nval;
        vec_u32 order; /* terms of the original assertions */
};

/* Finds literals under the assignment that make the formula true, with the definitions that their variables
 * want; seen: by term id, what these mention. */
void justify(struct solver *v, vec_u32 *seen);
/* Of a lowered Boolean term: is its truth the front end's to say? */
bool justify_is_atom(const struct solver *v, tid t);

/* Are v->lits satisfiable together? OUT_UNSAT: core holds the indices of those that are not. OUT_SAT: the
 * model is in v->val and satisfies the original formula. OUT_UNKNOWN: *limited says that a limit of this level
 * was met. */
enum outcome conjunction_search(struct solver *v, const vec_u32 *seen, uint32_t level, vec_u32 *core, bool *limited);

static inline bool solver_late(const struct solver *v)
{
        return v->opt->deadline > 0 && strand_now() > v->opt->deadline;
}

/* A model by local search, as long as it has done less than its share of the work. True: it is in v->val. */
bool solver_guess(struct solver *v);

/* All terms of the lowered assertions and of their definitions, ascending. The caller frees. */
void solver_reach(const struct solver *v, vec_u32 *order);

/* Front ends. */
enum verdict loop_run(struct solver *v);
enum verdict propagator_run(struct solver *v);
