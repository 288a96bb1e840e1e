/* One run, as its caller sees it: what execute.c (a sandbox for one run) and keeper.c (one for many) have in common. */
#pragma once

#include "core/run/capture.h"
#include "core/run/exec_wire.h"
#include "core/run/execute.h"

/* How long a sandbox may take to be made; how long the helper may take to end everything after it was told to, before the sandbox is
 * killed from outside; and how much longer than the program's own limit the whole may last. They are passed only when something is badly
 * wrong: something else in bubblewrap's place, a stopped helper, a process that the kernel cannot kill. */
#define START_GRACE (30 * NSEC_PER_SEC)
#define END_GRACE   (5 * NSEC_PER_SEC)
#define WALL_GRACE  (30 * NSEC_PER_SEC)

#define RUN_MARK "SOLVERFS_RUN="

struct execution {
        const struct execute_request *request;
        bool inside;              /* in the sandbox; else bare */
        bool kept;                /* in a keeper's */
        bool handed;              /* scratch and binds are the sandbox's user's already */
        const char *runs_scratch; /* a name below SANDBOX_RUNS; or "" */
        uint64_t share_ns;        /* stand still after so much wall time; 0: never */
        uid_t uid;                /* whom the program runs as */
        int cancel_fd;            /* or -1 */
        int process;              /* borrowed: a pidfd whose end is the helper's; or -1 */
        int control, out, err;    /* our ends */
        int wire;                 /* the request, in which the helper says that it has begun */
        struct capture out_capture, err_capture;
        struct exec_reply reply;
        size_t reply_size;                /* bytes of it read */
        bool begun;                       /* the helper was seen to have */
        bool told_output;                 /* that it prints too much */
        bool cancelled, lost;             /* lost: it went beyond every deadline */
        uint64_t deadline;                /* 0: none */
        uint64_t stood_still;             /* by which it was put off, as runs had the cores */
        uint64_t memory_kills;            /* of this machine, when it began */
        char mark[sizeof(RUN_MARK) + 32]; /* an environment variable by which a bare run's processes are found again */
};

/* The helper's ends, above the numbers that they will get: standard input, output, error, EXEC_CONTROL, EXEC_REQUEST, and locks of cores. */
struct ends {
        int fds[EXEC_FDS + EXEC_LOANS_MOST];
        size_t n;
};
#define ENDS_NONE                                               \
        {                                                       \
                .fds = { -1, -1, -1, -1, -1 }, .n = EXEC_FDS    \
        }
void ends_done(struct ends *e);

int execution_init(struct execution *x, const struct execute_request *request); /* -EIO with a sentence */
void execution_done(struct execution *x);
/* Writes the request and opens the pipes. */
int execution_prepare(struct execution *x, struct ends *ret);
int execution_write_request(const struct execution *x, int *ret_fd); /* exec_request.c */

/* Until the helper's reply is there (execution_replied()), or can come no more. */
void execution_watch(struct execution *x);
bool execution_replied(const struct execution *x);
bool execution_begun(const struct execution *x);
void execution_continue(struct execution *x, uint64_t share_ns); /* after a reply that it stands still */
void execution_cancel(struct execution *x);

/* The helper was killed, and all in its sandbox with it: until what was there has closed our pipes. */
void execution_await_end(struct execution *x);
/* The same without a sandbox, where nothing dies with the helper but the program itself. */
void execution_kill_marked(const struct execution *x);
/* 0 and the result, -ECANCELED, or -errno and a sentence; all writers are gone. */
int execution_result(struct execution *x, struct execute_result *ret);

/* Starts solverfs-exec ($SOLVERFS_EXEC), in the sandbox or bare as the request says; execute.c. `runs`: NULL, or of a keeper. *ret_process: its
 * pidfd, or -1. */
int helper_start(const struct execute_request *q, const char *runs, const struct ends *e, pid_t *ret_pid, int *ret_process);

/* A sandbox for this run alone; execute.c. Behind single_begin(), whatever it says, single_done(). */
struct single {
        struct execution x;
        int lease;     /* the lock on its user, or -1 */
        pid_t pid;     /* bubblewrap, or the helper itself; not yet waited for */
        int process;   /* its pidfd, or -1 */
        bool all_gone; /* nothing of it is left, as the helper has said, or nothing was begun */
};
#define SINGLE_NONE                                                                                \
        {                                                                                          \
                .x = {.control = -1, .out = -1, .err = -1, .wire = -1}, .lease = -1, .process = -1 \
        }
int single_begin(struct single *s, const struct execute_request *request, uint64_t share_ns);
int single_finish(struct single *s, struct execute_result *ret); /* behind execution_watch() */
void single_done(struct single *s);
