/* Runs of the two versions that a reduction compares: on a number of seats, each with a core and with runners of its own. The first seat has
 * the core of the job, and gives way to persons where the job is a batch's; the others have further ones while nobody else waits for any. Where the
 * solver's runs are done at a place (core/query/place.h), every seat has a slot there, the first one the job's, and no core here.
 *
 * Threads: each seat is used by one thread at a time. */
#pragma once

#include "core/engine/engine.h"
#include "core/study/base/version.h"

enum reduce_side {
        SIDE_REFERENCE,
        SIDE_TARGET,
        N_SIDES
};

struct reduce_runs;

struct reduction_options;
/* The job's slot is the first seat's, and the solver's place is that slot's. The options are borrowed; of the versions, which are built, one may be NULL, and both may
 * be the same. -ENODATA: a version cannot be built. */
int reduce_runs_open(struct job *j, const struct reduction_options *options, const struct version *const versions[N_SIDES],
                     struct reduce_runs **ret);
struct reduce_runs *reduce_runs_close(struct reduce_runs *r); /* NULL */

unsigned reduce_runs_n_seats(const struct reduce_runs *r);
/* Before a test on the first seat: 0 when it has its core. */
int reduce_runs_begin(struct reduce_runs *r);
/* Of another seat: 1: it has a core, which it takes when `has_work`; 0: none now. */
int reduce_runs_ready(struct reduce_runs *r, unsigned seat, bool has_work);

/* `cpu`, `wall`: seconds. 0: however it ended. */
int reduce_runs_run(struct reduce_runs *r, unsigned seat, enum reduce_side side, struct slice text, double cpu, double wall,
                    int cancel_fd, struct run_result *ret);
