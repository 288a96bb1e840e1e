/* A multi-armed bandit by Thompson sampling. The chance of success of each arm has a Beta distribution, at first Beta(1, 1); the arm with the largest
 * draw is chosen (BanditFuzz, section 3.3; Russo et al., "A tutorial on Thompson sampling", 2018, algorithm 3.2). */
#pragma once

#include "cache/base/random.h"
#include "cache/base/util.h"

struct bandit {
        double *successes, *failures; /* owned; of n arms, each at least 1; a success or failure adds its weight */
        size_t n;
};
void bandit_init(struct bandit *b, size_t n);
void bandit_done(struct bandit *b);
#define cleanup_bandit cleanup(bandit_done)

/* `is_open`: the arms that may be chosen; NULL: all. `cost`: of each arm, greater than zero, so that the chance of success for a unit of cost counts;
 * NULL: equal. SIZE_MAX: none may be chosen. */
size_t bandit_choose(const struct bandit *b, struct random *random, const bool *is_open, const double *cost);
static inline double bandit_mean(const struct bandit *b, size_t arm) /* its expected chance of success */
{
        return b->successes[arm] / (b->successes[arm] + b->failures[arm]);
}
