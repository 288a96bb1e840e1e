/* The store's form of a build: a version, then fields; numbers big end first; strings and blobs after their length. The log comes last, so
 * that who does not want it need not look at it. */
#include "build.h"

#define FORMAT_VERSION 1

struct build_record *build_record_ref(struct build_record *b)
{
        __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
        return b;
}

struct build_record *build_record_unref(struct build_record *b)
{
        if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        for (size_t i = 0; i < b->n_outputs; i++)
                free(b->outputs[i].name);
        free(b->outputs);
        free(b->reason);
        blob_done(&b->log);
        free(b);
        return NULL;
}

static void add_number(struct buffer *b, uint64_t n)
{
        uint8_t bytes[8];

        key_u64(bytes, n);
        buffer_add(b, bytes, sizeof(bytes));
}

static void add_bytes(struct buffer *b, const void *data, size_t size)
{
        add_number(b, size);
        buffer_add(b, data, size);
}

int build_record_encode(const struct build_record *b, struct buffer *ret)
{
        const uint8_t head[] = {FORMAT_VERSION, b->ok, b->clean, b->reason != NULL};

        buffer_add(ret, head, sizeof(head));
        buffer_add(ret, b->commit.id, GIT_OID_RAWSZ);
        add_number(ret, (uint64_t)b->started);
        add_number(ret, b->duration_ns);
        add_number(ret, b->cpu_ns);
        add_number(ret, b->memory);
        if (b->reason)
                add_bytes(ret, b->reason, strlen(b->reason));
        add_number(ret, b->n_outputs);
        for (size_t i = 0; i < b->n_outputs; i++) {
                const struct build_output *o = &b->outputs[i];

                add_bytes(ret, o->name, strlen(o->name));
                buffer_add(ret, o->id.bytes, DIGEST_SIZE);
                add_number(ret, o->size);
                add_number(ret, o->executable);
        }
        add_bytes(ret, b->log.data, b->log.size);
        return buffer_error(ret);
}

/* Reads on while there is something; `bad` once there was not. */
struct reader {
        const uint8_t *at, *end;
        bool bad;
};

static const void *take(struct reader *r, uint64_t size)
{
        const void *p = r->at;

        if (r->bad || size > (uint64_t)(r->end - r->at)) {
                r->bad = true;
                return NULL;
        }
        r->at += size;
        return p;
}

static uint64_t take_number(struct reader *r)
{
        const void *p = take(r, 8);

        return p ? key_get_u64(p) : 0;
}

static void take_raw(struct reader *r, void *to, size_t size)
{
        const void *p = take(r, size);

        if (p)
                memcpy(to, p, size);
}

static char *take_string(struct reader *r)
{
        uint64_t size = take_number(r);
        const char *p = take(r, size);
        char *s = p ? strndup(p, size) : NULL;

        r->bad |= !s;
        return s;
}

static void take_outputs(struct reader *r, struct build_record *b)
{
        uint64_t n = take_number(r);

        if (n > (uint64_t)(r->end - r->at) / DIGEST_SIZE) /* before it is believed */
                r->bad = true;
        else
                b->outputs = calloc(n + 1, sizeof(*b->outputs));
        r->bad |= !b->outputs;
        for (uint64_t i = 0; i < n && !r->bad; i++) {
                struct build_output *o = &b->outputs[i];

                o->name = take_string(r);
                if (!o->name)
                        return;
                b->n_outputs++;
                take_raw(r, o->id.bytes, DIGEST_SIZE);
                o->size = take_number(r);
                o->executable = take_number(r) != 0;
        }
}

static void take_log(struct reader *r, struct build_record *b)
{
        uint64_t size = take_number(r);
        const void *p = take(r, size);
        void *copy = p ? malloc(size + 1) : NULL;

        r->bad |= !copy;
        if (!copy)
                return;
        memcpy(copy, p, size);
        b->log = (struct blob){.data = copy, .size = size, .owned = copy};
}

int build_record_decode(struct slice bytes, bool with_log, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *b = calloc(1, sizeof(*b));
        struct reader r = {.at = bytes.data, .end = (const uint8_t *)bytes.data + bytes.size};
        uint8_t head[4] = {0};

        if (!b)
                return -ENOMEM;
        b->refs = 1;
        take_raw(&r, head, sizeof(head));
        if (r.bad || head[0] != FORMAT_VERSION || head[1] > 1 || head[2] > 1 || head[3] > 1)
                return -EBADMSG;
        b->ok = head[1];
        b->clean = head[2];
        take_raw(&r, b->commit.id, GIT_OID_RAWSZ);
        b->started = (int64_t)take_number(&r);
        b->duration_ns = take_number(&r);
        b->cpu_ns = take_number(&r);
        b->memory = take_number(&r);
        if (head[3])
                b->reason = take_string(&r);
        take_outputs(&r, b);
        if (with_log)
                take_log(&r, b);
        if (r.bad || (with_log && r.at != r.end) || (b->ok ? b->n_outputs == 0 : !b->reason))
                return -EBADMSG; /* who reads it relies on a program or a reason */
        *ret = steal_pointer(b);
        return 0;
}
