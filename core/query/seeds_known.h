/* What is known of a cell under each seed: the solver's own, and those by which its input was scrambled. Never starts work. Threads: any; no
 * transaction may be open. */
#pragma once

#include "core/query/query.h"

/* cell->seed and cell->scramble are ignored. fn is called for each seed with an answer: the solver's own first, then the others, each in the order of
 * numbers; other than 0 from it ends it and is returned. */
typedef int (*seed_known_fn)(void *user, bool is_scrambled, uint64_t seed, const struct fact *f);
int seeds_known(struct workspace *w, const struct cell *cell, bool brief, seed_known_fn fn, void *user);
