/* A candidate of a campaign confirmed as core/study/campaign/campaign_slowdown.c does it: pairs of runs under seeds 0, 1, 2 …, of which the search had the first,
 * judged by core/study/judge. Threads: any. */
#pragma once

#include "core/fuzz/strategy.h"

/* A run of the reference or the target with the whole timeout. */
typedef struct outcome (*confirm_run_fn)(void *user, bool target, uint64_t seed);
/* True: the target is slower than the reference by more than `threshold` seconds. */
bool confirm_holds(confirm_run_fn run, void *user, double timeout, double threshold);
/* Does one pair show it? */
bool confirm_is_slow(const struct outcome *reference, const struct outcome *target, double threshold);
