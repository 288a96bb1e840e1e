/* DIMACS CNF, read in one pass over its bytes, or held in memory. Clauses may span lines; "%" ends the clauses, as in SATLIB's files; the 0 of the
 * last clause may be missing. A reader never allocates, and belongs to one thread. */
#pragma once

#include "cache/base/util.h"

struct cnf_reader {
        const char *base, *p, *end; /* the input, which is borrowed */
        int64_t variables, clauses; /* as the header announces them; -1 before it was read */
        bool is_in_clause;
        bool names_variables; /* a comment so far names variables by number ("c ind 1 2 0", "c p show 1 2 0"): renumbering would change its meaning */
};

/* True if `head`, the beginning of a text, is DIMACS: comments, if any, and the header "p cnf". Comments alone will do unless `needs_header`. */
bool cnf_begins(struct slice head, bool needs_header);
void cnf_reader_init(struct cnf_reader *r, struct slice bytes);
/* Returns 1, with the next literal in *ret, or 0 there at the end of a clause. Returns 0 if no clause follows. -EINVAL with a sentence, also if the
 * header is missing, or a variable is so large that a table of all variables would be out of proportion to the input. */
int cnf_next(struct cnf_reader *r, int32_t *ret);

struct cnf {
        int32_t *literals; /* owned; of all clauses, one after the other */
        size_t n_literals;
        size_t *ends; /* owned; for each clause, the index in `literals` behind its last literal */
        size_t n_clauses;
        uint32_t variables; /* at least the highest that occurs; exactly that after cnf_read() and cnf_copy() */
};
struct cnf *cnf_free(struct cnf *c); /* returns NULL; `c` may be NULL */
DEFINE_CLEANUP(struct cnf *, cnf_free)
#define cleanup_cnf cleanup(cnf_freep)

/* Reads all clauses of a reader's input. -EINVAL with a sentence, also for a variable above the header's. -EFBIG for more than UINT32_MAX clauses. */
int cnf_read(struct cnf_reader *r, struct cnf **ret);
int cnf_parse(struct slice text, struct cnf **ret); /* the same, of a whole text */
struct cnf *cnf_new(void);
struct cnf *cnf_copy(const struct cnf *c);
void cnf_add(struct cnf *c, int32_t literal); /* 0 ends the clause */
void cnf_add_clause(struct cnf *c, const int32_t *literals, size_t n);
/* Adds the clauses of another formula. Its variable v becomes v + shift; the caller sees to it that this is at most INT32_MAX. */
void cnf_append(struct cnf *c, const struct cnf *other, uint32_t shift);
/* The literals of clause number `at`, and how many they are. They are in `c`, and valid until it changes. */
int32_t *cnf_clause(const struct cnf *c, size_t at, size_t *ret_n);
int cnf_print(const struct cnf *c, struct buffer *ret); /* a clause on each line */
