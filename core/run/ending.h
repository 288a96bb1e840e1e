/* How a run ended, as a line that is the same for the same defect: "signal 11 Assertion at @ failed". The line is the signal or the exit status and
 * the last line of standard error. Each address ("0x…"), which differs from run to run, becomes @. Thread-safe, pure. */
#pragma once

#include "core/sandbox/execute.h"

#define ENDING_SIZE 200 /* longer lines are cut off */

void ending_describe(const struct execute_result *r, char ret[ENDING_SIZE]);
