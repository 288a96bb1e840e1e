/* The folder that precedes the system's programs in a build's PATH: links to solverfs-shim (shim.c), bound at /tools. */
#pragma once

#include "core/sandbox/execute.h"

#define TOOLS_INSIDE      "/tools"
#define TOOLS_SHIM_INSIDE "/.solverfs-shim"

/* Set in a recipe's environment: the built programs report their trails (trail_runtime.c). So it is in the build's key; a runtime that prints another
 * text gets another number. */
#define BUILD_TRAIL_NAME "solverfs-trail-2.a"
#define BUILD_TRAIL      "SOLVERFS_BUILD_TRAIL=" TOOLS_INSIDE "/" BUILD_TRAIL_NAME

/* Makes the folder anew, with a link `date`. *ret_has_ccache: true if `with_compilers` and ccache is installed. In this case, or `with_trail`, it
 * also has a link for each installed compiler; `with_trail` adds the runtime. `shim`: where all links lead, as the build sees it. */
int build_tools_make(const char *folder, const char *shim, bool with_compilers, bool with_trail, bool *ret_has_ccache);
