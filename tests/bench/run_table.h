/* Recorded runs of several arms on many queries: what a replay asks instead of running a solver.
 *
 * Tab-separated, a heading first: `query`, perhaps `status` (the right answer, or unknown), the features under names of their own, then for
 * each arm `<arm>_result` and `<arm>_seconds`. A result is sat, unsat, unknown, timeout, memout, crash or error. A feature that is no finite
 * number (`nan`) is not known. Arms named NAME@REVISION are versions of one solver.
 *
 * Answers are judged as a portfolio judges them. An answer against the status is wrong. Where no status is known, an answer counts nothing
 * that an arm contradicts which is nowhere wrong. Where two arms of different solvers that are nowhere else wrong agree against the status, no
 * answer counts. All these are failures.
 *
 * Threads: a table is read once and never changed; any number may use it. */
#pragma once

#include "core/portfolio/learner.h"

struct run_table {
        char *name; /* of the file */
        size_t arms, features, queries;
        char **arm;           /* names */
        char **feature;       /* names */
        char **query;         /* names */
        double *values;       /* queries × features; NaN: not known */
        struct attempt *runs; /* queries × arms; never ENDING_NONE, ENDING_STOPPED for a timeout */
        bool *wrong;          /* queries × arms: answers against the status */
        size_t alarms;        /* queries that one arm calls sat and another one unsat */
        unsigned first_alarm; /* line of the first of them */
};

/* Reads a table. -EINVAL with the file and the line: no heading, no query, a row of another length, a number that is none, a result that is
 * none, an arm twice; what reading a file can fail with. */
int run_table_read(const char *path, struct run_table **ret);
int run_table_parse(const char *name, struct slice text, struct run_table **ret);
void run_table_free(struct run_table *t);
DEFINE_CLEANUP(struct run_table *, run_table_free)
#define cleanup_run_table cleanup(run_table_freep)

/* The arm's run on the query, cut off at a limit of `seconds`. */
struct attempt run_table_run(const struct run_table *t, size_t query, size_t arm, double seconds);
