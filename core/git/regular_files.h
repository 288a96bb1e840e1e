/* Checks that everything libgit2 reads of a repository is a plain file or folder. Opening a fifo waits for a writer, as a rule for ever, and
 * libgit2 (as git) opens whatever stands in the place of a file. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* `path`: a repository, or a checkout with one in .git. -EINVAL with a sentence that names the file; 0 also for what is no repository, which
 * is others' to say. */
int regular_files_check(const char *path);
