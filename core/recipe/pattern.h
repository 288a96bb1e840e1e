/* A recipe's pattern for a counter in a solver's output: a Perl-compatible regular expression (PCRE2) with one group, around the number.
 *
 * Compiling and matching a pattern are both bounded, for any pattern and output. Those of the C library are not ("a" and thirty plus signs
 * take all memory). Threads: a pattern is for one at a time.
 */
#pragma once

#include "cache/base/util.h"

struct pattern;

/* -EINVAL with a sentence that begins with the pattern: not a regular expression, too large, or not exactly one group. */
int pattern_new(const char *text, struct pattern **ret);
void pattern_free(struct pattern *p);
DEFINE_CLEANUP(struct pattern *, pattern_free)
#define cleanup_pattern cleanup(pattern_freep)

extern uint64_t pattern_steps_most; /* in one search; a test has less time */

/* The group of the last match in the last line with a match; points into `output`. False: no match, or undecided after ten million steps from
 * one place of a line or four thousand million in all. Skips lines of more than a megabyte. */
bool pattern_last(struct pattern *p, struct slice output, struct slice *ret);
