/* Watches a solver's cases on the new commits of a branch. Builds and measures the commits, newest first. Then confirms and localizes everything that got
 * worse, and makes alarms of it (observation.h).
 *
 *     w = watching_new(workspace, solver, &stretch, cases, n_cases)
 *     while ((r = watching_next(w, &batch)) > 0)
 *             r = ask_many(engine, &batch, PRIORITY_BATCH, signals);
 *     for each alarm of watching_result(w): observation_add()
 *
 * The method:
 *   1. At most nine of the new commits are built and measured, spread evenly (history_plan.h), the newest first, and the commits measured last on the
 *      branch. So a push of a thousand commits costs no more than one of nine.
 *   2. If a commit builds and a later one does not, builds are bisected down to a commit whose parent builds.
 *   3. A case is suspect if it got worse between two neighbours: in its answer, in time by a fifth and 10 ms, in effort by a fifth, or in memory by a
 *      fifth and 10 MB. All but wrong and contradictory answers are confirmed by comparing.h: repeated runs in turn, so that a busy machine or a slow
 *      day raises no alarm.
 *   4. The localizer bisects the gap and verifies the culprit. Without a verified culprit, more time or memory or a lost answer becomes a note and no
 *      alarm; a wrong or contradictory answer is an alarm in any case.
 *
 * Getting faster is no alarm. Results are in the store, so an interrupted watch continues where it was.
 *
 * Threads: one at a time. */
#pragma once

#include "core/engine/ask.h"
#include "core/query/query.h"
#include "core/study/observation/observation.h"

#define WATCH_COMMITS 9 /* new commits of a stretch measured before any bisection */

struct watching;
struct watched_stretch; /* below */
/* The stretch has at least one fresh commit, and is borrowed until this returns. Keeps references to the other arguments. */
struct watching *watching_new(struct workspace *workspace, struct solver *s, const struct watched_stretch *stretch, struct case_info *const *cases,
                              size_t n_cases);
void watching_free(struct watching *w);
DEFINE_CLEANUP(struct watching *, watching_free)
#define cleanup_watching cleanup(watching_freep)

/* 1: ask *ret to its end, then call this again. 0: finished. -errno: a build or a run failed, but not because of the commit; watch the same stretch again
 * later. */
int watching_next(struct watching *w, struct batch *ret);
struct watching_result {
        struct observation **alarms; /* not stored yet: give them to observation_add() */
        size_t n_alarms;
        struct buffer notes; /* lines about changes that are no alarm; may be empty */
        uint32_t base;       /* the newest commit that was built and measured; else a parent that was built; COMMIT_NONE: none */
};
/* The result, once the watching has finished. The watching owns it. */
const struct watching_result *watching_result(const struct watching *w);

/* Judges two neighbours' results: the kind of alarm that `after` is suspected of; N_OBSERVATION_KINDS: none. `before` NULL: no older result is known.
 * Does not look at memory. */
enum observation_kind watch_suspicion(const struct recipe *recipe, const struct fact *before, const struct fact *after, const struct case_info *info);

/* -- stretches: watched.c ------------------------------------------------------------------------------------------ */

/* A watch of a solver is identified by its cases and branches: with others it is another watch, which has seen nothing. */
struct watched {
        const char *set;       /* NULL: all cases */
        char *const *patterns; /* of branches (fnmatch(3)); NULL-terminated; NULL or none: all */
};

/* What a watch has seen of a branch; the store keeps it. */
struct watched_branch {
        git_oid seen; /* the branch's commit at the last look */
        git_oid base; /* the branch's newest commit that was built and measured; all zero: none */
        bool is_open; /* the watch begins with the branch's head, which is not measured yet */
};

/* The commits of a branch to be watched. */
struct watched_stretch {
        char *branch; /* owned */
        uint32_t head;
        uint32_t known[2]; /* known commits, oldest first: the last measured one, and the last one seen */
        size_t n_known;
        uint32_t *fresh;             /* owned; along first parents, oldest first */
        size_t n_fresh;              /* 0: only to be noted, nothing to measure */
        struct watched_branch state; /* what the watch has seen of the branch; all zero: nothing */
        bool was_rewound;            /* the branch is now at an older commit than before */
        bool begins;                 /* it is the head alone: the watch begins, or has seen no commit of this history */
};
struct watched_stretches {
        struct watched_stretch *list; /* first the branches seen before, then new ones; of each the default branch first, then by newest head */
        size_t n;
        size_t n_matching; /* branches that match the patterns, moved or not */
};
void watched_stretches_done(struct watched_stretches *s);
#define cleanup_watched cleanup(watched_stretches_done)

/* Finds the branches that moved since the watch's last look. Those that do not match its patterns have n_fresh = 0: they are only noted. A watch
 * begins with the last commit of the default branch or, with patterns, of each matching branch; the heads of the others are noted as seen. The
 * stretch of a new branch is its commits since it left a line that was seen; its last commit alone if it has no commit in common with those. */
int watched_stretches(struct workspace *w, struct solver *s, const struct watched *of, struct watched_stretches *ret);
/* Notes that the stretch was watched up to its head; `base` is that of watching_result(). */
int watched_stretch_done(struct workspace *w, struct solver *s, const struct watched *of, const struct watched_stretch *stretch, uint32_t base);
