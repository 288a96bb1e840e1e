/* The reduced input of a finding: the reduction (reduction.h) of what the finding shows. Threads: any.
 *
 * How slow a slowdown's reduced input must stay is measured anew (reduce_versions_bounds()). Of an implication, the formula before the last rule is
 * reduced; the target must still be mistaken about what that rule makes of it. */
#pragma once

#include "core/study/observation/observation.h"
#include "core/study/reduce/reduction.h"

/* The interest that a reduction keeps: INTEREST_IMPLICATION of two formulas, one of which follows from the other. */
enum interest finding_interest(const struct observation *f);
/* `most_ns`, `jobs`: as in struct reduction_options. -ENOENT: its input is gone. */
int finding_query_reduced(struct workspace *w, struct solver *s, const struct observation *f, uint64_t most_ns, unsigned jobs,
                          struct query **ret);
/* The outcome of its reduction, once it has ended; else -ENOENT. */
int finding_reduced(struct workspace *w, struct solver *s, const struct observation *f, struct reduction *ret);
