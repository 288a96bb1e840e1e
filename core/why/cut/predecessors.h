/* Is a query of a script slow alone, or only after others, and after which?
 *
 * A query's time is the arrival of its answer less the arrival of the answer before it, or less the start of the run. Alone (CUT_ALONE) that includes the
 * start of the program and the reading of what is in force. In the script: in what stands up to the query, which is run, and nothing behind it.
 *
 * Pairs of runs, alone and in the script, under the same seeds where the recipe has one, go to the judge (core/study/judge), who asks for more of them
 * until it is decided. Where the query is slower in the script, a run is slow if it takes more than the geometric mean of both medians. If most runs are on
 * their own side of that, delta debugging finds queries after which it is slow (CUT_WHOLE); each set is run under one seed after the other until Wald's
 * sequential test ("Sequential tests of statistical hypotheses", 1945) decides by the shares of slow runs, alone and in the script. Then it is looked whether
 * assertions in scopes that are gone matter (CUT_SCOPES). What was found is run under all seeds of the pairs, and judged against the query alone.
 *
 * Runs are the caller's own: a core, or a slot of the cluster that the solver's runs are done at, is leased for all of it, and given to others who want
 * it between two runs. Nothing is kept. One thread. */
#pragma once

#include "cache/base/progress.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"
#include "core/why/cut/cut.h"

struct predecessors_options {
        struct workspace *workspace;
        const struct version *version; /* it is built */
        uint64_t timeout_ns;           /* of a run, by the clock; 0: the recipe's */
        size_t most_pairs;             /* at most JUDGE_PAIRS */
        int cancel_fd;                 /* or -1 */
        const struct progress *progress;
};

/* Runs of one script, one for each pair. */
struct query_times {
        double median;       /* seconds; what is not answered counts the time that was left */
        size_t n, answered;  /* runs */
        enum verdict answer; /* in the first run that was answered; VERDICT_TIMEOUT: in none */
};
struct predecessors {
        struct query_times alone, script;
        enum judge_change change; /* JUDGE_MORE: it is slower in the script; JUDGE_LESS: faster; else neither is shown */
        size_t pairs, runs;
        bool has_seeds;
        /* Where it is slower in the script, and by enough to tell after which queries. */
        struct query_times after; /* of the script that was found */
        bool is_certain;          /* that is slower than the query alone, too */
        enum cut_form form;       /* CUT_SCOPES; CUT_WHOLE: assertions in scopes that are gone matter. Else CUT_ALONE */
        bool *is_kept;            /* owned; by query, as cut_write() has it */
        size_t n_kept;
};

/* 0; -ENODATA with a sentence: the script's runs do not tell the query's time, and why; -ECANCELED; or an error of this machine. */
int predecessors_find(const struct cut *c, const struct predecessors_options *options, struct predecessors *ret);
void predecessors_done(struct predecessors *p);
#define cleanup_predecessors cleanup(predecessors_done)

/* "slow only after queries 3 and 7: 2.1s; alone 0.03s; in the script 2.2s (medians of 8 seeds; 60 runs in all)" */
void predecessors_sentence(const struct predecessors *p, struct buffer *ret);
/* Do the query alone and in the script contradict each other, sat and unsat? */
bool predecessors_contradict(const struct predecessors *p);
