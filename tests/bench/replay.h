/* A learner measured on recorded runs: no solver runs, the table says what would have happened. */
#pragma once

#include "tests/bench/run_table.h"

struct replay {
        const struct run_table *const *tables; /* with the same arms and as many features; -EINVAL otherwise */
        size_t n;
        struct learner_settings learner; /* its seed is the first; the next are counted up from it */
        unsigned seeds;
        bool split;      /* a learner of its own for each table */
        bool keep_order; /* as in the files; else shuffled, by the seed */
};

struct replay_value {
        double mean, deviation; /* over the seeds; the deviation is the sample's, 0 for one seed */
};

struct replay_score {
        size_t queries; /* for each seed */
        struct replay_value par2, solved;
        struct replay_value first_best; /* part of the solvable queries on which the first arm was the fastest */
        struct replay_value turns;      /* a query */
        double seconds;                 /* that the replay of one seed took, of CPU time */
        double best_arm_par2, virtual_best_par2;
        size_t best_arm, best_arm_solved, virtual_best_solved;
        const char *best_arm_name; /* the first table's */
        size_t alarms;             /* queries on which arms disagree between sat and unsat */
};

int replay_run(const struct replay *r, struct replay_score *ret);

/* PAR-2 of one attempt: its seconds when it is solved, twice the limit otherwise. */
static inline double par2(const struct attempt *a, double limit)
{
        return a->ending == ENDING_SOLVED ? a->seconds : 2 * limit;
}
