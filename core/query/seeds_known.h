/* A cell under each seed, as far as it is known: the solver's own, and those by which its input was scrambled. Never starts work. Threads: any; no
 * transaction may be open. */
#pragma once

#include "core/query/query.h"

/* cell->seed and cell->scramble are ignored. fn is called for each seed with an answer: the solver's own first, then the others, each in the order of
 * numbers; other than 0 from it ends it and is returned. */
typedef int (*seed_known_fn)(void *user, bool is_scrambled, uint64_t seed, const struct fact *f);
int seeds_known(struct workspace *w, const struct cell *cell, bool brief, seed_known_fn fn, void *user);
/* Runs 0, 1, 2, … of a cell as cell_draw() has them, with their numbers: the seeds below `most` until one is not known, or all repetitions. `build` is
 * the key of the commit's build. */
int draws_known(struct workspace *w, const struct cell *cell, const struct digest *build, uint32_t most, bool brief, sample_fn fn, void *user);
