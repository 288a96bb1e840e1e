/* The arithmetic that a logic allows, by its name: linear or not, over Int, Real or both (SMT-LIB 2.6, section 5.5 and the catalogue of logics).
 * A name that says nothing of arithmetic (ALL, QF_S, HORN) allows everything. Threads: any. */
#pragma once

#include "core/smtlib/term.h"

struct logic {
        bool is_linear; /* no product of two terms that are not constant, no division by such a term */
        bool no_int, no_real;
};
struct logic logic_of(const char *name); /* NULL: no limits */

/* Does the term keep to it? Linear in the term's graph. Only operators of arithmetic are looked at. */
bool logic_allows(const struct logic *l, const struct term *root);
