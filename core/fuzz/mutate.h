/* Changing one formula into another: operator replacement (BanditFuzz, section 3.2, with the chosen node replaced and never another), and
 * the transformers of StringFuzz (Blotsky et al., CAV 2018, section 4).
 *
 * The result is always well-sorted and differs from the script given: a mutation that finds nothing to change returns -ENOENT. The new
 * script shares the old one's bank; the old one stays as it was. Works on any script; operators of theories that it does not use are not
 * brought in, nor what the arithmetic of its logic does not allow (core/smtlib/logic.h). */
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
