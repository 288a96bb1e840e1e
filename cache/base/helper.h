/* Our own programs that the command and the mount start: solverfs-exec, solverfs-shim, solverfs-fetch. Threads: any. */
#pragma once

#include "cache/base/util.h"

/* Finds a helper program: named by the environment variable `variable` (tests), beside the running executable, in its `room` of the build
 * folder, or in libexecdir. -ENODEV with a sentence. */
int helper_path(const char *name, const char *room, const char *variable, char ret[PATH_SIZE]);

/* The folder of the running program. -ENOENT, and "", where /proc does not tell. */
int program_folder(char ret[PATH_SIZE]);
