/* Frames: how a value lies in the store. 16 bytes of header, then the bytes, raw or compressed:
 *
 *     0      version (1)
 *     1      codec: 0 raw, 1 zstd
 *     2..7   length of the raw bytes, little-endian
 *     8..15  checksum: XXH3-64 of the raw bytes, seeded with the first eight bytes and the key's own hash, so that a changed
 *            header, or a value under another value's key, fails it too
 *
 * Values above a few hundred bytes are compressed when that saves an eighth, unless they are compressed by zstd already.
 * Threads: any; each has compression contexts of its own.
 */
#pragma once

#include "cache/base/util.h"

int frame_encode(struct slice key, struct slice value, struct buffer *ret); /* appends; 0, -ENOMEM, -EFBIG */
/* Decodes a frame. 0: *ret has the raw bytes: they point into `frame` (owned NULL) if stored raw, else to memory of their own.
 * -EBADMSG: the frame is damaged. -ENOMEM. */
int frame_decode(struct slice key, struct slice frame, struct blob *ret);
