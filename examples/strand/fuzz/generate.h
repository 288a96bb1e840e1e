/* Random formulas over strings, small enough that most are decided at once. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct fuzz_formula {
        char *text; /* declarations and assertions; no set-logic, no check-sat */
        /* assertions that say the same to strand and to the others, which lack the function */
        char *mine, *theirs;
        char *terms; /* to ask the values of, a line each */
};

/* Fills the buffers of `size` each. `flavour` narrows the functions: 0 all, 1 equations and lengths, 2 memberships, 3
 * functions, 4 functions of languages, digits and codes. */
void fuzz_generate(uint64_t seed, int flavour, const struct fuzz_formula *f, size_t size);
#define FUZZ_FLAVOURS 5
