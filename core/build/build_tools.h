/* The folder that precedes the system's programs in a build's PATH: links to solverfs-shim (shim.c), bound at /tools. */
#pragma once

#include "core/sandbox/execute.h"

#define TOOLS_INSIDE      "/tools"
#define TOOLS_SHIM_INSIDE "/.solverfs-shim"

/* Set in a recipe's environment: the built programs report their trails (trail_runtime.c). So it is in the build's key; a runtime that prints another
 * text gets another number. */
#define BUILD_TRAIL_NAME "solverfs-trail-2.a"
#define BUILD_TRAIL      "SOLVERFS_BUILD_TRAIL=" TOOLS_INSIDE "/" BUILD_TRAIL_NAME

/* Finds the shim beside the helper of execute.h, or at $SOLVERFS_SHIM (tests). -ENOENT with a sentence. */
int build_tools_shim(char ret[PATH_SIZE]);
/* Makes the folder anew: `date` and, with `with_compilers` if ccache is installed, all compilers that are, too; *ret_has_ccache says whether it
 * is. `sandbox` decides where the links lead. `with_trail`: compilers in any case, and the runtime. */
int build_tools_make(const char *folder, enum sandbox_kind sandbox, bool with_compilers, bool with_trail, bool *ret_has_ccache);
