/* Eras: which of a recipe's keys are used to build a commit.
 *
 *     [binary "TAG"]  holds the commit that TAG is on, and no other.
 *     [era "A..B"]    holds A, B, and every commit that has A among its ancestors and B not. Without A: from the beginning; without B: no end.
 *
 * A commit takes the first that holds it, binaries before eras, and the solver's own keys if none does. A branch that left before A, and has not
 * merged A, is still in the time before A, whatever first parents say.
 *
 * Threads: any. Errors: -EIO with a sentence if an era names a revision that the history does not have (a typo must not build something else); others
 * as in history.h. */
#pragma once

#include "core/history/history.h"
#include "core/recipe/recipe.h"

/* *ret is `r` or one of its eras, and lives as long as `r`. COMMIT_NONE is in no era: it only checks that the revisions exist. */
int era_of(struct history *h, const struct recipe *r, uint32_t commit, const struct recipe **ret);
/* For display: like era_of(), but `r` itself if that fails. */
const struct recipe *era_or_solver(struct history *h, const struct recipe *r, uint32_t commit);
/* The same for commits 0 … n - 1: (*ret)[commit], 0 is `r` and i is r->eras[i - 1]; free(). */
int eras_of_all(struct history *h, const struct recipe *r, uint32_t n, uint32_t **ret);
