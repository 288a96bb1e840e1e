/* Checks a recipe by using it: examines one commit, builds it, runs it and builds it again. Each problem is a row that says what to do. */
#pragma once

#include "core/run/runner.h"
#include "tools/command.h"

struct recipe_check {
        /* set by the caller, like common.solver */
        uint32_t commit;
        const char *input;   /* a file to run it on; NULL: the formulas of formulas.h */
        enum format format; /* the input's */
        bool once; /* build only once */

        unsigned problems; /* found */
};

/* Makes all checks and prints their rows. 0, even with problems; -ECANCELED: a signal; another -errno, with a sentence: not the recipe's fault. */
int recipe_check(struct recipe_check *t);

/* True if the loader reports a missing library; `ret` gets its name, such as "libpoly.so.0". */
#define RUN_QUOTE_MOST 160 /* most bytes quoted of a solver's output */
bool run_lacks_library(const struct execute_result *x, char ret[RUN_QUOTE_MOST]);
