/* Checks that what libgit2 reads of a repository is a regular file or a folder, except for the files of refs other than HEAD's. libgit2, like git,
 * opens anything in the place of a file, and opening a fifo waits for a writer, usually for ever. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* `path`: a repository, or a checkout with one in .git. -EINVAL with a sentence that names the file. 0 also if it is not a repository, which others
 * report. */
int regular_files_check(const char *path);
/* Calls fn with `objects`, a repository's folder of objects, then with each of its alternates. Stops at, and returns, fn's first non-zero value. Call
 * regular_files_check() before. */
int objects_each(const char *objects, int (*fn)(const char *objects));
