/* An input of a campaign: an SMT-LIB script, or DIMACS. A script's bank belongs to one thread at a time. */
#pragma once

#include "core/fuzz/shape.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/script.h"

struct formula {
        struct script *script; /* owned; one of both is NULL */
        struct cnf *cnf;       /* owned */
};
void formula_done(struct formula *f);
#define cleanup_formula cleanup(formula_done)

/* A copy shares nothing: that of a script has a bank of its own, without the terms that the script does not use. */
struct formula formula_copy(const struct formula *f);
int formula_print(const struct formula *f, enum dialect d, struct buffer *ret);
struct shape formula_shape(const struct formula *f);
