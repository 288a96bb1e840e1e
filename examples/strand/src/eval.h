/* The meaning of terms, straight from the SMT-LIB definitions.
 *
 * This is the referee: a model is printed only if the input as it was parsed is true under it here. It
 * shares no code with the solver's own reasoning. */
#pragma once
#include "term.h"

/* The value of a longer string is not known. */
#define EVAL_MAX_STRING (1u << 26)

struct value {
        enum sort sort;
        bool set; /* false: not known, or too large to compute */
        bool b;
        int64_t i;
        const struct ustr *s; /* of an integer that is too large for i, so not set: its digits */
};

/* Computes val[t] for all ids in `order` (ascending, closed under arguments). Variables keep what val holds;
 * unset ones make what depends on them unset. */
void eval_terms(struct bank *b, const uint32_t *order, size_t n, struct value *val);

/* The value of a term without variables. */
struct value eval_constant(struct bank *b, tid t);

/* Does s belong to the regular language of term re ? val gives the strings in it that are
 * not constants (NULL: none). -1: cannot say. */
int eval_in_re(struct bank *b, const struct ustr *s, tid re, const struct value *val);
