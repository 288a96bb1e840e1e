#include "core/remote/packet.h"

#include "cache/base/hash.h"
#include "cache/base/record.h"

#define MAGIC     "SFW2"
#define HEAD_ONLY (PACKET_HEAD - 8)    /* the bytes that the second checksum covers */

int packet_write(enum packet_type type, uint64_t id, uint32_t sequence, struct slice body, struct buffer *ret)
{
        size_t begin = ret->size;

        if (body.size > PACKET_MOST)
                return errorf(-EFBIG, "a packet of %zu bytes cannot be sent", body.size);
        buffer_adds(ret, MAGIC);
        record_put_u32(ret, type);
        record_put_u64(ret, id);
        record_put_u32(ret, sequence);
        record_put_u32(ret, (uint32_t)body.size);
        record_put_u64(ret, hash_quick(body.data, body.size));
        if (buffer_error(ret) == 0)
                record_put_u64(ret, hash_quick(ret->data + begin, HEAD_ONLY));
        buffer_add(ret, body.data, body.size);
        return buffer_error(ret);
}

int packet_read(struct slice bytes, uint32_t sequence, struct packet *ret, size_t *ret_size)
{
        struct record r = record_of(SLICE(bytes.data, MIN(bytes.size, (size_t)PACKET_HEAD)));
        uint32_t type, number, size;
        uint64_t of_body, of_head, id;

        if (memcmp(bytes.data ?: "", MAGIC, MIN(bytes.size, strlen(MAGIC))) != 0) /* foreign text is reported at its first byte */
                return errorf(-EBADMSG, "bytes that are no packet of solverfs");
        if (bytes.size < PACKET_HEAD)
                return -EAGAIN;
        record_u32(&r);
        type = record_u32(&r);
        id = record_u64(&r);
        number = record_u32(&r);
        size = record_u32(&r);
        of_body = record_u64(&r);
        of_head = record_u64(&r);
        if (of_head != hash_quick(bytes.data, HEAD_ONLY))
                return errorf(-EBADMSG, "a packet was damaged on its way");
        if (type < PACKET_HELLO || type >= PACKET_TYPES || size > PACKET_MOST)
                return errorf(-EBADMSG, "a packet of a kind that is not known (%u, %u bytes)", type, size);
        if (number != sequence)
                return errorf(-EBADMSG, "packet %u came where %u was due", number, sequence);
        if (bytes.size - PACKET_HEAD < size)
                return -EAGAIN;
        *ret = (struct packet){.type = (enum packet_type)type, .id = id, .body = SLICE((const char *)bytes.data + PACKET_HEAD, size)};
        if (of_body != hash_quick(ret->body.data, size))
                return errorf(-EBADMSG, "a packet was damaged on its way");
        *ret_size = PACKET_HEAD + (size_t)size;
        return 0;
}

int packet_stream_next(struct packet_stream *s, struct packet *ret)
{
        size_t size;
        int r = packet_read(SLICE(s->bytes.data + s->at, s->bytes.size - s->at), s->sequence, ret, &size);

        if (r == 0) {
                s->sequence++;
                s->at += size;
        } else if (s->at > 0) {
                s->bytes.size -= s->at;
                memmove(s->bytes.data, s->bytes.data + s->at, s->bytes.size);
                s->at = 0;
        }
        return r;
}
