/* Makes a parallel interest test of a test of one text on one worker. A worker is what one test needs for itself, such as a core or a folder. Which
 * text is the first interesting one does not depend on which worker is ready first; tests of later texts are cancelled.
 *
 * Threads: one for each worker, from open to close; reduce_pool_try() by one thread. */
#pragma once

#include "core/study/reduce/reduce.h"

struct reduce_pool;

/* 1: the text is interesting; 0: it is not. -ECANCELED: `cancel_fd` became readable, as the answer is not needed any more. Any other error ends the
 * reduction. */
typedef int (*reduce_worker_test)(void *user, unsigned worker, struct slice text, int cancel_fd);

/* 1: the worker can work now; 0: it cannot; an error ends the reduction. Called before each text, and again a little later after 0; also while there is
 * no text, so that a worker may give its core back. Never called for the first worker, which can always work. */
typedef int (*reduce_worker_ready)(void *user, unsigned worker, bool has_work);

/* `ready` NULL: all workers can always work. `cancel_fd`: readable to end everything; -1: never. */
int reduce_pool_open(unsigned n_workers, reduce_worker_test test, reduce_worker_ready ready, void *user, int cancel_fd,
                     struct reduce_pool **ret);
struct reduce_pool *reduce_pool_close(struct reduce_pool *p); /* returns NULL */
DEFINE_CLEANUP(struct reduce_pool *, reduce_pool_close)
/* The function for reduce_test.try, with the pool as user. */
int reduce_pool_try(void *pool, const struct slice *texts, size_t n, enum reduce_answer *ret);
