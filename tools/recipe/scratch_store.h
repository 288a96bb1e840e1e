/* A store of its own for one piece of work, below $TMPDIR, which is deleted behind it. */
#pragma once

#include "tools/command.h"

/* Calls fn, which returns a status, while it is the command's store, in the place of another one that is open. Also deleted where fn ends the
 * command (command_end()). A status; where the store cannot be made, why is said. */
int with_scratch_store(int (*fn)(void *user), void *user);
