/* A multi-armed bandit by Thompson sampling: each arm's chance of success has a Beta distribution, from Beta(1, 1) on; the arm with the
 * largest draw is chosen (BanditFuzz, section 3.3; Russo et al., "A tutorial on Thompson sampling", 2018, algorithm 3.2). */
#pragma once

#include "cache/base/random.h"
#include "cache/base/util.h"

struct bandit {
        double *successes, *failures; /* owned; of n arms */
        size_t n;
};
int bandit_init(struct bandit *b, size_t n);
void bandit_done(struct bandit *b);
#define cleanup_bandit cleanup(bandit_done)

/* `is_open` says which arms may be chosen; NULL: all. SIZE_MAX: none may. */
size_t bandit_choose(const struct bandit *b, struct random *random, const bool *is_open);
void bandit_succeed(struct bandit *b, size_t arm, double weight);
void bandit_fail(struct bandit *b, size_t arm, double weight);
double bandit_mean(const struct bandit *b, size_t arm); /* what is expected of it */
