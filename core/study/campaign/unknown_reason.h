/* A solver's reason for unknown: its answer to (get-info :reason-unknown). Pure functions; any thread. */
#pragma once

#include "cache/base/util.h"

#define REASON_MOST 160

/* The reason in a solver's output, on one line, without quotes and bars; "" if there is none. A longer reason is cut. */
void unknown_reason(struct slice output, char ret[REASON_MOST]);
/* True if the reason names a limit of the solver's own; reaching one is no incompleteness. */
bool reason_is_limit(const char *reason);
