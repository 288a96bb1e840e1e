/* Folders outside of the sources that a recipe's builds read: `dependency = /opt/btor2tools`. Their content is part of a worker's toolchain and of what
 * separates one compile cache from another. It stands for what a build read of them where that was not watched (used.h). */
#pragma once

#include "cache/base/hash.h"
#include "cache/base/util.h"

/* The digest of what is in the folder: names, kinds, executable bits, bytes and links; the zero digest when there is no such folder. Files are
 * read as file_look() does it: again when stat() says something else of them. Threads: any. 0, or -errno with a sentence when a file cannot be
 * read. */
int dependency_digest(const char *path, struct digest *ret);
