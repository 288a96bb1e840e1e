/* A cluster: worker processes on other machines (worker.h), and the slots they offer. The head's side.
 *
 *     [cluster "lab"]
 *             launch = srun --quiet --nodes=1 --exclusive --time=4:00:00 {worker}
 *             workers = 20
 *
 * Life of a worker. `launch` is run by /bin/sh when runs wait and no slot is free, at most `workers` of them at a time; {worker} is the
 * command of the worker, quoted for a shell. It may wait in a queue for hours. Its hello says which machine it is; from then on it has slots.
 * It is let go when it had nothing to do for `idle`. One that dies costs what it was doing; whoever waits for that is told -EREMOTEIO.
 * One from which nothing was heard for `patience`, though it was asked, counts as dead.
 *
 * All workers at work have one CPU model, number of cores, kernel and C library: those of the first that came. Another one
 * is let go, and named in what cluster_look() shows. CPU model and cores must also be those of `machine`, when the cluster had one before:
 * results stand under them.
 *
 * Nodes of one machine should take the same time for the same work. Each worker says what it took for a probe (host_probe()); where the quickest and
 * the slowest node differ by more than CLUSTER_UNEVEN, cluster_look() says so. Both go on working.
 *
 * A launch that fails is tried again after a tenth of a second, two, four, up to a minute. When CLUSTER_FAILURES of them failed in a row and no
 * worker is there, cluster_take() says why.
 *
 * Threads: any; a cluster has one of its own. `look` is called by that thread, without a lock, when there may be a slot or an error
 * for who was told -EAGAIN. */
#pragma once

#include "core/build/build.h"
#include "core/run/runner.h"
#include "core/run/slot.h"

#define CLUSTER_FAILURES 3
#define CLUSTER_UNEVEN   1.05

struct cluster_settings {
        char *name, *launch;
        char *worker; /* the command of a worker; NULL: this program's own path and " worker" */
        unsigned workers;
        uint64_t idle_ns, patience_ns;
};
void cluster_settings_done(struct cluster_settings *s);

struct cluster;
/* Starts nothing yet. Copies the settings. */
int cluster_open(const struct cluster_settings *s, struct cluster **ret);
struct cluster *cluster_close(struct cluster *c); /* ends all workers; no slot may be taken. NULL */
DEFINE_CLEANUP(struct cluster *, cluster_close)
/* `look` NULL: nobody. Returns when a call that is under way has ended. */
void cluster_attach(struct cluster *c, void (*look)(void *user), void *user);

/* The machine that results stand under: "NAME/CPU model/cores". -ENOENT: no worker has come yet; it is found out by the first. */
int cluster_machine(struct cluster *c, char ret[PATH_SIZE]);
void cluster_know_machine(struct cluster *c, const char *machine); /* from earlier; ignored when one is known */

/* A slot for one run after another. `most_ns`: how long a run may take, 0: not known; a worker that ends sooner is not given it. `waiting`: how
 * many want one, this one included; so many workers are launched, up to the most. Does not wait: -EAGAIN, and `look` is called when it may be had.
 * -EIO with a sentence: it cannot be had. */
struct cluster_slot;
int cluster_take(struct cluster *c, uint64_t most_ns, size_t waiting, struct cluster_slot **ret);
void cluster_give_back(struct cluster_slot *s);
struct run_away *cluster_slot_away(struct cluster_slot *s);

/* A clean build by the worker, of an era's recipe: sources that it lacks go there, programs that q->programs lacks come here. *ret has no commit yet.
 * -EREMOTEIO: the worker was lost; -ERESTART: it is of no use for that, another one may be; -ECANCELED. */
int cluster_build(struct cluster_slot *s, const struct build_request *q, struct sources *sources, struct build_record **ret);
/* The toolchain that builds of this worker have: host_toolchain() there. Valid while the slot is taken. */
const char *cluster_slot_toolchain(const struct cluster_slot *s);
/* From now on workers with different toolchains are different machines. */
void cluster_will_build(struct cluster *c);

/* Launches one worker and lets it go again: adds to *ret what it says of itself. `machine`: the one of the results so far, or NULL. -EIO with a sentence
 * that ends with the launch's last lines: it failed; -EAGAIN: it has not begun after `most_ns`. Logs what goes wrong, as every cluster. */
int cluster_try(const struct cluster_settings *s, const char *machine, uint64_t most_ns, struct buffer *ret);

/* Its state, for who shows it; `pid` is 0. */
void cluster_look(struct cluster *c, void (*fn)(void *user, const struct away_view *v), void *user);
