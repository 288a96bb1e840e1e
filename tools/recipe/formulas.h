/* Small formulas whose answer is known, to see whether a solver is run as it wants to be. */
#pragma once

#include "core/run/runner.h"

/* In one logic, as few solvers know all of them. */
struct formula_pair {
        const char *logic; /* NULL: DIMACS has none */
        const char *sat, *unsat;
};
const struct formula_pair *formula_pairs(enum format format, size_t *ret_n);

/* Runs a formula; -errno. */
typedef int (*formula_run)(void *user, const char *text, struct run_result *ret);
/* 1: both formulas of the pair are answered right. 0: *ret_truth is what the first other one is, and *ret its run. -errno. */
int formula_pair_try(const struct formula_pair *pair, formula_run run, void *user, enum verdict *ret_truth, struct run_result *ret);

/* The pigeons that do not fit into their holes, which no solver decides without work: unsatisfiable. `logic` is NULL for DIMACS. */
#define FORMULA_HOLES 5 /* some work, and no more than a blink of it */
void formula_pigeons(unsigned holes, const char *logic, struct buffer *ret);
