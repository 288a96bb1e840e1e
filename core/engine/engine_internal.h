/* What engine.c (asking), engine_job.c (jobs, and their answers), schedule.c (who runs next, and where) and engine_view.c (looking) share. */
#pragma once

#include <pthread.h>

#include "core/engine/engine.h"
#include "cache/store/store.h"

#define ENGINE_SLOTS_MAX 64 /* cores one engine uses at most */
#define ENGINE_DISK      4  /* RESOURCE_DISK jobs at a time */
#define ENGINE_STEPS     4  /* RESOURCE_STEP jobs at a time */
#define ENGINE_FAILURES  256
#define PHASE_SIZE       128
#define ENGINE_BUCKETS   (1u << 14)

struct ticket {
        struct job *job; /* NULL once it is being answered; under engine->lock */
        answer_fn fn;
        void *user;
        enum priority priority;
        struct ticket *previous, *next;
};

struct query_list {
        struct query **list; /* owns refs */
        size_t n;
};
void query_list_done(struct query_list *n);

enum job_stage {
        STAGE_NEED,      /* waits for the job of another query */
        STAGE_QUEUED,    /* waits for its turn */
        STAGE_ELSEWHERE, /* another process (or a cancelled job of ours) holds its claim */
        STAGE_RUNNING,
        STAGE_OVER, /* being answered */
};

struct job {
        struct engine *engine;
        struct query *query; /* owns a ref */
        uint64_t id;
        bool again;
        /* under engine->lock: one until job_finish(), one while it waits for its need, one for who looks at it without the lock */
        unsigned refs;

        /* under engine->lock */
        enum job_stage stage;
        enum priority priority;               /* of its most urgent ticket so far */
        struct ticket *tickets, *last_ticket; /* owned; in the order they came, which is the order of their answers */
        unsigned n_tickets;
        bool listed;             /* in engine->jobs: can be joined */
        bool cancelled;          /* told to stop; never joined again */
        bool gone;               /* cancelled, as what it is asked of is no more */
        bool second;             /* what it needed was gone when its turn came, and was seen to again */
        uint64_t abandoned;      /* when the last ticket left; 0: somebody waits */
        uint64_t asked, started; /* now_ns() */
        uint64_t next_look;      /* STAGE_ELSEWHERE: when to try the claim again */
        uint64_t look_interval;
        struct ticket *need; /* ours on the job we wait for; owned by that job */
        struct job *bucket_next;
        struct job *queue_previous, *queue_next; /* of the queue of its stage, resource and priority */
        struct job *all_previous, *all_next;
        char phase[PHASE_SIZE];
        uint64_t done, total, estimate;

        /* of the thread that runs it */
        int claim, cancel_fd;
        uint64_t slots; /* a bit for each that it has */
        cpu_set_t cpus;
        struct progress progress;
};

struct queue {
        struct job *first, *last;
        size_t n;
};

struct failure {
        struct digest key;
        char *reason; /* owned */
};

struct engine {
        struct engine_place place; /* dir: owned */
        struct engine_options options;
        char slots_dir[PATH_SIZE], claims_dir[PATH_SIZE], engines_dir[PATH_SIZE];
        int cpus[ENGINE_SLOTS_MAX]; /* of each slot */
        unsigned n_slots;

        pthread_mutex_t lock;
        pthread_cond_t changed; /* for the scheduler: something to do */
        pthread_cond_t idle;    /* for engine_close(): a worker has gone */
        pthread_t scheduler;

        /* under lock */
        bool closing;
        bool attention; /* something changed since the scheduler last looked */
        struct job *jobs[ENGINE_BUCKETS];
        struct job *all_first, *all_last; /* in order of id */
        size_t n_jobs;
        struct queue queues[N_RESOURCES][2]; /* STAGE_QUEUED, by priority */
        struct queue elsewhere;
        size_t n_abandoned;
        unsigned running[N_RESOURCES], n_workers;
        bool slot_busy[ENGINE_SLOTS_MAX];
        int slot_locks[ENGINE_SLOTS_MAX]; /* of those that are busy */
        int urgent;                       /* the shared lock that says a person waits here; -1 */
        uint64_t next_id;
        struct failure failures[ENGINE_FAILURES];
        unsigned next_failure;
        struct engine_counters counters;
        bool dirty;                       /* the published view is older than what is */
        uint64_t published, publish_cost; /* now_ns(); ns the last one took */
        int alive;                        /* lock on engines/<pid>, held while we live */
};

/* engine_job.c; all with engine->lock held unless said otherwise */
struct job *job_new(struct engine *e, struct query *q, bool again);
struct job *job_listed(struct engine *e, const struct digest *key, bool again); /* one that can be joined; NULL */
void job_list(struct job *j);
void ticket_add(struct job *j, struct ticket *t);
void ticket_remove(struct ticket *t);
void need_answered(void *user, int r, struct value *v,
                   const char *reason); /* answer_fn of a job's own tickets; without the lock */
void job_finish(struct job *j, int r, struct value *v, const char *reason); /* lock held on entry and exit, dropped in between */
void job_ref(struct job *j);
void job_unref(struct job *j);
void job_advance(struct job *j);    /* looks for what it needs, else queues it; lock held on entry and exit, dropped in between */
void engine_wake(struct engine *e); /* the scheduler looks again */
void queue_add(struct queue *q, struct job *j);
void job_dequeue(struct job *j); /* from whichever queue it is in */
void job_cancel(struct job *j);  /* lock held on entry and exit, dropped in between */

/* schedule.c */
int schedule_start(struct engine *e);
void schedule_stop(struct engine *e); /* without the lock; returns when no job runs */

/* engine_view.c */
int view_open(struct engine *e);
void view_close(struct engine *e);
void view_publish(struct engine *e); /* without the lock */
