/* Reads the statistics that a solver prints, and finds those that differ most between two runs.
 *
 * A statistic is a line of a name and a number, in one of these forms (z3 -st, cadical, kissat, cvc5 --stats, minisat):
 *
 *     (:arith-conflicts   12            c conflicts:      5120    2312.33  per second
 *      :conflicts         40)           conflicts         : 12    (1200 /sec)
 *     sat::decisions = 7                restarts 3
 *
 * Without ':' or '=' the name is one word, and nothing follows the number. Else the rest of the line is ignored. If a name comes twice, the last number
 * counts.
 *
 * Pure; any thread. */
#pragma once

#include "cache/base/util.h"

struct statistic {
        char *name; /* printable, owned */
        double value;
};
struct statistics {
        struct statistic *list; /* owned; by name */
        size_t n;
};
/* Adds the statistics of a text, which may be the end of a larger one. */
void statistics_read(struct slice text, struct statistics *to);
void statistics_done(struct statistics *s);
#define cleanup_statistics cleanup(statistics_done)

/* A statistic that both runs print. */
struct statistic_change {
        const char *name; /* of the first run's */
        double value[2];
        double ratio; /* of the second to the first, one added to both; greater than zero */
};
#define STATISTIC_SMALL 16
/* The statistics that differ, the greatest ratio in either direction first; free(). `again`: repetitions of the two runs, or NULL. Left out are those that
 * differ less than twice as much, in logarithms, as between a run and its repetition, and those with both numbers below STATISTIC_SMALL. */
struct statistic_change *statistics_compare(const struct statistics run[2], const struct statistics again[2], size_t *ret_n);
/* How likely a statistic belongs to a source file, by its name: "restarts_levels" to restart.c, "clauses_reduced" to reduce.c rather than clause.c, as
 * fewer of `all` have that word. 0: not at all. */
double statistic_is_of(const char *name, const char *path, const struct statistics *all);
