/* Applying a rule again, for reductions of implications: Algorithm 1 of Bringolf, Winterer, Su (ASE 2022) asks of each smaller formula
 * whether some application of the same rule to it still shows the finding. */
#pragma once

#include "core/study/reduce/reduce.h"

/* Applications tried on one formula; of more, those at the first places. */
#define IMPLIED_MOST 64

struct implied;
/* `step`: a line of rules.tsv (core/weaken/weaken.h). -EINVAL, -ENOENT with a sentence. */
int implied_open(const char *step, struct implied **ret);
struct implied *implied_close(struct implied *i); /* NULL */

/* Each text that the step's rule makes of `text` in the step's direction, until fn returns non-zero, which is then returned. The application
 * that was of interest last comes first, the step itself at the beginning. 0: none; also of a text that is no script.
 * fn returns 1 for one of interest. Threads: any. */
int implied_each(struct implied *i, struct slice text, int (*fn)(void *user, struct slice implied), void *user);
