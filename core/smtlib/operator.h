/* The operators of the modelled theories: Core, Ints, Reals, FixedSizeBitVectors, FloatingPoint, ArraysEx and Strings, with the extensions of Z3 and
 * cvc5 that occur in benchmarks. One row per operator, in operator_list.h; no other file knows a name or a signature. */
#pragma once

#include "core/smtlib/sort.h"

enum theory {
        THEORY_CORE,
        THEORY_ARITHMETIC, /* Ints, Reals and both */
        THEORY_BITVECTORS,
        THEORY_FLOATS,
        THEORY_ARRAYS,
        THEORY_STRINGS, /* with regular expressions */
        N_THEORIES
};

/* The meaning of more than two arguments (SMT-LIB 2.6, section 3.7: :left-assoc and so on). */
enum operator_shape {
        SHAPE_FIXED,    /* as many as its signature has */
        SHAPE_LEFT,     /* two or more; left-associative. One, too (except for -): solvers read (and x) as x */
        SHAPE_RIGHT,    /* two or more; right-associative */
        SHAPE_CHAIN,    /* two or more; a conjunction over neighbours */
        SHAPE_PAIRWISE, /* two or more; a conjunction over pairs */
};

/* The sort of an argument or of the result in a signature: a fixed one, or a variable that the arguments determine. */
enum place_sort {
        PLACE_NONE,
        PLACE_BOOL,
        PLACE_INT,
        PLACE_REAL,
        PLACE_NUMBER, /* Int or Real, the same in all such places; one Real makes them all Real (solvers insert to_real) */
        PLACE_STRING,
        PLACE_REGLAN,
        PLACE_ROUNDING_MODE,
        PLACE_SAME,      /* any sort, the same in all such places; Int and Real may mix as in PLACE_NUMBER */
        PLACE_BITVEC,    /* any width, the same in all such places */
        PLACE_BITVEC_2,  /* any width, whatever the other places have */
        PLACE_BITVEC_3,  /* likewise */
        PLACE_FLOAT,     /* any format, the same in all such places */
        PLACE_ARRAY,     /* an array … */
        PLACE_INDEX,     /* … its index, */
        PLACE_ELEMENT,   /* … its element */
        PLACE_ANY,       /* any sort */
        PLACE_CONVERTED, /* to_fp: a bit-vector, float, real or integer */
        /* results only */
        PLACE_BIT,            /* (_ BitVec 1) */
        PLACE_BITVEC_SUM,     /* the sum of the widths */
        PLACE_BITVEC_EXTRACT, /* index[0] - index[1] + 1 */
        PLACE_BITVEC_REPEAT,  /* index[0] times */
        PLACE_BITVEC_EXTEND,  /* index[0] more */
        PLACE_BITVEC_INDEX,   /* index[0] wide */
        PLACE_FLOAT_INDEX,    /* index[0] bits of exponent, index[1] of significand */
        PLACE_FLOAT_PARTS,    /* for fp: exponent as wide as the second argument, significand one bit wider than the third */
        PLACE_FLOAT_BITS,     /* a bit-vector as wide as the float */
        PLACE_ASCRIBED        /* given by (as … sort) */
};

#define OPERATOR_ARGS_MOST 5 /* in a signature; associative ones take more */

/* Properties that rewriting and features may rely on. */
enum operator_flags {
        OPERATOR_COMMUTATIVE = 1 << 0, /* the order of the arguments does not matter */
        OPERATOR_IDEMPOTENT = 1 << 1,  /* f(x, x) = x */
        OPERATOR_EXTENSION = 1 << 2,   /* in no standard theory; some solvers have it */
        OPERATOR_OPTIONAL = 1 << 3,    /* the last argument may be missing */
        OPERATOR_ASSOCIATIVE = 1 << 4, /* nested lists of it are one list; set only where core/study/reduce flattens them */
        OPERATOR_IN_PAIRS = 1 << 5,    /* read here with any number of arguments; z3, cvc4 and cvc5 take only two */
        OPERATOR_RARE = 1 << 6         /* standard, but many versions of solvers lack it: it is new in 2.7, or they left it out */
};

struct operator_row {
        enum theory theory;
        enum operator_shape shape;
        uint8_t flags;
        const char *name;                         /* in 2.6 */
        enum place_sort args[OPERATOR_ARGS_MOST]; /* up to PLACE_NONE */
        enum place_sort result;
        const char *old_name;                /* in 2.0 and 2.5; NULL: the same */
        const char *aliases;                 /* other names that are read, separated by spaces; NULL: none */
        uint8_t indices_least, indices_most; /* (_ name i j) */
};

const struct operator_row *operator_row(enum op op); /* not of OP_NONE */
const char *operator_name(enum op op, enum dialect d);
/* The first operator with a name; several share one (unary and binary -), and operator_next() gives the next of them. OP_NONE if there is none. */
enum op operator_find(struct slice name);
enum op operator_next(enum op op);

size_t operator_n_args(enum op op);             /* of the signature */
bool operator_takes(enum op op, size_t n_args); /* true if it takes this number of arguments */
/* The sort of an application; -EINVAL with a sentence if it is ill-typed. `ascribed` is NULL except for PLACE_ASCRIBED. */
int operator_check(struct bank *b, enum op op, const uint32_t index[2], size_t n_index, const struct term *const *args, size_t n,
                   const struct sort *ascribed, const struct sort **ret);

/* Lists the operators that take these arguments and give this result, to replace one by another of the same signature: standard ones without indices,
 * no rare ones. `ret` has room for N_OPS. Returns their number. */
size_t operators_of(struct bank *b, const struct term *const *args, size_t n, const struct sort *result, enum op *ret);
/* True if an operator whose result is declared as `place` can give `sort`, for some arguments. */
bool place_can_hold(enum place_sort place, const struct sort *sort);
/* The only kind of sort that a place takes. SORT_UNKNOWN if it takes several, if its sort follows from other places, and for PLACE_BIT,
 * PLACE_BITVEC_2 and PLACE_BITVEC_3. */
enum sort_kind place_kind(enum place_sort place);
/* All operators whose result can be this sort, for some arguments: also extensions, rare ones and those with indices. `ret`: as operators_of(). */
size_t operators_to(const struct sort *result, enum op *ret);
