#include "cache/base/transfer.h"

void transfer_bool(struct transfer *t, bool *x)
{
        if (t->to)
                record_put_u8(t->to, *x);
        else
                *x = record_bool(&t->from);
}

void transfer_u8(struct transfer *t, uint8_t *n)
{
        if (t->to)
                record_put_u8(t->to, *n);
        else
                *n = record_u8(&t->from);
}

void transfer_u16(struct transfer *t, uint16_t *n)
{
        if (t->to)
                record_put_u16(t->to, *n);
        else
                *n = record_u16(&t->from);
}

void transfer_u32(struct transfer *t, uint32_t *n)
{
        if (t->to)
                record_put_u32(t->to, *n);
        else
                *n = record_u32(&t->from);
}

void transfer_u64(struct transfer *t, uint64_t *n)
{
        if (t->to)
                record_put_u64(t->to, *n);
        else
                *n = record_u64(&t->from);
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

unsigned transfer_choice(struct transfer *t, unsigned value, unsigned most)
{
        uint8_t byte = (uint8_t)value;

        transfer_u8(t, &byte);
        if (byte >= most)
                record_fail(&t->from);
        return byte < most ? byte : 0;
}

void transfer_count(struct transfer *t, size_t *n, size_t least)
{
        uint64_t count = *n;

        transfer_u64(t, &count);
        if (transfer_reads(t) && count > record_left(&t->from) / least)
                record_fail(&t->from);
        *n = transfer_reads(t) && t->from.error < 0 ? 0 : (size_t)count;
}

void transfer_same(struct transfer *t, uint64_t n)
{
        uint64_t other = n;

        transfer_u64(t, &other);
        if (other != n)
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

void transfer_string(struct transfer *t, char **s)
{
        uint32_t n = t->to ? (uint32_t)strlen(*s) : 0;

        transfer_u32(t, &n);
        if (t->to) {
                buffer_add(t->to, *s, n);
        } else {
                free(*s);
                *s = record_string(&t->from, n);
        }
}
