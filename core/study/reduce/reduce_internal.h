/* Shared by reduce.c (tests, takes and keeps texts), the steps of a script (reduce_steps.h) and those of other text (reduce_cnf.c, reduce_text.c). */
#pragma once

#include "core/smtlib/print.h"
#include "core/study/reduce/reduce.h"

struct reducer;

/* An error of all functions that try candidates: the current text was not interesting any more, and reduce_text() is an earlier one. The step ends, and
 * all steps begin again with that text. */
#define REDUCE_WITHDRAWN (-ESTALE)

/* The `at`-th candidate. -ENOENT: there is none; any other error ends the reduction. */
typedef int (*reduce_make)(void *user, size_t at, struct buffer *ret);
/* Tries the candidates from..n-1 in order. 1: *ret_at was taken, and reduce_text() is its text. 0: none was taken. -ETIME: the time is over. */
int reduce_first(struct reducer *r, size_t from, size_t n, reduce_make make, void *user, size_t *ret_at);
/* Tries one text even if it is larger than the current one. 1: it is the current text now. */
int reduce_offer(struct reducer *r, struct slice text);

/* Makes the candidate without the items i with is_out[i] (or, in some steps, with these items changed). Returns as reduce_make. */
typedef int (*reduce_without)(void *user, const bool *is_out, struct buffer *ret);
/* Delta debugging over n items, in chunks of at most `chunk` items (0: begins with all). Returns the number of items taken out, or -errno. */
int reduce_sweep(struct reducer *r, size_t n, size_t chunk, reduce_without make, void *user);

struct slice reduce_text(const struct reducer *r);
void reduce_set_stage(struct reducer *r, const char *stage);
enum dialect reduce_dialect(const struct reducer *r); /* of a text that names none */

/* `is_script`: from now on core/smtlib must be able to read every candidate with these options, except those of reduce_offer(). False: no longer. */
void reduce_require_script(struct reducer *r, bool is_script, const struct script_options *o);
bool reduce_requires_script(const struct reducer *r);
/* Also refuses a candidate that uses a name which it does not declare, and which the script of this bank does. NULL: no longer. Takes a reference. */
void reduce_require_names(struct reducer *r, struct bank *names);

/* Run all steps of a format, until a pass takes nothing. 1: something was taken; 0: nothing, or the text has another format; -errno. *ret_is_script:
 * the text is a script with a known command. */
int reduce_script(struct reducer *r, bool *ret_is_script);
int reduce_cnf(struct reducer *r, bool *ret_is_cnf);

/* Words, parentheses with what is between them, and lines. */
struct text_node {
        size_t begin, end; /* bytes */
        size_t parent;     /* SIZE_MAX: none */
        size_t root;       /* the node of depth 0 around it, or itself */
        uint32_t depth;
};
struct text_tree {
        struct buffer text;
        struct text_node *list; /* owned; in the order in which they begin */
        size_t n;
        uint32_t depth; /* of the deepest node, plus 1; 0: no nodes */
        bool has_lines; /* the nodes are lines, not words and parentheses */
};
void text_tree_done(struct text_tree *t);
int text_tree_read(struct reducer *r, struct text_tree *ret);                                    /* the current text; -EINVAL: parentheses do not match */
void text_tree_write_without(const struct text_tree *t, const bool *is_out, struct buffer *ret); /* the text without these nodes */
bool reduce_is_tree(struct reducer *r); /* the parentheses match, and nothing is outside of them */
/* 1: something was taken; 0: nothing. reduce_trees() changes a script only in commands of unknown name. -EINVAL: the parentheses do not match. */
int reduce_trees(struct reducer *r);
int reduce_lines(struct reducer *r);

/* -- terms (reduce_term.c, reduce_rewrite.c) -- */

/* Replacements, applied at once; the outermost match wins, and no replacement is searched for further matches. */
struct replacement {
        const struct term *from, *to;
};
/* A term after the replacements. NULL: ill-typed. */
const struct term *term_replaced(struct bank *b, const struct term *t, const struct replacement *list, size_t n);

/* The term in fewer words: no list in a list of the same operator, no neutral argument, no double negation. NULL: ill-typed. */
const struct term *term_tidied(struct bank *b, const struct term *t);

/* Simpler terms to replace a term anywhere. They depend on the term and the lists alone. */
enum replacement_kind {
        REPLACEMENT_ZERO,     /* true, 0, "", #b00, … */
        REPLACEMENT_ONE,      /* false, 1 */
        REPLACEMENT_CONSTANT, /* the first of `constants` with the term's sort */
        REPLACEMENT_FRESH,    /* the one of `fresh` with the term's sort */
        REPLACEMENT_CHILD     /* and higher: the nearest subterms of the term's sort, one by one */
};
/* NULL: no such term. The lists may be NULL. */
const struct term *term_replacement(struct bank *b, const struct term *t, size_t kind, const struct term_list *constants,
                                    const struct term_list *fresh);
/* The nearest subterms of the term's sort, except those with a variable that is bound in between. */
void term_nearest(const struct term *t, struct term_list *ret);
/* An application of an n-ary operator without these arguments; a single remaining argument itself. NULL: not possible. */
const struct term *term_without_args(struct bank *b, const struct term *t, const bool *is_out);
/* A quantifier without its i-th variable, replaced by `value` in the body. */
const struct term *term_without_variable(struct bank *b, const struct term *quantifier, size_t i, const struct term *value);
/* Possible replacements of a term: of its sort, made of its parts, but none of its subterms (reduce_rewrite.c). */
void term_rewrites(struct bank *b, const struct term *t, struct term_list *ret);
#define NESTINGS_MOST 100 /* tried per pass: most are boring */
/* Terms of the same sort that lack an argument, but have a subterm of it within another one. For a formula, also equalities of a part and a value. */
void term_nestings(struct bank *b, const struct term *t, struct term_list *ret);
/* 0 and 1: what REPLACEMENT_ZERO and REPLACEMENT_ONE give; 2: another value; 3: a constant or a variable; 4: an application. */
unsigned term_rank(struct bank *b, const struct term *t);
