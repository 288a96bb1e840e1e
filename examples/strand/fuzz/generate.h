/* Random formulas over strings, small enough that most are decided at once. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Writes declarations and assertions (no set-logic, no check-sat) into buf; returns the length. `flavour`
 * narrows the functions: 0 all that z3 and cvc5 agree about, 1 equations and lengths, 2 memberships, 3
 * functions. */
size_t fuzz_generate(uint64_t seed, int flavour, char *buf, size_t size);
