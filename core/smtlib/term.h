/* Terms of SMT-LIB: immutable, hash-consed, owned by a bank.
 *
 * One pointer, one term. Within a bank, equal terms are the same pointer, so that == is equality of syntax, and a formula is a graph that shares its
 * subterms. A let of the source is not a term: it is expanded into this graph, and the printer writes lets for shared subterms. A term and all it
 * points to live as long as the bank; nothing is freed before. So a program that makes many formulas begins a new bank after every few of them, which
 * costs a few microseconds; term_copy() copies a term to another bank.
 *
 * Variables. A bound variable is a TERM_VARIABLE: a name and a sort. The nearest enclosing quantifier that lists it binds it. A constant of the same
 * name is another term, a TERM_FUNCTION without arguments. The reader gives a variable a fresh name where it would shadow another variable or a
 * declared symbol, so that within a script one name means one thing. The substitution renames to avoid capture; the printer renames where a constant
 * of the same name occurs.
 *
 * Errors. A function that returns a term returns NULL on failure: an argument was NULL, or the application is ill-typed. So constructions can be
 * nested, with one check at the end; bank_error() is -EINVAL then, error_message() its sentence. If there is no memory for a term or for a pass
 * over terms, the process ends (util.h); script_read() refuses an input that is too large for the memory.
 *
 * Threads. A bank belongs to one thread at a time. Different banks share nothing. */
#pragma once

#include "core/smtlib/operator.h"
#include "core/smtlib/token.h"

/* -- banks ------------------------------------------------------------------------------------------------------- */

struct bank *bank_new(void);
struct bank *bank_ref(struct bank *b);
struct bank *bank_unref(struct bank *b); /* returns NULL; `b` may be NULL */
DEFINE_CLEANUP(struct bank *, bank_unref)
#define cleanup_bank cleanup(bank_unrefp)

size_t bank_memory(const struct bank *b); /* bytes */
int bank_error(const struct bank *b); /* -errno of the last function that returned NULL; 0 if none did */

/* -- terms ------------------------------------------------------------------------------------------------------- */

enum term_kind {
        TERM_LITERAL,  /* a value: symbol holds its text (below) */
        TERM_VARIABLE, /* bound by an enclosing quantifier, or a parameter of a definition */
        TERM_FUNCTION, /* function applied to args; a declared constant has none */
        TERM_OPERATOR, /* op, index and args */
        TERM_OPAQUE,   /* of an unmodelled theory: symbol holds the head as printed, sort is mostly unknown */
        TERM_FORALL,   /* args: n_bound variables, then the body */
        TERM_EXISTS,
        TERM_LAMBDA,
        TERM_ANNOTATED, /* (! args[0] symbol …), one attribute each: `value` is the text of its value, or args[1…] its terms */
        N_TERM_KINDS
};

/* The text of a literal, by sort. Int: digits without leading zeros. Real: digits, a point, digits, as short as possible (1.0, 0.25). String:
 * canonical (dialect.h). BitVec: #b and digits up to 64 bits; a wider one as written, #x, #b or bvN. */
struct term {
        uint32_t id;        /* dense, from 0 in the order of making: arguments have lower ids */
        uint32_t n_parents; /* this and the next two members are the bank's own */
        uint64_t parents;   /* a bit for each parent's hash */
        struct term *first_parent;
        const struct sort *sort;
        uint64_t tree_size; /* number of nodes without sharing; UINT64_MAX: that or more */
        uint32_t depth;     /* 1 without arguments */
        enum term_kind kind : 8;
        bool is_open;        /* has free variables */
        bool is_qualified;   /* written (as … sort) */
        bool has_quantifier; /* it or a subterm is a quantifier */
        bool has_name;       /* it or a subterm is :named */
        enum op op;          /* TERM_OPERATOR, else OP_NONE */
        uint32_t n_args;
        uint32_t hash;             /* this and the next member are the bank's own */
        struct term *next_sibling;
        union {
                uint32_t index[2];          /* TERM_OPERATOR */
                uint32_t n_bound;           /* quantifiers */
                const struct symbol *value; /* TERM_ANNOTATED, or NULL */
        };
        union {
                const struct symbol *symbol;     /* TERM_LITERAL, TERM_VARIABLE, TERM_OPAQUE, TERM_ANNOTATED */
                const struct function *function; /* TERM_FUNCTION */
        };
        const struct term *args[];
};

