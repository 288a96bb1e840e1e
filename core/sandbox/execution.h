/* One run in a keeper's sandbox, as its caller sees it. */
#pragma once

#include "core/sandbox/capture.h"
#include "core/sandbox/exec_wire.h"
#include "core/sandbox/execute.h"

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
        bool kept;                /* in a sandbox for many: with namespaces of its own */
        bool handed;              /* scratch and binds are the sandbox's user's already */
        const char *runs_scratch; /* a name below SANDBOX_RUNS; or "" */
        uint64_t share_ns;        /* stand still after so much wall time; 0: never */
        uid_t uid;                /* whom the program runs as */
        int cancel_fd;            /* or -1 */
        int process;              /* borrowed: a pidfd whose end is the keeper's; or -1 */
        int control, out, err;    /* our ends */
        int theirs[EXEC_REQUEST]; /* the run's, until keeper_begin() has handed them over */
        int wire;                 /* the request, in which the helper says that it has begun */
        struct capture out_capture, err_capture;
        struct timeline printed; /* by CLOCK_MONOTONIC */
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

int execution_init(struct execution *x, const struct execute_request *request); /* -EIO with a sentence */
void execution_done(struct execution *x);
int execution_prepare(struct execution *x); /* writes the request and opens the pipes */
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
