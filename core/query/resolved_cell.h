/* A cell resolved: all that the keys of its results are made of, found out once for many questions and many cases. The keys of the build and of the
 * program cost more to find than a case does. Never starts work. Threads: any; no transaction may be open where none is given. */
#pragma once

#include "core/cases/case_memo.h"
#include "core/query/query.h"
#include "core/workspace/select.h"

struct resolved_cell {
        struct digest build; /* the key of its commit's build, done or not; zero: it is of a named machine */
        struct recipe_limits limits;
        bool any_limits;         /* of a named machine: whatever it was measured under; the longest, which comes last */
        bool knows_machine;      /* else nothing is known of it (cell_machine()) */
        struct digest setting;   /* the last part of its runs' keys */
        struct digest *programs; /* owned; of a named machine there may be several */
        size_t n_programs;       /* 0: the commit is not built */
};
/* cell->info is not looked at. `build`: the key of the commit's build; NULL: to be found out. 0 also for what is not built. *ret is to be given to
 * resolved_done() in any case. */
int cell_resolve(struct workspace *w, const struct cell *cell, const struct digest *build, struct resolved_cell *ret);
void resolved_done(struct resolved_cell *r);
#define cleanup_resolved cleanup(resolved_done)
/* The key of its runs on a case; its commit is built. */
void resolved_run_key(const struct resolved_cell *r, const struct case_info *info, uint8_t ret[RUN_KEY_SIZE]);
int resolved_find(struct workspace *w, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret); /* as run_find() */
int resolved_find_in(struct store_txn *t, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret);
/* The cases with an answer, in the order of ids, without removed ones. `any`: with anything, which is quicker; whether it answers, resolved_find() says.
 * `memo` NULL: none. Give *ret to case_selection_done() after an error, too. */
int resolved_cases(struct workspace *w, const struct resolved_cell *r, bool any, struct case_memo *memo, struct case_selection *ret);

/* *f is of the run; of a question of the case it becomes the question's. -ENOENT: it is not known, and *f is NULL. */
int fact_for_case(struct fact **f, const struct case_info *info);

/* run_find() for callers that have the key of the commit's build. */
int run_find_built(struct workspace *w, const struct cell *cell, const struct digest *build, bool brief, struct fact **ret);

/* Calls fn with the answer (brief) of each case that is known under this program and the cell's setting (its commit and case are ignored), by the sha256
 * of the case; f->wrong is as of when it was measured (answers_contradict()). fn must not ask the store; it takes a reference to what it keeps; what it
 * returns other than 0 ends it and is returned. A case may come again, for which the first is the answer. */
typedef int (*program_run_fn)(void *user, const struct digest *sha256, struct fact *f);
int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user);
