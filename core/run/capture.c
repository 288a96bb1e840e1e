#include "core/run/capture.h"

#include <inttypes.h>

/* Grows up to what may be kept, in steps, as most streams are short. The bytes in it stand in order as long as it has not gone round,
 * and it goes round only once it is as large as it gets. */
static bool grow(struct capture *c, size_t most, size_t more)
{
        size_t capacity = MIN(most, MAX(c->capacity * 2, c->filled + more + 4096));
        char *ring;

        if (c->capacity >= most || c->filled + more <= c->capacity)
                return true;
        ring = realloc(c->ring, capacity);
        if (!ring)
                return false;
        c->ring = ring;
        c->capacity = capacity;
        c->at = c->filled;
        return true;
}

static void ring_add(struct capture *c, const char *data, size_t size)
{
        size_t most = c->limit.keep - c->limit.keep / 2;

        if (size > most) {
                data += size - most;
                size = most;
        }
        if (!grow(c, most, size)) {
                c->failed = true;
                return;
        }
        while (size > 0) {
                size_t n = MIN(size, c->capacity - c->at);

                if (n == 0) {
                        c->at = 0;
                        continue;
                }
                memcpy(c->ring + c->at, data, n);
                c->at += n;
                data += n;
                size -= n;
                c->filled = MIN(c->filled + n, c->capacity);
        }
}

void capture_add(struct capture *c, const char *data, size_t size)
{
        size_t head = c->limit.keep / 2 - c->head.size;

        c->total += size;
        if (head > 0) {
                head = MIN(head, size);
                buffer_add(&c->head, data, head);
                data += head;
                size -= head;
        }
        if (size > 0 && c->limit.keep > 0 && !c->failed)
                ring_add(c, data, size);
}

int capture_finish(struct capture *c, struct blob *ret, size_t *ret_cut)
{
        uint64_t cut = c->total - c->head.size - c->filled;
        size_t old = c->filled == c->capacity ? c->capacity - c->at : 0; /* bytes behind `at` are the older */
        int r;

        *ret_cut = cut > 0 ? c->head.size : 0;
        if (cut > 0)
                buffer_addf(&c->head, "\n[... %" PRIu64 " bytes cut ...]\n", cut);
        if (old > 0)
                buffer_add(&c->head, c->ring + c->at, old);
        if (c->filled > old)
                buffer_add(&c->head, c->ring, c->filled - old);
        r = c->failed ? -ENOMEM : buffer_steal(&c->head, ret);
        capture_done(c);
        return r;
}

void capture_done(struct capture *c)
{
        buffer_done(&c->head);
        free(c->ring);
        *c = (struct capture){0};
}
