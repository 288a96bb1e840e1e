/* The engine: every value is computed once, whoever asks, however many ask, in whichever process.
 *
 *     engine_ask(query) ── find() in the store: hit ─▶ answer
 *                        │ miss
 *                        ▼
 *           a job, one per query key (single flight); the asker is one of its waiters
 *                        │ need(): each value needed first becomes a job of its own; this one waits for them
 *                        ▼
 *           the queue of the query's resource, persons before batches, bounded
 *                        ▼
 *           claim (OFD lock, so that no other process does the same), slot (a core), compute() on a thread, answer every waiter
 *
 * A query is a value to be computed: a row of functions and a key. To add one, write a query_type and a constructor (model:
 * core/query/query_program.c; core/engine/ask.h for a query that asks others). The engine, the mount's handlers and the command need no change. The
 * engine knows no solver and no workspace: a query carries its own data.
 *
 * Why every wait ends.
 *   - Slots, claims, threads and places in a pool are held only inside compute() and step(), which have no way to ask and wait. A job that
 *     gives way (job_give_way()) keeps its claim while it waits for a slot, as the first of its rank. That wait ends, too: nobody who has a slot
 *     waits for a claim.
 *   - A job that waits (for its needs, or for the batch of its step()) is a struct and nothing else: no thread, no slot, no claim, no
 *     descriptor. There may be as many as memory holds; a job's own queries are never refused because the queue is full.
 *   - The graph "job waits for job" has no cycle: when an edge is added, under the engine's lock, the engine checks whether the job
 *     asked for waits for the asker already. If so it refuses the edge: -EDEADLK, with both names.
 * Other processes hold claims only while they compute, so the same holds across processes.
 *
 * Priority and cancellation follow the graph. When a person joins a job that a batch began, the job and everything it waits for, to any depth, move
 * before the batches. When the last waiter of a job has left, the job is cancelled after the grace period unless somebody asks again; all that was
 * asked for it alone is cancelled with it, at once.
 *
 * Errors are not stored: the next asker tries again. Their sentences are remembered for a while, for engine_peek().
 *
 * Threads: every function may be called from any thread. Callbacks run on engine threads with no lock held, exactly once each. */
#pragma once

#include <sched.h>

#include "cache/base/hash.h"
#include "cache/base/progress.h"

#define ENGINE_SLOTS_MAX 64 /* limit on the cores that one engine uses */

struct core_loan;
struct slot_view;
struct remote_view;
struct engine;
struct store;
struct job;

/* The resource that a query occupies while it is computed. */
enum resource {
        RESOURCE_CORE,  /* one core of its own, for timed runs */
        RESOURCE_BUILD, /* cores, as the only build on them or as a guest (slot.h); runs take them from it */
        RESOURCE_DISK,  /* none: short work that may wait for the disk (on one of a few threads) */
        RESOURCE_STEP,  /* none: step() of a query made of batches, and only while step() runs (on one of a few threads) */
        RESOURCE_REMOTE,  /* a slot of another machine: struct engine_remote */
        N_RESOURCES
};

struct value { /* the head of every value */
        const struct query_type *type;
        unsigned refs; /* atomic */
};
struct query { /* the head of every query; its own fields follow */
        const struct query_type *type;
        unsigned refs;     /* atomic */
        struct digest key; /* of everything that the value depends on; set by the constructor */
};

/* Slots of other machines, such as those of a cluster (core/workspace/worker_pool.h). Their number changes, and one may be lost in use. A compute()
 * that returns -EREMOTEIO is called again on another slot, at most ENGINE_LOST_MOST times; one that returns -ERESTART, as nothing was begun, any
 * number of times. */
struct engine_remote {
        /* Takes a slot for `most_ns` (0: not known); `waiting` jobs want one, this one included. Called under the engine's lock, so it must not wait.
         * -EAGAIN: engine_look_again() will be called when there is one; other errors end the job. */
        int (*take)(struct engine_remote *a, uint64_t most_ns, size_t waiting, void **ret_slot);
        void (*give_back)(struct engine_remote *a, void *slot); /* also under the lock */
        void (*look)(struct engine_remote *a, void (*fn)(void *user, const struct remote_view *v), void *user);
};
#define ENGINE_LOST_MOST 3

/* How long a computation will occupy its slot, from measurements. */
struct cost {
        uint64_t mean_ns;
        uint64_t deviation_ns; /* standard deviation; 0: not known, taken to be the mean */
        uint64_t most_ns;      /* it is stopped after this time; 0: never */
};

struct query_list;
/* Takes over the reference. Returns 0. */
int query_list_add(struct query_list *n, struct query *q);

