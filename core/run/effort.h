/* A solver's own count of its effort (conflicts, rlimit-count, …), found by the recipe's patterns: the last match in standard error, or else in
 * standard output. It is the same on every machine and at every repetition. */
#pragma once

#include <jansson.h>

#include "core/recipe/recipe.h"
#include "core/run/fact.h"
#include "core/sandbox/execute.h"

struct effort; /* the patterns, compiled; used by one thread at a time */

struct effort_value {
        const char *label; /* the pattern's longest word before its group ("conflicts"), else the pattern; owned by the struct effort */
        bool found, is_integer;
        int64_t integer;
        double real; /* set for an integer, too */
};
struct effort_values {
        struct effort_value *list; /* one for each pattern, in their order; malloc'd */
        size_t n;
};

struct effort *effort_new(const struct recipe *recipe);
void effort_free(struct effort *e);

/* Lines of more than a megabyte are not searched. */
void effort_read(struct effort *e, const struct execute_result *run, struct effort_values *ret);
void effort_values_done(struct effort_values *v);
json_t *effort_json(const struct effort_values *v); /* new reference: label → number, or null if it was not found */

/* Prints the numbers that the recipe's present patterns find in a fact's kept output, which is what was searched after the run. (run.json has those
 * found by the patterns at that time.) A line for each pattern that is found: number, tab, label; "-" if none is. Not for a brief fact. */
void effort_print(const struct fact *f, const struct recipe *recipe, struct buffer *ret);
/* The number by the first pattern, as text and as a number; "-" and NaN if it is not known. `f` may be NULL. */
void effort_print_first(const struct fact *f, const struct recipe *recipe, struct buffer *ret);
double fact_effort(const struct fact *f, const struct recipe *recipe);
