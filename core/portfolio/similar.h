/* The queries seen, by their features: which are like the present one.
 *
 * Distances are between logarithms, so that they do not depend on a feature's unit; each is divided by the deviation of that feature's logarithm
 * over the queries seen, or features with a large range would decide alone. A value's sign, and its being zero, are kept apart from its
 * size: where they differ the distance is 1. A feature that is not known of one of two queries tells nothing about them.
 *
 * A look costs a pass over all queries and all features that ever differed; 10,000 queries with a hundred such take about a millisecond. */
#pragma once

#include "core/portfolio/past.h"

struct similar {
        size_t features;
        size_t n; /* queries seen */
        /* private */
        size_t capacity, columns;
        size_t stride;    /* floats in a part of a row: columns, and zeros up to a whole number of lanes */
        uint32_t *column; /* of each feature that ever differed; COLUMN_NONE: all queries had the same value */
        double *common;   /* that value */
        float *rows;      /* of each query: logarithms (NaN: not known), signs */
        double *log_sum, *log_squares;
        size_t *log_known;
        /* of the present query */
        double *now;
        float *row;   /* as those of the others */
        float *scale; /* the inverse of each column's variance; 1, or 0 where it is not known now */
        double apart; /* squared distance to all, by features without a column */
};

int similar_init(struct similar *s, size_t features);
void similar_done(struct similar *s);
/* This is the present query; NaN: not known. */
void similar_look(struct similar *s, const double *features);
/* The `most` queries nearest to it, nearest first; how many there are. */
size_t similar_nearest(const struct similar *s, size_t most, struct neighbour *ret);
/* The present query is one seen from now on, with the number n. -ENOMEM, and it is not. */
int similar_add(struct similar *s);
