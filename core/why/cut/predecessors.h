/* Finds out whether a query of a script is slow alone, or only after certain other queries.
 *
 * A query's time is the arrival of its answer less the arrival of the answer before it, or less the start. Alone (CUT_ALONE) it includes the program's
 * start. In the script, the script ends at the query.
 *
 * Pairs of runs, alone and in the script, under the same seeds if the recipe has one, go to the judge (core/study/judge), which asks for more of them
 * until it can decide. If the query is slower in the script, the geometric mean of both medians is the threshold above which a run is slow. If it
 * separates most runs alone from most runs in the script, delta debugging finds queries after which the query is slow (CUT_WHOLE). Each set runs
 * under one seed after the other until Wald's sequential test ("Sequential tests of statistical hypotheses", 1945) decides whether its share of slow
 * runs is that of the query alone or in the script. A further test tells whether assertions in popped scopes matter (CUT_SCOPES). The set found is
 * judged against the query alone, by other runs.
 *
 * The runs are not stored. A core, or a slot of the solver's cluster, is leased for the whole search, and given to others who want it between two
 * runs. One thread. */
#pragma once

#include "cache/base/progress.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"
#include "core/why/cut/cut.h"

struct predecessors_options {
        struct workspace *workspace;
        const struct version *version; /* must be built */
        uint64_t timeout_ns;           /* of a run; 0: the recipe's */
        size_t most_pairs;             /* JUDGE_FIRST_PAIRS to JUDGE_PAIRS */
        int cancel_fd;
        const struct progress *progress;
};
/* The times of one script's runs. A pair is a run of the query alone, and one in this script. */
struct query_time {
        size_t pairs;        /* of the comparison with the query alone */
        double median;       /* seconds; a run without an answer counts its limit */
        enum verdict answer; /* of the run nearest to the median, or how that run ended */
};
struct predecessors {
        struct query_time alone, script, found;
        enum judge_change change; /* JUDGE_MORE: slower in the script; JUDGE_LESS: faster; else neither is shown */
        size_t runs;              /* all */
        bool has_seeds;
        enum cut_form form; /* of the set found: CUT_SCOPES; CUT_WHOLE: assertions in popped scopes matter; CUT_ALONE: no set was found */
        bool *is_kept;      /* the set found, as for cut_write(); owned */
        size_t n_kept;
        bool is_only;    /* the query is not slow after all other queries without these */
        bool is_certain; /* after the queries found it is slower than alone */
};

/* -ENODATA: the runs do not show the query's time; the sentence says why. -ECANCELED; or an error of this machine. */
int predecessors_find(const struct cut *c, const struct predecessors_options *options, struct predecessors *ret);
void predecessors_done(struct predecessors *p);
/* "slow only after queries 3 and 7: 2.1s; alone 0.03s; in the script 2.2s (medians of 8 seeds; 60 runs in all)" */
void predecessors_sentence(const struct predecessors *p, struct buffer *ret);
