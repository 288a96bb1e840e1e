/* The answers of many cases under one commit and setting, for who reads them one after the other: the keys of the build and of the program are
 * found once, which costs more than a case does. Never starts work. Threads: one at a time; no transaction may be open. */
#pragma once

#include "core/cases/case_memo.h"
#include "core/query/query.h"

struct run_finder;
/* cell->info is ignored; the rest is borrowed for as long as the finder is open. A commit that is not built has a finder that finds nothing. */
int run_finder_open(struct workspace *w, const struct cell *cell, struct run_finder **ret);
struct run_finder *run_finder_close(struct run_finder *f); /* NULL; NULL is fine */
DEFINE_CLEANUP(struct run_finder *, run_finder_close)
int run_finder_get(struct run_finder *f, const struct case_info *info, bool brief, struct fact **ret); /* as run_find() */

/* run_find() for callers that have the key of the commit's build, which takes long to find. */
int run_find_built(struct workspace *w, const struct cell *cell, const struct digest *build, bool brief, struct fact **ret);

struct known_case {
        uint32_t id;
        struct digest sha256;
};
/* The cases of which something is kept under this setting, in the order of ids, without removed ones; whether it answers, run_finder_get() says.
 * `memo` NULL: none. free(*ret). */
int run_finder_cases(struct run_finder *f, struct case_memo *memo, struct known_case **ret, size_t *ret_n);

/* Calls fn with the answer (brief) of each case that is known under this program and the cell's setting (its commit and case are ignored), by the sha256
 * of the case; f->wrong is as of when it was measured (answers_contradict()). fn must not
 * ask the store; it takes a reference to what it keeps; what it returns other than 0 ends it and is returned. A case may come again, for which the first
 * is the answer. */
typedef int (*program_run_fn)(void *user, const struct digest *sha256, struct fact *f);
int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user);
