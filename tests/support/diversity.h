/* How different one slowdown is from those before: the distance of the sequences of times on the versions (SPRFinder, definition 2). */
#pragma once

#include "cache/base/util.h"

/* Dynamic time warping of two sequences: the least sum of |a[i] - b[j]| over all ways to walk both to the end (Sakoe and Chiba, 1978).
 * Infinite when one is empty. -1: no memory. */
double warping_distance(const double *a, size_t n, const double *b, size_t m);

/* Sequences of one length, seen before. */
struct sequences {
        double *values; /* owned */
        size_t n, length;
};
void sequences_done(struct sequences *s);
int sequences_add(struct sequences *s, const double *sequence);
/* To the nearest of them; infinite when there is none. */
double sequences_distance(const struct sequences *s, const double *sequence);
