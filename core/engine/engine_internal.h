/* Shared by engine.c (asking for one), ask.c (for many), engine_job.c (jobs, their waits and answers), schedule.c (which job runs next, and where),
 * cost.c (estimates of durations) and engine_view.c (showing). */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "cache/store/store.h"
#include "core/engine/ask.h"
#include "core/run/slot.h"

#define ENGINE_DISK      4  /* RESOURCE_DISK jobs at a time */
#define ENGINE_STEPS     4  /* steps at a time */
#define ENGINE_FAILURES  256
#define ENGINE_TYPES     16 /* of queries whose durations are recorded */
#define PHASE_SIZE       128
#define ENGINE_BUCKETS   (1u << 14)

/* Each waiter of a job has a ticket on it: an asker from outside, or another job (`inner`). */
struct ticket {
        struct job *job; /* NULL once it is being answered; under engine->lock */
        answer_fn fn;
        void *user;
        enum priority priority;
        bool inner;
        double worked_ns; /* set before fn is called, in the first ticket: slot time of the job and of its own queries */
        TAILQ_ENTRY(ticket) link;
};
TAILQ_HEAD(ticket_list, ticket);

/* The other end of a ticket: a need of a job, or one open item of a batch. The open waits of a job are the edges of "waits for". */
struct wait {
        struct engine *engine;
        struct job *job;        /* a ref; NULL: an asking thread's */
        struct fanout *fanout;  /* NULL: a need of `job` */
        struct wait_list *open; /* the list that holds it until it is answered */
        struct ticket *ticket;  /* owned by the job asked for; NULL before the asking and after the answer */
        unsigned users;         /* the asker in engine_ask(), and who handles the answer: the last of them frees the wait */
        bool answered, left;    /* left: the answer is not wanted any more */
        size_t i;               /* of the batch */
        int r;                  /* the answer */
        struct value *value;    /* owns a ref */
        char *reason;           /* owned */
        bool was_computed;      /* the value was not found at once */
        double worked_ns;
        TAILQ_ENTRY(wait) link;
};
TAILQ_HEAD(wait_list, wait);

struct query_list {
        struct query **list; /* owns refs */
        size_t n;
};
void query_list_done(struct query_list *n);

enum job_stage {
        STAGE_NEED,      /* waits for its needs */
        STAGE_QUEUED,    /* waits for its turn */
        STAGE_CLAIMED, /* another process (or a cancelled job of ours) holds its claim */
        STAGE_RUNNING,
        STAGE_WAITS, /* waits for its batch between two steps */
        STAGE_OVER,  /* being answered */
};

TAILQ_HEAD(job_list, job);
struct queue {
        struct job_list jobs;
        size_t n;
};

struct job {
        struct engine *engine;
        struct query *query; /* owns a ref */
        enum resource resource;
        uint64_t id;
        bool again;
        /* Under engine->lock: one until job_finish(), one for each of its waits, one for each look at it without the lock. */
        unsigned refs;

        /* under engine->lock */
        enum job_stage stage;
        enum priority priority;     /* of its most urgent ticket so far */
        struct ticket_list tickets; /* owned; in the order they came, which is the order of their answers */
        unsigned n_tickets;
        bool listed;             /* in engine->jobs: can be joined */
        bool cancelled;          /* told to stop; never joined again */
        bool gone;               /* cancelled because its solver was removed */
        bool had_needs;          /* it waited for needs */
        bool needs_asked_again;  /* a need had gone when its turn came, and was asked for again */
        uint64_t abandoned;      /* when the last ticket left; 0: it has tickets */
        uint64_t asked, started; /* now_ns(); started: the first time */
        uint64_t next_look;      /* STAGE_CLAIMED: when to try the claim again */
        uint64_t look_interval;
        struct wait_list waits; /* open; owned until their answers are on the way */
        size_t n_needs;         /* open needs of this round, plus one while they are being asked for */
        struct queue *queue;    /* that holds it; NULL: none */
        uint64_t added_slots;   /* a bit for each slot that it took while it ran */
        uint64_t mark;          /* of the last walk over the graph that visited it */
        char phase[PHASE_SIZE];
        uint64_t done, total;
        struct cost cost; /* mean 0: not known */
        double worked_ns; /* slot time for it and for its own queries */
        LIST_ENTRY(job) bucket_link;
        TAILQ_ENTRY(job) all_link, queue_link, abandoned_link;

        /* Used only by the thread that runs it; between two steps by no thread. */
        struct fanout *fanout; /* owned; its open waits are `waits` */
        void *state;           /* of step() */
        int claim, cancel_fd;
        uint64_t slots; /* a bit for each slot */
        struct engine_remote *remote; /* the owner of `remote_slot` */
        void *remote_slot;          /* NULL: none */
        unsigned n_lost;          /* remote slots lost under it */
        cpu_set_t cpus;
        struct progress progress;
};

struct failure {
        struct digest key;
        char *reason; /* owned */
};

struct average { /* Welford's running mean, and sum of squares of the differences from it */
        double n, mean, m2;
};

/* Durations of jobs of a type since the engine was opened, and their ratio to the estimates. */
struct type_times {
        const struct query_type *type;
        struct average took, ratio;
};

struct engine {
        struct engine_home home; /* dir: owned */
        struct engine_options options;
        char slots_dir[PATH_SIZE], claims_dir[PATH_SIZE], engines_dir[PATH_SIZE];
        int cpus[ENGINE_SLOTS_MAX]; /* of each slot */
        unsigned n_slots;           /* all of this machine */

        pthread_mutex_t lock;
        pthread_cond_t changed; /* for the scheduler: there is work */
        pthread_cond_t idle;    /* for engine_close(): a worker has gone */
        pthread_t scheduler;

