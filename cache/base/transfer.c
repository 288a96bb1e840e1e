#include "cache/base/transfer.h"

uint64_t transfer_number(struct transfer *t, uint64_t n, size_t size)
{
        if (!t->to)
                return record_number(&t->from, size);
        record_put_number(t->to, n, size);
        return n;
}

void transfer_version(struct transfer *t, uint8_t version)
{
        if (t->to)
                record_put_u8(t->to, version);
        else
                record_version(&t->from, version);
}

void transfer_bool(struct transfer *t, bool *x)
{
        *x = transfer_choice(t, t->to ? *x : 0, 2); /* when reading, *x may be uninitialized */
}

unsigned transfer_choice(struct transfer *t, unsigned x, unsigned n)
{
        x = (unsigned)transfer_number(t, x, 1);
        if (x >= n)
                record_fail(&t->from);
        return x < n ? x : 0;
}

void transfer_real(struct transfer *t, double *x)
{
        if (t->to)
                record_put_real(t->to, *x);
        else
                *x = record_real(&t->from);
}

void transfer_reals(struct transfer *t, double *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                transfer_real(t, &list[i]);
}

void transfer_raw(struct transfer *t, void *bytes, size_t size)
{
        if (t->to)
                buffer_add(t->to, bytes, size);
        else
                record_raw(&t->from, bytes, size);
}

/* `width`: bytes of the length itself. */
static void count(struct transfer *t, size_t *n, size_t width, size_t least)
{
        *n = transfer_number(t, *n, width);
        if (t->to)
                return;
        if (*n > record_left(&t->from) / least)
                record_fail(&t->from);
        if (t->from.error < 0)
                *n = 0;
}

void transfer_count(struct transfer *t, size_t *n, size_t least)
{
        count(t, n, 8, least);
}

void transfer_count_u32(struct transfer *t, size_t *n, size_t least)
{
        count(t, n, 4, least);
}

void transfer_same(struct transfer *t, uint64_t n)
{
        if (transfer_number(t, n, 8) != n)
                record_fail(&t->from);
}

void transfer_bytes(struct transfer *t, struct buffer *b)
{
        size_t n = b->size;

        transfer_count(t, &n, 1);
        if (t->to) {
                buffer_add(t->to, b->data, n);
        } else {
                struct slice s = record_slice(&t->from, n);

                buffer_add(b, s.data, s.size);
        }
}

static void string(struct transfer *t, char **s, size_t width)
{
        size_t n = t->to && *s ? strlen(*s) : 0;

        count(t, &n, width, 1);
        if (t->to) {
                buffer_add(t->to, *s ?: "", n);
                return;
        }
        free(*s);
        *s = record_string(&t->from, n);
}

void transfer_string(struct transfer *t, char **s)
{
        string(t, s, 8);
}

void transfer_string_u32(struct transfer *t, char **s)
{
        string(t, s, 4);
}
