/* Parity of places: whether a weaker term at a place makes the whole formula weaker or stronger (Bringolf, Winterer, Su, ASE 2022, definition 3,
 * extended to all connectives and to regular expressions, where a larger language is weaker). */
#pragma once

#include "core/smtlib/term.h"

enum parity {
        PARITY_NEGATIVE = -1, /* the whole becomes stronger if the part becomes weaker */
        PARITY_BOTH = 0,      /* equivalent terms only */
        PARITY_POSITIVE = 1,
        PARITY_NONE = 2 /* no change allowed: the patterns of a quantifier */
};

/* The parity of every place; free(). `names_are_used`: names given by (! t :named n) are used as terms, so t also counts at those places. */
signed char *parity_of(const struct term_places *p, bool names_are_used);
