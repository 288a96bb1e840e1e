/* The queries seen: their features, on scales that do not depend on a feature's unit, and what their arms did. */
#pragma once

#include "core/portfolio/run_table.h"

struct past {
        size_t arms, features;
        size_t n;                 /* queries learned from */
        double *values;           /* n × features, NaN: not known */
        struct attempt *attempts; /* n × arms */
        size_t capacity;
        double *sum; /* of each feature's known values, over the queries seen */
        size_t *known;
        double *now;     /* the present query's features */
        double *inverse; /* of the running mean, the present query's among them; 0 where the feature tells nothing apart */
};

int past_init(struct past *p, size_t arms, size_t features);
void past_done(struct past *p);
/* This is the present query, in place of one that was not ended. Makes room for it, too. */
int past_begin(struct past *p, const double *features);
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
/* The `most` nearest of those that `counts` says yes to (NULL: all), nearest first, by Euclidean distance over features divided by their
 * running mean. How many there are. */
size_t past_nearest(const struct past *p, size_t most, bool (*counts)(const struct past *p, size_t i, uint32_t arm), uint32_t arm,
                    struct neighbour *ret);
/* Keeps the `most` nearest in order: puts one more among the `n` that are there; returns how many there are now. */
size_t neighbour_insert(struct neighbour *list, size_t n, size_t most, struct neighbour more);
