/* Lowers a formula to the core language that the search understands:
 *
 *   Boolean  true, false, variables, not, and, or, ite, = (of Booleans), and the atoms
 *   atoms    (= w w), (str.in_re w R) with a constant R, (str.contains w w), (= l 0), (<= l 0)
 *   words w  concatenations of string constants and string variables
 *   sums l   linear over integer variables, (str.len x), (str.to_code x), (str.to_int x), x a variable, and
 *            nonlinear leftovers
 *
 * All else (substr, indexof, replace ..) becomes a fresh variable with a definition (paper, section 1.2: they
 * "are desugared to word equations with length functions"). A definition matters only where its variable
 * does: the search asks for it by need, which keeps ites from dragging in what they do not choose. */
#pragma once
#include "term.h"

struct lower_def {
        tid var;     /* fresh: String, Int or Bool */
        tid formula; /* lowered; must hold wherever the variable's value matters */
};

/* A variable defined by a function that has no formula: checked by value. */
struct lower_link {
        tid var;
        tid app; /* the function over lowered arguments */
};

struct lower {
        struct bank *b;
        VEC(struct lower_def) defs;
        VEC(struct lower_link) links;
        vec_u32 image;    /* by id of the original term; 0: not yet */
        vec_u32 memo;     /* by id of an application over lowered arguments: its variable */
        vec_u32 def_of;   /* by id of a variable: index into defs + 1 */
        vec_u32 link_of;  /* by id of a variable: index into links + 1 */
        const char *fail; /* why the formula cannot be lowered, or NULL */
};

void lower_init(struct lower *l, struct bank *b);
void lower_free(struct lower *l);
/* The lowered formula; 0 and l->fail if there is none. */
tid lower_formula(struct lower *l, tid t);

/* Builders over lowered terms, which simplify. */
tid lower_not(struct lower *l, tid a);
tid lower_and(struct lower *l, const tid *a, size_t n);
tid lower_or(struct lower *l, const tid *a, size_t n);
tid lower_eq(struct lower *l, tid a, tid b);
tid lower_le(struct lower *l, tid a, tid b);
tid lower_concat(struct lower *l, const tid *a, size_t n);
tid lower_len(struct lower *l, tid a);
tid lower_sum(struct lower *l, tid a, int64_t k, tid b); /* a + k*b */
tid lower_fresh(struct lower *l, enum sort s, const char *name);
