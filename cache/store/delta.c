#include "cache/store/delta.h"

#include <zstd.h>
#include <zstd_errors.h>

/* A delta is quick at any level; a keyframe at a high level takes a minute. Measured on a 29 MB program. */
#define LEVEL_DELTA    12
#define LEVEL_KEYFRAME 9
#define WINDOW_LEAST   10 /* binary logarithm of bytes */
#define WINDOW_MOST    31

static int window_log(uint64_t size)
{
        int log = WINDOW_LEAST;

        while (log < WINDOW_MOST && UINT64_C(1) << log < size)
                log++;
        return log;
}

static void free_compressor(ZSTD_CCtx **c)
{
        ZSTD_freeCCtx(*c);
}

static void free_decompressor(ZSTD_DCtx **d)
{
        ZSTD_freeDCtx(*d);
}

int delta_encode(struct slice content, struct slice base, size_t most, struct blob *ret)
{
        cleanup(free_compressor) ZSTD_CCtx *c = ZSTD_createCCtx();
        bool delta = base.size > 0;
        cleanup_free void *out = malloc(MAX(most, (size_t)1));
        size_t n;

        if (!c || !out)
                return -ENOMEM;
        ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, delta ? LEVEL_DELTA : LEVEL_KEYFRAME);
        ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log(content.size + base.size));
        ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, 1);
        if (delta)
                ZSTD_CCtx_refPrefix(c, base.data, base.size);
        n = ZSTD_compress2(c, out, most, content.data, content.size);
        if (ZSTD_isError(n))
                return ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall ? -E2BIG : -ENOMEM;
        *ret = (struct blob){.data = out, .size = n, .owned = out};
        out = NULL;
        return 0;
}

int delta_decode(struct slice frame, struct slice base, void *out, uint64_t size)
{
        cleanup(free_decompressor) ZSTD_DCtx *d = ZSTD_createDCtx();
        size_t n;

        if (!d)
                return -ENOMEM;
        ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_MOST);
        if (base.size > 0)
                ZSTD_DCtx_refPrefix(d, base.data, base.size);
        n = ZSTD_decompressDCtx(d, out, size, frame.data, frame.size);
        return ZSTD_isError(n) || n != size ? -ENOENT : 0;
}

size_t delta_bound(size_t size)
{
        return ZSTD_compressBound(size);
}
