/* The statistics that a solver prints, and which of them differ most between two runs.
 *
 * A statistic is a line of a name and a number, in one of these forms (z3 -st, cadical, kissat, cvc5 --stats, minisat):
 *
 *     (:arith-conflicts   12            c conflicts:      5120    2312.33  per second
 *      :conflicts         40)           conflicts         : 12    (1200 /sec)
 *     sat::decisions = 7                restarts 3
 *
 * Without ':' or '=' the name is one word, and nothing follows the number. Else what follows is passed over. Of a name that comes twice the last number
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
/* Adds those of a text, which may be the end of a larger one. */
void statistics_read(struct slice text, struct statistics *to);
void statistics_done(struct statistics *s);
#define cleanup_statistics cleanup(statistics_done)

/* One that both runs print. */
struct statistic_change {
        const char *name; /* of the first run's */
        double value[2];
        double ratio; /* of the second to the first, one added to both; greater than zero */
};
/* Those that differ, the greatest ratio, either way, first; free(). `again` are the same two runs once more, or NULL: a statistic is left out unless it
 * differs more between the two than between the repetitions of either. Numbers below STATISTIC_SMALL on both sides are left out. */
#define STATISTIC_SMALL 16
/* How likely by its name a statistic is of a source file: "restarts_levels" of restart.c, "clauses_reduced" of reduce.c rather than of clause.c, as fewer
 * of `all` have that word. 0: not at all. */
double statistic_is_of(const char *name, const char *path, const struct statistics *all);
struct statistic_change *statistics_compare(const struct statistics run[2], const struct statistics again[2], size_t *ret_n);
