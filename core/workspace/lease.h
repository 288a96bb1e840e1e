/* A lease: a core of this machine, or a slot of the cluster where the solver's runs are done, for a series of runs whose results are not stored as facts.
 * Campaigns, reductions and the searches of core/why run their versions on leases:
 *
 *     struct lease l = {.workspace = w, .pool = solver->pool, .what = "options", .cancel_fd = fd, .slot.lock = -1};
 *     while (more) {
 *             lease_yield(&l);
 *             lease_run(&l, LEASE_ONCE, &(struct runner_options){.recipe = …, .programs = …, .limits = …}, &input, &result);
 *     }
 *     lease_leave(&l);
 *
 * A run takes a slot if the lease has none. It is repeated in another slot if its slot was lost, in the same slot after a fault of ours, and once if
 * something outside may have ended or delayed it: then the second run counts.
 *
 * Threads: one at a time. */
#pragma once

#include "core/run/runner.h"
#include "core/run/slot.h"
#include "core/workspace/workspace.h"

#define LEASE_ONCE SIZE_MAX

struct lease {
        /* the caller's, borrowed */
        struct workspace *workspace;
        struct worker_pool *pool; /* the cluster for the runs; NULL: this machine */
        const char *what;         /* for others who wait for the core */
        int cancel_fd;            /* ends waits and runs; -1: none */
        bool (*is_over)(void *user); /* ends a wait for a cluster, which can take hours; may be NULL */
        void *user;
        uint64_t most_ns; /* the longest limit of a run known so far: a cluster's slot must last as long; grows with the runs */
        /* its own */
        bool has_slot;
        struct slot slot; /* lock -1: none, or a core lent by the caller */
        struct cluster_slot *remote;
        struct runner **runners; /* owned */
        size_t n_runners;
};

/* Waits for a slot, unless the lease has one. -ECANCELED; -EIO with a sentence: no slot to be had; -EAGAIN, likewise: not in time (workspace_wait()). */
int lease_take(struct lease *l);
/* Closes the runners and gives the slot back, if there is one. */
void lease_leave(struct lease *l);
/* Between two runs: if somebody waits for the core, gives it up and waits for another one. */
int lease_yield(struct lease *l);
/* One run, by runner `number`, which is kept for runs of the same recipe and programs until the slot is left; LEASE_ONCE: not kept. `o` gives recipe,
 * programs, limits, seed and listeners; the lease the rest. A run with listeners is not repeated, as they have heard its output. 0: it was run,
 * however it ended; else the error of lease_take() or runner_run(). */
int lease_run(struct lease *l, size_t number, const struct runner_options *o, const struct run_input *input, struct run_result *ret);

/* The place where runs of both versions are done, so that they can be compared. -EINVAL with a sentence: they are done at two places. */
int lease_place(const struct solver *a, const struct solver *b, struct worker_pool **ret);
/* The wall-clock limit of a run with this CPU limit: ends a run that computes nothing, too. */
double lease_wall(double cpu_seconds);
/* For a caller with runners of its own. One of the two is NULL. */
const cpu_set_t *lease_cpus(const struct lease *l);
struct run_remote *lease_remote(const struct lease *l);
