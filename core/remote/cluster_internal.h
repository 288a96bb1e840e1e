/* Shared by cluster.c (slots), cluster_thread.c (the thread), cluster_node.c (one worker's process and packets), cluster_request.c (one request and
 * its answer), cluster_run.c (one run), cluster_build.c (one build) and cluster_try.c (a trial launch). */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "core/remote/cluster.h"
#include "core/remote/message.h"

#define NODE_SLOTS  256             /* limit for one worker */
#define NODE_AHEAD  (4u << 20)      /* limit on bytes waiting to be written to one worker */
#define NODE_END_NS (10 * NSEC_PER_SEC) /* from the order to end until the kill */
#define STDERR_KEPT 2048            /* last bytes of a launch's standard error */
#define PROGRESS_TEXT 256
#define AHEAD_MOST  (256u << 10)    /* files up to this size are sent before they are asked for */
#define SENT_KEPT   4096            /* a node's last files are not sent again; an older one may be */

enum node_state {
        NODE_LAUNCHED, /* no hello yet */
        NODE_PRESENT,
        NODE_LEAVING, /* told to end; its process still exists */
        NODE_GONE,    /* freed when its last slot is given back */
};

struct cluster_slot {
        struct run_remote remote; /* first */
        struct node *node;
        bool taken;
        int event; /* an eventfd: the answer is there, or the node is lost */
        /* the request; id 0: none */
        uint64_t id;
        int answer;          /* enum packet_type; 0: none yet */
        int failure;         /* of PACKET_FAILED */
        char *sentence;      /* owned */
        uint64_t run_ns, due; /* of a run: its limit; now_ns() when the worker is given up, 0: never, such as before it begins */
        uint64_t output_most; /* limit on the bytes of a stream; a worker that sends more is cut off */
        struct buffer out, err;
        struct execute_result result; /* owned until it is handed over */
        struct digest_list wants; /* owned */
        struct buffer built;  /* the body of the answer to a build */
        struct remote_progress progress;
        char doing[PROGRESS_TEXT];
        bool is_new;          /* `progress` was not passed on yet */
        struct buffer said;   /* output of the build, not passed on yet */
        size_t said_left;     /* rest of REMOTE_SAID */
};

struct node {
        struct cluster *cluster;
        TAILQ_ENTRY(node) link;
        enum node_state state;
        int pid, process; /* pidfd */
        bool is_reaped; /* its process has ended */
        int in, out, err; /* its standard input, output, error; -1: closed */
        struct packet_stream input; /* read from `out` */
        uint32_t out_sequence;
        struct buffer output;     /* to be written to `in` */
        size_t written;           /* bytes of `output` */
        char said[STDERR_KEPT];   /* the end of its standard error */
        size_t n_said;
        uint64_t launched, heard, pinged; /* now_ns() */
        uint64_t ends;                    /* by CLOCK_BOOTTIME, as its job goes on while we are suspended; UINT64_MAX: never */
        uint64_t idle_since, kill_at;     /* 0: not set */
        bool terminated;                  /* it got SIGTERM; SIGKILL is next */
        char *why;                        /* owned; how it was lost; NULL: it was not */
        struct remote_hello hello;
        json_t *facts; /* of the hello */
        char *machine; /* owned; of its slots */
        struct cluster_slot *slots; /* owned */
        unsigned n_slots, n_busy;
        pthread_mutex_t upload; /* held during uploads, so that no file is sent twice */
        size_t n_sent;         /* files that it was sent */
        struct digest *sent;   /* owned; the last SENT_KEPT of them, number i at i % SENT_KEPT */
};

