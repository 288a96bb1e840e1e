/* One run in a keeper's sandbox, as its caller sees it. */
#pragma once

#include "core/sandbox/capture.h"
#include "core/sandbox/exec_wire.h"
#include "core/sandbox/execute.h"

/* Time limits. They pass only when something is badly wrong: another program in bubblewrap's place, a stopped helper, a process that the kernel
 * cannot kill. */
#define START_GRACE (30 * NSEC_PER_SEC) /* for making a sandbox */
#define END_GRACE   (5 * NSEC_PER_SEC)  /* for the helper to end everything when told to; then the sandbox is killed from outside */
#define WALL_GRACE  (30 * NSEC_PER_SEC) /* for the whole run, beyond the program's own limit */

#define RUN_MARK "SOLVERFS_RUN="

struct execution {
        const struct execute_request *request;
        bool inside;              /* in bubblewrap; else bare: SANDBOX_NONE */
        bool kept;                /* in a sandbox for many runs: with namespaces of its own */
        bool handed;              /* scratch and binds already belong to the sandbox's user */
        const char *runs_scratch; /* kept: the name below SANDBOX_RUNS of the folder that becomes /scratch */
        uint64_t share_ns;        /* stop after so much wall time; 0: never */
        uid_t uid;                /* the program's user */
        int cancel_fd;            /* or -1 */
        int process;              /* borrowed: the keeper's pidfd, readable when the keeper has ended; or -1 */
        int control, out, err;    /* our ends */
        int theirs[EXEC_REQUEST]; /* the run's ends, until keeper_begin() has handed them over */
        int request_fd;           /* the file with the request, in which the helper sets `begun` */
        struct capture out_capture, err_capture;
        struct timeline printed; /* by CLOCK_MONOTONIC */
        struct exec_reply reply;
        size_t reply_size;                /* bytes of it read so far */
        bool begun;                       /* the helper was seen to have begun */
        bool told_output;                 /* it was told that the output is too much */
        bool cancelled, lost;             /* lost: it passed every deadline */
        uint64_t deadline;                /* 0: none */
        uint64_t stood_still;             /* how long runs had all of a build's cores; the deadline was put off by as much */
        uint64_t memory_kills;            /* the kernel's kills for want of memory that were counted when it began */
        char mark[sizeof(RUN_MARK) + 32]; /* an environment variable by which a bare run's processes are found again */
};

int execution_init(struct execution *x, const struct execute_request *request); /* -EIO with a sentence */
void execution_done(struct execution *x);
int execution_prepare(struct execution *x); /* writes the request and opens the pipes */
int execution_write_request(const struct execution *x, int *ret_fd); /* exec_request.c */

/* Waits until the helper's reply is there (execution_replied()), or can come no more. */
void execution_watch(struct execution *x);
bool execution_replied(const struct execution *x);
bool request_has_begun(int request_fd); /* true if the helper has set `begun` in this request */
bool execution_begun(const struct execution *x);
void execution_continue(struct execution *x, uint64_t share_ns); /* after a reply with `paused` */
void execution_cancel(struct execution *x);

/* After the helper was killed, and all in its sandbox with it: waits until our pipes are closed. */
void execution_await_end(struct execution *x);
/* After the helper of a bare run was killed, with which only the program itself dies: kills all processes that have `mark`. */
void execution_kill_marked(const struct execution *x);
/* 0 and the result, -ECANCELED, or -errno and a sentence. Nobody may write to the pipes any more. */
int execution_result(struct execution *x, struct execute_result *ret);
