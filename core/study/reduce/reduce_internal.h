/* Shared by reduce.c (what is asked, taken and kept), the steps of a script (reduce_steps.h) and those of other text (reduce_cnf.c, reduce_text.c). */
#pragma once

#include "core/smtlib/print.h"
#include "core/study/reduce/reduce.h"

struct reducer;

/* From all functions that try candidates: the current text was not interesting any more, and reduce_text() is an earlier one. The step ends, and all
 * steps begin again with that text. */
#define REDUCE_WITHDRAWN (-ESTALE)

/* The `at`-th candidate. 0; -ENOENT: there is none there; another error ends the reduction. */
typedef int (*reduce_make)(void *user, size_t at, struct buffer *ret);
/* Tries the candidates from..n-1 in order. 1: *ret_at was taken, reduce_text() is its text. 0: none. -ETIME: the time is over. */
int reduce_first(struct reducer *r, size_t from, size_t n, reduce_make make, void *user, size_t *ret_at);
/* Tries one text though it may be larger than what there is. 1: taken. */
int reduce_offer(struct reducer *r, struct slice text);

/* The candidate in which the items with is_out[i] are left out (or changed, whatever the step is). */
typedef int (*reduce_without)(void *user, const bool *is_out, struct buffer *ret);
/* Delta debugging over n items: chunks of `chunk` items and less (0: all of them first). Returns how many were taken out, or
 * -errno. */
int reduce_sweep(struct reducer *r, size_t n, size_t chunk, reduce_without make, void *user);

struct slice reduce_text(const struct reducer *r);
void reduce_stage(struct reducer *r, const char *stage);

/* All steps to a fixed point. 1: something was taken; 0: nothing; -errno. *ret_is_script, *ret_is_opaque: it could be read; parts of it are opaque. */
int reduce_script(struct reducer *r, bool *ret_is_script, bool *ret_is_opaque);
int reduce_cnf(struct reducer *r, bool *ret_is_cnf);
bool reduce_is_tree(struct reducer *r); /* its parentheses match, and nothing stands outside of them */
int reduce_trees(struct reducer *r);     /* of parentheses; -EINVAL when they do not match */
int reduce_lines(struct reducer *r);

/* -- terms (reduce_term.c, reduce_rewrite.c) -- */

/* Replacements, applied at once; the outermost match wins, and what is put there is left as it is. */
struct replacement {
        const struct term *from, *to;
};
/* A term, after them. NULL when it would be ill-typed or memory is out: bank_error(). */
const struct term *term_replaced(struct bank *b, const struct term *t, const struct replacement *list, size_t n);

/* The same in fewer words: no list in a list of the same operator, no argument that changes nothing, no double negation. NULL likewise. */
const struct term *term_tidied(struct bank *b, const struct term *t);

/* Simpler terms to put in a term's place, wherever it stands. They depend on the term and the lists alone. */
enum step_kind {
        STEP_ZERO,     /* true, 0, "", #b00, … */
        STEP_ONE,      /* false, 1 */
        STEP_CONSTANT, /* the first of `constants` of its sort */
        STEP_FRESH,    /* the one of `fresh` of its sort */
        STEP_CHILD     /* and on: the nearest subterms of its sort, one by one */
};
/* NULL: no such, or no memory: bank_error(). The lists may be NULL. */
const struct term *term_step(struct bank *b, const struct term *t, size_t step, const struct term_list *constants,
                             const struct term_list *fresh);
/* The nearest subterms of the same sort without variables that are bound in between. */
void term_nearest(const struct term *t, struct term_list *ret);
/* An application of an n-ary operator without these arguments; of one that is left alone: that one. NULL: it cannot be. */
const struct term *term_without_args(struct bank *b, const struct term *t, const bool *is_out);
/* A quantifier without its i-th variable, which is `value` in the body. */
const struct term *term_without_variable(struct bank *b, const struct term *quantifier, size_t i, const struct term *value);
/* Other terms that may stand in its place, of its sort and of its parts but no part of it (reduce_rewrite.c). */
void term_rewrites(struct bank *b, const struct term *t, struct term_list *ret);
#define NESTINGS_MOST 100 /* of them are tried in a pass: most are boring */
/* Of its sort, with fewer parts, of which one stands in another's place (reduce_rewrite.c). */
void term_nestings(struct bank *b, const struct term *t, struct term_list *ret);
/* 0 and 1: a value such as true or false; 2: another literal; 3: a constant or a variable; 4: what has arguments. */
unsigned term_rank(const struct term *t);
