/* Failures for want of disk space, which say nothing about what failed. Thread-safe. */
#pragma once

#include "cache/base/util.h"

/* -ENOSPC, with a sentence about `what`, if its failure may come from the disk of `folder`: hardly anything is left there, or one of its outputs says
 * so. `most`: the bytes that it may have written there; if more is left, another file system was full (/dev/shm), unless it was a quota. */
int full_disk_check(const char *folder, const char *what, const struct slice *outputs, size_t n, uint64_t most);
