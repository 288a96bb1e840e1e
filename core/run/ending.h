/* How a run ended, as a line that is the same for the same defect: "signal 11 Assertion at @ failed". It is the signal or the exit status
 * and the last line on standard error, with @ for each address ("0x…"), which differs from run to run. Thread-safe, pure. */
#pragma once

#include "core/sandbox/execute.h"

#define ENDING_SIZE 200 /* what does not fit is cut off */

void ending_describe(const struct execute_result *r, char ret[ENDING_SIZE]);
