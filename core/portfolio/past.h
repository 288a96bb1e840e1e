/* The queries seen: their features, and what their arms did. Distances do not depend on a feature's unit. */
#pragma once

#include "core/portfolio/learner.h"

struct past {
        size_t arms, features;
        size_t n;                 /* queries learned from */
        double *values;           /* n × features, NaN: not known */
        struct attempt *attempts; /* n × arms */
        double *sum; /* of each feature's known values, over the queries seen */
        size_t *known;
        double *now;     /* the present query's features */
        double *inverse; /* of each feature's mean over the queries seen and the present one; 0: the feature does not count */
};

void past_init(struct past *p, size_t arms, size_t features);
void past_done(struct past *p);
/* The present query, in place of one that did not end. */
void past_begin(struct past *p, const double *features);
void past_end(struct past *p, const struct attempt *attempts);

static inline const struct attempt *past_attempts(const struct past *p, size_t i)
{
        return &p->attempts[i * p->arms];
}

/* A query seen, and how far its features are from the present one's. */
struct neighbour {
        size_t index;
        double distance;
};
/* The `most` nearest of those that `counts` accepts (NULL: all), nearest first, by Euclidean distance over features divided by their means.
 * Returns how many there are. */
size_t past_nearest(const struct past *p, size_t most, bool (*counts)(const struct past *p, size_t i, uint32_t arm), uint32_t arm,
                    struct neighbour *ret);
/* Puts one more into an ordered list of `n` and keeps the `most` nearest. Returns how many there are now. */
size_t neighbour_insert(struct neighbour *list, size_t n, size_t most, struct neighbour more);
