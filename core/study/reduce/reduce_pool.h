/* Side by side: an interest test of many workers (a core with its runners, a folder of its own) made of a test of one text on one worker. Which
 * text is the first interesting one does not depend on who is ready first; whatever stands behind it is cancelled.
 *
 * Threads: one for each worker, from open to close; reduce_pool_try() by one thread. */
#pragma once

#include "core/study/reduce/reduce.h"

struct reduce_pool;

/* Is it interesting, 1 or 0? `cancel_fd` is readable when nobody wants to know any more: -ECANCELED. Another error ends the reduction. */
typedef int (*reduce_worker_test)(void *user, unsigned worker, struct slice text, int cancel_fd);

/* Can the worker work now: 1, 0 or an error, which ends the reduction. Asked before each text, and again a little later when it cannot; while there is
 * no text, too, so that it may give back what it has. Never asked of the first worker, which always can. */
typedef int (*reduce_worker_ready)(void *user, unsigned worker, bool has_work);

/* `ready` NULL: all workers always can. `cancel_fd`: readable when all is to end; -1: never. */
int reduce_pool_open(unsigned n_workers, reduce_worker_test test, reduce_worker_ready ready, void *user, int cancel_fd,
                     struct reduce_pool **ret);
struct reduce_pool *reduce_pool_close(struct reduce_pool *p); /* NULL */
DEFINE_CLEANUP(struct reduce_pool *, reduce_pool_close)
/* As reduce_test.try, with the pool as its user. */
int reduce_pool_try(void *pool, const struct slice *texts, size_t n, enum reduce_answer *ret);
