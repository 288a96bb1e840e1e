/* A cluster as a workspace uses it: where runs of a solver are done if not on this machine. It is a cluster of the store's config,
 *
 *     [cluster "lab"]
 *             launch = srun --quiet --nodes=1 --exclusive --time=4:00:00 {worker}
 *             workers = 20
 *
 * named by `runs = lab` in [solverfs] or in a [solver "NAME"]. Results are stored under its machine (core/remote/cluster.h), which the store knows once
 * the first worker has come (TABLE_META, "cluster/<name>"). Until then no result is known there, and every query waits for query_machine().
 *
 * `builds = lab` has a solver built there. The toolchain in the build keys is then the workers': the store keeps that of the worker that built last
 * (TABLE_META, "cluster/<name>/toolchain"). Until it has one, no build of such a solver is known.
 *
 * The last probe of each node (cluster.h) is kept for two weeks (TABLE_META, "cluster/<name>/probe/<version>/<host>": nanoseconds, time), so that
 * nodes of separate commands are judged as one cluster. Probes are read when an engine is attached, and written by pool_store_probes().
 *
 * Threads: any. Pools live as long as the workspace. */
#pragma once

#include <pthread.h>

#include "core/engine/engine.h"
#include "core/workspace/settings.h"
#include "core/remote/cluster.h"

struct workspace;

struct worker_pool {
        struct engine_remote remote; /* first, for casts */
        struct recipe_builder builder; /* for the recipes of solvers built there */
        bool builds;             /* some solver is built there; never unset */
        struct workspace *workspace;
        struct cluster *cluster; /* owned */
        char *name;              /* owned */
        unsigned workers;        /* at most */
        pthread_mutex_t lock;
        char machine[PATH_SIZE]; /* "": not known */
        char toolchain[65];      /* the same */
        uint64_t generation;     /* the store's when machine and toolchain were last read */
        void (*retry)(void *user); /* the engine's: tries again to give waiting jobs slots; NULL: none is attached */
        void *retry_user;
        pthread_cond_t changed;  /* a slot may be free */
        size_t n_asked, n_leasing; /* jobs that wait for slots, as of their last request; leases that do */
};

int pool_open(struct workspace *w, const struct cluster_settings *s, struct worker_pool **ret);
struct worker_pool *pool_close(struct worker_pool *p); /* NULL */

/* The key in TABLE_META of the machine of a cluster's results; returns ret. */
const char *pool_key(const char *name, char ret[128]);
/* The machine under which the cluster's results are stored. False: not known yet, and *ret is a text that no result is stored under. */
bool pool_machine(struct worker_pool *p, char ret[PATH_SIZE]);
/* From now on builds are done there. */
void pool_will_build(struct worker_pool *p);
/* The toolchain of builds there. False: not known yet, and *ret is a text that no build key has. */
bool pool_toolchain(struct worker_pool *p, char ret[65]);
int pool_note_toolchain(struct worker_pool *p, const char *toolchain);
/* A slot for many runs, without a job of the engine, as slot_lease() on this machine. Waits for it. -ECANCELED: `is_over` returned true meanwhile; -EIO
 * with a sentence: no slot to be had. `most_ns`: the longest run. */
int pool_lease(struct worker_pool *p, uint64_t most_ns, bool (*is_over)(void *user), void *user, struct cluster_slot **ret);
/* The same without waiting. -EAGAIN: no slot is free. */
int pool_try(struct worker_pool *p, uint64_t most_ns, struct cluster_slot **ret);
void pool_release(struct worker_pool *p, struct cluster_slot *s);

/* The number of slots once all workers are there: missing workers are assumed to be like the present ones, or to have one slot each if none is there. */
unsigned pool_count_slots(struct worker_pool *p);

/* For the engine: calls `retry` when a waiting job may get a slot. NULL: no calls. */
void pool_attach(struct worker_pool *p, void (*retry)(void *user), void *user);
/* Stores the probes of this process's nodes. Call it when no pool calls `retry` any more, as another process may hold up the write. */
void pool_store_probes(struct worker_pool *p);

/* The query that waits for a worker and learns the machine, and the toolchain if solvers are built there. The value is empty. */
int query_machine(struct worker_pool *p, struct query **ret);
