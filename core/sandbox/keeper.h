/* A sandbox kept for many runs, or made for one; the caller's side of exec_keeper.c. runner.h says what is kept.
 *
 * One run at a time: keeper_begin(), execution_watch() until the run is over, keeper_finish(). One thread at a time, any at all. */
#pragma once

#include "core/sandbox/execution.h"

struct keeper;

/* `like` has the binds, the kind of sandbox and the slot. `runs`: a host folder. Its folder `case`, if there is one, becomes /case, and each run
 * names the folder in it that becomes its /scratch. NULL: the sandbox is for one run, with the scratch folder of `like`. Returns before the sandbox
 * is made: if that fails, the first run reports it. */
int keeper_open(const struct execute_request *like, const char *runs, struct keeper **ret);
/* Ends it, and a run in it. Returns NULL. */
struct keeper *keeper_close(struct keeper *k);
DEFINE_CLEANUP(struct keeper *, keeper_close)

/* The state of a keeper between runs. keeper_state() waits until the last run has gone. */
enum keeper_state {
        KEEPER_CLEAN,
        KEEPER_DIRTY, /* a program has left something in it */
        KEEPER_LOST   /* its helper has ended, or does not report the end of a run */
};
enum keeper_state keeper_state(struct keeper *k);
uid_t keeper_uid(const struct keeper *k); /* the user that its programs run as */
/* Hands the run over. `x`: as execution_init() left it, with `handed`, `runs_scratch` and `share_ns` as wanted. Of its request's binds a sandbox has
 * only those of `like`. -EPIPE if the keeper was lost meanwhile; take another. */
int keeper_begin(struct keeper *k, struct execution *x);
/* After execution_watch(), unless the run is stopped. Returns like execution_result(); -ENOSYS if this sandbox cannot give runs namespaces of their
 * own. If the run was lost, so is the sandbox. */
int keeper_finish(struct keeper *k, struct execution *x, struct execute_result *ret);