        /* under lock */
        bool closing;
        bool attention; /* something changed since the scheduler last looked */
        LIST_HEAD(, job) jobs[ENGINE_BUCKETS];
        struct job_list all;       /* in order of id */
        struct job_list abandoned; /* the longest abandoned first */
        size_t n_jobs;
        struct queue queues[N_RESOURCES][2]; /* STAGE_QUEUED, by priority */
        struct queue claimed; /* STAGE_CLAIMED */
        unsigned running[N_RESOURCES], n_workers;
        int slots[2][ENGINE_SLOTS_MAX]; /* locks of the slots that our runs [0] and our builds [1] have; -1: not ours */
        unsigned n_owned[2];            /* of each; counters.slots at most */
        unsigned n_back[2]; /* jobs that gave way and wait for a slot again, by priority */
        uint64_t last_left; /* now_ns(); when a run gave its slot back last */
        int marks[N_SLOT_MARKS]; /* locks of the marks that we have set; -1: not set */
        struct refusal {
                uint64_t since, looked; /* since when others have left no core for any run; 0: they have not */
                char who[256];          /* "waits for a core: …" */
        } refusal;
        uint64_t next_id, next_mark;
        struct left {
                void *what; /* NULL: nothing */
                void (*close)(void *what);
                uint64_t since;
        } left[ENGINE_SLOTS_MAX][LEFT_MOST]; /* by jobs of each slot, the latest first */
        struct failure failures[ENGINE_FAILURES];
        unsigned next_failure;
        struct type_times times[ENGINE_TYPES];
        struct engine_counters counters;
        bool dirty;                       /* the published view is out of date */
        uint64_t published, publish_cost; /* now_ns(); duration of the last one in ns */
        int alive;                        /* lock on engines/<pid>, held while we live */
};

/* engine.c */
/* engine_ask() on behalf of a job (NULL: of an outsider). -EDEADLK if the query already waits for the asker. */
int engine_ask_for(struct engine *e, struct job *asker, struct query *q, enum priority p, bool again, answer_fn fn, void *user,
                   struct ticket **ret);

/* engine_job.c; all with engine->lock held unless said otherwise */
struct job *job_new(struct engine *e, struct query *q, bool again);
struct job *job_listed(struct engine *e, const struct digest *key, bool again); /* a job that can be joined; NULL */
void job_list(struct job *j);
void ticket_add(struct job *j, struct ticket *t);
/* Removes a ticket. If it was the last, the job is cancelled after the grace period, or with `at_once` immediately. */
void ticket_remove(struct ticket *t, bool at_once);
void job_finish(struct job *j, int r, struct value *v, const char *reason); /* lock held on entry and exit, dropped in between */
void job_ref(struct job *j);
void job_unref(struct job *j);
void job_advance(struct job *j);    /* asks for its needs, or queues it; lock held on entry and exit, dropped in between */
void engine_wake(struct engine *e); /* makes the scheduler look again */
unsigned engine_width(const struct engine *e); /* slots at work at a time, for estimates */
void queue_add(struct queue *q, struct job *j);
void job_queue(struct job *j);                              /* adds it to the queue of its resource and priority: STAGE_QUEUED */
void job_dequeue(struct job *j);                            /* from the queue that it is in */
void job_cancel(struct job *j);                             /* lock held on entry and exit, dropped in between */
bool job_waits_for(struct job *j, const struct job *other); /* true for itself, and through others */

/* Asks for q, and adds the wait to `w->open`. Lock not held. 0: the answer comes, perhaps before this returns, to the job as its need or to the
 * fan-out's news. After an error the wait is freed. */
int wait_ask(struct wait *w, struct query *q, enum priority p, bool again);
void wait_free(struct wait *w);
void waits_leave(struct wait_list *open); /* takes their tickets back; a wait that is being answered is freed after that */

/* ask.c: a fan-out is a batch that is being asked for */
struct fanout *fanout_free(struct fanout *f); /* its open waits must have been left; lock held */
void fanout_news(struct wait *w);             /* an answer has come; lock held */
enum fanout_state {
        FANOUT_MORE, /* more may be possible at once */
        FANOUT_WAIT, /* until there is news */
        FANOUT_OVER, /* fanout_result() has the result */
};
enum fanout_state fanout_round(struct fanout *f);                                /* lock not held; calls make() and answered() */
int fanout_result(struct fanout *f);                                             /* sets the sentence by errorf() */
bool fanout_has_news(const struct fanout *f);                                    /* lock held */
bool fanout_estimate(struct fanout *f, uint64_t *ret_least, uint64_t *ret_most); /* lock held */

/* cost.c; lock held */
void cost_note(struct job *j, double ran_ns); /* call when it ran to its end */
void average_add(struct average *a, double x);
/* The remaining time of a batch's open jobs: a sum over jobs, each counted once in a walk. */
struct load {
        uint64_t mark;
        double mean_ns, variance, longest_ns; /* longest: of one job */
        size_t n_unknown;
};
struct load load_begin(struct engine *e);
void load_add(struct load *l, struct job *j, uint64_t now);

/* schedule.c */
int schedule_start(struct engine *e);
void schedule_stop(struct engine *e); /* without the lock; returns when no job runs */
const char *schedule_refusal(const struct job *j); /* why it waits for a slot; "": it waits for its turn; lock held */
bool schedule_stands_still(const struct job *j);   /* a build, and runs have all of its cores; lock held */

/* engine_view.c */
int view_open(struct engine *e);
int view_lock(struct engine *e); /* takes the lock on engines/<pid>, unless it is held; lock held */
void view_close(struct engine *e);
void view_publish(struct engine *e); /* without the lock */
