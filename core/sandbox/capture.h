/* Keeps the beginning and the end of a stream of any length. */
#pragma once

#include "cache/base/util.h"

struct capture_limit {
        uint64_t keep; /* bytes kept of a stream: its first half and last half, with a mark for the cut between them */
        uint64_t most; /* printing more than this ends the program (END_OUTPUT); 0: no end */
};

struct capture {
        struct capture_limit limit;
        uint64_t total;     /* bytes seen */
        struct buffer head; /* the first half of the kept bytes */
        struct buffer tail; /* the last half, preceded by up to as many older bytes */
};

void capture_add(struct capture *c, const char *data, size_t size);
/* Returns the kept bytes and the position of the cut (0: nothing was cut). Frees the buffers of c. 0 or -ENOMEM. */
int capture_finish(struct capture *c, struct blob *ret, size_t *ret_cut);
void capture_done(struct capture *c);
