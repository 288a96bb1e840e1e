/* Made-up solvers for the search to be tried on: each has causes of slowness, brought in by a commit each, and is of one kind. Causes are drawn anew for each
 * number, among what formulas of the generator have: so no list of them can be learned by heart.
 *
 *     local      40 causes: an operator under another one, perhaps under a third
 *     global     24 causes: so many of one thing and so many of another in the whole formula
 *     dear       30 local ones; time grows exponentially with size, so that many formulas are hard for both versions; some causes multiply it, some add to it
 *     chaotic    30 local ones, which multiply a time that varies over seeds by a factor of e, each version by itself: most candidates are luck
 *     dominant   25 rare local ones behind a newest one that a quarter of the formulas and more have, and that hides the others where it is
 *     shadowed   30 local ones, each of which two common operators take away; three further operators make formulas hard for both versions
 *     hidden     24 causes that no part of a formula shows (core/fuzz/formula.h): a variable that stands below one operator and elsewhere below another
 *                one; so many times more of one operator than of another; an operator beside words of one kind
 *
 * The first three are those on which the strategy is tuned. Threads: any, once it is made. */
#pragma once

#include "core/smtlib/script.h"

enum made_up_kind {
        MADE_UP_LOCAL,
        MADE_UP_GLOBAL,
        MADE_UP_DEAR,
        MADE_UP_CHAOTIC,
        MADE_UP_DOMINANT,
        MADE_UP_SHADOWED,
        MADE_UP_HIDDEN,
        N_MADE_UP
};
#define MADE_UP_TUNED_ON 3
#define MADE_UP_TIMEOUT  20.0 /* seconds */

const char *made_up_name(enum made_up_kind k);

struct made_up;
int made_up_new(enum made_up_kind k, uint64_t number, struct made_up **ret);
struct made_up *made_up_free(struct made_up *m);
DEFINE_CLEANUP(struct made_up *, made_up_free)
#define cleanup_made_up cleanup(made_up_freep)
unsigned made_up_n_causes(enum made_up_kind k); /* at most 64 */

/* What the solver sees in a formula. */
struct made_up_look {
        uint64_t causes; /* active ones, a bit each */
        double base;     /* seconds without any */
        uint64_t hash;   /* of the formula */
};
int made_up_look(const struct made_up *m, const struct script *s, struct made_up_look *ret);
/* Seconds of the version before all causes (target false) or behind them, under a seed; at most the timeout. The same again at the same arguments. */
double made_up_seconds(const struct made_up *m, const struct made_up_look *look, bool target, uint64_t seed);
/* The cause that localizing would name, the newest; UINT_MAX: none. */
unsigned made_up_cause(const struct made_up_look *look);
