/* The result of a search for culprits (localization.h): as a value, as rows, as JSON, and as stored under the digest of everything it depends on.
 *
 * Threads: any; a shared result is never written to. */
#pragma once

#include <jansson.h>

#include "core/workspace/workspace.h"
#include "core/run/verdict.h"
#include "core/study/judge/judge.h"
#include "core/study/localize/localize.h"

struct localized_culprit {
        char *commit;                                 /* a sha; or BEFORE..LAST (a git range) if the commits between cannot be told apart */
        char **commits;                               /* the culprit is one of these n shas, oldest first */
        size_t n;
        char *before;                                 /* a sha; "": not given */
        char *subject;                                /* of the last of its commits, printable */
        enum judge_measure measure;
        double value_before, value_after;             /* seconds, bytes, or the solver's count; infinite: an end without an answer */
        bool is_broken_before, is_broken_after;
        bool is_slowdown;                             /* else an improvement */
        bool is_verified;
        bool is_cut_off;                              /* more runs would tell the commits apart; else they cannot be built */
        unsigned pairs;                               /* pairs of runs that verify it */
        double p, ratio, confidence;                  /* NaN: not tested, not known */
};

struct localized {
        struct value value; /* of query_localized(); released by value_unref() */
        uint32_t case_id;
        char *name; /* of the case, printable */
        enum localize_state state;
        enum judge_measure measure;
        bool is_cpu_time, has_seed;
        uint64_t seed;
        char *reference, *target;             /* shas */
        char *start;                          /* the start of the search; "": the reference */
        char *machine;                        /* of an imported result, the machine of the times; else "" */
        double value_reference, value_target; /* medians; NaN: not run, or half of the runs have no answer */
        unsigned solved, runs;                /* at the reference; 0: not known, or by_verdict */
        bool by_verdict;                      /* the answers differ, not the times */
        enum verdict verdict_before, verdict_after;
        char *answer_reference, *answer_target; /* of the first runs, if the target lacks the reference's; else "". Not by_verdict */
        bool is_unfinished; /* stopped; continues when it is asked for again */
        json_int_t failed;  /* commits in sets that could not be built, as stored; 0 for a new result: localized_put() counts them */
        bool has_lost;      /* a culprit may be a set only because sources were lost; not read back from the store */
        bool is_disturbed;  /* nothing was found, possibly because its runs were disturbed */
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

/* False if unfinished, or nothing was found in disturbed runs. `solverfs localize` and campaigns then search again, localized.tsv if unfinished. */
static inline bool localized_is_final(const struct localized *l)
{
        return !l->is_unfinished && !l->is_disturbed;
}

/* Tab-separated rows of slowdowns only: case, commit, seconds (bytes, count) before, the same after, subject. A value is "broken" if runs end without
 * an answer (unknown, crash, error); by_verdict prints the answers instead of values. A case without a slowdown has one row: "-" for the commit, the
 * values (answers) at the two ends and the reason in parentheses. */
void localized_rows(const struct localized *l, struct buffer *to);
/* A new reference:
 *     case, name, state, method, measure?, clock?, seed?, reference, target, start?, seconds_reference, seconds_target, verdict_before?, verdict_after?,
 *     answer_reference?, answer_target?, reference_solved?, reference_runs?,
 *     culprits: [{commit, commits: [...], before, subject, seconds_before, seconds_after, broken_before?, broken_after?, slowdown,
 *                 confidence?, verified, pairs, p?, ratio?, cut_off?}], unfinished?, disturbed?, machine?
 * With a measure "memory" or "effort" it is memory_reference (bytes) and so on in place of the seconds. */
json_t *localized_json(const struct localized *l);

/* The next culprit of a slowdown from index *at on, oldest first; *at moves past it. NULL: no more. */
const struct localized_culprit *localized_slowdown(const struct localized *l, size_t *at);
/* The culprit's commit number. -ENOENT: it is one of several commits, or not a commit of the solver. */
int culprit_commit(const struct solver *s, const struct localized_culprit *c, uint32_t *ret);

/* -- in the store -------------------------------------------------------------------------------------------------- */

/* A new reference. -ENOENT: not known, or unreadable; it is then computed again from stored facts. A result that could not tell commits apart because they
 * failed to build becomes unfinished when one of these failures no longer counts; if sources were lost, it is unfinished at once. */
int localized_get(struct workspace *w, struct solver *s, const struct digest *key, struct localized **ret);
/* Stores l->failed, or how many of these builds have failed here, if that is more: so an imported result is unfinished where fewer have. A result that
 * is not final never replaces a final one. Replacing one tells the mounts that showed it. */
int localized_put(struct workspace *w, struct solver *s, const struct digest *key, const struct localized *l);
