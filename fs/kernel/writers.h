/* Threads for what waits for the disk: writers' requests. The threads that read requests hand them over, and go on answering everybody
 * else while cases are copied and synced. Requests are begun in the order in which they come. Threads: any. */
#pragma once

#include <stddef.h>

struct writers;

struct chore {
        struct chore *next;
        void (*fn)(struct chore *c); /* does it, replies, frees it; on a thread of ours */
};

int writers_new(struct writers **ret);
/* Call writers_drain() first, if requests may have come. */
struct writers *writers_free(struct writers *w);
void writers_do(struct writers *w, struct chore *c);
/* Waits until all that came is done. */
void writers_drain(struct writers *w);
