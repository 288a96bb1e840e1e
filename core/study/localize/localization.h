/* The localizer (localize.h) on a real solver: builds and runs are asked of the engine, so that each is done once and remembered.
 *
 *     localization_new(&options, &l);
 *     while ((r = localization_next(l, &asking)) > 0)
 *             r = ask_many(engine, &asking, PRIORITY_BATCH, signals);     // or job_ask_many() of a query's step
 *     for each case: localization_result(l, i)
 *
 * Earlier measurements (`solverfs run A..B`) are taken into account before anything is run. A search that was interrupted is begun
 * again: the engine then answers from the store what was asked before, and it goes on where it was.
 *
 * Where the reference is not on the target's line of first parents, the search begins where the two lines part.
 *
 * Not for several threads at a time. */
#pragma once

#include <jansson.h>

#include "core/study/base/study_value.h"
#include "core/engine/ask.h"
#include "core/query/query.h"
#include "core/query/select.h"
#include "core/study/judge/judge.h"
#include "core/study/localize/localize.h"

struct localization;

struct localization_options {
        struct workspace *workspace;
        struct solver *solver;
        uint32_t reference, target; /* commits */
        struct case_info *const *cases;
        size_t n;
        enum localize_method method;
        enum judge_measure measure; /* what got more: JUDGE_TIME, _MEMORY or _EFFORT */
        bool has_seed; /* all runs under this seed */
        uint64_t seed;
        uint64_t timeout_ns; /* of a run, by the clock that counts; 0: the recipe's */
        bool is_cpu_time;    /* CPU time counts, not the clock on the wall: what others do on the machine changes little then */
        /* Not the time but the answer is what changed, from `before` to `after`; two verdicts that differ. Times do not count then. */
        bool by_verdict;
        enum verdict before, after;
        unsigned builds_at_once; /* 0: 2 */
};

/* How a run ended, as levels and searches see it: solved; at its limit; or broken. A memory limit is to memory what a time limit is to time; what is not solved
 * has no effort, and a timeout no memory. */
struct localize_outcome run_outcome(enum verdict verdict, bool is_wrong, double seconds);
struct localize_outcome fact_outcome(const struct fact *f, enum judge_measure m);

/* Keeps references. -EINVAL with a sentence: one commit twice, the wrong way round, nothing in common; nothing that is built changed. */
int localization_new(const struct localization_options *options, struct localization **ret);
void localization_free(struct localization *l);
DEFINE_CLEANUP(struct localization *, localization_free)
#define cleanup_localization cleanup(localization_freep)

/* 1: *ret is to be asked to its end, then this again. 0: finished. A failure other than an unbuildable commit ends the search: -errno. */
int localization_next(struct localization *l, struct asking *ret);

struct localization_progress {
        size_t finished, cases;      /* cases */
        size_t builds_done;          /* by this search, or known before it */
        double builds_left;          /* expected, after those of this asking */
        double seconds_left;         /* of building, expected; 0: unknown */
        size_t runs_open, verifying; /* runs of this asking, and how many of them verify */
};
void localization_progress(const struct localization *l, struct localization_progress *ret);

/* Where the search begins: the reference, or the commit at which its line leaves the target's. */
uint32_t localization_start(const struct localization *l);
/* From now on it asks for nothing: the next call of localization_next() returns 0, and each result is what is known by then. Also in the middle of an
 * asking that was interrupted; what that has measured is taken into account. */
void localization_stop(struct localization *l);
enum localize_state localization_state(const struct localization *l, size_t i);
const char *localize_state_name(enum localize_state s); /* "found", "no culprit", ... */

/* The result of a case, as JSON (a new reference; NULL: no memory):
 *     case, name, state, method, measure?, clock?, seed?, reference, target, start?, seconds_reference, seconds_target, verdict_before?, verdict_after?,
 *     culprits: [{commit, commits: [...], before, subject, seconds_before, seconds_after, broken_before?, broken_after?, slowdown,
 *                 confidence?, verified, pairs, p?, ratio?, cut_off?}], unfinished?
 * With a measure "memory" or "effort" it is memory_reference (bytes) and so on in place of the seconds.
 * `commit` is the culprit, or BEFORE..LAST (a range of git's) where those between cannot be told apart: they cannot be built, or (cut_off) the runs that
 * a case may have were used up. `unfinished`: it was stopped, and goes on when it is asked for by who looks at this. */
json_t *localization_result(const struct localization *l, size_t i);
bool localization_is_finished(const json_t *result);
/* False: who wants to know better looks again (`solverfs localize`, a campaign). It is not finished, or it is "no culprit" where others had the core during
 * its runs (`disturbed`): that nothing was to be seen may be their doing. A reader of localized.tsv is shown what there is. */
bool localization_is_final(const json_t *result);
/* The same as rows: case, commit, seconds (bytes, count) before, the same after, subject; slowdowns only, tab-separated; "broken"
 * for the value of what ends without an answer (unknown, crash, error). By verdict: the answers in place of the seconds. Of a case without one a row with
 * "-" for its commit, the seconds at the two ends and, in parentheses, why. */
int localization_rows(const json_t *result, struct buffer *to);
/* A culprit of a result; the texts are the result's. */
struct localized_culprit {
        const char *commit;  /* a sha, or BEFORE..LAST */
        size_t n;            /* commits that it is one of */
        const char *before;  /* a sha; "": not said */
        const char *subject; /* of the last of its commits, printable */
        enum judge_measure measure;
        double value_before, value_after;     /* seconds, bytes, or the solver's count; infinite: an end without an answer */
        unsigned pairs;                       /* of runs, by which it was verified */
        double p;                             /* NaN: not tested */
        bool is_verified;
};
/* Each commit that slowed it down, oldest first, until fn returns non-zero, which is then returned. */
typedef int (*culprit_fn)(void *user, const struct localized_culprit *c);
int culprits_each(const json_t *result, culprit_fn fn, void *user);
/* Its number. -ENOENT: it is one of several, or no commit of the solver's. */
int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret);
/* The case's search as a `git bisect log`, for `git bisect replay`. */
int localization_log(const struct localization *l, size_t i, struct buffer *to);

/* -- a query, for localized.tsv ----------------------------------------------------------------------------------- */

/* The options of one case (n = 1). Its value is a study_value with a localization_result(). The result of a search is kept, for good if it is final, but
 * for an end that cannot be built. */
int query_localized(const struct localization_options *options, struct query **ret);
extern const struct query_type query_localized_type;
/* Keeps what a batch has found, so that the query of each case answers it. Cases that are open are passed over. What was stopped is kept as unfinished,
 * until somebody finishes it; it never replaces what is finished. */
int localization_keep(const struct localization *l);
