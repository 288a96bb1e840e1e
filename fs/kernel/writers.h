/* Threads for requests that wait for the disk. The threads that read requests hand these over, and go on answering others while cases are copied
 * and synced. Requests are begun in the order in which they come. Threads: any.
 *
 * While a file is made, renamed or removed, the kernel locks its folder against everybody, also against readers. So such a request must not wait
 * behind the bytes of others: it has a thread of its own. One is enough, as the kernel sends one such request at a time. */
#pragma once

#include <stddef.h>

struct writers;

struct chore {
        struct chore *next;
        void (*fn)(struct chore *c); /* does the work, replies and frees the chore; on one of these threads */
};

int writers_new(unsigned n_threads, struct writers **ret);
/* Call writers_drain() first, if requests may have come. */
struct writers *writers_free(struct writers *w);
void writers_do(struct writers *w, struct chore *c);
/* Waits until all that came is done. */
void writers_drain(struct writers *w);
