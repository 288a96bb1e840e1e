/* Bytes as what they differ in from others: zstd with a prefix (ZSTD_CCtx_refPrefix) and long-distance matching. Threads: any. */
#pragma once

#include "cache/base/util.h"

size_t delta_bound(size_t size); /* what a frame of so many bytes takes at most */
/* Into at most `most` bytes, against `base` (empty: by itself). -E2BIG when that is not enough, -ENOMEM. */
int delta_encode(struct slice content, struct slice base, size_t most, struct blob *ret);
/* Into `out`, which has room for `size` bytes. -ENOENT when the frame does not decode to just that, -ENOMEM. */
int delta_decode(struct slice frame, struct slice base, void *out, uint64_t size);
