/* A small store for the targets that need one: a solver `toy` with two commits, a tag, branches with slashes, three cases; the first commit
 * is built and run on the first case, and nothing else ever is: engine.compute fails from then on (cache/base/fault.h). */
#pragma once

#include "core/query/query.h"
#include "core/workspace/workspace.h"
#include "fuzz.h"

struct world {
        struct workspace *workspace;
        struct engine *engine;
};

void world_make(struct world *ret);
