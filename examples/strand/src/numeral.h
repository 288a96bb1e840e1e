/* Integers of which only the digits matter: a variable that occurs as str.from_int of it and nowhere else may be any
 * integer, so str.from_int of it any numeral or the empty word. The solver gets a word in its place, which may have more
 * digits than an integer here can hold. */
#pragma once
#include "eval.h"

struct numerals {
        vec_u32 numbers;  /* the variables */
        vec_u32 apps;     /* str.from_int of each */
        vec_u32 words;    /* what takes the place of each */
        vec_u32 asserts;  /* of these: the assertions with the words, and what the words are */
};

void numeral_find(struct bank *b, const tid *asserts, size_t n, struct numerals *ret);
void numeral_free(struct numerals *r);
/* The numbers' values from those of the words. A number too large for an int64_t is not set and has its digits in s. */
void numeral_values(const struct numerals *r, struct value *val);
