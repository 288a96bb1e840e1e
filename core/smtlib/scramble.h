/* Scrambled inputs: the same problem for a solver, written otherwise, so that what a solver leaves to chance falls otherwise.
 *
 * SMT-LIB: declared and bound names become x1, x2, … in a random order; declarations, definitions and assertions change places where their
 * order is free: between two other commands, and behind what they mention; the operands of commutative operators change places, and so do
 * the sides of =, < with >, <= with >= and their likes of bit-vectors and floats. Equal subterms are scrambled alike, so that what was
 * shared stays shared. Comments go. In difference logic, arithmetic keeps its shape, as (<= (- x y) c) is the only one that it allows.
 * DIMACS: variables change places and half of them their sign; clauses, and the literals in each, change places.
 *
 * Sources: the scrambler of SMT-COMP (Weber, "Scrambling and Descrambling SMT-LIB Benchmarks", SMT 2016) and Mariposa (Zhou et al., FMCAD
 * 2023), which shuffle and rename likewise.
 *
 * The answers are the input's, in its order, by construction. The same bytes and seed give the same bytes on every machine, and seed 0
 * gives the input itself, whatever it is. Appends to *ret. Threads: any. Time and memory are linear in the input.
 *
 * -EINVAL with a sentence: the input cannot be read. -ENOTSUP with one: it can, but scrambling might change its answers (it includes another
 * file; a comment of DIMACS names variables), or would change nothing (no name, no operand). -ENOMEM. */
#pragma once

#include "cache/base/util.h"

int scramble_smt(struct slice bytes, uint64_t seed, struct buffer *ret);
int scramble_cnf(struct slice bytes, uint64_t seed, struct buffer *ret);
