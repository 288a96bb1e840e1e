/* The queries seen, by their features: which are near the present one.
 *
 * Distances are between logarithms, so that units do not matter, each divided by the deviation of that logarithm over the queries seen. A
 * value's sign, and whether it is zero, are compared apart: where they differ, the distance is 1. A feature that is not known of one of two
 * queries does not count.
 *
 * A look is a pass over all queries and all features that ever differed: about a millisecond for 10,000 queries with a hundred such features. */
#pragma once

#include "core/portfolio/past.h"

struct similar {
        size_t features;
        size_t n; /* queries seen */
        /* private */
        size_t capacity, columns;
        size_t stride;    /* floats in half a row: columns, and zeros up to a multiple of LANES */
        uint32_t *column; /* of each feature that ever differed; COLUMN_NONE: all queries had the same value */
        double *common;   /* that value */
        float *rows;      /* of each query: logarithms (NaN: not known), signs */
        double *log_sum, *log_squares;
        size_t *log_known;
        /* of the present query */
        double *now;
        float *row;
        float *scale; /* the inverse of each column's variance; then 1, or 0 where the feature is not known now */
        double apart; /* squared distance to all others, from features without a column */
};

void similar_init(struct similar *s, size_t features);
void similar_done(struct similar *s);
/* The present query; NaN: not known. */
void similar_look(struct similar *s, const double *features);
/* The `most` queries nearest to it, nearest first. Returns how many there are. */
size_t similar_nearest(const struct similar *s, size_t most, struct neighbour *ret);
/* Adds the present query to those seen, with the number n. */
void similar_add(struct similar *s);
