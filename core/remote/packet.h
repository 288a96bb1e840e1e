/* Packets, which head and worker send each other as bytes. Both directions have one form:
 *
 *     magic 4 | type 4 | id 8 | sequence 4 | size 4 | XXH3 of the body 8 | XXH3 of these 32 bytes 8 | body
 *
 * Numbers are big-endian. `sequence` counts the packets of a direction from 0. So a lost, doubled or reordered packet is noticed, and the checksums
 * show every wrong bit; the connection ends then. `id` is the number of the packet's request, which the head gives, never twice in a connection; 0:
 * none.
 *
 * Threads: any. */
#pragma once

#include "cache/base/util.h"

enum packet_type {
        PACKET_HELLO = 1, /* both ways, the first one of each: struct remote_hello */
        PACKET_RUN,       /* to the worker: struct remote_run */
        PACKET_BUILD,     /* to the worker: struct remote_build */
        PACKET_FETCH,     /* to the worker: send the bytes of a digest */
        PACKET_BLOB,      /* to the worker: a part of some bytes, by their digest: struct remote_part */
        PACKET_CANCEL,    /* to the worker: end the request of this id; its answer still comes */
        PACKET_PING,      /* to the worker; the answer is a PACKET_PONG */
        PACKET_PONG,
        PACKET_WANT,   /* from the worker, an answer: it lacks these bytes; send them, and ask again */
        PACKET_OUTPUT, /* from the worker: a part of a program's output, of a build's log or of fetched bytes, before the answer */
        PACKET_PROGRESS, /* from the worker: the present step of a build; of a run: it begins */
        PACKET_SAID,     /* from the worker: a build's newest output; the whole log comes at the end */
        PACKET_RESULT, /* from the worker, an answer: struct execute_result without its bytes */
        PACKET_BUILT,  /* from the worker, an answer: struct build_record without its log */
        PACKET_SENT,   /* from the worker, an answer: all bytes were sent */
        PACKET_FAILED, /* from the worker, an answer: -errno and a sentence */
        PACKET_TYPES   /* one more than the last */
};

#define PACKET_HEAD 40
#define PACKET_MOST (UINT32_C(1) << 21) /* bytes of a body */

struct packet {
        enum packet_type type;
        uint64_t id;
        struct slice body; /* inside the bytes it was read from */
};

/* Appends a packet to *ret. -EFBIG: the body is too large; -ENOMEM. */
int packet_write(enum packet_type type, uint64_t id, uint32_t sequence, struct slice body, struct buffer *ret);
/* The packet at the beginning of `bytes`, and its size. -EAGAIN if more bytes are needed; -EBADMSG with a sentence if it is no packet, damaged, or
 * out of sequence. */
int packet_read(struct slice bytes, uint32_t sequence, struct packet *ret, size_t *ret_size);

/* The bytes of one direction, as they arrive. */
struct packet_stream {
        struct buffer bytes; /* owned; received bytes are added here */
        size_t at;           /* the bytes before it are done with */
        uint32_t sequence;   /* of the next packet */
};
/* Like packet_read(). The packet is valid until the next call. */
int packet_stream_next(struct packet_stream *s, struct packet *ret);
