/* The localizer (localize.h) on a real solver: asks the engine for builds and runs, so that each is done once and kept.
 *
 *     localization_new(&options, &l);
 *     while ((r = localization_next(l, &batch)) > 0)
 *             r = ask_many(engine, &batch, PRIORITY_BATCH, signals);     // or job_ask_many() of a query's step
 *     for each case: localization_result(l, i)
 *
 * Earlier measurements (`solverfs run A..B`) count before anything is run. An interrupted search starts again; the engine answers earlier questions from
 * the store, so the search continues where it was.
 *
 * If the reference is not on the target's line of first parents, the search begins where the two lines part.
 *
 * Threads: one at a time. */
#pragma once

#include "core/engine/ask.h"
#include "core/query/query.h"
#include "core/workspace/select.h"
#include "core/study/localize/localized.h"

struct localization;

struct localization_options {
        struct workspace *workspace;
        struct solver *solver;
        uint32_t reference, target; /* commits */
        struct case_info *const *cases;
        size_t n;
        enum judge_measure measure; /* what increased: JUDGE_TIME, _MEMORY or _EFFORT */
        bool has_seed; /* the first run has this seed, others the seeds after it; by_verdict: all have this one */
        uint64_t seed;
        uint64_t timeout_ns; /* per run, by the clock that counts; 0: the recipe's */
        bool is_cpu_time;    /* CPU time counts, not wall-clock time: other work on the machine then changes little */
        /* Searches for a change of the answer, from `before` to `after`; times do not count. If the two are equal, nothing is found. */
        bool by_verdict;
        enum verdict before, after;
};

/* The outcome of a run by time: solved, at the time limit (LOCALIZE_TIMEOUT), or broken. `seconds` is its value. */
struct localize_outcome run_outcome(enum verdict verdict, bool is_wrong, double seconds);
/* The outcome and the amount of a fact of the cell by a measure. Time is by the cell's clock. By memory a memout is LOCALIZE_TIMEOUT; any
 * other unsolved run, by memory or effort, is LOCALIZE_BROKEN. The amount is NaN if it is not known. */
struct localize_outcome fact_outcome(const struct cell *cell, const struct fact *f, enum judge_measure m);
double fact_amount(const struct cell *cell, const struct fact *f, enum judge_measure m);

/* Keeps references. -EINVAL with a sentence: the commits are equal, swapped, or unrelated; or nothing that is built changed. */
int localization_new(const struct localization_options *options, struct localization **ret);
void localization_free(struct localization *l);
DEFINE_CLEANUP(struct localization *, localization_free)
#define cleanup_localization cleanup(localization_freep)

/* 1: ask *ret to its end, then call this again. 0: finished. A failure other than an unbuildable commit ends the search: -errno. */
int localization_next(struct localization *l, struct batch *ret);

struct localization_progress {
        struct localize_progress search; /* its builds_left: after those of this batch */
        size_t builds_done;              /* of commits that the search asked for, whenever they were built */
        size_t runs_open, verifying;     /* runs of this batch, and those of them that verify */
};
void localization_progress(const struct localization *l, struct localization_progress *ret);

/* The reference, or the commit at which its line leaves the target's. */
uint32_t localization_fork(const struct localization *l);
/* The start of the search: the fork. If the fork is not the reference itself and cannot be built, the next commit of the target's line that can be built;
 * the start may change during the search. */
uint32_t localization_start(const struct localization *l);
/* Ends the search: the next call of localization_next() returns 0, and each result is as known by then. May be called after a batch was interrupted; its
 * measurements count. */
void localization_stop(struct localization *l);

/* The result of a case's search so far: a new reference. */
struct localized *localization_result(const struct localization *l, size_t i);
/* The case's search as a `git bisect log`, for `git bisect replay`. */
void localization_log(const struct localization *l, size_t i, struct buffer *to);

/* -- a query, for localized.tsv ----------------------------------------------------------------------------------- */

/* For options with one case (n = 1). The value is a struct localized. The result of a search is kept, for good if it is final, unless an end cannot be
 * built. */
int query_localized(const struct localization_options *options, struct query **ret);
extern const struct query_type query_localized_type;
/* Keeps the results of a search, so that each case's query answers with them. Open cases are skipped. A stopped search is kept as unfinished until it is
 * finished; it never replaces a finished one. */
int localization_keep(const struct localization *l);

/* -- shared by localization.c and localization_query.c -- */

struct cell localization_cell(const struct localization_options *o, uint32_t commit, struct case_info *info);
/* Keeps the result of a case, unless it is open. A search with an end that cannot be built is not kept: `build --again` may repair it, and finding it
 * costs nothing. Nor is a stopped search that has found no culprit. */
int localized_keep(const struct localization_options *o, const struct case_info *info, const struct localized *result);
