/* Small formulas whose answer is known, to see whether a solver is run as it wants to be. */
#pragma once

#include "core/recipe/recipe.h"

/* In one logic, as few solvers know all of them. */
struct formula_pair {
        const char *logic; /* NULL: DIMACS has none */
        const char *sat, *unsat;
};
const struct formula_pair *formula_pairs(enum format format, size_t *ret_n);

/* The pigeons that do not fit into their holes, which no solver decides without work: unsatisfiable. `logic` is NULL for DIMACS. */
#define FORMULA_HOLES 5 /* some work, and no more than a moment of it */
void formula_pigeons(unsigned holes, const char *logic, struct buffer *ret);
