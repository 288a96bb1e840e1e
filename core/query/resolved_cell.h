/* A resolved cell: the parts of its results' keys, found once for many cases. The keys of the build and of the program cost more to find than a case
 * does. Never starts work. Threads: any; a function without a transaction argument opens one, so the thread must have none. */
#pragma once

#include "core/cases/case_memo.h"
#include "core/query/query.h"
#include "core/workspace/select.h"

struct resolved_cell {
        struct digest build; /* the key of the commit's build, done or not; zero for a named machine */
        struct recipe_limits limits; /* the requested ones. For a named machine memory is 0 (a recipe's never is): any limit */
        bool any_limits;         /* of a named machine without a requested time limit: the result under the longest limits counts */
        bool knows_machine;      /* false: a cluster whose machine is not known yet (cell_machine()), so no result is found */
        struct digest setting;   /* the last part of the run keys */
        struct digest *programs; /* owned; a named machine may have several */
        size_t n_programs;       /* 0: the commit is not built */
};
/* cell->info is ignored. `build`: the key of the commit's build; NULL: it is computed. 0 also for a commit that is not built. Call resolved_done() on
 * *ret in any case. */
int cell_resolve(struct workspace *w, const struct cell *cell, const struct digest *build, struct resolved_cell *ret);
void resolved_done(struct resolved_cell *r);
#define cleanup_resolved cleanup(resolved_done)
/* The key of the cell's runs on a case; the commit must be built. */
void resolved_run_key(const struct resolved_cell *r, const struct case_info *info, uint8_t ret[RUN_KEY_SIZE]);
int resolved_find(struct workspace *w, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret); /* as run_find() */
int resolved_find_in(struct store_txn *t, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret);
/* The sha256 of each input with an answer, sorted, some twice. `any`: of each with any fact, also under other limits, which is quicker. */
int resolved_digests(struct workspace *w, const struct resolved_cell *r, bool any, struct digest_list *ret);
/* The cases with an answer, in the order of ids, without removed ones. `any`: as above; resolved_find() then tells
 * whether a fact answers. `memo` may be NULL. Call case_selection_done() on *ret after an error, too. */
int resolved_cases(struct workspace *w, const struct resolved_cell *r, bool any, struct case_memo *memo, struct case_selection *ret);

/* Narrows *f, the fact of the whole run, to one query if `info` is a query of a script. -ENOENT: not known, and *f is NULL. */
int fact_for_case(struct fact **f, const struct case_info *info);

/* run_find() for callers that have the key of the commit's build. */
int run_find_built(struct workspace *w, const struct cell *cell, const struct digest *build, bool brief, struct fact **ret);

/* Calls fn with the brief answer of each case that is known under this program and the cell's setting, by the sha256 of the case. The cell's commit and
 * case are ignored. f->wrong is as of the measurement (answers_contradict()). fn must not read the store, and takes a reference to a fact it keeps; a
 * result other than 0 ends the calls and is returned. If a case comes again, its first answer counts. */
typedef int (*program_run_fn)(void *user, const struct digest *sha256, struct fact *f);
int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user);
