#include "cache/base/record.h"

#include <endian.h>

struct record record_of(struct slice bytes)
{
        return (struct record){.at = bytes.data, .end = (const uint8_t *)bytes.data + bytes.size};
}

size_t record_left(const struct record *r)
{
        return r->error == 0 ? (size_t)(r->end - r->at) : 0;
}

void record_fail(struct record *r)
{
        if (r->error == 0)
                r->error = -EBADMSG;
}

struct slice record_slice(struct record *r, uint64_t size)
{
        const uint8_t *p = r->at;

        if (size > record_left(r)) {
                record_fail(r);
                return SLICE(NULL, 0);
        }
        r->at += size;
        return SLICE(p, size);
}

void record_raw(struct record *r, void *to, size_t size)
{
        struct slice s = record_slice(r, size);

        if (s.size > 0)
                memcpy(to, s.data, s.size);
}

uint64_t record_number(struct record *r, size_t size)
{
        uint64_t n = 0;

        record_raw(r, (char *)&n + sizeof(n) - size, size);
        return be64toh(n);
}

void record_version(struct record *r, uint8_t known)
{
        r->version = record_u8(r);
        r->known = known;
        if (r->version != known)
                record_fail(r);
}

bool record_bool(struct record *r)
{
        uint8_t n = record_u8(r);

        if (n > 1)
                record_fail(r);
        return n == 1;
}

double record_real(struct record *r)
{
        uint64_t bits = record_u64(r);
        double x;

        memcpy(&x, &bits, sizeof(x));
        return x;
}

uint64_t record_u64_le(struct record *r)
{
        uint64_t n = 0;

        record_raw(r, &n, sizeof(n));
        return le64toh(n);
}

/* A copy with a NUL behind it. */
static void *copy(struct record *r, uint64_t size)
{
        struct slice s = record_slice(r, size);
        char *p = r->error == 0 ? malloc(s.size + 1) : NULL;

        if (!p) {
                if (r->error == 0)
                        r->error = -ENOMEM;
                return NULL;
        }
        if (s.size > 0)
                memcpy(p, s.data, s.size);
        p[s.size] = '\0';
        return p;
}

char *record_string(struct record *r, uint64_t size)
{
        return copy(r, size);
}

void record_blob(struct record *r, uint64_t size, struct blob *ret)
{
        void *owned = size > 0 ? copy(r, size) : NULL;

        *ret = (struct blob){.data = owned, .size = owned ? size : 0, .owned = owned};
}

int record_end(struct record *r, const char *what)
{
        if (record_left(r) > 0)
                record_fail(r);
        if (r->error == -EBADMSG && r->version != r->known)
                return errorf(r->error, "%s of format %u, and only format %u is known here", what, r->version, r->known);
        return r->error == -EBADMSG ? errorf(r->error, "%s is damaged; 'solverfs fsck' says more", what) : r->error;
}

void record_put_number(struct buffer *b, uint64_t n, size_t size)
{
        n = htobe64(n);
        buffer_add(b, (const char *)&n + sizeof(n) - size, size);
}

void record_put_real(struct buffer *b, double x)
{
        uint64_t bits;

        memcpy(&bits, &x, sizeof(bits));
        record_put_u64(b, bits);
}

void record_put_u64_le(struct buffer *b, uint64_t n)
{
        n = htole64(n);
        buffer_add(b, &n, sizeof(n));
}
