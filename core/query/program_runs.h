/* All that is known of a program, for who reads whole tables: hundreds of thousands of answers a second. Threads: any. */
#pragma once

#include "core/query/query.h"

/* Calls fn with the answer (brief) of each case that is known under this program and the cell's setting (its commit and case are ignored), by the sha256
 * of the case; f->wrong is as of when it was measured (answers_contradict()). fn must not
 * ask the store; it takes a reference to what it keeps; what it returns other than 0 ends it and is returned. A case may come again, for which the first
 * is the answer. */
typedef int (*program_run_fn)(void *user, const struct digest *sha256, struct fact *f);
int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user);
