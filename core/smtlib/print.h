/* Printing. Text that was printed and is read again in the same bank gives the same terms.
 *
 * A subterm that occurs more than once is bound by a let, so that the text is not much larger than the graph: at the beginning of the
 * command when it has no free variables, else at the beginning of the body of a quantifier below which its variables are bound no more. A term is
 * written out in each place where different quantifiers bind its variable. */
#pragma once

#include "core/smtlib/script.h"

struct print_options {
        enum dialect dialect;
        bool no_lets;      /* as a tree */
        bool decimal_bits; /* (_ bv1 64) where that is shorter than #x0000000000000001 */
        size_t most;       /* -EFBIG when the text would be larger; 0: no limit */
};

int term_print(const struct term *t, const struct print_options *o, struct buffer *ret);
int command_print(const struct script *s, const struct command *c, const struct print_options *o, struct buffer *ret);
/* Each command on a line of its own. `o` NULL: the dialect it was read in. :smt-lib-version is adapted. */
int script_print(const struct script *s, const struct print_options *o, struct buffer *ret);
