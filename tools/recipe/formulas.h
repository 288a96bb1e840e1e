/* Small formulas whose answer is known, to test whether a solver is run correctly. */
#pragma once

#include "core/run/runner.h"

/* A satisfiable formula and an unsatisfiable one in one logic. Few solvers know all logics, so there are several pairs. */
struct formula_pair {
        const char *logic; /* NULL: DIMACS has none */
        const char *sat, *unsat;
};
const struct formula_pair *formula_pairs(enum format format, size_t *ret_n);

/* Runs a formula; -errno. */
typedef int (*formula_run)(void *user, const char *text, struct run_result *ret);
/* 1: both formulas are answered correctly. 0: *ret_truth is the truth of the first that is not, and *ret its run. -errno. *ret: {0} before. */
int formula_pair_try(const struct formula_pair *pair, formula_run run, void *user, enum verdict *ret_truth, struct run_result *ret);

/* Adds a pigeonhole formula: unsatisfiable, and no solver decides it without work. `logic` is NULL for DIMACS. */
#define FORMULA_HOLES 5 /* little work */
void formula_pigeons(unsigned holes, const char *logic, struct buffer *ret);
