/* One cell's measurement: runs a program on a case, repeats a short or noisy run, and makes a fact.
 *
 * Repetition: a run that took less than 1 s, or whose samples' spread (max − min) is more than 5 % of the median, is repeated while that can change
 * the median, at most `samples` times and at most for three times the first run's time or 1 s, whichever is more. `time` is the lower-median sample;
 * every other file of the cell is from that same sample. Only an answer (sat, unsat, unknown) is repeated: no timeout, memout, crash or error. A
 * wrong answer in any sample makes the fact wrong.
 *
 * Waiting: each sample has the time that it was ready to run while others had its core (execute.h). A sample is taken again if that is more than a
 * twentieth of its time, and more than 2 ms, or if it is a timeout with less CPU time than its limit; at most twice in one measurement, and never
 * where the recipe says samples = 1. Disturbed samples count only if all are disturbed; a timeout with little CPU time is retried once, then
 * accepted. If all were disturbed, the fact is flagged, and is of the one that answered, or waited least.
 *
 * Threads: any number of measurements at once, each on a slot of its own. */
#pragma once

#include "core/run/fact.h"
#include "core/run/host.h"
#include "core/run/runner.h"

#define MEASURE_RETRIES       2
#define MEASURE_WAITING_SHARE 20
#define MEASURE_WAITING_LEAST (2 * NSEC_PER_MSEC)

struct measure_request {
        struct runner_options runner; /* its scratch is RUN_SCRATCH */
        const char *case_path; /* host path; seen inside as /case/input.smt2 or /case/input.cnf */
        struct digest case_id; /* of its bytes; zero: not known */
        const enum verdict *expected;
        size_t n_expected;
        int cancel_fd;
        bool again;    /* a deliberate re-measurement */
        struct runner *opened; /* with the options of `runner`, the caller's; NULL: one is opened and closed */
        json_t *about; /* borrowed; merged into run.json: solver, commit, case, build key … */
};

/* 0 and a new reference, however the program ended. -ECANCELED, or -errno with a sentence, if there is no measurement and thus no result. */
int measure(const struct measure_request *request, struct fact **ret);
