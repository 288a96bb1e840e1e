/* What a search for culprits came to (localization.h): as a value, as rows, as JSON, and as it is kept, under the digest of all that it depends on.
 *
 * Threads: any; one that others see is not written to. */
#pragma once

#include <jansson.h>

#include "core/workspace/workspace.h"
#include "core/run/verdict.h"
#include "core/study/judge/judge.h"
#include "core/study/localize/localize.h"

struct localized_culprit {
        char *commit;                                 /* a sha; or BEFORE..LAST (a range of git's), where those between cannot be told apart */
        char **commits;                               /* it is one of these n, shas, oldest first */
        size_t n;
        char *before;                                 /* a sha; "": not said */
        char *subject;                                /* of the last of its commits, printable */
        enum judge_measure measure;
        double value_before, value_after;             /* seconds, bytes, or the solver's count; infinite: an end without an answer */
        bool is_broken_before, is_broken_after;
        bool is_slowdown;                             /* else an improvement */
        bool is_verified;
        bool is_cut_off;                              /* those between were not told apart for want of runs; else they cannot be built */
        unsigned pairs;                               /* of runs, by which it was verified */
        double p, ratio, confidence;                  /* NaN: not tested, not known */
};

struct localized {
        struct value value; /* of query_localized(); value_unref() lets go of it */
        uint32_t case_id;
        char *name; /* of the case, printable */
        enum localize_state state;
        enum judge_measure measure;
        bool is_cpu_time, has_seed;
        uint64_t seed;
        char *reference, *target;             /* shas */
        char *start;                          /* where the search began, if that is not the reference; else "" */
        char *machine;                        /* whose times these are, of what was imported; else "" */
        double value_reference, value_target; /* medians; NaN: not run */
        bool by_verdict;                      /* not the times but the answers differ */
        enum verdict verdict_before, verdict_after;
        bool is_unfinished; /* it was stopped, and goes on when it is asked for again */
        bool is_disturbed;  /* nothing was found, and others had the core during its runs, which may be why */
        struct localized_culprit *culprits;
        size_t n;
};
struct localized *localized_new(void); /* one reference; every text "" */
void localized_done(struct value *value); /* a query type's value_done */
static inline struct localized *localized_unref(struct localized *l)
{
        if (l)
                value_unref(&l->value);
        return NULL;
}
DEFINE_CLEANUP(struct localized *, localized_unref)
#define cleanup_localized cleanup(localized_unrefp)

const char *localize_state_name(enum localize_state s); /* "found", "no culprit", ... */

/* False: unfinished, or "no culprit" from disturbed runs. `solverfs localize` and campaigns search again then; localized.tsv shows what there is. */
static inline bool localized_is_final(const struct localized *l)
{
        return !l->is_unfinished && !l->is_disturbed;
}

/* Rows, tab-separated, of slowdowns only: case, commit, seconds (bytes, count) before, the same after, subject. The value is "broken" where runs end
 * without an answer (unknown, crash, error). By verdict: the answers in place of the values. A case without a slowdown has one row: "-" for the commit,
 * the values at the two ends and, in parentheses, why. */
void localized_rows(const struct localized *l, struct buffer *to);
/* A new reference:
 *     case, name, state, method, measure?, clock?, seed?, reference, target, start?, seconds_reference, seconds_target, verdict_before?, verdict_after?,
 *     culprits: [{commit, commits: [...], before, subject, seconds_before, seconds_after, broken_before?, broken_after?, slowdown,
 *                 confidence?, verified, pairs, p?, ratio?, cut_off?}], unfinished?, disturbed?, machine?
 * With a measure "memory" or "effort" it is memory_reference (bytes) and so on in place of the seconds. */
json_t *localized_json(const struct localized *l);

/* The next commit that slowed it down, from *at on, which is behind it then; oldest first. NULL: there are no more. */
const struct localized_culprit *localized_slowdown(const struct localized *l, size_t *at);
/* Its number. -ENOENT: it is one of several, or no commit of the solver's. */
int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret);

/* -- in the store -------------------------------------------------------------------------------------------------- */

/* A new reference. -ENOENT: nothing is known, or it cannot be read and is to be worked out again, from facts that are there. */
int localized_get(struct workspace *w, const struct digest *key, struct localized **ret);
/* A result that is not final never replaces a final one. Where one that is not final is replaced, mounts that showed it are told. */
int localized_put(struct workspace *w, const struct solver *s, const struct digest *key, const struct localized *l);
