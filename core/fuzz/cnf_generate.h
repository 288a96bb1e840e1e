/* DIMACS of families that are hard for different reasons. Each is drawn with variations; satisfiable ones and unsatisfiable ones occur in all.
 *
 * `size` is 1 to CNF_SIZE_MOST: from what every solver answers at once to what takes CaDiCaL 1.5 seconds (xors, multipliers) or more than ten (random, pigeons, parity,
 * cardinality), where its variations are hard; communities, tseitin, pebbles and adders are large in place of hard.
 * Equal random numbers give equal formulas. */
#pragma once

#include "cache/base/random.h"
#include "core/run/verdict.h"
#include "core/smtlib/cnf.h"

#define CNF_SIZE_MOST 100

enum cnf_family {
        CNF_RANDOM,      /* k-SAT, k 3 to 5, near the threshold (Mertens, Mézard, Zecchina, "Threshold values of random K-SAT", 2006) */
        CNF_COMMUNITIES, /* the same, most clauses within one (Giráldez-Cru, Levy, "A modularity-based random SAT instances generator", 2015) */
        CNF_PIGEONS,     /* pigeons in holes, also functional and onto (Haken, "The intractability of resolution", 1985) */
        CNF_TSEITIN,     /* parities on the vertices of a random regular graph (Urquhart, "Hard examples for resolution", 1987) */
        CNF_PARITY,      /* the parity of the same variables in two orders (Chew, Heule, "Sorting parity encodings by reusing variables", SAT 2020) */
        CNF_XORS,        /* linear equations, long XORs cut into pieces (Soos et al., "Extending SAT solvers to cryptographic problems", SAT 2009) */
        CNF_CARDINALITY, /* bounds on the groups of two partitions (Spence, "sgen1", 2010; Mikša, Nordström, "Long proofs of (seemingly) simple
                          * formulas", SAT 2014), by sequential counters (Sinz, CP 2005), totalizers (Bailleux, Boufkhad, CP 2003), all combinations */
        CNF_PEBBLING,    /* on pyramids and random graphs, pebbles are XORs or ORs of two (Ben-Sasson, Wigderson, "Short proofs are narrow", 2001) */
        CNF_ADDERS,      /* miters (Brand, "Verification of large synthesized designs", 1993): carries that ripple against those of Kogge and Stone (1973) */
        CNF_MULTIPLIERS, /* by rows, with swapped factors, by columns (Dadda, 1965): two are equal (Beame, Liew, CAV 2017), or a product is given */
        N_CNF_FAMILIES
};

/* *ret_answer, which may be NULL: the answer where the construction implies it, else VERDICT_UNKNOWN. */
struct cnf *cnf_generate(struct random *r, enum cnf_family f, unsigned size, enum verdict *ret_answer);
