#include "core/portfolio/similar.h"

#include <math.h>

void similar_init(struct similar *s, size_t features)
{
        *s = (struct similar){.features = features, .of = allocate(features, sizeof(*s->of))};
}

void similar_done(struct similar *s)
{
        for (size_t j = 0; j < s->features; j++)
                free(s->of[j].list);
        free(s->of);
}

#define LANES SIMILAR_LANES
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES)));

static float log_of(double value)
{
        return isnan(value) ? NAN : value == 0 ? 0 : (float)log(fabs(value));
}

static float sign_of(double value)
{
        return (float)ORDER(value, 0);
}

static float inverse_variance(const struct similar_feature *f)
{
        double n = (double)f->log_known, mean = f->log_sum / n, variance = f->log_squares / n - mean * mean;

        return n > 0 && variance > 1e-6 ? (float)(1 / variance) : 0;
}

/* Adds the feature's part to the squared distance of each query. */
static void add_distances(const struct similar_feature *f, double now, size_t n, similar_lanes *sums)
{
        const similar_lanes none = {0}, log_now = none + log_of(now), sign_now = none + sign_of(now), scale = none + inverse_variance(f);
        const lane_bits one = (lane_bits)(none + 1);

        for (size_t i = 0; i * LANES < n; i++) {
                similar_lanes d = f->list[i].log - log_now;
                lane_bits known = d == d, differ = f->list[i].sign != sign_now;

                sums[i] += (similar_lanes)(known & ((differ & one) | (~differ & (lane_bits)(d * d * scale))));
        }
}

/* Inserts into a sorted list of `n`, and keeps the `most` nearest. Returns the new length. */
static size_t neighbour_insert(struct neighbour *list, size_t n, size_t most, struct neighbour more)
{
        size_t at;

        if (n == most && (n == 0 || more.distance >= list[n - 1].distance))
                return n;
        for (at = n < most ? n : n - 1; at > 0 && more.distance < list[at - 1].distance; at--)
                list[at] = list[at - 1];
        list[at] = more;
        return MIN(n + 1, most);
}

size_t similar_nearest(const struct similar *s, const double *features, size_t most, struct neighbour *ret)
{
        cleanup_free similar_lanes *sums = allocate(s->n / LANES + 1, sizeof(*sums));
        double apart = 0; /* distance from all others, by features that never differed */
        size_t n = 0;

        for (size_t j = 0; j < s->features; j++) {
                const struct similar_feature *f = &s->of[j];

                if (f->list)
                        add_distances(f, features[j], s->n, sums);
                else
                        apart += !isnan(features[j]) && !isnan(f->first) && sign_of(features[j]) != sign_of(f->first);
        }
        for (size_t i = 0; i < s->n; i++)
                n = neighbour_insert(ret, n, most, (struct neighbour){i, (double)sums[i / LANES][i % LANES]});
        for (size_t i = 0; i < n; i++)
                ret[i].distance = sqrt(ret[i].distance + apart);
        return n;
}

static void add_reading(struct similar_feature *f, size_t i, double value)
{
        if (i % LANES == 0)
                list_grow(f->list, i / LANES);
        f->list[i / LANES].log[i % LANES] = log_of(value);
        f->list[i / LANES].sign[i % LANES] = sign_of(value);
}

void similar_add(struct similar *s, const double *features)
{
        for (size_t j = 0; j < s->features; j++) {
                struct similar_feature *f = &s->of[j];
                double now = features[j], log = (double)log_of(now);

                if (s->n == 0)
                        f->first = now;
                if (!f->list && now != f->first && !(isnan(now) && isnan(f->first))) /* it differs for the first time */
                        for (size_t i = 0; i < s->n; i++)
                                add_reading(f, i, f->first);
                if (f->list)
                        add_reading(f, s->n, now);
                if (isnan(now) || now == 0)
                        continue;
                f->log_sum += log;
                f->log_squares += log * log;
                f->log_known++;
        }
        s->n++;
}
