/* Symbols, sorts and functions of a bank. All three are unique within their bank: equal ones are one pointer, valid as long as the bank. */
#pragma once

#include "core/smtlib/dialect.h"

struct bank;
struct sort;
struct term;

/* Every operator, by name. */
enum op {
        OP_NONE,
#define OPERATOR(op, ...) op,
#include "core/smtlib/operator_list.h"
#undef OPERATOR
        N_OPS
};

/* A name without its bars: |a| and a are one symbol. It may hold any bytes but | and \. */
struct symbol {
        uint32_t id;                  /* dense, from 0 */
        enum op op;                   /* the first operator of this name (operator.h), or OP_NONE */
        bool is_reserved;             /* by the standard: as a term or a name it is written |quoted| */
        bool is_declared, is_missed;  /* in a script that was read: it is declared; it is used undeclared */
        struct slice name;            /* followed by a NUL */
        void *binding, *sort_binding; /* used by the reader */
        struct term *literal;         /* the bank's own: the first literal of this text, or NULL */
};

enum sort_kind {
        SORT_UNKNOWN, /* of a term of an unmodelled theory; agrees with every sort */
        SORT_BOOL,
        SORT_INT,
        SORT_REAL,
        SORT_STRING,
        SORT_REGLAN,
        SORT_ROUNDING_MODE,
        SORT_BITVEC,    /* index[0]: width */
        SORT_FLOAT,     /* index[0]: exponent bits, index[1]: significand bits */
        SORT_ARRAY,     /* args[0]: index, args[1]: element */
        SORT_NAMED,     /* declared, a datatype, or of an unmodelled theory (Seq, Set …); symbol and args */
        SORT_INDEXED,   /* (_ Name 3 …) of an unmodelled theory; symbol is its whole text */
        SORT_PARAMETER, /* of a (par …) or define-sort */
        N_SORT_KINDS
};

struct sort {
        enum sort_kind kind;
        uint32_t id; /* dense, from 0 */
        uint32_t index[2];
        uint32_t n_args;
        uint32_t size, depth;            /* written out: nodes, levels */
        bool has_parameter, has_unknown; /* in it or in its arguments */
        const struct symbol *symbol;     /* SORT_NAMED, SORT_PARAMETER, SORT_INDEXED */
        const struct sort *args[];
};

enum function_kind {
        FUNCTION_DECLARED,
        FUNCTION_DEFINED, /* define-fun and its kin; the definition is in the command */
        FUNCTION_OF_DATATYPE, /* a constructor c, a selector, or is-c, the tester of c before 2.6. Its sorts may have the datatype's parameters */
        FUNCTION_NAMED        /* the n of (! t :named n), used as a term */
};

/* A symbol with its signature. Equal declarations, in one script or in two of one bank, are one function. */
struct function {
        enum function_kind kind;
        uint32_t id; /* dense, from 0 */
        const struct symbol *symbol;
        const struct sort *result;
        struct term *constant; /* the bank's own: the first application without arguments, or NULL */
        uint32_t n_args;
        const struct sort *args[];
};

/* -- making them. A NULL argument gives NULL, so calls can be nested; other failures give NULL and set bank_error() -------------- */

const struct symbol *symbol_of(struct bank *b, struct slice name);
const struct symbol *symbol_find(struct bank *b, struct slice name); /* NULL if the bank has never seen it */
/* A symbol that the bank has not seen: stem!1, stem!2, … The stem of x!1 is x. */
const struct symbol *symbol_fresh(struct bank *b, struct slice stem);

/* Bool, Int, Real, String, RegLan, RoundingMode, or unknown: without arguments and indices; never fails. */
const struct sort *sort_simple(struct bank *b, enum sort_kind kind);
const struct sort *sort_bitvec(struct bank *b, uint32_t width);                         /* at least 1, else NULL */
const struct sort *sort_float(struct bank *b, uint32_t exponent, uint32_t significand); /* at least 2 each, else NULL */
const struct sort *sort_array(struct bank *b, const struct sort *index, const struct sort *element);
const struct sort *sort_named(struct bank *b, const struct symbol *s, const struct sort *const *args, size_t n);

const struct function *function_of(struct bank *b, enum function_kind kind, const struct symbol *s,
                                   const struct sort *const *args, size_t n, const struct sort *result);

/* True if they are equal as far as known. An unknown sort agrees with any, also inside another. */
bool sort_agrees(const struct sort *a, const struct sort *b);
static inline bool sort_is_number(const struct sort *s)
{
        return s->kind == SORT_INT || s->kind == SORT_REAL;
}
void sort_print(const struct sort *s, struct buffer *ret); /* in the syntax of 2.6 */
