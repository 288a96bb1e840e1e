/* Places: where runs of a solver are done when that is not this machine. A place is a cluster of the store's config,
 *
 *     [cluster "lab"]
 *             launch = srun --quiet --nodes=1 --exclusive --time=4:00:00 {worker}
 *             workers = 20
 *
 * that `runs = lab` of [solverfs] or of a [solver "NAME"] names. Results stand under its machine (core/remote/cluster.h), which the store knows from
 * the first worker on (TABLE_META, "cluster/<name>"); until then nothing is known there, and whatever is asked waits for query_machine().
 *
 * `builds = lab` has the builds of a solver done there. The toolchain of their keys is then the workers': the store knows the one of the worker that built last
 * (TABLE_META, "cluster/<name>/toolchain"). Until it knows one no build of such a solver is known.
 *
 * Threads: any. Places live as long as the workspace. */
#pragma once

#include <pthread.h>

#include "core/engine/engine.h"
#include "core/workspace/settings.h"
#include "core/remote/cluster.h"

struct workspace;

struct worker_pool {
        struct engine_remote remote; /* first */
        struct recipe_builder builder; /* of the recipes of solvers that are built there */
        bool builds;             /* some are; never unset */
        struct workspace *workspace;
        struct cluster *cluster; /* owned */
        char *name;              /* owned */
        unsigned workers;        /* at most */
        pthread_mutex_t lock;
        char machine[PATH_SIZE]; /* "": the store knows none */
        char toolchain[65];      /* the same */
        uint64_t generation;     /* of the store when it was asked for them */
        void (*look)(void *user); /* the engine's */
        void *look_user;
        pthread_cond_t changed;  /* there may be a slot */
        size_t n_asked, n_leasing; /* who waits for slots: jobs when that was last said, leases */
};

int pool_open(struct workspace *w, const struct cluster_settings *s, struct worker_pool **ret);
struct worker_pool *pool_close(struct worker_pool *p); /* NULL */

/* Where the store has the machine of a cluster's results, in TABLE_META; ret. */
const char *pool_key(const char *name, char ret[128]);
/* The machine that results of the place stand under. False: not known yet, and *ret is a text that no result stands under. */
bool pool_machine(struct worker_pool *p, char ret[PATH_SIZE]);
/* From now on builds are done there. */
void pool_will_build(struct worker_pool *p);
/* The toolchain of builds there. False: not known yet, and *ret is a text that no build stands under. */
bool pool_toolchain(struct worker_pool *p, char ret[65]);
int pool_note_toolchain(struct worker_pool *p, const char *toolchain);
/* A slot for many runs, without a job of the engine: a campaign's, as slot_lease() here. Waits until it has one or `is_over` says that it has no use
 * for one any more: -ECANCELED. -EIO with a sentence: it cannot be had. `most_ns`: the longest run. */
int pool_lease(struct worker_pool *p, uint64_t most_ns, bool (*is_over)(void *user), void *user, struct cluster_slot **ret);
/* The same without waiting: -EAGAIN. */
int pool_try(struct worker_pool *p, uint64_t most_ns, struct cluster_slot **ret);
void pool_release(struct worker_pool *p, struct cluster_slot *s);

/* How many slots its workers have when all are there: those to come are taken for like those that are. A slot each where none is there. */
unsigned pool_count_slots(struct worker_pool *p);

/* For the engine: `look` is called when a job may get a slot that was told to wait. NULL: nobody. */
void pool_attach(struct worker_pool *p, void (*look)(void *user), void *user);

/* Finds it out, and the toolchain, where builds are done there: waits for a worker. The value says nothing. */
int query_machine(struct worker_pool *p, struct query **ret);
