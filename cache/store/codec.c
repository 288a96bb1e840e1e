#include "cache/store/codec.h"

#include <pthread.h>
#include <xxhash.h>
#include <zstd.h>

#include "cache/base/record.h"

#define FRAME_VERSION  1
#define FRAME_MOST     (UINT64_C(1) << 32) /* LMDB's bound on a value */
#define COMPRESS_ABOVE 512 /* bytes */
#define COMPRESS_LEVEL 3   /* zstd's */

enum codec {
        CODEC_RAW,
        CODEC_ZSTD
};

/* A zstd context is a hundred kilobytes and takes longer to make than to compress a small value, so each thread keeps one. */
struct contexts {
        ZSTD_CCtx *compress;
        ZSTD_DCtx *decompress;
};

static pthread_key_t contexts_key;
static pthread_once_t contexts_once = PTHREAD_ONCE_INIT;

static void contexts_free(void *p)
{
        struct contexts *c = p;

        ZSTD_freeCCtx(c->compress);
        ZSTD_freeDCtx(c->decompress);
        free(c);
}

static void contexts_init(void)
{
        if (pthread_key_create(&contexts_key, contexts_free) != 0)
                abort(); /* only if all thousand keys are taken */
}

static struct contexts *contexts_get(void)
{
        struct contexts *c;

        pthread_once(&contexts_once, contexts_init);
        c = pthread_getspecific(contexts_key);
        if (!c) {
                c = allocate(1, sizeof(*c));
                *c = (struct contexts){ZSTD_createCCtx(), ZSTD_createDCtx()};
                pthread_setspecific(contexts_key, c);
        }
        return c;
}

static uint64_t checksum(uint64_t head, struct slice key, const void *raw, size_t size)
{
        return XXH3_64bits_withSeed(raw, size, head ^ XXH3_64bits(key.data, key.size));
}

static bool is_compressed_already(struct slice v)
{
        static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

        return v.size >= sizeof(magic) && memcmp(v.data, magic, sizeof(magic)) == 0;
}

/* Compresses `v`: malloc'd bytes, or NULL when that does not pay. */
static void *compress(struct slice v, size_t *ret_size)
{
        size_t most = v.size - v.size / 8, n;
        cleanup_free void *out = NULL;
        ZSTD_CCtx *c = contexts_get()->compress;

        if (v.size <= COMPRESS_ABOVE || is_compressed_already(v))
                return NULL;
        out = malloc(most);
        if (!c || !out)
                return NULL;
        n = ZSTD_compressCCtx(c, out, most, v.data, v.size, COMPRESS_LEVEL);
        if (ZSTD_isError(n))
                return NULL; /* usually: it saves less than an eighth */
        *ret_size = n;
        return steal_pointer(out);
}

int frame_encode(struct slice key, struct slice value, struct buffer *ret)
{
        cleanup_free void *compressed = NULL;
        size_t size = value.size;
        uint64_t head;

        if (value.size >= FRAME_MOST)
                return errorf(-EFBIG, "a value of %zu bytes is more than the store takes", value.size);
        compressed = compress(value, &size);
        head = FRAME_VERSION | (uint64_t)(compressed ? CODEC_ZSTD : CODEC_RAW) << 8 | (uint64_t)value.size << 16;
        record_put_u64_le(ret, head);
        record_put_u64_le(ret, checksum(head, key, value.data, value.size));
        buffer_add(ret, compressed ? compressed : value.data, size);
        return buffer_error(ret);
}

static int decompress(struct slice packed, uint64_t size, struct blob *ret)
{
        ZSTD_DCtx *d = contexts_get()->decompress;
        cleanup_free void *raw = NULL;

        /* A damaged length must not make us allocate terabytes: zstd's own header must agree. */
        if (ZSTD_getFrameContentSize(packed.data, packed.size) != size)
                return -EBADMSG;
        raw = malloc(size ? size : 1);
        if (!raw || !d)
                return -ENOMEM;
        if (ZSTD_decompressDCtx(d, raw, size, packed.data, packed.size) != size)
                return -EBADMSG;
        *ret = (struct blob){.data = raw, .size = size, .owned = raw};
        raw = NULL;
        return 0;
}

int frame_decode(struct slice key, struct slice frame, struct blob *ret)
{
        struct record rec = record_of(frame);
        const uint64_t head = record_u64_le(&rec), sum = record_u64_le(&rec), size = head >> 16, codec = head >> 8 & 0xff;
        const struct slice bytes = record_slice(&rec, record_left(&rec));
        cleanup_blob struct blob b = {.data = bytes.data, .size = bytes.size};
        int r = rec.error < 0 || (head & 0xff) != FRAME_VERSION || size >= FRAME_MOST || codec > CODEC_ZSTD ? -EBADMSG : 0;

        if (r == 0 && codec == CODEC_ZSTD)
                r = decompress(bytes, size, &b);
        if (r == 0 && (b.size != size || checksum(head, key, b.data, b.size) != sum))
                r = -EBADMSG;
        if (r < 0)
                return r;
        *ret = b;
        b = (struct blob){0};
        return 0;
}
