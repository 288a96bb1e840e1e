/* Places: where runs of a solver are done when that is not this machine. A place is a cluster of the store's config,
 *
 *     [cluster "lab"]
 *             launch = srun --quiet --nodes=1 --exclusive --time=4:00:00 {worker}
 *             workers = 20
 *
 * that `runs = lab` of [solverfs] or of a [solver "NAME"] names. Results stand under its machine (core/remote/cluster.h), which the store knows from
 * the first worker on (TABLE_META, "cluster/<name>"); until then nothing is known there, and whatever is asked waits for query_machine().
 *
 * Threads: any. Places live as long as the workspace. */
#pragma once

#include <pthread.h>

#include "core/engine/engine.h"
#include "core/query/settings.h"
#include "core/remote/cluster.h"

struct workspace;

struct run_place {
        struct engine_away away; /* first */
        struct workspace *workspace;
        struct cluster *cluster; /* owned */
        char *name;              /* owned */
        pthread_mutex_t lock;
        char machine[PATH_SIZE]; /* "": the store does not know it, or was not asked */
        uint64_t looked;         /* now_ns() when it was asked last */
};

int place_open(struct workspace *w, const struct cluster_settings *s, struct run_place **ret);
struct run_place *place_close(struct run_place *p); /* NULL */

/* The machine that results of the place stand under. False: not known yet, and *ret is a text that no result stands under. */
bool place_machine(struct run_place *p, char ret[PATH_SIZE]);
/* Finds it out: waits for a worker. The value says nothing. */
int query_machine(struct run_place *p, struct query **ret);
