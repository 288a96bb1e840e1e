/* The known results of a cell under each seed: the solver's seeds, and those that scrambled its input. Never starts work. Threads: any; no
 * transaction may be open. */
#pragma once

#include "core/query/query.h"

/* Calls fn for each seed with an answer: the solver's seeds first, then the scrambler's, each in numeric order. A result of fn other than 0 ends the
 * calls and is returned. cell->seed and cell->scramble are ignored. */
typedef int (*seed_known_fn)(void *user, bool is_scrambled, uint64_t seed, const struct fact *f);
int seeds_known(struct workspace *w, const struct cell *cell, bool brief, seed_known_fn fn, void *user);
/* Calls fn for the known runs 0, 1, 2, … of a cell (cell_draw()). If the recipe has a seed: at most `most`, up to the first unknown one; else all
 * repetitions. `build` is the key of the commit's build. */
int draws_known(struct workspace *w, const struct cell *cell, const struct digest *build, uint32_t most, bool brief, sample_fn fn, void *user);
