/* A structure's fields as bytes. One list of fields both writes and reads them:
 *
 *     static void transfer_thing(struct transfer *t, struct thing *x)
 *     {
 *             transfer_version(t, VERSION);
 *             transfer_u64(t, &x->n);
 *             x->kind = transfer_choice(t, x->kind, N_KINDS);
 *     }
 *     transfer_thing(&(struct transfer){.to = &buffer}, &x);      appends the fields; x stays as it is
 *     struct transfer t = {.from = record_of(bytes)};
 *     transfer_thing(&t, &x);                                     sets them
 *     return record_end(&t.from, "a thing");
 *
 * The bytes are those of record.h. Reading stops at the first missing field: it and all that follow are 0, and record_end() returns the error.
 * A struct transfer is for one thread. */
#pragma once

#include "cache/base/record.h"

struct transfer {
        struct buffer *to; /* NULL: it reads */
        struct record from;
};

static inline bool transfer_reads(const struct transfer *t)
{
        return !t->to;
}

void transfer_version(struct transfer *t, uint8_t version); /* the first byte; another one is damage */
void transfer_bool(struct transfer *t, bool *x);
/* A number below `n`, in one byte; reading another one is damage. Returns the number written or read; 0 after damage. */
unsigned transfer_choice(struct transfer *t, unsigned x, unsigned n);
uint64_t transfer_number(struct transfer *t, uint64_t n, size_t size); /* in `size` bytes. Returns the number written or read */
static inline void transfer_u8(struct transfer *t, uint8_t *n)
{
        *n = (uint8_t)transfer_number(t, *n, 1);
}
static inline void transfer_u16(struct transfer *t, uint16_t *n)
{
        *n = (uint16_t)transfer_number(t, *n, 2);
}
static inline void transfer_u32(struct transfer *t, uint32_t *n)
{
        *n = (uint32_t)transfer_number(t, *n, 4);
}
static inline void transfer_u64(struct transfer *t, uint64_t *n)
{
        *n = transfer_number(t, *n, 8);
}
void transfer_real(struct transfer *t, double *x);
void transfer_reals(struct transfer *t, double *list, size_t n);
void transfer_raw(struct transfer *t, void *bytes, size_t size); /* writer and reader know the size */
/* The length of the list that follows. Each element takes at least `least` bytes, so a damaged length is found before memory is allocated. */
void transfer_count(struct transfer *t, size_t *n, size_t least);
void transfer_count_u32(struct transfer *t, size_t *n, size_t least); /* in four bytes */
/* A constant that writer and reader agree on; any other is damage. */
void transfer_same(struct transfer *t, uint64_t n);
void transfer_bytes(struct transfer *t, struct buffer *b); /* its length first; read into an empty one */
/* Its length first; NULL is written as "". Reading frees the previous text. */
void transfer_string(struct transfer *t, char **s);
void transfer_string_u32(struct transfer *t, char **s); /* its length in four bytes */
