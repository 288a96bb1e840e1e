/* Is a query of a script slow alone, or only after others, and after which?
 *
 * A query's time is the arrival of its answer less that of the answer before it, or less the start. Alone (CUT_ALONE) that includes the start of the
 * program. In the script: in what stands up to the query, and nothing behind it.
 *
 * Pairs of runs, alone and in the script, under the same seeds where the recipe has one, go to the judge (core/study/judge), who asks for more of them
 * until it is decided. Where the query is slower in the script, a run is slow if it takes more than the geometric mean of both medians. If most runs are
 * on their own side of that, delta debugging finds queries after which it is slow (CUT_WHOLE); each set is run under one seed after the other until Wald's
 * sequential test ("Sequential tests of statistical hypotheses", 1945) decides by the shares of slow runs, alone and in the script. Then it is looked
 * whether assertions in scopes that are gone matter (CUT_SCOPES). What was found is judged against the query alone, by other runs.
 *
 * Runs are the caller's own: a core, or a slot of the solver's cluster, is leased for all of it, and given to others who want it between two runs. Nothing
 * is kept. One thread. */
#pragma once

#include "cache/base/progress.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"
#include "core/why/cut/cut.h"

struct predecessors_options {
        struct workspace *workspace;
        const struct version *version; /* it is built */
        uint64_t timeout_ns;           /* of a run; 0: the recipe's */
        size_t most_pairs;             /* JUDGE_FIRST_PAIRS to JUDGE_PAIRS */
        int cancel_fd;
        const struct progress *progress;
};
struct query_time {          /* of runs of one script */
        double median;       /* seconds; what is not answered counts the time that it had */
        enum verdict answer; /* of the first run, or how that ended */
};
struct predecessors {
        struct query_time alone, script, found;
        enum judge_change change; /* JUDGE_MORE: it is slower in the script; JUDGE_LESS: faster; else neither is shown */
        size_t pairs, runs;       /* pairs: alone and in the script; runs: all */
        bool has_seeds;
        enum cut_form form; /* found: CUT_SCOPES; CUT_WHOLE: assertions in scopes that are gone matter; CUT_ALONE: nothing was found */
        bool *is_kept;      /* found: queries, as cut_write() has them; owned */
        size_t n_kept;
        bool is_only;    /* after all other queries without these it is not slow */
        bool is_certain; /* what was found is slower than the query alone */
};

/* 0; -ENODATA with a sentence: the runs do not tell the query's time, and why; -ECANCELED; or an error of this machine. */
int predecessors_find(const struct cut *c, const struct predecessors_options *options, struct predecessors *ret);
void predecessors_done(struct predecessors *p);
/* "slow only after queries 3 and 7: 2.1s; alone 0.03s; in the script 2.2s (medians of 8 seeds; 60 runs in all)" */
void predecessors_sentence(const struct predecessors *p, struct buffer *ret);
