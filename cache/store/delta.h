/* Bytes stored as their difference from others: zstd with a prefix (ZSTD_CCtx_refPrefix) and long-distance matching. Threads: any. */
#pragma once

#include "cache/base/util.h"

size_t delta_bound(size_t size); /* greatest size of a frame that encodes `size` bytes */
/* Encodes against `base` (may be empty). -E2BIG: it takes more than `most` bytes. -ENOMEM. */
int delta_encode(struct slice content, struct slice base, size_t most, struct blob *ret);
/* Decodes into `out`, of `size` bytes. -ENOENT: the frame does not decode to exactly so many. -ENOMEM. */
int delta_decode(struct slice frame, struct slice base, void *out, uint64_t size);
