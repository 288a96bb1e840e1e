/* A logic's name says what it allows: QF_, then A or AX, UF, BV, FP, S, then an arithmetic, each of which may be missing (SMT-LIB 2.6, section 5.5 and the
 * catalogue of logics). Arithmetic is linear or not, over Int, Real or both. A name that says nothing of arithmetic (ALL, QF_S, HORN) allows everything.
 * Threads: any. */
#pragma once

#include "core/smtlib/term.h"

struct logic {
        bool is_linear; /* no product of two terms that are not constant, no division by such a term */
        bool no_int, no_real;
        /* True: the name is understood to its end, and the members below hold. */
        bool is_known;
        bool is_nonlinear; /* it says so */
        bool is_difference; /* only differences of two constants are compared */
        bool has_quantifiers, has_functions;
        unsigned theories; /* a bit for each enum theory, Core's always */
};
struct logic logic_of(const char *name); /* NULL: no limits */

/* Does the term keep to it? Linear in the term's graph. Only operators of arithmetic are looked at. */
bool logic_allows(const struct logic *l, const struct term *root);
