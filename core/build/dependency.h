/* Folders outside of the sources that a recipe's builds read: `dependency = /opt/btor2tools`. Their content is part of a worker's toolchain and of
 * the compile cache's namespace. If a build is not watched, it counts as the part of these folders that the build used (used.h). */
#pragma once

#include "cache/base/hash.h"
#include "cache/base/util.h"

/* The digest of a folder's content: names, kinds, executable bits, bytes and links. The zero digest if there is no such folder. As in file_look(), a
 * file is read again only if stat() reports a change. Threads: any. 0, or -errno with a sentence if a file cannot be read. */
int dependency_digest(const char *path, struct digest *ret);
