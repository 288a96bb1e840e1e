/* A clock for tests, which must pass however busy the machine is. While a test asks for it (fault place "run.clock", cache/base/fault.h), a run
 * has lasted as long as its program says, and nothing has disturbed it. The program says so on standard error, in seconds:
 *
 *     lasts 0.25
 *
 * The last such line counts; a program that says nothing has lasted a millisecond. All of it is CPU time, unless it says otherwise ("lasts 0.25 cpu 0.1").
 * One that says more than it may have has timed out, and its output is not there, as it would have been killed before. So a timeout costs a test
 * nothing. "line 0.2" is the time from one line of standard output to the next, for the first line that had none; of a run that timed out the lines
 * until then are there. Thread-safe. */
#pragma once

#include "core/run/verdict.h"

bool simulated_clock_is_wanted(void);
/* The machine's clock ends a program that hangs, and no other. */
void simulated_clock_widen(struct execute_request *q);
void simulated_clock_apply(const struct recipe_limits *limits, struct execute_result *run);
