/* Parity of places: whether a weaker term at a place makes the whole formula weaker or stronger (Bringolf, Winterer, Su, ASE 2022, definition 3,
 * extended to all connectives and to regular expressions, where a larger language is weaker). */
#pragma once

#include "core/smtlib/term.h"

enum parity {
        PARITY_NEGATIVE = -1, /* the whole becomes stronger if the part becomes weaker */
        PARITY_BOTH = 0,      /* it may become either: only an equivalent term is allowed */
        PARITY_POSITIVE = 1   /* the whole becomes weaker, too */
};

/* An enum parity for every place; free(). `names_are_used`: names given by (! t :named n) are used as terms; then t has PARITY_BOTH. */
signed char *parity_of(const struct term_places *p, bool names_are_used);
