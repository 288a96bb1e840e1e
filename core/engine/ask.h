/* Asking for many values at once: a number of queries are open at a time, answers come as they are found, progress comes with an estimate, and
 * they are cancelled together. The command asks from a thread that waits (ask_many()). A query asks from its step(), and holds nothing while it waits
 * (job_ask_many()). engine.h says why every such wait ends.
 *
 * A command gives make(), which makes query i, and answered(), which receives its answer (tools/ask.c is the model):
 *
 *     r = ask_many(engine, &(struct batch){.n = n, .make = make, .answered = answered, .user = &s}, PRIORITY_BATCH, signals);
 *
 * A query does the same inside step(), which is called again when all is answered:
 *
 *     struct median { double times[30]; size_t n; };                      // state from step to step
 *     static int median_step(struct query *q, struct job *j, void **state, struct value **ret)
 *     {
 *             struct median *m = *state;
 *             if (!m) {                                                   // the first step asks …
 *                     *state = m = allocate(1, sizeof(*m));
 *                     job_ask_many(j, &(struct batch){.n = 30, .make = make, .answered = answered, .user = m});
 *                     return 0;
 *             }
 *             return median_store(q, m, ret);                             // … the last one has an answer, and stores it
 *     }
 *     const struct query_type median_type = {.name = "median", .resource = RESOURCE_STEP, .step = median_step, .free_state = free, …};
 *
 * A step returns 0 with *ret set (the value); or 0 after one job_ask_many(), and is called again when that has ended; or -errno. It may wait for the
 * disk only. make(), answered() and step() of one job are never called at the same time, but on changing threads. Another process may finish the
 * query between two steps: then the value comes from the store, and no further step is called. free_state() frees the state however the job ends.
 *
 * Questions that follow from answers (a bisection, a sequential test) are another batch, in the next step or round. */
#pragma once

#include "core/engine/engine.h"

/* The progress of a batch. The estimate is a range of the time until all is answered: two standard deviations to both sides, over the slots of this
 * engine, from measurements made before and so far. */
struct ask_progress {
        struct engine *engine;
        size_t n;        /* of the batch */
        size_t answered; /* so far */
        size_t computed; /* of the answered, those that were computed; the others were found in the store */
        size_t open;
        bool estimated;
        uint64_t least_ns, most_ns; /* if estimated */
};

struct batch {
        size_t n;
        unsigned open; /* queries at a time; 0: 256 for ask_many(), 64 for job_ask_many(), plus as many as run on other machines */
        bool again; /* computes anew even values that are stored */
        /* Makes query i; called in order, once for each. A returned -errno becomes the answer of i. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* Called once for each answer. `v` is borrowed, NULL if r < 0; then `reason` says why. Returns 0: go on; 1: enough; -errno: enough, and the
         * batch (and the job) ends with that error. NULL: values are only computed, and the first failure ends the batch. */
        int (*answered)(void *user, size_t i, int r, struct value *v, const char *reason);
        /* ask_many() only: called about five times a second while it waits. -errno: enough, as above. May be NULL. */
        int (*progress)(void *user, const struct ask_progress *p);
        void *user;
};

/* Asks and waits, and calls the callbacks on the calling thread. 0: all is answered, or answered() returned 1; -ECANCELED if cancel_fd (-1: none)
 * became readable; else the error that answered() returned. An early end takes back everything open. A query that the engine's full queue refuses is
 * asked again when another of the same batch is answered. It must end before engine_close(). */
int ask_many(struct engine *e, const struct batch *a, enum priority p, int cancel_fd);

/* Asks on the job's behalf; call it only from step(), once in each. Returns 0. `a` is copied; `user` must live as long as the state. The batch has
 * the job's priority, also when that rises, and ends with the job. A query that waits for this job already is answered with -EDEADLK. */
int job_ask_many(struct job *j, const struct batch *a);
