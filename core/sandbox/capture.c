#include "core/sandbox/capture.h"

#include <inttypes.h>

/* The bytes that are kept of the tail. */
static size_t tail_most(const struct capture *c)
{
        return c->limit.keep - c->limit.keep / 2;
}

void capture_add(struct capture *c, const char *data, size_t size)
{
        const size_t head = MIN(c->limit.keep / 2 - c->head.size, size), most = tail_most(c);
        const size_t skipped = size - head > most ? size - most : head; /* of these bytes, before those for the tail */

        c->total += size;
        buffer_add(&c->head, data, head);
        data += skipped;
        size -= skipped;
        if (size == 0)
                return;
        if ((c->tail.size + size) / 2 >= most) { /* drops old bytes, rarely enough that moving costs little */
                memmove(c->tail.data, c->tail.data + c->tail.size - (most - size), most - size);
                c->tail.size = most - size;
        }
        buffer_add(&c->tail, data, size);
}

int capture_finish(struct capture *c, struct blob *ret, size_t *ret_cut)
{
        const size_t tail = MIN(c->tail.size, tail_most(c));
        const uint64_t cut = c->total - c->head.size - tail;
        int r = buffer_error(&c->tail);

        *ret_cut = cut > 0 ? c->head.size : 0;
        if (cut > 0)
                buffer_addf(&c->head, "\n[... %" PRIu64 " bytes cut ...]\n", cut);
        if (tail > 0)
                buffer_add(&c->head, c->tail.data + c->tail.size - tail, tail);
        if (r == 0)
                r = buffer_steal(&c->head, ret);
        capture_done(c);
        return r;
}

void capture_done(struct capture *c)
{
        buffer_done(&c->head);
        buffer_done(&c->tail);
}
