/* Runs of one program on one small case, over a runner: what the groups `run` and `remote` measure. */
#pragma once

#include <sched.h>

#include "core/run/runner.h"

#define RUNS 50 /* of a round of runs_measure() */

struct runs_options {
        const char *program;
        enum sandbox_kind sandbox;
        bool fresh;            /* a new sandbox for each run */
        const cpu_set_t *cpus; /* NULL: any */
        struct run_remote *remote; /* the slot of a worker; NULL: here */
};
int runs_open(const struct runs_options *o, struct runner **ret);

/* *ret_wall (may be NULL): the program's own seconds. -EIO: it did not end with 0. */
int runs_once(struct runner *r, double *ret_wall);
/* A measure_fn of a runner: seconds a run, from the bytes to the result. */
int runs_measure(void *runner, double *ret);
