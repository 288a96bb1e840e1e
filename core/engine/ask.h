/* Asking for many values at once: a number of queries open at a time, answers as they come, progress with an estimate, taken
 * back as one. The command uses it from a thread that waits (ask_many()), queries use it from step() and hold nothing while they
 * wait (job_ask_many()). engine.h says why every such wait ends.
 *
 * A command:
 *
 *     static int make(void *user, size_t i, struct query **ret)
 *     {
 *             struct sweep *s = user;
 *             return query_run(s->workspace, &s->cells[i], ret);
 *     }
 *     static int answered(void *user, size_t i, int r, struct value *v, const char *reason)
 *     {
 *             … v is a struct run_value when r is 0 …
 *             return 0;                             // 1: that is enough, the others are taken back
 *     }
 *     r = ask_many(engine, &(struct asking){.n = n, .make = make, .answered = answered, .user = &s}, PRIORITY_BATCH, signals);
 *
 * A query: the same inside step(), which is called again when all is answered:
 *
 *     struct median { double times[30]; size_t n; };                      // what the steps hand on
 *     static int median_step(struct query *q, struct job *j, void **state, struct value **ret)
 *     {
 *             struct median *m = *state;
 *             if (!m) {                                                   // the first step asks …
 *                     *state = m = allocate(1, sizeof(*m));
 *                     job_ask_many(j, &(struct asking){.n = 30, .make = make, .answered = answered, .user = m});
 *                     return 0;
 *             }
 *             return median_store(q, m, ret);                             // … the last one has an answer, and stores it
 *     }
 *     const struct query_type median_type = {.name = "median", .resource = RESOURCE_STEP, .step = median_step, .free_state = free, …};
 *
 * A step returns 0 with *ret set (that is the value), 0 having called job_ask_many() once (it is called again when that has ended), or
 * -errno. It must not wait for anything but the disk. make(), answered() and step() of one job are never called at the same time, but on
 * changing threads. Between two steps another process may finish the same query; then the value is taken from the store, and no further
 * step is called. The state is freed by free_state() however the job ends.
 *
 * Questions that follow from answers (a bisection, a sequential test) are another asking, in the next step or round.
 */
#pragma once

#include "core/engine/engine.h"

/* How far it is. The estimate is a range of the time until all is answered, from what was measured before and so far: two standard
 * deviations to both sides, over the slots of this engine, unknown until it can be said. */
struct ask_progress {
        struct engine *engine;
        size_t n;        /* of the asking */
        size_t answered; /* so far, */
        size_t worked;   /* of these, worked out since it was asked; the others were known */
        size_t open;
        bool estimated;
        uint64_t least_ns, most_ns; /* when estimated */
};

struct asking {
        size_t n;
        unsigned open; /* at a time; 0: 256 for ask_many(), 64 for job_ask_many() */
        bool again; /* works out anew what is there */
        /* Query i (in order, each once): 0; -errno is its answer. */
        int (*make)(void *user, size_t i, struct query **ret);
        /* Once for each that was made or failed to. `v` is borrowed, NULL when r < 0; `reason` then says why. 0: on; 1: enough; -errno: enough,
         * and that is what the asking (and the job) ends with. NULL: ends with the first failure, values are only worked out. */
        int (*answered)(void *user, size_t i, int r, struct value *v, const char *reason);
        /* ask_many() only: about five times a second while it waits. -errno: enough, as above. May be NULL. */
        int (*progress)(void *user, const struct ask_progress *p);
        void *user;
};

/* Asks on the calling thread's behalf and waits; the callbacks are called by it. 0 when all is answered or answered() said it is enough;
 * -ECANCELED when cancel_fd (-1: none) became readable; else what answered() returned. When it ends early everything open has been taken
 * back. An item that the engine's full queue refuses is asked again
 * when another of the same asking is answered. To be ended before engine_close(). */
int ask_many(struct engine *e, const struct asking *a, enum priority p, int cancel_fd);

/* Asks on the job's behalf; only from step(), once in each. `a` is copied; `user` must live as long as the state. Priority is the
 * job's, now and whenever it rises; nothing outlives the job. A query that waits for this job already is answered with -EDEADLK. */
int job_ask_many(struct job *j, const struct asking *a);