static inline bool term_kind_is_quantifier(enum term_kind k)
{
        return k == TERM_FORALL || k == TERM_EXISTS || k == TERM_LAMBDA;
}
static inline bool term_is_quantifier(const struct term *t)
{
        return term_kind_is_quantifier(t->kind);
}
static inline const struct term *term_body(const struct term *quantifier)
{
        return quantifier->args[quantifier->n_bound];
}
static inline bool term_is_bool(const struct term *t)
{
        return t->sort->kind == SORT_BOOL;
}
static inline bool term_is(const struct term *t, enum op op)
{
        return t->op == op;
}
static inline bool term_is_named(const struct term *t) /* (! t :named n) */
{
        return t->kind == TERM_ANNOTATED && text_is(t->symbol->name, ":named");
}
static inline size_t term_n_index(const struct term *t)
{
        return t->op == OP_NONE      ? 0
               : t->op == OP_RE_LOOP ? (t->index[1] == UINT32_MAX ? 1 : 2)
                                     : operator_row(t->op)->indices_most;
}

/* -- making terms ------------------------------------------------------------------------------------------------- */

const struct term *term_true(struct bank *b);
const struct term *term_false(struct bank *b);
const struct term *term_int(struct bank *b, int64_t value);               /* below 0: (- n) */
const struct term *term_real(struct bank *b, int64_t value);              /* likewise */
const struct term *term_int_digits(struct bank *b, struct slice digits);  /* any size; -EINVAL unless digits */
const struct term *term_real_digits(struct bank *b, struct slice digits); /* 12, 1.50 */
const struct term *term_string(struct bank *b, const char *ascii);        /* each byte is a character; no escapes */
const struct term *term_string_of(struct bank *b, const uint32_t *characters, size_t n);
const struct term *term_string_canonical(struct bank *b, struct slice text);                 /* canonical text: dialect.h */
const struct term *term_bitvec(struct bank *b, uint64_t value, uint32_t width);              /* modulo 2^width */
const struct term *term_bitvec_digits(struct bank *b, struct slice decimal, uint32_t width); /* modulo 2^width */
const struct term *term_variable(struct bank *b, const struct symbol *s, const struct sort *sort);
/* A variable, or a constant, with a name that is new in this bank: stem!1, stem!2, … */
const struct term *term_fresh_variable(struct bank *b, const char *stem, const struct sort *sort);
const struct term *term_fresh_constant(struct bank *b, const char *stem, const struct sort *sort);

/* Checks sorts: -EINVAL with a sentence if ill-typed. `index` may be NULL for an operator without indices. */
int term_apply(struct bank *b, enum op op, const uint32_t *index, size_t n_index, const struct term *const *args, size_t n,
               const struct term **ret);
/* The same without indices. Returns the term or NULL, so that calls can be nested. */
const struct term *term_op(struct bank *b, enum op op, const struct term *const *args, size_t n);
const struct term *term_op1(struct bank *b, enum op op, const struct term *x);
const struct term *term_op2(struct bank *b, enum op op, const struct term *x, const struct term *y);
/* A list of any length: `n` 0 gives true, 1 the term itself. */
const struct term *term_and(struct bank *b, const struct term *const *args, size_t n);
const struct term *term_not(struct bank *b, const struct term *x); /* for (not x): x */

const struct term *term_constant(struct bank *b, const struct function *f);
/* `sort` NULL: the term has the function's result sort. Else it has this sort, and its head is printed (as f sort). */
const struct term *term_call_as(struct bank *b, const struct function *f, const struct sort *sort, const struct term *const *args,
                                size_t n);
const struct term *term_array_constant(struct bank *b, const struct sort *array, const struct term *element);
const struct term *term_opaque(struct bank *b, struct slice head, const struct sort *sort, bool is_qualified,
                               const struct term *const *args, size_t n);
/* kind: TERM_FORALL, TERM_EXISTS or TERM_LAMBDA; n = 0 gives the body. */
const struct term *term_quantifier(struct bank *b, enum term_kind kind, const struct term *const *variables, size_t n,
                                   const struct term *body);
/* `keyword` with its colon; `value` as printed, value.data NULL: none; `patterns`: the terms of a :pattern or :no-pattern. */
const struct term *term_annotate(struct bank *b, const struct term *t, struct slice keyword, struct slice value,
                                 const struct term *const *patterns, size_t n);
/* `t` with other arguments (the same number), and the same head. Checked like term_apply(). `t` itself if they are its own. */
const struct term *term_with_args(struct bank *b, const struct term *t, const struct term *const *args);

/* -- reading terms --------------------------------------------------------------------------------------------------- */

/* The value of a literal: false for another term, or a value too large. Int and Real: also (- n). */
bool term_to_int(const struct term *t, int64_t *ret);
bool term_to_real(const struct term *t, double *ret); /* also (/ m n) of literals */
bool term_to_bitvec(const struct term *t, uint64_t *ret);
/* The characters of a string literal; -EINVAL for another term. free(*ret). */
int term_to_string(const struct term *t, uint32_t **ret, size_t *ret_n);
size_t term_string_length(const struct term *literal);

size_t term_dag_size(const struct term *t); /* distinct nodes */

/* A list of terms, malloc'd. */
struct term_list {
        const struct term **list;
        size_t n;
};
void term_list_done(struct term_list *l);
void term_list_add(struct term_list *l, const struct term *t);
void term_list_reverse(struct term_list *l);
#define cleanup_term_list cleanup(term_list_done)

