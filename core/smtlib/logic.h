/* A logic's name tells which theories it allows: QF_, then A or AX, UF, BV, FP, S, then an arithmetic, each of which may be missing (SMT-LIB 2.6,
 * section 5.5 and the catalogue of logics). Arithmetic is linear or not, over Int, Real or both. ALL, a name with strings only (QF_S) and an unknown
 * name (HORN) allow every arithmetic. Threads: any. */
#pragma once

#include "core/smtlib/term.h"

struct logic {
        bool is_linear; /* no product of two non-constant terms, no division by such a term */
        bool no_int, no_real;
        /* True: the whole name is understood, and the members below hold. */
        bool is_known;
        bool is_nonlinear; /* the name says so */
        bool is_difference; /* only comparisons of a difference of two constants */
        bool has_quantifiers, has_functions;
        unsigned theories; /* a bit for each enum theory, Core's always */
};
struct logic logic_of(const char *name); /* NULL: no limits */

/* True if the term keeps to the logic. Checks its arithmetic and its operators' theories, not its quantifiers or functions. Takes linear time. */
bool logic_allows(const struct logic *l, const struct term *root);
