/* The expected cost of builds and runs, for deciding what to ask next: bisection, localization, campaigns. Nothing is started.
 *
 *     cleanup(plan_freep) struct plan *p = NULL;
 *     struct plan_cost cost;
 *     r = plan_new(w, solver, &p);
 *     if (r == 0)
 *             r = plan_build(p, commit, &cost);     // cost.seconds; 0 when it is built
 *
 * A build's cost follows how much of it the compile cache holds (or, where the recipe is `incremental`, a worktree). Commits that are near in the
 * history share most of their objects. So each finished build of a recipe is noted with its duration and its *gap*: how many different builds (commits
 * whose sources differ) lay between its commit and the nearest one built before. A commit that is not built costs what builds of about its
 * gap took: mean and deviation over the class of gaps 1, 2–3, 4–7, 8–15 …; where a class has no builds, a straight line between its
 * neighbours; before the first build nothing is known. This is wall-clock time of a build with the slots it was given. It does not look into the
 * changes themselves: an edited header that everything includes costs more than its gap says.
 *
 * A look at a commit costs a read of the store (tens of microseconds), a plan what build_keys() costs: 50 ms of CPU
 * time for 20,000 commits, which each build that is noted takes, too.
 * Threads: one at a time. */
#pragma once

#include "core/query/query.h"

enum plan_basis {
        PLAN_DONE,     /* it is there: 0 seconds. Also a build that is known to fail */
        PLAN_MEASURED, /* by what was measured for the like of it */
        PLAN_GUESSED,  /* between, or beyond, what was measured */
        PLAN_UNKNOWN,  /* nothing was measured: 0 seconds */
};
struct plan_cost {
        double seconds;   /* expected */
        double deviation; /* standard deviation; with one measurement, as much as that */
        enum plan_basis basis;
};

struct plan;
int plan_new(struct workspace *w, struct solver *s, struct plan **ret);
struct plan *plan_free(struct plan *p); /* NULL */
DEFINE_CLEANUP(struct plan *, plan_free)

/* Sees what was built meanwhile; cheap when nothing was written to the store. */
int plan_refresh(struct plan *p);
/* For looking ahead: as if this commit were built, until the next plan_refresh() that finds something new. */
int plan_assume_built(struct plan *p, uint32_t commit);
int plan_build(struct plan *p, uint32_t commit, struct plan_cost *ret);
/* A run without the build it may need: what the case took the last time with this solver, on whichever commit. */
int plan_run(struct plan *p, const struct cell *cell, struct plan_cost *ret);

/* -- for query_build.c: a build is noted where its record is put ----------------------------------------------------------- */

struct plan_note {
        char key[160];
        uint32_t class;
        bool wanted;
};
/* Before the build's record is put, or it would be its own nearest. Never fails: what cannot be noted is not. */
void plan_note_begin(struct workspace *w, struct solver *s, uint32_t commit, struct plan_note *ret);
int plan_note_put(struct store_txn *t, const struct plan_note *n, const struct build_record *record);
