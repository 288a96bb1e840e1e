/* The folder before the system's programs on the PATH of a build: links to solverfs-shim (shim.c), bound at /tools. */
#pragma once

#include "core/sandbox/execute.h"

#define TOOLS_INSIDE      "/tools"
#define TOOLS_SHIM_INSIDE "/.solverfs-shim"

/* In a recipe's environment: what is built reports its trail (trail_runtime.c). So it is in the build's key; a runtime that prints another text gets
 * another number. */
#define BUILD_TRAIL_NAME "solverfs-trail-2.a"
#define BUILD_TRAIL      "SOLVERFS_BUILD_TRAIL=" TOOLS_INSIDE "/" BUILD_TRAIL_NAME

/* Beside the helper of execute.h, or $SOLVERFS_SHIM (tests). -ENOENT with a sentence. */
int build_tools_shim(char ret[PATH_SIZE]);
/* Makes the folder anew: `date`, and where `with_compilers` and ccache is installed, the compilers that ccache knows.
 * *ret_has_ccache says which. `sandbox`: where the links lead. `with_trail`: compilers in any case, and the runtime. */
int build_tools_make(const char *folder, enum sandbox_kind sandbox, bool with_compilers, bool with_trail, bool *ret_has_ccache);
