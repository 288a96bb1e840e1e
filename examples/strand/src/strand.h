/* strand: satisfiability of string formulas. One call answers one check-sat. */
#pragma once
#include "eval.h"
#include <stdio.h>

enum verdict {
        VERDICT_UNKNOWN,
        VERDICT_SAT,
        VERDICT_UNSAT
};

struct strand_options {
        uint32_t seed;
        bool no_overlap; /* do not detect overlapping variables */
        bool no_guess;   /* no local search for a model */
        bool no_length;  /* do not consult the integer solver while searching */
        bool labels;     /* say on standard error which label sets there are and how they merge */
        bool loop;       /* a loop around Z3 instead of a user propagator */
        bool ends;       /* the program does after this: what goes with it need not be freed */
        double deadline; /* on the monotonic clock; 0: none */
};

/* Deterministic effort. */
struct strand_stats {
        uint64_t rounds;           /* Boolean assignments looked at */
        uint64_t conflicts;        /* clauses learned from them */
        uint64_t levels;           /* times the limits were raised */
        uint64_t nodes;            /* of the string search */
        uint64_t splits;           /* case splits */
        uint64_t arrangements;     /* arrangements followed to the end */
        uint64_t dead_ends;        /* alternatives that were contradictory */
        uint64_t propagations;     /* variables solved, functions computed */
        uint64_t length_conflicts; /* contradictions that the integer solver found */
        uint64_t periods;          /* overlaps decided by their period */
        uint64_t pruned;           /* overlapping arrangements dropped */
        uint64_t intersections;    /* of languages */
        uint64_t models;           /* candidates for a model */
        uint64_t guesses;          /* terms evaluated by the local search */
        uint64_t z3_checks;
};

/* Is the conjunction of the assertions satisfiable? For `sat`, val (indexed by term id, at least bank size
 * when called) holds the values of the variables in `declared`; the assertions are true under it. */
enum verdict strand_solve(struct bank *b, const tid *asserts, size_t n, const struct strand_options *opt,
                          struct strand_stats *stats, struct value *val);

void strand_print_stats(FILE *f, const struct strand_stats *s);
double strand_now(void);
