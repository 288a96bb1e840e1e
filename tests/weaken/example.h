/* Instances of rules. */
#pragma once

#include "core/weaken/weaken.h"

/* A random instance of one side of a rule, over fresh constants and literals: what a test of the rule starts from. -ENOENT: the side is
 * only to be built from a match. */
int weaken_example(const struct weaken *w, size_t rule, enum weaken_direction direction, struct bank *b, struct random *random,
                   const struct term **ret);
