/* Generates DIMACS of families that are hard for different reasons, with variations. Every family has satisfiable and unsatisfiable formulas.
 *
 * `size` is 1 to CNF_SIZE_MOST. At 1 every solver answers at once. At the largest, hard variations take CaDiCaL 1.5 seconds (xors, multipliers) or
 * more than ten (random, pigeons, parity, cardinality). Communities, tseitin, pebbles, adders, and all from CNF_LATIN on are large rather than hard:
 * solvers spend most of their time on preprocessing. Equal random numbers give equal formulas. */
#pragma once

#include "cache/base/random.h"
#include "core/run/verdict.h"
#include "core/smtlib/cnf.h"

#define CNF_SIZE_MOST 100

enum cnf_family {
        CNF_RANDOM,      /* k-SAT, k 3 to 5, near the threshold (Mertens, Mézard, Zecchina, "Threshold values of random K-SAT", 2006) */
        CNF_COMMUNITIES, /* the same, many clauses in one community (Giráldez-Cru, Levy, "A modularity-based random SAT instances generator", 2015) */
        CNF_PIGEONS,     /* pigeons in holes, also functional and onto (Haken, "The intractability of resolution", 1985) */
        CNF_TSEITIN,     /* parities on the vertices of a random regular graph (Urquhart, "Hard examples for resolution", 1987) */
        CNF_PARITY,      /* the parity of the same variables in two orders (Chew, Heule, "Sorting parity encodings by reusing variables", SAT 2020) */
        CNF_XORS,        /* linear equations, long XORs cut into pieces (Soos et al., "Extending SAT solvers to cryptographic problems", SAT 2009) */
        CNF_CARDINALITY, /* bounds on the groups of two partitions (Spence, "sgen1", 2010; Mikša, Nordström, "Long proofs of (seemingly) simple
                          * formulas", SAT 2014), by sequential counters (Sinz, CP 2005), totalizers (Bailleux, Boufkhad, CP 2003), all combinations */
        CNF_PEBBLING,    /* on pyramids and random graphs, pebbles are XORs or ORs of two (Ben-Sasson, Wigderson, "Short proofs are narrow", 2001) */
        CNF_ADDERS,      /* miters (Brand, "Verification of large synthesized designs", 1993): ripple carry against Kogge and Stone (1973) */
        CNF_MULTIPLIERS, /* by rows or columns (Dadda, 1965): a miter of two, factors swapped (Beame, Liew, CAV 2017), or one with a given product */
        CNF_LATIN,       /* Latin squares with holes (Gomes, Selman, "Problem structure in the presence of perturbations", AAAI 1997) */
        CNF_QUEENS,
        CNF_COLORS,      /* of the vertices of random graphs; hard near the threshold (Achlioptas, Moore, "Almost all graphs with average degree 4 are
                          * 3-colorable", 2003), or far from it and large */
        CNF_ORDERING,    /* an order without a least element (Krishnamurthy, "Short proofs for tricky formulas", 1985) */
        CNF_NETLISTS,    /* circuits of ANDs, XORs and multiplexers: a miter of two equal ones, or one with some outputs given */
        CNF_MIXED,       /* many variables, clauses of two and three literals (Monasson et al., "2+p-SAT", 1999) */
        CNF_COMPONENTS,  /* many small formulas of one of the families above, over variables of their own */
        N_CNF_FAMILIES
};

/* *ret_answer (may be NULL): the answer if the construction implies it, else VERDICT_UNKNOWN. */
struct cnf *cnf_generate(struct random *r, enum cnf_family f, unsigned size, enum verdict *ret_answer);

/* -- cnf_mutate.c: changes one DIMACS formula into another: its literals, clauses and gates, or a join with another formula. */

enum cnf_change {
        CNF_FLIP,        /* a literal is negated */
        CNF_DROP,        /* a literal is removed from a clause of several */
        CNF_EXTEND,      /* a clause gets a literal */
        CNF_DROP_CLAUSE, /* a clause is removed */
        CNF_ADD_CLAUSE,  /* a random clause of 2 to 4 literals */
        CNF_DUPLICATE,   /* a copy of a clause, with one literal negated */
        CNF_MERGE,       /* two clauses become one */
        CNF_RESOLVE,     /* the resolvent of two clauses is added */
        CNF_SIGNS,       /* a variable changes its sign everywhere, or in half of its places */
        CNF_IDENTIFY,    /* two variables become one, or one the complement of the other */
        CNF_GATE,        /* an AND becomes an OR or a XOR, a XOR an AND, an equality its complement (cnf_gate.c) */
        CNF_ADD_XOR,     /* the parity of 2 to 4 variables is fixed */
        CNF_GRAFT,       /* the clauses of another formula are added, over their own variables or partly over this formula's */
        N_CNF_CHANGES
};

/* Makes one change, or up to eight of its kind. `other`: for CNF_GRAFT; may be NULL. -ENOENT if there is nothing to change. *ret differs from `from`. */
int cnf_mutate(struct random *r, const struct cnf *from, enum cnf_change what, const struct cnf *other, struct cnf **ret);

/* -- cnf_gate.c: gates in clauses: encoded as in Tseitin ("On the complexity of derivation in propositional calculus", 1968), and recognized
 * (Ostrowski et al., "Recovering and exploiting structural knowledge from CNF formulas", CP 2002). */

/* output = the conjunction (the disjunction) of n literals. */
void cnf_add_and(struct cnf *c, int32_t output, const int32_t *inputs, size_t n);
void cnf_add_or(struct cnf *c, int32_t output, const int32_t *inputs, size_t n);
/* An odd (an even) number of n literals holds: 2ⁿ⁻¹ clauses. */
void cnf_add_xor(struct cnf *c, const int32_t *literals, size_t n, bool is_odd);

#define GATE_INPUTS 7 /* limit; for a XOR 3 */
enum gate_kind {
        GATE_AND, /* output = the conjunction of the inputs; any of them may be negated, so this includes ORs */
        GATE_ONE, /* the same, and another literal could be the output, too, as where exactly one of several holds */
        GATE_XOR, /* output = the parity of the inputs */
        N_GATES
};
struct gate {
        enum gate_kind kind;
        int32_t output, inputs[GATE_INPUTS];
        uint32_t n_inputs;
        uint32_t clauses[GATE_INPUTS + 1], n_clauses; /* that define it, by index */
};
struct gates {
        struct gate *list; /* owned */
        size_t n;
};
/* A clause may belong to several gates. */
struct gates gates_of(const struct cnf *c);
void gates_done(struct gates *g);
#define cleanup_gates cleanup(gates_done)
