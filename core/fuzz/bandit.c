#include "core/fuzz/bandit.h"

int bandit_init(struct bandit *b, size_t n)
{
        *b = (struct bandit){.n = n, .successes = calloc(n + 1, sizeof(double)), .failures = calloc(n + 1, sizeof(double))};
        if (!b->successes || !b->failures) {
                bandit_done(b);
                return -ENOMEM;
        }
        for (size_t i = 0; i < n; i++)
                b->successes[i] = b->failures[i] = 1;
        return 0;
}

void bandit_done(struct bandit *b)
{
        free(b->successes);
        free(b->failures);
        *b = (struct bandit){0};
}

size_t bandit_choose(const struct bandit *b, struct random *random, const bool *is_open)
{
        size_t best = SIZE_MAX;
        double most = -1;

        for (size_t i = 0; i < b->n; i++) {
                double draw;

                if (is_open && !is_open[i])
                        continue;
                draw = random_beta(random, b->successes[i], b->failures[i]);
                if (draw > most) {
                        most = draw;
                        best = i;
                }
        }
        return best;
}

void bandit_succeed(struct bandit *b, size_t arm, double weight)
{
        b->successes[arm] += weight;
}

void bandit_fail(struct bandit *b, size_t arm, double weight)
{
        b->failures[arm] += weight;
}

double bandit_mean(const struct bandit *b, size_t arm)
{
        return b->successes[arm] / (b->successes[arm] + b->failures[arm]);
}
