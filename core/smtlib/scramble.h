/* Scrambled inputs: the same problem for a solver in another form, so that its random choices turn out differently.
 *
 * SMT-LIB: declared and bound names become x1, x2, … in a random order. Declarations, definitions and assertions are reordered where their order is
 * free: between two other commands, and after everything they mention. The operands of commutative operators, = among them, are reordered. Some
 * comparisons are turned around: (< x y) becomes (> y x); likewise <= and >=, and those of bit-vectors and floats. Equal subterms are scrambled
 * alike, so that shared terms stay shared. Comments are dropped. In difference logic arithmetic keeps its shape, as (<= (- x y) c) is the only one
 * that it allows. DIMACS: variables are permuted and half of them change sign; clauses, and the literals in each, are reordered.
 *
 * Sources: the scrambler of SMT-COMP (Weber, "Scrambling and Descrambling SMT-LIB Benchmarks", SMT 2016) and Mariposa (Zhou et al., FMCAD 2023),
 * which shuffle and rename in the same way.
 *
 * The answers are the input's, in its order, by construction. The same bytes and seed give the same bytes on every machine, and seed 0 gives the
 * input itself, whatever it is. Appends to *ret. Threads: any. Time and memory are linear in the input.
 *
 * -EINVAL with a sentence if the input cannot be read. -ENOTSUP with a sentence if scrambling might change its answers (it includes another file; a
 * comment of DIMACS names variables), or would change nothing (no name, no operand). -ENOMEM. */
#pragma once

#include "cache/base/util.h"

int scramble_smt(struct slice bytes, uint64_t seed, struct buffer *ret);
int scramble_cnf(struct slice bytes, uint64_t seed, struct buffer *ret);
