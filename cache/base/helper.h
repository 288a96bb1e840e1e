/* The programs of ours that the command and the mount start: solverfs-exec, solverfs-shim, solverfs-fetch. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* Where a helper program is: as the environment's `variable` says (tests), beside the running executable, in its `room` of the build folder,
 * else in libexecdir. -ENOENT with a sentence. */
int helper_path(const char *name, const char *room, const char *variable, char ret[PATH_SIZE]);
