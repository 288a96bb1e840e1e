/* Reading DIMACS CNF, by one pass over its bytes. Clauses may go over lines; "%" ends the clauses, as in SATLIB's files; the 0 of the last
 * clause may be missing. Never allocates. A reader belongs to one thread. */
#pragma once

#include "cache/base/util.h"

struct cnf_reader {
        const char *base, *p, *end;
        int64_t variables, clauses; /* as the header announces them; -1 before it was read */
        bool is_in_clause;
        bool has_projection; /* a comment names variables: "c ind 1 2 0", "c p show 1 2 0" */
};

void cnf_reader_init(struct cnf_reader *r, struct slice bytes);
/* 1: the next literal, or 0 where a clause ends. 0: no clause follows; a header was there. -EINVAL with a sentence: also for a variable so
 * large that a table of all up to it were out of proportion to the input. */
int cnf_next(struct cnf_reader *r, int32_t *ret);
