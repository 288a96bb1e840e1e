/* Checks a recipe by using it: one commit is looked at, built, run and built again. Each problem is a row that says what to do. */
#pragma once

#include "core/run/runner.h"
#include "tools/command.h"

struct recipe_check {
        /* Set before, as common.solver is. */
        uint32_t commit;
        const char *input; /* a file to run it on; NULL: formulas of ours */
        bool once; /* does not build a second time */

        unsigned problems; /* found */
};

/* Makes all checks. 0, also with problems; -ECANCELED; or an error that is not the recipe's, with a sentence. */
int recipe_check(struct recipe_check *t);

/* Runs programs by a recipe in the scratch folder of the store, on this machine or `away`. 0 or -errno. */
struct runner *recipe_runner_open(const struct recipe *recipe, const struct run_program *list, size_t n, struct run_remote *remote);

/* The library, such as "libpoly.so.0", that the loader says is missing. */
#define RUN_WORDS 160 /* bytes of what a solver printed */
bool run_lacks_library(const struct execute_result *x, char ret[RUN_WORDS]);
