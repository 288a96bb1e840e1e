/* The parts of a formula, as a set of numbers: each operator, each operator under each other one, what leaves stand where. Formulas that
 * share a cause of slowness share some of it, so that novelty of shape is worth a run and a shape already explained is not. */
#pragma once

#include "core/smtlib/script.h"

#define SHAPE_BUCKETS 65536u

struct shape {
        uint16_t *parts; /* buckets, ascending, each once; owned */
        size_t n;
};
int shape_of(const struct script *s, struct shape *ret);
void shape_done(struct shape *s);
#define cleanup_shape cleanup(shape_done)

/* Keeps of `s` what `other` has, too. */
void shape_intersect(struct shape *s, const struct shape *other);
int shape_copy(const struct shape *s, struct shape *ret);
/* Does `s` have all of `part`? */
bool shape_includes(const struct shape *s, const struct shape *part);

/* How many formulas had each part. */
struct shape_counts {
        float *seen; /* of SHAPE_BUCKETS; owned */
};
int shape_counts_init(struct shape_counts *c);
void shape_counts_done(struct shape_counts *c);
void shape_counts_see(struct shape_counts *c, const struct shape *s);
/* How much there is to learn from running it: a part that was seen more often counts less. */
double shape_novelty(const struct shape_counts *c, const struct shape *s);
