/* A clock for tests, which must pass however busy the machine is. While a test asks for it (fault place "run.clock", cache/base/fault.h), a run lasts
 * as long as its program says, and is never disturbed. The program prints its time on standard error, in seconds:
 *
 *     lasts 0.25
 *
 * The last such line counts; a program without one has lasted a millisecond. All of it is CPU time, unless the line says otherwise ("lasts 0.25 cpu
 * 0.1"). A time above the limit is a timeout, and the output is dropped, as the program would have been killed before. So a timeout costs a test
 * nothing. "line 0.2" is the time from one line of standard output to the next, for the first line that had none; a run that timed out keeps the
 * lines until then. Thread-safe. */
#pragma once

#include "core/run/verdict.h"

bool simulated_clock_is_wanted(void);
/* The machine's clock then ends only programs that hang. */
void simulated_clock_widen(struct execute_request *q);
void simulated_clock_apply(const struct recipe_limits *limits, struct execute_result *run);
