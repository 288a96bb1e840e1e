/* Gates in clauses: written as Tseitin writes them ("On the complexity of derivation in propositional calculus", 1968), and recognized again (Ostrowski et
 * al., "Recovering and exploiting structural knowledge from CNF formulas", CP 2002). */
#pragma once

#include "core/smtlib/cnf.h"

/* output = the conjunction, the disjunction, of n literals. */
void cnf_add_and(struct cnf *c, int32_t output, const int32_t *inputs, size_t n);
void cnf_add_or(struct cnf *c, int32_t output, const int32_t *inputs, size_t n);
/* An odd (an even) number of n literals holds: 2ⁿ⁻¹ clauses. */
void cnf_add_xor(struct cnf *c, const int32_t *literals, size_t n, bool is_odd);

#define GATE_INPUTS 7 /* at most; of a XOR 3 */
enum gate_kind {
        GATE_AND, /* output = the conjunction of the inputs; any of them may be negated, so these are ORs, too */
        GATE_ONE, /* likewise, and of all literals together exactly one holds */
        GATE_XOR, /* output = the parity of the inputs */
        N_GATES
};
struct gate {
        enum gate_kind kind;
        int32_t output, inputs[GATE_INPUTS];
        uint32_t n_inputs;
        uint32_t clauses[GATE_INPUTS + 1], n_clauses; /* that define it, by their places */
};
struct gates {
        struct gate *list; /* owned */
        size_t n;
};
/* A clause may be of several gates. */
struct gates gates_of(const struct cnf *c);
void gates_done(struct gates *g);
#define cleanup_gates cleanup(gates_done)
