/* The function symbols of the theories of strings, integers and Booleans, with their older spellings. */
#pragma once
#include "term.h"

struct builtin {
        const char *name;
        enum op op;
        /* Result sort, ':', argument sorts; B I S R, T any one sort the same for all; '+': one or more of the
         * last, '?': the last may be missing. */
        const char *sig;
        bool swapped; /* the two arguments come in the other order */
        int indices;  /* how many numerals (_ name N ..) takes, at most */
};

extern const struct builtin builtin_table[];
extern const size_t builtin_count;
