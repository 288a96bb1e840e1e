/* Parity of places: what a weaker or stronger term there makes of the whole formula (Bringolf, Winterer, Su, ASE 2022, definition 3,
 * carried on through the other connectives, and through regular expressions: a larger language is a weaker one). */
#pragma once

#include "core/smtlib/term.h"

enum parity {
        PARITY_NEGATIVE = -1, /* the whole becomes stronger where the part becomes weaker */
        PARITY_BOTH = 0,      /* equivalent terms only */
        PARITY_POSITIVE = 1,
        PARITY_NONE = 2 /* nothing is to change there: the patterns of a quantifier */
};

/* Of every place; free(*ret). `names_are_used`: names given by (! t :named n) are used as terms somewhere, so that what they stand for is
 * in other places too. 0 or -ENOMEM. */
int parity_of(const struct term_places *p, bool names_are_used, signed char **ret);
