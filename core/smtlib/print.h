/* Printing. Text that was printed and is read again in the same bank gives the same terms.
 *
 * A subterm that occurs more than once is bound by a let unless it is small, so that the text is not much larger than the graph. If it has no free
 * variables, the let is at the beginning of the command. Else the let is at the beginning of a quantifier's body in which no other quantifier binds
 * these variables. A term that occurs below several quantifiers, each of which binds its variable, is written out below each. */
#pragma once

#include "core/smtlib/script.h"

struct print_options {
        enum dialect dialect;
        bool no_lets;           /* write out each occurrence of a term */
        bool decimal_bits;      /* (_ bv1 64) where that is shorter than #x0000000000000001 */
        size_t term_bytes_most; /* -EFBIG when the text of one term would be larger; 0: no limit */
};

int term_print(const struct term *t, const struct print_options *o, struct buffer *ret); /* `o` NULL: 2.6 */
int command_print(const struct script *s, const struct command *c, const struct print_options *o, struct buffer *ret);
/* Each command on a line of its own. `o` NULL, as in command_print(): the script's dialect. :smt-lib-version names the printed dialect. */
int script_print(const struct script *s, const struct print_options *o, struct buffer *ret);
