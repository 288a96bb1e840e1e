/* A recipe's pattern for a counter in a solver's output: a Perl-compatible regular expression (PCRE2) with one group, around the number.
 *
 * Reading a pattern and looking for it are both bounded, whatever the pattern and the output: the C library's own expressions are not
 * ("a" and thirty plus signs take all memory there is). Not thread-safe per pattern.
 */
#pragma once

#include "cache/base/util.h"

struct pattern;

/* -EINVAL with a sentence that begins with the pattern: it is no regular expression, is too large, or has not exactly one group. */
int pattern_new(const char *text, struct pattern **ret);
void pattern_free(struct pattern *p);
DEFINE_CLEANUP(struct pattern *, pattern_free)
#define cleanup_pattern cleanup(pattern_freep)

/* The text of the group of the last match, in the last line that has one; points into `output`. False when there is none, or when
 * ten million steps from one place of a line, or four thousand million in all, did not decide it. Lines of more than a megabyte are passed
 * over. */
bool pattern_last(struct pattern *p, struct slice output, struct slice *ret);
