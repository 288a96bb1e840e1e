/* The expected cost of builds and runs, for deciding what to ask next: bisection, localization, campaigns. Nothing is started.
 *
 *     cleanup(plan_freep) struct plan *p = NULL;
 *     struct plan_cost cost;
 *     r = plan_new(w, solver, &p);
 *     if (r == 0)
 *             r = plan_build(p, commit, &cost);     // cost.seconds; 0 when it is built
 *
 * A build costs what its compiler runs cost: a fixed part, and so much for each translation unit that has to be compiled again. The others come out
 * of the compile cache, or from the worktree where the recipe is `incremental`. The units are counted by reading (core/build/include_graph.h): those
 * whose text differs from the nearest built commit, before or behind it in the order of histories, and those that include a header that differs;
 * the fewer of the two. Each finished build is noted with its duration and these two neighbours. The fixed part and the part for a unit are fitted to the
 * last 64 builds, in relation to their durations, since their errors grow with them; the deviation is what the fit leaves. With one build the
 * fixed part is zero. This is wall-clock time of a build with the slots it was given.
 *
 * A plan costs what build_keys() costs (50 ms of CPU time for 20,000 commits), which each build that is noted takes, too. The first cost asked
 * reads the files of one commit (a second for 30 MB of sources); each further commit costs the reading of its trees, some milliseconds, once.
 * Threads: one at a time. */
#pragma once

#include "core/query/query.h"

enum plan_basis {
        PLAN_DONE,     /* it is there: 0 seconds. Also a build that is known to fail */
        PLAN_MEASURED, /* by at least three builds */
        PLAN_GUESSED,  /* by one or two */
        PLAN_UNKNOWN,  /* nothing was measured: 0 seconds */
};
struct plan_cost {
        double seconds;   /* expected */
        double deviation; /* standard deviation; when it is guessed, as much as that */
        enum plan_basis basis;
};

struct plan;
int plan_new(struct workspace *w, struct solver *s, struct plan **ret);
struct plan *plan_free(struct plan *p); /* NULL */
DEFINE_CLEANUP(struct plan *, plan_free)

/* Sees what was built meanwhile; cheap when nothing was written to the store. */
int plan_refresh(struct plan *p);
int plan_build(struct plan *p, uint32_t commit, struct plan_cost *ret);

/* -- for build_records.c: a build is noted where its record is put ----------------------------------------------------------- */

struct plan_note {
        char key[160];
        git_oid commit, before, behind; /* zero: no such neighbour is built */
        bool wanted;
};
/* Before the build's record is put, or it would be its own nearest. Never fails: what cannot be noted is not. */
void plan_note_begin(struct workspace *w, struct solver *s, uint32_t commit, struct plan_note *ret);
int plan_note_put(struct store_txn *t, const struct plan_note *n, const struct build_record *record);
