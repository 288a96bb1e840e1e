/* Threads for requests that wait for the disk. The threads that read requests hand these over, as chores, and answer others while cases are copied
 * and synced. Requests begin in the order of their arrival. Threads: any.
 *
 * While a file is made, renamed or removed, the kernel locks its folder, even against readers. So such a request must not wait behind
 * writes: it has its own thread. One is enough: only those of cases/ do any work, and the kernel sends these one at a time. */
#pragma once

#include <sys/queue.h>

struct writers;

struct chore {
        STAILQ_ENTRY(chore) next;
        void (*fn)(struct chore *c); /* called on one of these threads: does the work, replies and frees the chore */
};

int writers_new(unsigned n_threads, struct writers **ret);
/* Returns when all that was handed over is done. */
struct writers *writers_free(struct writers *w);
void writers_do(struct writers *w, struct chore *c);
