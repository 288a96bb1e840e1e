/* Files that may be compressed. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* Calls fn with the bytes of a file, block by block, unpacked if they are compressed by gzip, xz, bzip2 or zstd. A result of fn other than 0 ends the
 * calls and is returned. -EINVAL: cut off or damaged; -EFBIG: a small file that unpacks without end; those of read(). `name` is for the sentences. */
typedef int (*unpack_fn)(void *user, const void *block, size_t n);
int unpack_each(const char *name, int fd, unpack_fn fn, void *user);
