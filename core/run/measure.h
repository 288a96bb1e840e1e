/* One cell's measurement: runs a program on a case, repeats a short or noisy run, and makes a fact.
 *
 * Repetition: only an answer (sat, unsat, unknown) is repeated; a timeout, memout, crash or error is not. Samples are taken while the median is below
 * 1 s or their spread (max − min) is more than 5 % of the median, and while another could change the median. At most the recipe's `samples` count,
 * and no more begin once the repetition has taken three times the first run's time, or 1 s if that is longer. `time` is the lower-median sample;
 * every other file of the cell is from that same sample. A wrong answer in any sample makes the fact wrong.
 *
 * Waiting: each sample has the time that it was ready to run while others had its core (execute.h). An answer or a timeout is *disturbed* if it
 * waited for more than a twentieth of its time, and more than 2 ms. A disturbed sample is taken again, and so is the first timeout that had less CPU
 * time than its limit: at most two in a measurement, none if the recipe says samples = 1. Such a timeout, taken again, counts only if it comes
 * twice. Disturbed samples count only if no other does. Then the fact is flagged as disturbed, and is made from one of them: an answer rather than a
 * timeout, and the one with the smallest share of waiting.
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
        struct runner_options runner; /* `scratch` must be 0, as run.json says RUN_SCRATCH */
        const char *case_path; /* host path; seen inside as /case/input.smt2 or /case/input.cnf */
        struct digest case_id; /* of its bytes; zero: not known */
        const enum verdict *expected; /* of each check-sat (:status) */
        size_t n_expected;
        int cancel_fd;
        bool again;    /* a deliberate re-measurement */
        struct runner *opened; /* the caller's, opened with the options in `runner`; NULL: measure() opens and closes one */
        json_t *about; /* borrowed; merged into run.json: solver, commit, case, build key … */
};

/* 0 and a new reference, however the program ended. -ECANCELED, or -errno with a sentence, if there is no measurement and thus no result. */
int measure(const struct measure_request *request, struct fact **ret);
