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
        const char *name; /* the first run's, borrowed */
        double value[2];
        double ratio; /* (|second| + 1) / (|first| + 1) */
};
#define STATISTIC_SMALL 16
/* The statistics that differ, the greatest ratio in either direction first; free(). `again`: repetitions of the two runs, or NULL. A statistic is
 * left out if it differs, in logarithms, at most twice as much as between a run and its repetition, or if both numbers are below STATISTIC_SMALL. */
struct statistic_change *statistics_compare(const struct statistics run[2], const struct statistics again[2], size_t *ret_n);
/* How well the name of a statistic fits a source file's, from 0 (not at all) to 1. "restarts_levels" fits restart.c; "clauses_reduced" fits reduce.c
 * better than clause.c if fewer names in `all` fit reduce.c. */
double statistic_file_fit(const char *name, const char *path, const struct statistics *all);
