/* The three dialects of SMT-LIB that solvers of the last fifteen years read. They differ in the syntax of string literals and in the names of
 * operators of the theory of strings (core/smtlib/operator.h).
 *
 *     2.0   \" and \\ inside a string; \x41, \n and octal as in C; str.in.re, str.to.int, int.to.str, str.to.re, re.nostr, re.allchar
 *     2.5   "" inside a string; the other escapes and the names as in 2.0
 *     2.6   "" inside a string; \u{41} and \u0041, and no other escape; str.in_re, str.to_int, str.from_int, str.to_re, re.none, re.allchar
 *
 * In memory a string's value has one form in every dialect: its canonical text. It is the text that 2.6 would show between the quotes, without
 * doubled quotes. A printable ASCII character is itself; any other character is \u{X} with lower-case digits and no leading zero, and so is a
 * backslash before a u. Two literals of the same string have the same canonical text. Bytes from 0x80 on, which the standard leaves open, stay bytes
 * and count as a character each (as Z3 reads them). */
#pragma once

#include "cache/base/util.h"

enum dialect {
        DIALECT_2_0,
        DIALECT_2_5,
        DIALECT_2_6,
        N_DIALECTS
};

#define CHARACTER_MOST 0x2ffff /* the last code point of the theory of strings (SMT-LIB 2.6, Unicode strings) */

/* Reads "2.0", "2.5", "2.6" or "2.7" (which counts as 2.6), also with a point and more behind it ("2.6.1"); -EINVAL for other texts. */
int dialect_parse(struct slice text, enum dialect *ret);
const char *dialect_name(enum dialect d);
/* The dialect of that name; 2.6 for NULL (as in a recipe without one) and for a name that dialect_parse() refuses. */
enum dialect dialect_named(const char *name);

/* Appends the canonical text of a literal, given without its quotes. `ret` must be empty or end with canonical text. */
void dialect_decode_string(enum dialect d, struct slice literal, struct buffer *ret);
/* Appends a literal with its quotes. Characters beyond 0xff, for which 2.0 and 2.5 have no escape, stay \u{…}, which solvers of these dialects read. */
void dialect_encode_string(enum dialect d, struct slice canonical, struct buffer *ret);

/* Walks a canonical text: returns the character at *at, and moves *at past it. False at the end. */
bool dialect_next_character(struct slice canonical, size_t *at, uint32_t *ret);
/* Reads at most `most` digits of a base from `p`, where `left` bytes are left. Returns how many there were; *ret: their value. */
size_t dialect_digits(const char *p, size_t left, size_t most, unsigned base, uint32_t *ret);
/* Appends the canonical form of one character after the text in `ret`. */
void dialect_add_character(struct buffer *ret, uint32_t character);
