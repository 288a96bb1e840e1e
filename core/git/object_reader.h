/* A bounded reader of loose objects. libgit2 (at least 1.5) asks zlib for more until the object is whole, which never ends if the file was cut
 * off: reading a commit's message, a build or fsck would hang with a busy core. So our reader precedes libgit2's, which still writes, lists
 * and looks for objects. */
#pragma once

#include "core/git/git.h"

/* Call for a repository just opened. Repositories with alternates are left to libgit2. -EIO. */
int object_reader_install(git_repository *git);
