/* Our own programs that the command and the mount start, such as solverfs-exec and solverfs-shim, and solverfs-trail.a. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* Finds the helper `name`. The environment variable `variable` (tests), if set, is its path. Otherwise it is looked for beside the running program,
 * in the folder `room` of the build folder, and in libexecdir. -ENODEV with a sentence. */
int helper_path(const char *name, const char *room, const char *variable, char ret[PATH_SIZE]);

/* The folder of the running program. -ENOENT, and "", where /proc does not tell. */
int own_folder(char ret[PATH_SIZE]);
