/* A cluster: worker processes on other machines (worker.h), and the slots they offer. The head's side.
 *
 *     [cluster "lab"]
 *             launch = srun --quiet --nodes=1 --exclusive --time=4:00:00 {worker}
 *             workers = 20
 *
 * Life of a worker. /bin/sh runs `launch` when runs wait and no slot is free; there are at most `workers` of them at a time. {worker} is the command
 * of the worker, quoted for a shell. The launch may wait in a queue for hours. The worker's hello describes its machine; from then on it has slots.
 * It is let go after `idle` without work. When it dies, its requests fail with -EREMOTEIO. It counts as dead if it was pinged and stays silent for
 * `patience`, or if a run's result is overdue: the run's limit and twice `patience` have passed since it began, and twice `patience` since the last part
 * of its output.
 *
 * All workers have the CPU model, number of cores and kernel of the first one, and the C library of this machine, where programs are built. A worker
 * that differs is let go, and cluster_look() names it. CPU model and cores must be those of cluster_know_machine(), too: results are kept under them.
 *
 * Nodes of one machine should take the same time for the same work. Each worker reports the time of a probe (host_probe()). If the quickest and the
 * slowest node, those that other processes met included, differ by more than CLUSTER_UNEVEN, cluster_look() says so; both go on working.
 *
 * A failed launch is tried again after 0.1 s, 0.2 s, 0.4 s, up to a minute. When CLUSTER_FAILURES failed in a row, no worker is there and no launch
 * began behind the last failure, cluster_take() says why until the next one. Launches that began before the last failure count as the same failure.
 * When the last CLUSTER_FAILURES workers all came with too little time left for a run, cluster_take() refuses that run; shorter ones go on.
 *
 * Threads: any. A cluster has one of its own, which calls `retry`, without a lock, when cluster_take() is to be called again after -EAGAIN. */
#pragma once

#include "core/build/build.h"
#include "core/run/runner.h"
#include "core/run/slot.h"

#define CLUSTER_FAILURES 3
#define CLUSTER_UNEVEN   1.05

struct cluster_settings {
        char *name, *launch;
        char *worker; /* the worker's command; NULL: this program's own path and " worker" */
        unsigned workers;
        uint64_t idle_ns, patience_ns;
};
void cluster_settings_done(struct cluster_settings *s);

struct cluster;
/* Starts nothing yet. Copies the settings. */
int cluster_open(const struct cluster_settings *s, struct cluster **ret);
struct cluster *cluster_close(struct cluster *c); /* ends all workers; no slot may be taken. Returns NULL */
DEFINE_CLEANUP(struct cluster *, cluster_close)
/* Sets `retry` (above); NULL: none. Returns when a call of the former one has ended. */
void cluster_attach(struct cluster *c, void (*retry)(void *user), void *user);

/* The machine in the keys of results: "NAME/CPU model/cores". -ENOENT if no worker has come yet; the first one determines it. */
int cluster_machine(struct cluster *c, char ret[PATH_SIZE]);
void cluster_know_machine(struct cluster *c, const char *machine); /* of the store's results; workers of another one leave */

#define CLUSTER_PROBE_KEPT (14 * 24 * 3600) /* seconds; after that the node may be gone, or in another cluster */
struct cluster_probe {
        uint64_t ns;
        int64_t at; /* seconds since the epoch: when it was measured */
};
/* Takes a probe by another process's worker. For a node whose worker comes here, too, our own probe counts. */
void cluster_know_probe(struct cluster *c, const char *host, const struct cluster_probe *probe);
/* Calls fn with the least probe of each node that came here. fn must not call functions of this header. */
void cluster_each_probe(struct cluster *c, void (*fn)(void *user, const char *host, const struct cluster_probe *probe), void *user);

/* A slot for one run after another. `most_ns`: the longest time of a run, 0: not known; workers that end sooner are left out. `waiting`: the number
 * of askers, this one included; workers are launched for them. Does not wait. -EAGAIN if none is free; `retry` is called when one may be. -EIO with a
 * sentence if none can be had. */
struct cluster_slot;
int cluster_take(struct cluster *c, uint64_t most_ns, size_t waiting, struct cluster_slot **ret);
void cluster_give_back(struct cluster_slot *s);
struct run_remote *cluster_slot_remote(struct cluster_slot *s);

/* A clean build by the worker, with an era's recipe. Sources that the worker lacks are sent; programs that q->programs lacks come back. *ret has no
 * commit yet. -EREMOTEIO if the worker was lost; -ERESTART if another worker may do it; -ECANCELED. */
int cluster_build(struct cluster_slot *s, const struct build_request *q, struct sources *sources, struct build_record **ret);
/* The toolchain of this worker's builds: host_toolchain() there. Valid while the slot is taken. */
const char *cluster_slot_toolchain(const struct cluster_slot *s);
/* From now on a worker is let go if its toolchain differs from that of the others. */
void cluster_will_build(struct cluster *c);

/* Launches one worker, adds its description of itself to *ret, and lets it go. `machine`: that of the results so far, or NULL. -EIO if it failed,
 * with a sentence that ends with the launch's last lines; -EAGAIN if it has not begun after `most_ns`. */
int cluster_try(const struct cluster_settings *s, const char *machine, uint64_t most_ns, struct buffer *ret);

/* Calls fn with its state, for display. */
void cluster_look(struct cluster *c, void (*fn)(void *user, const struct remote_view *v), void *user);
