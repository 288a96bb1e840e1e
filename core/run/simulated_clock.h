/* A clock for tests, which must pass however busy the machine is. While a test asks for it (fault place "run.clock", cache/base/fault.h), a run lasts
 * as long as its program says, and is never disturbed. The program prints its time on standard error, in seconds:
 *
 *     lasts 0.25
 *
 * The last such line counts; a program without one has lasted a millisecond. All of it is CPU time, unless the line says otherwise ("lasts 0.25 cpu
 * 0.1"). A time that reaches the limit is a timeout, and costs a test nothing. The n-th line "line 0.2" on standard error is the time from the line
 * before to the n-th line of standard output. A run that timed out keeps the lines that came until then; without such times it has no output, as the
 * program would have been killed before. Thread-safe. */
#pragma once

#include "core/run/verdict.h"

bool simulated_clock_is_wanted(void);
/* Raises the limits by the machine's clock, which then end only programs that hang. */
void simulated_clock_widen(struct execute_request *q);
void simulated_clock_apply(const struct recipe_limits *limits, struct execute_result *run); /* `limits`: not raised */
