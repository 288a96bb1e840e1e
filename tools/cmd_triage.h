/* Shared by the files of solverfs triage. */
#pragma once

#include "command.h"

/* Runs what was found in each solver on the versions of the others; a status. */
int triage_cross(struct workspace *w, char *const *solvers, size_t n, bool json, int signals);
