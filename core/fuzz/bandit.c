/* Thompson sampling: see strategy_internal.h. */
#include "core/fuzz/strategy_internal.h"

void bandit_init(struct bandit *b, size_t n)
{
        *b = (struct bandit){.n = n, .successes = allocate(n, sizeof(double)), .failures = allocate(n, sizeof(double))};
        for (size_t i = 0; i < n; i++)
                b->successes[i] = b->failures[i] = 1;
}

void bandit_done(struct bandit *b)
{
        free(b->successes);
        free(b->failures);
}

size_t bandit_choose(const struct bandit *b, struct random *random, const bool *is_open, const double *cost)
{
        size_t best = SIZE_MAX;
        double most = -1;

        for (size_t i = 0; i < b->n; i++) {
                double worth;

                if (is_open && !is_open[i])
                        continue;
                worth = random_beta(random, b->successes[i], b->failures[i]) / (cost ? cost[i] : 1);
                if (worth > most) {
                        most = worth;
                        best = i;
                }
        }
        return best;
}