/* Maps the id of a term, symbol or function to a number: an array if the terms in use are a good part of their bank, else a hash table. A zeroed map
 * is empty, and takes any ids. */
struct term_map {
        uint32_t *dense;
        size_t n_dense;
        struct term_map_slot {
                uint32_t id_and_1, value;
        } * slots;
        size_t mask, n;
};
void term_map_init(struct term_map *m, const struct term *const *roots, size_t n); /* to set only subterms of these roots */
void term_map_done(struct term_map *m);
uint32_t id_map_get(const struct term_map *m, uint32_t id); /* 0 if not set */
void id_map_set(struct term_map *m, uint32_t id, uint32_t value);
static inline uint32_t term_map_get(const struct term_map *m, const struct term *t)
{
        return id_map_get(m, t->id);
}
static inline void term_map_set(struct term_map *m, const struct term *t, uint32_t value)
{
        id_map_set(m, t->id, value);
}
#define cleanup_term_map cleanup(term_map_done)

/* The index of the first argument that is a subterm; before it come a quantifier's variables. */
static inline size_t term_first_arg(const struct term *t)
{
        return term_is_quantifier(t) ? t->n_bound : 0;
}

/* All distinct subterms, arguments before their terms: a pass over the list needs no recursion. */
void term_subterms(const struct term *const *roots, size_t n, struct term_list *ret);
/* The free variables of a term, each once, in the order of their making. */
void term_free_variables(const struct term *t, struct term_list *ret);
bool term_is_closed_by(const struct term *t, const struct term *const *variables, size_t n); /* true if these include all its free variables */
bool term_has_free(const struct term *t, const struct term *const *variables, size_t n);     /* true if one of these is free in it */
/* The declared and defined functions in the terms, each once. free(*ret). */
void term_functions(const struct term *const *roots, size_t n, const struct function ***ret, size_t *ret_n);
/* Appends the open subterms of an open term, without those below a quantifier in it. */
void term_open_subterms(const struct term *root, struct term_list *ret);

/* -- occurrences: a term in its place ---------------------------------------------------------------------------------- */

/* A place is a path from the root down: at each step, the position of an argument. A shared subterm has several places. */
struct term_place {
        const struct term *term;
        uint32_t parent; /* index of the enclosing place; its own index for the root */
        uint32_t arg;    /* which argument of the parent */
        uint32_t depth;  /* 0 for the root */
};
struct term_places {
        struct term_place *list; /* parents first; malloc'd */
        size_t n;
};
void term_places_done(struct term_places *p);
#define cleanup_term_places cleanup(term_places_done)
/* The places of a term, in the order of the source; a quantifier's list of variables and patterns have none. Only the first `most` (at least 1). */
void term_places(const struct term *root, size_t most, struct term_places *ret);
/* The root with another term in that place; terms off the path stay shared. NULL also if `with` is ill-typed there. `with` may use the variables
 * bound around the place: the quantifiers there bind its free variables. */
const struct term *term_replace_at(struct bank *b, const struct term_places *p, size_t at, const struct term *with);
/* The variables bound around a place, nearest last. */
void term_variables_at(const struct term_places *p, size_t at, struct term_list *ret);

/* -- rewriting ------------------------------------------------------------------------------------------------------------ */

/* Replaces every free occurrence of from[i] (any terms; the outermost match wins) by to[i] of the same sort, all at once. No variable of a to[i] is
 * captured: quantifiers on the way get fresh variables. A from[i] is not looked for below quantifiers that bind one of its free variables. */
const struct term *term_substitute(struct bank *b, const struct term *t, const struct term *const *from,
                                   const struct term *const *to, size_t n);
/* The quantifier with terms in place of its first n variables, which leave its list; just the body if no variable is left. */
const struct term *term_instantiate(struct bank *b, const struct term *quantifier, const struct term *const *with, size_t n);
/* Bottom-up: `rewrite` gets each distinct subterm with its arguments already rewritten, and returns it or another one of the same sort. If it returns
 * NULL, so does term_rewrite(). Linear in the graph. */
const struct term *term_rewrite(struct bank *b, const struct term *t,
                                const struct term *(*rewrite)(void *user, struct bank *b, const struct term *t), void *user);
/* Bottom-up: `make` gets each distinct subterm, and as `args` what it returned for the subterm's arguments, perhaps NULL (a quantifier's variables
 * are there unchanged). It returns the subterm's replacement in `b`, or NULL. */
const struct term *term_rebuild(struct bank *b, const struct term *t,
                                const struct term *(*make)(void *user, const struct term *t, const struct term **args), void *user);

/* The same term in another bank. */
const struct term *term_copy(struct bank *to, const struct term *t);
const struct sort *sort_copy(struct bank *to, const struct sort *s);
const struct function *function_copy(struct bank *to, const struct function *f);