struct query_type {
        const char *name; /* "run" */
        enum resource resource;
        enum resource (*resource_of)(const struct query *q); /* if it differs between queries; called once for each job. NULL: `resource` */
        /* 0 and the stored value; -ENOENT if it must be computed; else an error. Must be cheap: the mount's handlers call it. */
        int (*find)(struct query *q, struct value **ret);
        /* Adds the queries whose values compute() needs and that are missing; called until it adds none. NULL: none ever. */
        int (*need)(struct query *q, struct query_list *ret);
        /* Computes the value and stores it. `j` has its slot and its cancel descriptor, and takes its progress. Not called if a need failed. If it
         * returns -ENOENT, and need() then adds a query, a needed value has gone: it is asked for again, and compute() is called once more. */
        int (*compute)(struct query *q, struct job *j, struct value **ret);
        /* Instead of compute(), for a query made of batches (RESOURCE_STEP): see core/engine/ask.h. */
        int (*step)(struct query *q, struct job *j, void **state, struct value **ret);
        void (*free_state)(void *state);                             /* frees the state that step() left; NULL: nothing to free */
        void (*describe)(const struct query *q, struct buffer *ret); /* "run kissat 1a2b3c4d case 42" */
        bool (*estimate)(const struct query *q, struct cost *ret);   /* false: no measurements; NULL: never any */
        /* For RESOURCE_REMOTE: the owner of the slots, and the longest possible time (0: not known). */
        struct engine_remote *(*remote)(const struct query *q, uint64_t *ret_most_ns);
        bool (*gone)(const struct query *q); /* true if its solver was removed: its job ends; NULL: never */
        void (*query_done)(struct query *q); /* frees its fields, as value_done() does; NULL: nothing to free */
        void (*value_done)(struct value *v);
};

DECLARE_REFS(query)
DECLARE_REFS(value)

/* -- life ------------------------------------------------------------------------------------------------------- */

/* The place of an engine; workspace_engine() gives that of a store. */
struct engine_home {
        const char *dir; /* the folder of slots/, claims/ and engines/; copied */
        struct store *store; /* others put values into it, too: it is looked at when it changes. Read-only: nothing is computed */
        /* A number that changes when queries may have become `gone`; called a few times a second, without a lock. NULL: never. */
        uint64_t (*changes)(void *user);
        /* Calls fn for each cluster, to show its slots; NULL: no clusters. */
        void (*each_remote)(void *user, void (*fn)(void *look_user, struct engine_remote *a), void *look_user);
        /* Tells the clusters which engine's engine_look_again() to call. Called by engine_open() and, with NULL, at the beginning of engine_close(),
         * when slots may still be taken. May be NULL. */
        void (*attach)(void *user, struct engine *e);
        void *user;
};
struct engine_options {
        unsigned cores;    /* limit on the slots that its runs have at a time, and on those of its builds; 0: all of host_cores() */
        unsigned queue;    /* limit on its jobs; further askers get -EAGAIN; 0: 65536 */
        uint64_t grace_ns; /* from the last waiter's leaving to the cancel */
        bool gives_up;     /* jobs end with -EAGAIN, and the names of the owners, if others leave them no core for wait_ns */
        uint64_t wait_ns;
};
int engine_open(const struct engine_home *home, const struct engine_options *options, struct engine **ret);
struct engine *engine_close(struct engine *e); /* cancels what runs, answers every waiter with -ECANCELED, joins all threads */

/* -- asking ----------------------------------------------------------------------------------------------------- */

enum priority {
        PRIORITY_PERSON,
        PRIORITY_BATCH
};

/* `reason` is the sentence for a failure, else NULL. `v` is borrowed. */
typedef void (*answer_fn)(void *user, int r, struct value *v, const char *reason);

/* Asks for one value; for many see core/engine/ask.h. 0: `fn` is called with the answer (perhaps before this returns), unless engine_leave() takes
 * the ticket back first. -EAGAIN: the queue is full; -EROFS: the value is not known, and the store is read-only. The answer or engine_leave() frees
 * the ticket. `again` computes anew even if a value is stored. *ret is set before the job can answer, and unchanged if the value was stored. q stays
 * the caller's. */
enum { COMPUTE_IF_UNKNOWN = false, COMPUTE_AGAIN = true }; /* of `again` */
struct ticket;
int engine_ask(struct engine *e, struct query *q, enum priority p, bool again, answer_fn fn, void *user, struct ticket **ret);
/* Takes a ticket back. `t` is the `ret` of engine_ask(): it is read under the engine's lock, so it may still be NULL while another thread is in
 * engine_ask(). True: fn will never be called. False: not asked yet, or fn is being called. The ticket is freed when fn has returned, and *t must
 * not be read any more. So hold a lock that fn takes, too, and do not call this once fn has run. */
