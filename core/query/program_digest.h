/* The digest of a program of this machine, by its bytes: what keys results of programs that no build of ours made. */
#pragma once

#include "cache/base/hash.h"

/* Reads all of it once; as long as nothing about the file (device, inode, size, times) has changed since, the digest comes from memory. A file
 * changed within the last two seconds is read each time, as one more change could have the same times. -EINVAL: no program; -errno with a
 * sentence. Threads: any. */
int program_digest(const char *path, struct digest *ret);
