#include "core/study/base/noise.h"

#include <math.h>

#define SAFETY 2.0
#define LEAST  0.1 /* seconds: what a machine's hiccup takes */

struct noise_case noise_of(const double *seconds, const bool *decided, size_t n)
{
        struct noise_case c = {0};
        double least = INFINITY, most = 0;
        size_t n_decided = 0;

        for (size_t i = 0; i < n; i++) {
                c.mean += seconds[i] / (double)n;
                least = fmin(least, seconds[i]);
                most = fmax(most, seconds[i]);
                n_decided += decided[i];
        }
        c.is_decided = n_decided > 0;
        c.is_mixed = n_decided > 0 && n_decided < n;
        c.difference = n > 0 ? most - least : 0;
        return c;
}

void noise_add(struct noise *sum, const struct noise_case *c)
{
        if (!c->is_decided) {
                sum->undecided++;
                return;
        }
        sum->cases++;
        sum->mixed += c->is_mixed;
        sum->mean += (c->mean - sum->mean) / (double)sum->cases;
        sum->mean_difference += (c->difference - sum->mean_difference) / (double)sum->cases;
        sum->most_difference = fmax(sum->most_difference, c->difference);
}

double noise_threshold(const struct noise *sum)
{
        double x = fmax(SAFETY * sum->most_difference, LEAST), unit;

        if (sum->cases == 0)
                return NAN;
        unit = pow(10, floor(log10(x)) - 1);
        return ceil(x / unit - 1e-9) * unit; /* 0.2 stays 0.2 */
}
