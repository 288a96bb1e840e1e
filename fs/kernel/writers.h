/* Threads for what waits for the disk: writers' requests. The threads that read requests hand them over, and go on answering everybody
 * else while cases are copied and synced. Requests are begun in the order in which they come. Threads: any.
 *
 * While a file is made, renamed or removed, the kernel locks its folder against everybody, readers of it too. Such a request therefore never
 * waits behind the bytes of others: there are writers of their own for it, and one thread is enough, as the kernel asks for one at a time. */
#pragma once

#include <stddef.h>

struct writers;

struct chore {
        struct chore *next;
        void (*fn)(struct chore *c); /* does it, replies, frees it; on a thread of ours */
};

int writers_new(unsigned n_threads, struct writers **ret);
/* Call writers_drain() first, if requests may have come. */
struct writers *writers_free(struct writers *w);
void writers_do(struct writers *w, struct chore *c);
/* Waits until all that came is done. */
void writers_drain(struct writers *w);
