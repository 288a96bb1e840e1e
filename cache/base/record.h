/* Records: small structures as the store keeps them, field behind field without padding. The order of the fields is the format; most begin with
 * a version byte. Numbers are big-endian, as in keys. Older records have little-endian ones: functions that end in _le read and write these.
 *
 *     record_put_u8(b, VERSION), record_put_u64(b, x->size), buffer_adds(b, x->name);
 *
 *     struct record r = record_of(bytes);
 *     record_version(&r, VERSION);
 *     x->size = record_u64(&r);
 *     x->name = record_string(&r, record_left(&r));
 *     return record_end(&r, "a thing");
 *
 * Reading stops at the first missing field: it and all that follow are 0, empty or NULL, and record_end() returns the error.
 * A struct record is for one thread; it borrows the bytes. */
#pragma once

#include "cache/base/util.h"

struct record {
        const uint8_t *at, *end;
        int error;              /* 0, -EBADMSG, -ENOMEM */
        uint8_t version, known; /* once record_version() has read it */
};

struct record record_of(struct slice bytes);
void record_version(struct record *r, uint8_t known); /* one byte; -EBADMSG unless it is `known` */
uint64_t record_number(struct record *r, size_t size); /* of 1, 2, 4 or 8 bytes */
static inline uint8_t record_u8(struct record *r)
{
        return (uint8_t)record_number(r, 1);
}
static inline uint16_t record_u16(struct record *r)
{
        return (uint16_t)record_number(r, 2);
}
static inline uint32_t record_u32(struct record *r)
{
        return (uint32_t)record_number(r, 4);
}
static inline uint64_t record_u64(struct record *r)
{
        return record_number(r, 8);
}
bool record_bool(struct record *r); /* one byte; -EBADMSG unless 0 or 1 */
double record_real(struct record *r); /* IEEE 754, as a u64 */
uint64_t record_u64_le(struct record *r);
void record_raw(struct record *r, void *to, size_t size);            /* leaves *to alone if the field is missing */
struct slice record_slice(struct record *r, uint64_t size);          /* borrowed from the record */
char *record_string(struct record *r, uint64_t size);                /* free() */
void record_blob(struct record *r, uint64_t size, struct blob *ret); /* a copy */
size_t record_left(const struct record *r);
void record_fail(struct record *r); /* the caller found a senseless value: -EBADMSG */
/* 0 if no field was missing and no byte is left, else -errno with a sentence: "a fact is damaged; …". */
int record_end(struct record *r, const char *what);

void record_put_number(struct buffer *b, uint64_t n, size_t size);
static inline void record_put_u8(struct buffer *b, uint8_t n)
{
        record_put_number(b, n, 1);
}
static inline void record_put_u16(struct buffer *b, uint16_t n)
{
        record_put_number(b, n, 2);
}
static inline void record_put_u32(struct buffer *b, uint32_t n)
{
        record_put_number(b, n, 4);
}
static inline void record_put_u64(struct buffer *b, uint64_t n)
{
        record_put_number(b, n, 8);
}
void record_put_real(struct buffer *b, double x);
void record_put_u64_le(struct buffer *b, uint64_t n);
