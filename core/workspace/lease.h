/* A lease: a core of this machine, or a slot of a cluster where the solver's runs are done there, for one run after another that nobody asks for again.
 * Campaigns, reductions and the searches of core/why run their versions by it:
 *
 *     struct lease l = {.workspace = w, .pool = solver->pool, .what = "options", .cancel_fd = fd, .slot.lock = -1};
 *     while (more) {
 *             lease_yield(&l);
 *             lease_run(&l, LEASE_ONCE, &(struct runner_options){.recipe = …, .programs = …, .limits = …}, &input, &result);
 *     }
 *     lease_leave(&l);
 *
 * A run takes a slot where there is none yet. Where a slot is lost under it, it is done again in another one; after a fault of ours, in the same one.
 *
 * Threads: a lease is one thread's at a time. */
#pragma once

#include "core/run/runner.h"
#include "core/run/slot.h"
#include "core/workspace/workspace.h"

#define LEASE_ONCE SIZE_MAX

struct lease {
        /* the caller's, borrowed */
        struct workspace *workspace;
        struct worker_pool *pool; /* where runs are done; NULL: here */
        const char *what;         /* for others who wait for the core */
        int cancel_fd;            /* ends waits and runs; -1: none */
        bool (*is_over)(void *user); /* ends a wait for a cluster, which can take hours; NULL: nothing more does */
        void *user;
        uint64_t most_ns; /* the longest run, as far as it is known; grows with the runs */
        /* its own */
        bool has_slot;
        struct slot slot; /* lock -1: none, or a core that the caller has lent it */
        struct cluster_slot *remote;
        struct runner **runners; /* owned */
        size_t n_runners;
};

/* Waits for a slot; nothing where it has one. -ECANCELED; -EIO with a sentence: none can be had. */
int lease_take(struct lease *l);
/* Closes the runners and gives the slot back; nothing where it has none. */
void lease_leave(struct lease *l);
/* Between two runs: gives the core up where somebody else waits for it, and waits for another one. */
int lease_yield(struct lease *l);
/* One run, by runner `number`: kept until the slot is left, for runs of the same recipe and programs; LEASE_ONCE: it is not. `o`: recipe, programs, limits,
 * seed and, here, listeners, whose run is not done again, as what was heard cannot be taken back. All else comes from the lease. 0: however it ended. */
int lease_run(struct lease *l, size_t number, const struct runner_options *o, const struct run_input *input, struct run_result *ret);

/* Where runs of two versions can be compared: at one place. -EINVAL with a sentence: they are done at two. */
int lease_place(const struct solver *a, const struct solver *b, struct worker_pool **ret);
/* Seconds by the clock on the wall of a run that may compute for so many: one that computes nothing ends, too. */
double lease_wall(double cpu_seconds);
/* For who opens a runner of his own there. One of them is NULL. */
const cpu_set_t *lease_cpus(const struct lease *l);
struct run_remote *lease_remote(const struct lease *l);
