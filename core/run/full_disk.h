/* Failures for want of disk space, which say nothing about what failed. Thread-safe. */
#pragma once

#include "cache/base/util.h"

/* Call when `what` has failed. -ENOSPC with a sentence if the disk of `folder` may be the reason: hardly anything is left there, or an output of
 * `what` says so. 0: it is not. `most`: the bytes that `what` was allowed to write there. If more are left, "no space" is of another file system
 * (/dev/shm). */
int full_disk_check(const char *folder, const char *what, const struct slice *outputs, size_t n, uint64_t most);
