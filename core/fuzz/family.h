/* Families of finds: inputs that a campaign need not look for again. Nobody tells the cause of a find while it counts. So a rule explains finds: one or two
 * parts (formula.h) which inputs have that mostly are finds, and which several finds have that no better rule explains. A greedy cover by precision and
 * reach (Fürnkranz, "Separate-and-conquer rule learning", Artificial Intelligence Review, 1999).
 *
 * Threads: a set of families belongs to one thread at a time. Equal calls give equal families. */
#pragma once

#include "cache/base/transfer.h"
#include "core/fuzz/formula.h"

struct families;
struct families *families_new(void);
struct families *families_free(struct families *f); /* NULL, which it may be */

/* An input ran to an end. */
void families_missed(struct families *f, const struct shape *s);
void families_found(struct families *f, const struct shape *s);
/* A candidate is taken for one more of its family, unconfirmed: rules are as precise as if it were a find, and none is made of it. */
void families_assumed(struct families *f, const struct shape *s);
/* Does a rule explain inputs like this one? */
bool families_know(const struct families *f, const struct shape *s);
void families_transfer(struct transfer *t, struct families *f);
