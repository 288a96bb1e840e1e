/* Why a solver says unknown: its answer to (get-info :reason-unknown). Pure functions; any thread. */
#pragma once

#include "cache/base/util.h"

#define REASON_MOST 160

/* The reason in a solver's output, on one line, without quotes and bars; "" where there is none. A longer one is cut. */
void unknown_reason(struct slice output, char ret[REASON_MOST]);
/* Does it name a limit of the solver's own? To run into one is no incompleteness. */
bool reason_is_limit(const char *reason);
