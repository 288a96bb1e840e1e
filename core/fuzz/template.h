/* Formulas of one shape each: the generators of StringFuzz (Blotsky et al., CAV 2018, section 4). Each scales one thing, so that a solver's behaviour
 * on it can be seen. */
#pragma once

#include "core/fuzz/generate.h"

enum template {
        TEMPLATE_CONCATS,  /* a tree of concatenations equal to a word; `size` levels, or a list of as many */
        TEMPLATE_LENGTHS,  /* `size` variables of given lengths, related by their lengths and equalities */
        TEMPLATE_OVERLAPS, /* s·x₁ = x₁·s and so on: `size` variables around one word */
        TEMPLATE_EQUALITY, /* `size` concatenations with shared prefixes, suffixes and infixes are equal */
        TEMPLATE_REGEX,    /* memberships in expressions of `size` operators */
        TEMPLATE_WORDS,    /* equalities and disequalities with long words of random printable text */
        TEMPLATE_TREE,     /* a random term graph of `size` levels with every operator equally likely */
        N_TEMPLATES
};

/* -EINVAL: a `size` of 0. */
int template_formula(struct generator *g, enum template t, unsigned size, struct script **ret);
