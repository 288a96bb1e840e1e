/* Loose objects, read with bounds. libgit2 (1.5 at least) inflates them in a loop that asks zlib for more as long as the object is not whole,
 * which is for ever when its file was cut off: a read of the commit's message, a build or a check of the store would hang with a core busy. So
 * our reader is asked before libgit2's. libgit2 still writes, lists and looks for objects. */
#pragma once

#include "core/git/git.h"

/* For a repository that was just opened. One with alternates is left to libgit2. -EIO. */
int object_reader_install(git_repository *git);
