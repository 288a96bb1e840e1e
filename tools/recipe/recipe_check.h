/* Checks a recipe by using it: one commit is looked at, built, run and built again. Each problem is a row that says what to do. */
#pragma once

#include "tools/command.h"

struct recipe_check {
        /* Set before, as common.solver is. */
        uint32_t commit;
        const char *input; /* a file to run it on; NULL: formulas of ours */
        bool once; /* does not build a second time */

        unsigned problems; /* found */
};

enum check_outcome {
        CHECK_OK,
        CHECK_NOTE,    /* nothing is wrong, and it is worth knowing */
        CHECK_PROBLEM, /* `what` says what is wrong, and what to do */
        CHECK_SKIPPED, /* could not be tried, as something before it is wrong */
};
/* Prints a row, and counts a problem. */
void check_say(struct recipe_check *t, const char *check, enum check_outcome outcome, const char *format, ...) printf_like(4, 5);

/* Of `effort` and `seed`, as far as the recipe has them. */
void check_skip(struct recipe_check *t, const struct recipe *recipe, const char *why);

/* Makes all checks. 0, also with problems; -ECANCELED; or an error that is not the recipe's, with a sentence. */
int recipe_check(struct recipe_check *t);

/* Runs the program of a build: does it start, is its answer read, do `effort` and `seed` fit? */
int recipe_check_runs(struct recipe_check *t, const struct build_record *record);

/* The library, such as "libpoly.so.0", that the loader says is missing. */
#define RUN_WORDS 160 /* bytes of what a solver printed */
bool run_lacks_library(const struct execute_result *x, char ret[RUN_WORDS]);
