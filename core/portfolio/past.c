#include "core/portfolio/past.h"

#include <math.h>

void past_init(struct past *p, size_t arms, size_t features)
{
        *p = (struct past){.arms = arms, .features = features};
        p->sum = allocate(features, sizeof(*p->sum));
        p->known = allocate(features, sizeof(*p->known));
        p->now = allocate(features, sizeof(*p->now));
        p->inverse = allocate(features, sizeof(*p->inverse));
}

void past_done(struct past *p)
{
        free(p->values);
        free(p->attempts);
        free(p->sum);
        free(p->known);
        free(p->now);
        free(p->inverse);
        *p = (struct past){0};
}

/* The mean of a feature over the queries seen and the present one. */
static double mean(const struct past *p, size_t j)
{
        bool now = !isnan(p->now[j]);
        double n = (double)(p->known[j] + now);

        return n > 0 ? (p->sum[j] + (now ? p->now[j] : 0)) / n : 0;
}

void past_begin(struct past *p, const double *features)
{
        for (size_t j = 0; j < p->features; j++) {
                p->now[j] = isfinite(features[j]) ? features[j] : NAN;
                p->inverse[j] = isnan(p->now[j]) || mean(p, j) == 0 ? 0 : 1 / mean(p, j);
        }
}

void past_end(struct past *p, const struct attempt *attempts)
{
        list_grow_sized(&p->values, p->n, (p->features + 1) * sizeof(*p->values));
        list_grow_sized(&p->attempts, p->n, p->arms * sizeof(*p->attempts));
        for (size_t j = 0; j < p->features; j++)
                if (!isnan(p->now[j])) {
                        p->sum[j] += p->now[j];
                        p->known[j]++;
                }
        memcpy(&p->values[p->n * p->features], p->now, p->features * sizeof(*p->now));
        memcpy(&p->attempts[p->n * p->arms], attempts, p->arms * sizeof(*attempts));
        p->n++;
}

size_t neighbour_insert(struct neighbour *list, size_t n, size_t most, struct neighbour more)
{
        size_t at;

        if (n == most && (n == 0 || more.distance >= list[n - 1].distance))
                return n;
        for (at = n < most ? n : n - 1; at > 0 && more.distance < list[at - 1].distance; at--)
                list[at] = list[at - 1];
        list[at] = more;
        return MIN(n + 1, most);
}

size_t past_nearest(const struct past *p, size_t most, bool (*counts)(const struct past *p, size_t i, uint32_t arm), uint32_t arm,
                    struct neighbour *ret)
{
        const double *scale = p->inverse;
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++) {
                const double *other = &p->values[i * p->features];
                double sum = 0;

                if (counts && !counts(p, i, arm))
                        continue;
                for (size_t j = 0; j < p->features; j++)
                        if (scale[j] != 0 && !isnan(other[j])) {
                                double d = (other[j] - p->now[j]) * scale[j];

                                sum += d * d;
                        }
                n = neighbour_insert(ret, n, most, (struct neighbour){i, sqrt(sum)});
        }
        return n;
}