struct cluster {
        struct cluster_settings settings; /* owned */
        pthread_t thread;
        bool has_thread;
        int wake; /* an eventfd */
        pthread_mutex_t lock;
        pthread_cond_t drained; /* some output was written, or a node is lost */
        /* under lock, nodes and slots included */
        bool closing, calling; /* calling: `retry` is being called */
        pthread_cond_t called; /* that call has ended */
        void (*retry)(void *user);
        void *retry_user;
        TAILQ_HEAD(, node) nodes;
        unsigned n_nodes; /* not gone */
        size_t demand;      /* wanted slots */
        uint64_t demand_ns; /* the longest that the last run that asked for one may take */
        uint64_t demanded; /* time of the last demand */
        bool news;         /* `retry` is to be called: a slot may be free, or a launch failed */
        unsigned per_node; /* slots of a worker seen so far; at first 1 */
        uint64_t next_id, next_launch;
        uint64_t left[CLUSTER_FAILURES]; /* the time that the last workers had left at their hellos; hello i at i % CLUSTER_FAILURES */
        unsigned n_hellos;
        unsigned failures; /* failed launches in a row */
        uint64_t failed_at; /* now_ns() of the last of them */
        char machine[PATH_SIZE]; /* "": not known */
        char kernel[256], toolchain[65]; /* of the present workers; "": none */
        bool will_build;
        char why[4096]; /* the last trouble */
        struct probed {
                char *host;
                struct cluster_probe least;
                bool is_ours; /* it came here */
        } * probed; /* owned */
        size_t n_probed;
        char uneven[256]; /* which of them differ; "": none */
        unsigned lost, left_out; /* workers so far */
        uint64_t sent;           /* bytes so far */
};

/* cluster.c; with the lock held. False: its allocation ends before a run of up to most_ns would. */
bool node_has_time(const struct node *n, uint64_t most_ns);
/* cluster_node.c; all with the lock held */
int node_launch(struct cluster *c);
int node_send(struct node *n, enum packet_type type, uint64_t id, struct slice body);
void node_flush(struct node *n);
void node_read(struct node *n);       /* reads its output */
void node_read_error(struct node *n); /* reads its standard error */
void node_leave(struct node *n);      /* tells it to end */
void node_lose(struct node *n, const char *format, ...) printf_like(2, 3); /* fails all its requests */
uint64_t node_margin(const struct node *n); /* the longest time from a run's limit to its result, or from one part of its output to the next */
void node_reap(struct node *n);                                            /* its process has ended */
void node_free_if_done(struct node *n);

/* cluster.c */
void cluster_fail(struct cluster *c, const char *sentence, bool is_launch); /* lock held; is_launch: no worker came of a launch */
void cluster_wake(struct cluster *c);

/* cluster_thread.c */
void *cluster_thread(void *cluster);
unsigned cluster_count(const struct cluster *c, enum node_state state); /* lock held: the number of nodes in that state */

/* cluster_request.c: one request on a slot and its answer. */
struct call {
        struct cluster_slot *slot;
        int cancel_fd;
        const struct progress *progress; /* the worker's; NULL: not wanted */
        const struct listener *listener; /* receives the output of its build; NULL: none */
        uint64_t cancelled;              /* now_ns() when the worker was told to end it; 0: it was not */
        size_t n_sent;                   /* how many of node->sent call_wants() need not look at: sent before the request, or looked at already */
        bool *is_sent;                   /* owned; for each of the slot's `wants`: sent since the request, perhaps by another slot */
};
/* `wall_ns`: the longest time; -ERESTART if the worker ends before that. `output_most`: as in the slot. */
int call_begin(struct call *c, uint64_t wall_ns, uint64_t output_most);
/* Sends the request up to `rounds` times, until the expected answer comes. In between `send_wanted` sends the files that the worker wants. */
int call_converse(struct call *c, enum packet_type type, void *message, enum packet_type expected, unsigned rounds, int (*send_wanted)(void *user),
                  void *user);
bool call_wants(struct call *c, const struct digest *id); /* false once it was sent */
int call_give_wanted(struct call *c, const struct remote_file *f, int fd, const char *bytes); /* sends it if it is wanted. fd -1: it is `bytes` */
int call_give_first(const struct call *c, const struct remote_file *f, int fd, const char *bytes); /* ahead of the request, unless sent before */
int call_lose(const struct call *c, const char *why); /* gives the worker up; returns -EREMOTEIO */
void call_end(struct call *c);

/* cluster_run.c */
int cluster_run(struct run_remote *a, const struct runner_options *options, const struct run_input *input, int cancel_fd, struct execute_result *ret);
