/* The earlier queries, by their features: which are near the present one.
 *
 * Distances are between logarithms, so that units do not matter, each divided by the deviation of that logarithm over the earlier queries. A value's
 * sign, and whether it is zero, are compared separately: where they differ, the distance is 1. A feature that is not known for one of two queries
 * does not count.
 *
 * A search is a pass over all queries and all features that ever differed: about a millisecond for 10,000 queries with a hundred such features. */
#pragma once

#include "cache/base/util.h"

/* Vectors of four floats, which every machine has. */
#define SIMILAR_LANES 4
typedef float similar_lanes __attribute__((vector_size(4 * SIMILAR_LANES)));

struct similar {
        size_t features;
        size_t n; /* queries added */
        /* private */
        struct similar_feature {
                double first; /* the first value; the only one while `list` is NULL */
                struct readings {
                        similar_lanes log, sign; /* NaN: not known */
                } *list;                         /* owned: a vector for each SIMILAR_LANES queries */
                double log_sum, log_squares;
                size_t log_known;
        } *of;
};

/* An earlier query, and the distance of its features from the present one's. */
struct neighbour {
        size_t index;
        double distance;
};

void similar_init(struct similar *s, size_t features);
void similar_done(struct similar *s);
/* The `most` queries nearest to one with these features (NaN: not known), nearest first. Returns their number. */
size_t similar_nearest(const struct similar *s, const double *features, size_t most, struct neighbour *ret);
/* Adds a query; its index is the n before the call. */
void similar_add(struct similar *s, const double *features);
