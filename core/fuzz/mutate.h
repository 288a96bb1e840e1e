/* Changes one formula into another: by replacing an operator (BanditFuzz, section 3.2, but always the chosen one), or by the transformers of
 * StringFuzz (Blotsky et al., CAV 2018, section 4).
 *
 * The result is always well-sorted and differs from the script; -ENOENT: there is nothing to change. The new script shares the old one's bank; the old
 * script stays as it was. Any script will do. Operators of theories that it does not use are not brought in, nor arithmetic that its logic does not
 * allow (core/smtlib/logic.h). */
#pragma once

#include "core/fuzz/generate.h"

/* Replaces one operator, drawn among all places where another stands and `action` gives the same sort. Its arguments stay where they fit. */
int mutate_operator(struct generator *g, const struct script *s, enum op action, struct script **ret);
/* The operators that mutate_operator() can bring into scripts like this one, by the sorts that it has. `ret` has room for N_OPS. */
size_t mutate_actions(struct generator *g, const struct script *s, enum op *ret);

enum transform {
        TRANSFORM_FUZZ,        /* some literals by a little, some operators by others of the same signature */
        TRANSFORM_GRAFT,       /* a subterm and a literal of its sort change places */
        TRANSFORM_MULTIPLY,    /* every literal n-fold */
        TRANSFORM_REVERSE,     /* every word and concatenation read backwards */
        TRANSFORM_ROTATE,      /* the arguments of one sort of an operator, moved on by one */
        TRANSFORM_TRANSLATE,   /* another alphabet */
        TRANSFORM_UNPRINTABLE, /* some characters by unprintable ones */
        TRANSFORM_SWAP,        /* two subterms of one sort change places */
        N_TRANSFORMS
};
int mutate_transform(struct generator *g, const struct script *s, enum transform t, struct script **ret);
