/* Shared by the files of solverfs findings. */
#pragma once

#include "command.h"

/* Every slowdown between versions of the solver under its seeds; starts work. A status. */
int findings_seeds(struct workspace *w, struct solver *solver, bool json);
