/* Frames: how a value lies in the store. 16 bytes of header, then the bytes, raw or compressed:
 *
 *     0      version (1)
 *     1      codec: 0 raw, 1 zstd
 *     2..7   length of the raw bytes, little end first
 *     8..15  checksum: XXH3-64 of the raw bytes, seeded with the first eight bytes and the key's own hash, so that a header, a
 *            codec or a value that came under another's key does not check out either
 *
 * Values above a few hundred bytes are compressed when that saves an eighth; what is a zstd frame already is left alone.
 * Threads: any; each has compression contexts of its own.
 */
#pragma once

#include "cache/base/util.h"


int frame_encode(struct slice key, struct slice value, struct buffer *ret); /* appends; 0, -ENOMEM, -EFBIG */
/* Takes a frame apart. 0: *ret is the raw bytes: inside `frame` (owned NULL) when they lie there raw, else memory of its own.
 * -EBADMSG: it does not check out. -ENOMEM. */
int frame_decode(struct slice key, struct slice frame, struct blob *ret);