bool engine_leave(struct engine *e, struct ticket **t);
/* Asks and waits. -ECANCELED if cancel_fd (-1: none) becomes readable. errorf() has the sentence. */
int engine_get(struct engine *e, struct query *q, enum priority p, bool again, int cancel_fd, struct value **ret);

/* -- looking ---------------------------------------------------------------------------------------------------- */

enum job_state {
        JOB_COLD,
        JOB_QUEUED,
        JOB_RUNNING,
        JOB_READY,
        JOB_FAILED
};
const char *job_state_name(enum job_state s); /* "cold" … */
/* The state of a query, without asking for it. *ret_job: its job's number (0: none). *ret_reason (free()): why it failed, if remembered, or the
 * owners of the cores that it waits for; NULL: neither. */
enum job_state engine_peek(struct engine *e, struct query *q, uint64_t *ret_job, char **ret_reason);

struct job_view {
        uint64_t id;
        int pid;           /* of the job's process */
        const char *query; /* type name */
        const char *what;  /* description */
        enum job_state state;
        enum priority priority;
        const char *phase; /* "checkout", "ninja -C build", … */
        uint64_t done, total;
        uint64_t age_ns, running_ns, remaining_ns; /* 0: unknown */
        unsigned waiters;
};
/* Calls fn for every job of this engine, then for those of other processes on this store; in order of number. */
int engine_each_job(struct engine *e, void (*fn)(void *user, const struct job_view *j), void *user);
/* The same for a process without an engine: all engines alive on the store. */
int engine_each_job_of_store(const char *store_dir, void (*fn)(void *user, const struct job_view *j), void *user);

/* Calls fn for each taken core of this machine, of all stores. */
int engine_each_slot_of_store(const char *store_dir, void (*fn)(void *user, const struct slot_view *v), void *user);

/* The remote slots of this engine, or of all engines alive on a store. */
void engine_each_remote(struct engine *e, void (*fn)(void *user, const struct remote_view *v), void *user);
int engine_each_remote_of_store(const char *store_dir, void (*fn)(void *user, const struct remote_view *v), void *user);
/* "cluster lab: 2 of 20 workers, 3 waiting to begin, 1 of 2 slots at work, 1 lost; last trouble: …", without a newline. */
void remote_view_line(const struct remote_view *v, struct buffer *ret);
void engine_look_again(struct engine *e); /* call when there may be a remote slot */

struct engine_counters {
        uint64_t asked, hits, started, finished, failed, cancelled, joined, refused;
        uint64_t queued, running, waiters; /* now; a job that waits for others is neither queued nor running */
        unsigned slots; /* at a time, at most */
};
void engine_counters(struct engine *e, struct engine_counters *ret);

/* -- for compute() and step() ------------------------------------------------------------------------------------ */

const cpu_set_t *job_cpus(struct job *j); /* the cores of its slots */
unsigned job_slot(struct job *j);         /* number of its first slot */
unsigned job_n_slots(struct job *j);
size_t job_loans(struct job *j, struct core_loan *ret); /* the slots of a build, ENGINE_SLOTS_MAX at most, with their locks */
void *job_remote(struct job *j); /* its remote slot, for RESOURCE_REMOTE; NULL */
/* The same, but takes the slot away from the job: the caller gives it back to the cluster. */
void *job_take_remote(struct job *j);
/* Leaves a thing that is expensive to make, such as an open sandbox, to later jobs of the same slot. It is closed if no job takes it within a
 * quarter of a second, when LEFT_MOST others were left since, by engine_close(), and at once if the job has no slot of this machine. */
#define LEFT_MOST 4
void job_leave(struct job *j, void *what, void (*close)(void *what));
/* Takes what was left last on the slot and fits; the caller owns it then. NULL: nothing fits. */
void *job_take_left(struct job *j, bool (*fits)(void *what, const void *with), const void *with);
/* Takes one more slot, for a long computation that can use several cores; by any thread of the job. -EAGAIN if none is free, or another job waits for
 * one. Between two pieces of work the holder asks job_is_pressed() and, if true, drops the slot, as others wait for a core. All are dropped when
 * compute() returns. */
int job_add_slot(struct job *j, unsigned *ret_slot, cpu_set_t *ret_cpus);
void job_drop_slot(struct job *j, unsigned slot);
bool job_is_pressed(struct job *j);
/* Call it in one thread of a batch between two pieces of work. If a person waits for a core, or a build for its turn, gives up the job's slots and
 * waits, as the first of its rank, for another. 1: it has another slot now (job_cpus(), job_slot()); 0: nobody waited; -ECANCELED. */
int job_give_way(struct job *j);
int job_cancel_fd(struct job *j); /* readable once it is cancelled */
bool job_again(struct job *j);
struct engine *job_engine(struct job *j);
const struct progress *job_progress(struct job *j);
