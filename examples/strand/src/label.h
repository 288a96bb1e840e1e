/* Boundary labels, generalized word equations, arrangements (paper, section 4.1, definitions 1 and 2).
 *
 * Every occurrence of a character or a variable in an equation has a left and a right label. Two symbols side by
 * side share a label set, which stands where the paper's concatenation stood. An arrangement merges the label sets
 * of both sides into one sequence.
 *
 * The search builds arrangements from both ends inwards. What is decided of one is in the words that replaced the
 * variables (state.solved): written out in these pieces, the two sides of an equation agree at the front and at the
 * back, and there the boundaries of both are one sequence of merged sets; between, their order is open. Since a
 * variable is replaced everywhere, a cut that one equation makes is a cut in all that share the variable: theirs is
 * the global arrangement of the paper. */
#pragma once
#include "state.h"

/* Does an occurrence of a variable begin strictly inside another one that is not unfolded to its end, once v := by
 * joins the arrangement? Front: both left labels are merged already; back: the same, mirrored. */
bool label_overlaps(struct search *s, const struct state *st, const struct generalized *g, bool back, uint32_t v,
                    const struct word *by);

/* {▷a1} a {◁a1, ▷X1} X {◁X1} = .. */
void label_print_equation(FILE *f, struct search *s, const struct generalized *g);
/* {▷a1, ▷X2} · {◁a1, ▷X1} · ..; [.. | ..] where the order of the left's and the right's sets is open. v := by joins,
 * if by is not NULL. */
void label_print_arrangement(FILE *f, struct search *s, const struct state *st, const struct generalized *g, uint32_t v,
                             const struct word *by);
