/* Keeps the beginning and the end of a stream of any length. */
#pragma once

#include "cache/base/util.h"

struct capture_limit {
        uint64_t keep; /* bytes kept of a stream: the first half and the last half, the cut marked in between */
        uint64_t most; /* printing more than this ends the program (END_OUTPUT); 0: no end */
};

struct capture {
        struct capture_limit limit;
        uint64_t total;     /* bytes seen */
        struct buffer head; /* the first half of what is kept */
        struct buffer tail; /* the last half, and before it up to as much that goes next */
};

void capture_add(struct capture *c, const char *data, size_t size);
/* The kept bytes and where the cut is (0: none). Frees what c held. 0 or -ENOMEM. */
int capture_finish(struct capture *c, struct blob *ret, size_t *ret_cut);
void capture_done(struct capture *c);
