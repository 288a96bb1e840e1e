/* A sandbox that is kept for one run after another, or is for one run; the caller's side of exec_keeper.c. See runner.h for what is kept and what
 * is not.
 *
 * One run at a time: keeper_begin(), execution_watch() until the run is over, keeper_finish(). One thread at a time, any at all. */
#pragma once

#include "core/sandbox/execution.h"

struct keeper;

/* `like` has the binds, the kind of sandbox and the slot. `runs`: a host folder, whose folder `case`, if there is one, is /case, and in which each run
 * names what is to be its /scratch; NULL: the sandbox is for one run, whose scratch folder is that of `like`. Returns before the sandbox is made: a
 * failure of that is the first run's. */
int keeper_open(const struct execute_request *like, const char *runs, struct keeper **ret);
/* Ends it, with a run that is still there. NULL. */
struct keeper *keeper_close(struct keeper *k);
DEFINE_CLEANUP(struct keeper *, keeper_close)

/* Can it be used for another run? Waits until the last one has gone. */
enum keeper_state {
        KEEPER_CLEAN,
        KEEPER_DIRTY, /* a program has left something in it */
        KEEPER_LOST
};
enum keeper_state keeper_state(struct keeper *k);
uid_t keeper_uid(const struct keeper *k); /* whom programs run as in it */
/* Hands the run over. `x` is filled but for `uid`; its request has the same binds. -EPIPE: it was lost meanwhile; take another. */
int keeper_begin(struct keeper *k, struct execution *x);
/* Behind execution_watch(), unless it stands still. As execution_result(), and -ENOSYS: this sandbox gives no run namespaces of its own. When the
 * run was lost, so is the sandbox. */
int keeper_finish(struct keeper *k, struct execution *x, struct execute_result *ret);
