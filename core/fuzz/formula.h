/* An input of a campaign: an SMT-LIB script, or DIMACS. A script's bank belongs to one thread at a time. */
#pragma once

#include "core/smtlib/cnf.h"
#include "core/smtlib/script.h"

struct formula {
        struct script *script; /* owned; either this or `cnf` is NULL */
        struct cnf *cnf;       /* owned */
};
void formula_done(struct formula *f);
#define cleanup_formula cleanup(formula_done)

/* A copy shares nothing: a script's copy has a bank of its own, without the terms that the script does not use. */
struct formula formula_copy(const struct formula *f);
int formula_print(const struct formula *f, enum dialect d, struct buffer *ret);
struct shape formula_shape(const struct formula *f);

/* -- shape.c: the parts of a formula, as a set of numbers: operators, operators below operators, kinds of leaves, and their counts. For DIMACS:
 * lengths and signs of clauses, the kinds of clauses that a variable is in, gates, gates behind gates. Formulas with one cause of slowness share
 * parts. So a formula with new parts is worth a run, and one with the parts of a find is not. */

#define SHAPE_BUCKETS 65536u

struct shape {
        uint16_t *parts; /* hashes below SHAPE_BUCKETS, ascending, each once; owned */
        size_t n;
};
struct shape shape_of(const struct script *s);
struct shape shape_of_cnf(const struct cnf *c);
void shape_done(struct shape *s);
#define cleanup_shape cleanup(shape_done)

struct shape shape_copy(const struct shape *s);
bool shape_has(const struct shape *s, uint16_t part);

/* The number of formulas with each part. */
struct shape_counts {
        float seen[SHAPE_BUCKETS];
};
void shape_counts_see(struct shape_counts *c, const struct shape *s);
/* The novelty of a shape: a part counts less the more often it was seen. */
double shape_novelty(const struct shape_counts *c, const struct shape *s);
