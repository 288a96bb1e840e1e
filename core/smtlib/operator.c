/* The table of operators. Sources: the SMT-LIB theories Core, Ints, Reals, Reals_Ints, FixedSizeBitVectors with QF_BV's extensions,
 * FloatingPoint, ArraysEx, UnicodeStrings (all as of 2.6), and the manuals of Z3 and cvc5 for the rest. */
#include "core/smtlib/smtlib_internal.h"

#include <pthread.h>

/* Short names that keep a row a line. */
#define B     PLACE_BOOL
#define I     PLACE_INT
#define R     PLACE_REAL
#define N     PLACE_NUMBER
#define S     PLACE_STRING
#define L     PLACE_REGLAN
#define M     PLACE_ROUNDING_MODE
#define T     PLACE_SAME
#define V     PLACE_BITVEC
#define V2    PLACE_BITVEC_2
#define V3    PLACE_BITVEC_3
#define F     PLACE_FLOAT
#define A     PLACE_ARRAY
#define CORE  THEORY_CORE
#define ARITH THEORY_ARITHMETIC
#define BV    THEORY_BITVECTORS
#define FP    THEORY_FLOATS
#define ARR   THEORY_ARRAYS
#define STR   THEORY_STRINGS
#define FIXED SHAPE_FIXED
#define LEFT  SHAPE_LEFT
#define RIGHT SHAPE_RIGHT
#define CHAIN SHAPE_CHAIN
#define PAIRS SHAPE_PAIRWISE
#define COMM  OPERATOR_COMMUTATIVE
#define IDEM  OPERATOR_IDEMPOTENT
#define EXT   OPERATOR_EXTENSION
#define OPT   OPERATOR_OPTIONAL

/* clang-format off: a row is a line */
static const struct operator_row rows[N_OPS] = {
        /* -- Core -- */
        [OP_TRUE] = {CORE, FIXED, 0, "true", {0}, B},
        [OP_FALSE] = {CORE, FIXED, 0, "false", {0}, B},
        [OP_NOT] = {CORE, FIXED, 0, "not", {B}, B},
        [OP_IMPLIES] = {CORE, RIGHT, 0, "=>", {B, B}, B, .aliases = "implies"},
        [OP_AND] = {CORE, LEFT, COMM | IDEM, "and", {B, B}, B},
        [OP_OR] = {CORE, LEFT, COMM | IDEM, "or", {B, B}, B},
        [OP_XOR] = {CORE, LEFT, COMM, "xor", {B, B}, B},
        [OP_EQUAL] = {CORE, CHAIN, COMM, "=", {T, T}, B, .aliases = "iff"},
        [OP_DISTINCT] = {CORE, PAIRS, COMM, "distinct", {T, T}, B},
        [OP_ITE] = {CORE, FIXED, 0, "ite", {B, T, T}, T, .aliases = "if"},

        /* -- Ints, Reals, and both -- */
        [OP_NEGATE] = {ARITH, FIXED, 0, "-", {N}, N},
        [OP_MINUS] = {ARITH, LEFT, 0, "-", {N, N}, N},
        [OP_PLUS] = {ARITH, LEFT, COMM, "+", {N, N}, N},
        [OP_TIMES] = {ARITH, LEFT, COMM, "*", {N, N}, N},
        [OP_DIVIDE] = {ARITH, LEFT, 0, "/", {R, R}, R},
        [OP_INT_DIV] = {ARITH, LEFT, 0, "div", {I, I}, I},
        [OP_MOD] = {ARITH, FIXED, 0, "mod", {I, I}, I},
        [OP_ABS] = {ARITH, FIXED, 0, "abs", {N}, N},
        [OP_LE] = {ARITH, CHAIN, 0, "<=", {N, N}, B},
        [OP_LT] = {ARITH, CHAIN, 0, "<", {N, N}, B},
        [OP_GE] = {ARITH, CHAIN, 0, ">=", {N, N}, B},
        [OP_GT] = {ARITH, CHAIN, 0, ">", {N, N}, B},
        [OP_TO_REAL] = {ARITH, FIXED, 0, "to_real", {I}, R},
        [OP_TO_INT] = {ARITH, FIXED, 0, "to_int", {R}, I},
        [OP_IS_INT] = {ARITH, FIXED, 0, "is_int", {R}, B},
        [OP_DIVISIBLE] = {ARITH, FIXED, 0, "divisible", {I}, B, .indices_least = 1, .indices_most = 1},
        [OP_REM] = {ARITH, FIXED, EXT, "rem", {I, I}, I},
        [OP_POWER] = {ARITH, FIXED, EXT, "^", {N, N}, N},
        [OP_PI] = {ARITH, FIXED, EXT, "real.pi", {0}, R},
        [OP_REAL_EXP] = {ARITH, FIXED, EXT, "exp", {R}, R},
        [OP_REAL_SIN] = {ARITH, FIXED, EXT, "sin", {R}, R},
        [OP_REAL_COS] = {ARITH, FIXED, EXT, "cos", {R}, R},
        [OP_REAL_TAN] = {ARITH, FIXED, EXT, "tan", {R}, R},
        [OP_REAL_CSC] = {ARITH, FIXED, EXT, "csc", {R}, R},
        [OP_REAL_SEC] = {ARITH, FIXED, EXT, "sec", {R}, R},
        [OP_REAL_COT] = {ARITH, FIXED, EXT, "cot", {R}, R},
        [OP_REAL_ARCSIN] = {ARITH, FIXED, EXT, "arcsin", {R}, R},
        [OP_REAL_ARCCOS] = {ARITH, FIXED, EXT, "arccos", {R}, R},
        [OP_REAL_ARCTAN] = {ARITH, FIXED, EXT, "arctan", {R}, R},
        [OP_REAL_ARCCSC] = {ARITH, FIXED, EXT, "arccsc", {R}, R},
        [OP_REAL_ARCSEC] = {ARITH, FIXED, EXT, "arcsec", {R}, R},
        [OP_REAL_ARCCOT] = {ARITH, FIXED, EXT, "arccot", {R}, R},
        [OP_REAL_SQRT] = {ARITH, FIXED, EXT, "sqrt", {R}, R},
        [OP_IAND] = {ARITH, FIXED, EXT, "iand", {I, I}, I, .indices_least = 1, .indices_most = 1},
        [OP_INT_POW2] = {ARITH, FIXED, EXT, "int.pow2", {I}, I},

        /* -- FixedSizeBitVectors -- */
        [OP_BV_CONCAT] = {BV, LEFT, 0, "concat", {V2, V3}, PLACE_BITVEC_SUM},
        [OP_BV_EXTRACT] = {BV, FIXED, 0, "extract", {V2}, PLACE_BITVEC_EXTRACT, .indices_least = 2, .indices_most = 2},
        [OP_BV_NOT] = {BV, FIXED, 0, "bvnot", {V}, V},
        [OP_BV_NEG] = {BV, FIXED, 0, "bvneg", {V}, V},
        [OP_BV_AND] = {BV, LEFT, COMM | IDEM, "bvand", {V, V}, V},
        [OP_BV_OR] = {BV, LEFT, COMM | IDEM, "bvor", {V, V}, V},
        [OP_BV_XOR] = {BV, LEFT, COMM, "bvxor", {V, V}, V},
        [OP_BV_NAND] = {BV, FIXED, COMM, "bvnand", {V, V}, V},
        [OP_BV_NOR] = {BV, FIXED, COMM, "bvnor", {V, V}, V},
        [OP_BV_XNOR] = {BV, LEFT, COMM, "bvxnor", {V, V}, V},
        [OP_BV_ADD] = {BV, LEFT, COMM, "bvadd", {V, V}, V},
        [OP_BV_SUB] = {BV, LEFT, 0, "bvsub", {V, V}, V},
        [OP_BV_MUL] = {BV, LEFT, COMM, "bvmul", {V, V}, V},
        [OP_BV_UDIV] = {BV, FIXED, 0, "bvudiv", {V, V}, V},
        [OP_BV_UREM] = {BV, FIXED, 0, "bvurem", {V, V}, V},
        [OP_BV_SDIV] = {BV, FIXED, 0, "bvsdiv", {V, V}, V},
        [OP_BV_SREM] = {BV, FIXED, 0, "bvsrem", {V, V}, V},
        [OP_BV_SMOD] = {BV, FIXED, 0, "bvsmod", {V, V}, V},
        [OP_BV_SHL] = {BV, FIXED, 0, "bvshl", {V, V}, V},
        [OP_BV_LSHR] = {BV, FIXED, 0, "bvlshr", {V, V}, V},
        [OP_BV_ASHR] = {BV, FIXED, 0, "bvashr", {V, V}, V},
        [OP_BV_COMP] = {BV, FIXED, COMM, "bvcomp", {V, V}, PLACE_BIT},
        [OP_BV_ULT] = {BV, FIXED, 0, "bvult", {V, V}, B},
        [OP_BV_ULE] = {BV, FIXED, 0, "bvule", {V, V}, B},
        [OP_BV_UGT] = {BV, FIXED, 0, "bvugt", {V, V}, B},
        [OP_BV_UGE] = {BV, FIXED, 0, "bvuge", {V, V}, B},
        [OP_BV_SLT] = {BV, FIXED, 0, "bvslt", {V, V}, B},
        [OP_BV_SLE] = {BV, FIXED, 0, "bvsle", {V, V}, B},
        [OP_BV_SGT] = {BV, FIXED, 0, "bvsgt", {V, V}, B},
        [OP_BV_SGE] = {BV, FIXED, 0, "bvsge", {V, V}, B},
        [OP_BV_REPEAT] = {BV, FIXED, 0, "repeat", {V2}, PLACE_BITVEC_REPEAT, .indices_least = 1, .indices_most = 1},
        [OP_BV_ZERO_EXTEND] = {BV, FIXED, 0, "zero_extend", {V2}, PLACE_BITVEC_EXTEND, .indices_least = 1, .indices_most = 1},
        [OP_BV_SIGN_EXTEND] = {BV, FIXED, 0, "sign_extend", {V2}, PLACE_BITVEC_EXTEND, .indices_least = 1, .indices_most = 1},
        [OP_BV_ROTATE_LEFT] = {BV, FIXED, 0, "rotate_left", {V}, V, .indices_least = 1, .indices_most = 1},
        [OP_BV_ROTATE_RIGHT] = {BV, FIXED, 0, "rotate_right", {V}, V, .indices_least = 1, .indices_most = 1},
        [OP_BV_NEGO] = {BV, FIXED, 0, "bvnego", {V}, B},
        [OP_BV_UADDO] = {BV, FIXED, COMM, "bvuaddo", {V, V}, B},
        [OP_BV_SADDO] = {BV, FIXED, COMM, "bvsaddo", {V, V}, B},
        [OP_BV_USUBO] = {BV, FIXED, 0, "bvusubo", {V, V}, B},
        [OP_BV_SSUBO] = {BV, FIXED, 0, "bvssubo", {V, V}, B},
        [OP_BV_UMULO] = {BV, FIXED, COMM, "bvumulo", {V, V}, B},
        [OP_BV_SMULO] = {BV, FIXED, COMM, "bvsmulo", {V, V}, B},
        [OP_BV_SDIVO] = {BV, FIXED, 0, "bvsdivo", {V, V}, B},
        [OP_BV_REDAND] = {BV, FIXED, EXT, "bvredand", {V}, PLACE_BIT},
        [OP_BV_REDOR] = {BV, FIXED, EXT, "bvredor", {V}, PLACE_BIT},
        [OP_BV_EXT_ROTATE_LEFT] = {BV, FIXED, EXT, "ext_rotate_left", {V, V}, V},
        [OP_BV_EXT_ROTATE_RIGHT] = {BV, FIXED, EXT, "ext_rotate_right", {V, V}, V},
        [OP_BV_TO_NAT] = {BV, FIXED, 0, "bv2nat", {V2}, I, .aliases = "ubv_to_int bv2int"},
        [OP_BV_TO_INT_SIGNED] = {BV, FIXED, EXT, "sbv_to_int", {V2}, I},
        [OP_INT_TO_BV] = {BV,
                          FIXED,
                          0,
                          "int2bv",
                          {I},
                          PLACE_BITVEC_INDEX,
                          .aliases = "nat2bv int_to_bv",
                          .indices_least = 1,
                          .indices_most = 1},

        /* -- FloatingPoint -- */
        [OP_RNE] = {FP, FIXED, 0, "RNE", {0}, M, .aliases = "roundNearestTiesToEven"},
        [OP_RNA] = {FP, FIXED, 0, "RNA", {0}, M, .aliases = "roundNearestTiesToAway"},
        [OP_RTP] = {FP, FIXED, 0, "RTP", {0}, M, .aliases = "roundTowardPositive"},
        [OP_RTN] = {FP, FIXED, 0, "RTN", {0}, M, .aliases = "roundTowardNegative"},
        [OP_RTZ] = {FP, FIXED, 0, "RTZ", {0}, M, .aliases = "roundTowardZero"},
        [OP_FP] = {FP, FIXED, 0, "fp", {PLACE_BIT, V2, V3}, PLACE_FLOAT_PARTS},
        [OP_FP_PLUS_INFINITY] = {FP, FIXED, 0, "+oo", {0}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_MINUS_INFINITY] = {FP, FIXED, 0, "-oo", {0}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_PLUS_ZERO] = {FP, FIXED, 0, "+zero", {0}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_MINUS_ZERO] = {FP, FIXED, 0, "-zero", {0}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_NAN] = {FP, FIXED, 0, "NaN", {0}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_ABS] = {FP, FIXED, 0, "fp.abs", {F}, F},
        [OP_FP_NEG] = {FP, FIXED, 0, "fp.neg", {F}, F},
        [OP_FP_ADD] = {FP, FIXED, 0, "fp.add", {M, F, F}, F},
        [OP_FP_MUL] = {FP, FIXED, 0, "fp.mul", {M, F, F}, F},
        [OP_FP_SUB] = {FP, FIXED, 0, "fp.sub", {M, F, F}, F},
        [OP_FP_DIV] = {FP, FIXED, 0, "fp.div", {M, F, F}, F},
        [OP_FP_FMA] = {FP, FIXED, 0, "fp.fma", {M, F, F, F}, F},
        [OP_FP_SQRT] = {FP, FIXED, 0, "fp.sqrt", {M, F}, F},
        [OP_FP_REM] = {FP, FIXED, 0, "fp.rem", {F, F}, F},
        [OP_FP_ROUND_TO_INTEGRAL] = {FP, FIXED, 0, "fp.roundToIntegral", {M, F}, F},
        [OP_FP_MIN] = {FP, FIXED, 0, "fp.min", {F, F}, F},
        [OP_FP_MAX] = {FP, FIXED, 0, "fp.max", {F, F}, F},
        [OP_FP_LEQ] = {FP, CHAIN, 0, "fp.leq", {F, F}, B},
        [OP_FP_LT] = {FP, CHAIN, 0, "fp.lt", {F, F}, B},
        [OP_FP_GEQ] = {FP, CHAIN, 0, "fp.geq", {F, F}, B},
        [OP_FP_GT] = {FP, CHAIN, 0, "fp.gt", {F, F}, B},
        [OP_FP_EQ] = {FP, CHAIN, COMM, "fp.eq", {F, F}, B},
        [OP_FP_IS_NORMAL] = {FP, FIXED, 0, "fp.isNormal", {F}, B},
        [OP_FP_IS_SUBNORMAL] = {FP, FIXED, 0, "fp.isSubnormal", {F}, B},
        [OP_FP_IS_ZERO] = {FP, FIXED, 0, "fp.isZero", {F}, B},
        [OP_FP_IS_INFINITE] = {FP, FIXED, 0, "fp.isInfinite", {F}, B},
        [OP_FP_IS_NAN] = {FP, FIXED, 0, "fp.isNaN", {F}, B},
        [OP_FP_IS_NEGATIVE] = {FP, FIXED, 0, "fp.isNegative", {F}, B},
        [OP_FP_IS_POSITIVE] = {FP, FIXED, 0, "fp.isPositive", {F}, B},
        [OP_TO_FP] = {FP, FIXED, 0, "to_fp", {PLACE_CONVERTED}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_TO_FP_ROUNDED] =
                {FP, FIXED, 0, "to_fp", {M, PLACE_CONVERTED}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_TO_FP_UNSIGNED] = {FP, FIXED, 0, "to_fp_unsigned", {M, V2}, PLACE_FLOAT_INDEX, .indices_least = 2, .indices_most = 2},
        [OP_FP_TO_UBV] = {FP, FIXED, 0, "fp.to_ubv", {M, F}, PLACE_BITVEC_INDEX, .indices_least = 1, .indices_most = 1},
        [OP_FP_TO_SBV] = {FP, FIXED, 0, "fp.to_sbv", {M, F}, PLACE_BITVEC_INDEX, .indices_least = 1, .indices_most = 1},
        [OP_FP_TO_REAL] = {FP, FIXED, 0, "fp.to_real", {F}, R},
        [OP_FP_TO_IEEE_BV] = {FP, FIXED, EXT, "fp.to_ieee_bv", {F}, PLACE_FLOAT_BITS},

        /* -- ArraysEx -- */
        [OP_SELECT] = {ARR, FIXED, 0, "select", {A, PLACE_INDEX}, PLACE_ELEMENT},
        [OP_STORE] = {ARR, FIXED, 0, "store", {A, PLACE_INDEX, PLACE_ELEMENT}, A},
        [OP_ARRAY_CONST] = {ARR, FIXED, EXT, "const", {PLACE_ANY}, PLACE_ASCRIBED},

        /* -- Strings and regular expressions -- */
        [OP_STR_CONCAT] = {STR, LEFT, 0, "str.++", {S, S}, S},
        [OP_STR_LEN] = {STR, FIXED, 0, "str.len", {S}, I},
        [OP_STR_LT] = {STR, CHAIN, OPERATOR_IN_PAIRS, "str.<", {S, S}, B},
        [OP_STR_LE] = {STR, CHAIN, OPERATOR_IN_PAIRS, "str.<=", {S, S}, B},
        [OP_STR_AT] = {STR, FIXED, 0, "str.at", {S, I}, S},
        [OP_STR_SUBSTR] = {STR, FIXED, 0, "str.substr", {S, I, I}, S},
        [OP_STR_PREFIXOF] = {STR, FIXED, 0, "str.prefixof", {S, S}, B},
        [OP_STR_SUFFIXOF] = {STR, FIXED, 0, "str.suffixof", {S, S}, B},
        [OP_STR_CONTAINS] = {STR, FIXED, 0, "str.contains", {S, S}, B},
        [OP_STR_INDEXOF] = {STR, FIXED, OPT, "str.indexof", {S, S, I}, I},
        [OP_STR_REPLACE] = {STR, FIXED, 0, "str.replace", {S, S, S}, S},
        [OP_STR_REPLACE_ALL] =
                {STR, FIXED, 0, "str.replace_all", {S, S, S}, S, .old_name = "str.replaceall", .aliases = "str.replace-all"},
        [OP_STR_REPLACE_RE] = {STR, FIXED, 0, "str.replace_re", {S, L, S}, S},
        [OP_STR_REPLACE_RE_ALL] = {STR, FIXED, 0, "str.replace_re_all", {S, L, S}, S},
        [OP_STR_IS_DIGIT] = {STR, FIXED, 0, "str.is_digit", {S}, B, .aliases = "str.is-digit"},
        [OP_STR_TO_CODE] = {STR, FIXED, 0, "str.to_code", {S}, I, .old_name = "str.to-code", .aliases = "str.code"},
        [OP_STR_FROM_CODE] = {STR, FIXED, 0, "str.from_code", {I}, S, .old_name = "str.from-code"},
        [OP_STR_TO_INT] = {STR, FIXED, 0, "str.to_int", {S}, I, .old_name = "str.to.int", .aliases = "str.to-int"},
        [OP_STR_FROM_INT] =
                {STR, FIXED, 0, "str.from_int", {I}, S, .old_name = "int.to.str", .aliases = "int.to_str str.from-int"},
        [OP_STR_IN_RE] = {STR, FIXED, 0, "str.in_re", {S, L}, B, .old_name = "str.in.re", .aliases = "str.in-re"},
        [OP_RE_FROM_STR] = {STR, FIXED, 0, "str.to_re", {S}, L, .old_name = "str.to.re", .aliases = "str.to-re"},
        [OP_RE_NONE] = {STR, FIXED, 0, "re.none", {0}, L, .old_name = "re.nostr"},
        [OP_RE_ALL] = {STR, FIXED, 0, "re.all", {0}, L},
        [OP_RE_ALLCHAR] = {STR, FIXED, 0, "re.allchar", {0}, L},
        [OP_RE_CONCAT] = {STR, LEFT, 0, "re.++", {L, L}, L},
        [OP_RE_UNION] = {STR, LEFT, COMM | IDEM, "re.union", {L, L}, L},
        [OP_RE_INTER] = {STR, LEFT, COMM | IDEM, "re.inter", {L, L}, L},
        [OP_RE_STAR] = {STR, FIXED, 0, "re.*", {L}, L},
        [OP_RE_PLUS] = {STR, FIXED, 0, "re.+", {L}, L},
        [OP_RE_OPT] = {STR, FIXED, 0, "re.opt", {L}, L},
        [OP_RE_COMP] = {STR, FIXED, 0, "re.comp", {L}, L, .old_name = "re.complement"},
        [OP_RE_DIFF] = {STR, LEFT, 0, "re.diff", {L, L}, L},
        [OP_RE_RANGE] = {STR, FIXED, 0, "re.range", {S, S}, L},
        [OP_RE_POWER] = {STR, FIXED, 0, "re.^", {L}, L, .indices_least = 1, .indices_most = 1},
        [OP_RE_LOOP] = {STR, FIXED, 0, "re.loop", {L}, L, .indices_least = 1, .indices_most = 2},
        [OP_STR_REV] = {STR, FIXED, EXT, "str.rev", {S}, S},
        [OP_STR_TO_LOWER] = {STR, FIXED, EXT, "str.to_lower", {S}, S, .old_name = "str.tolower", .aliases = "str.to-lower"},
        [OP_STR_TO_UPPER] = {STR, FIXED, EXT, "str.to_upper", {S}, S, .old_name = "str.toupper", .aliases = "str.to-upper"},
        [OP_STR_UPDATE] = {STR, FIXED, EXT, "str.update", {S, I, S}, S},
        [OP_STR_INDEXOF_RE] = {STR, FIXED, EXT, "str.indexof_re", {S, L, I}, I},
        [OP_STR_LAST_INDEXOF] = {STR, FIXED, EXT, "str.last_indexof", {S, S}, I, .aliases = "str.last-indexof seq.last_indexof"},
        [OP_STR_FROM_UBV] = {STR, FIXED, EXT, "str.from_ubv", {V2}, S},
        [OP_STR_FROM_SBV] = {STR, FIXED, EXT, "str.from_sbv", {V2}, S},
};
/* clang-format on */

const struct operator_row *operator_row(enum op op)
{
        assert(op > OP_NONE && op < N_OPS);
        return &rows[op];
}

const char *operator_name(enum op op, enum dialect d)
{
        const struct operator_row *row = operator_row(op);

        return d != DIALECT_2_6 && row->old_name ? row->old_name : row->name;
}

size_t operator_n_args(enum op op)
{
        size_t n = 0;

        while (n < OPERATOR_ARGS_MOST && operator_row(op)->args[n] != PLACE_NONE)
                n++;
        return n;
}

static bool has_places(const struct operator_row *row, size_t n)
{
        return n <= OPERATOR_ARGS_MOST && (n == 0 || row->args[n - 1] != PLACE_NONE) &&
               (n == OPERATOR_ARGS_MOST || row->args[n] == PLACE_NONE);
}

bool operator_takes(enum op op, size_t n)
{
        const struct operator_row *row = operator_row(op);

        switch (row->shape) {
        case SHAPE_FIXED:
                return has_places(row, n) || ((row->flags & OPERATOR_OPTIONAL) && has_places(row, n + 1));
        case SHAPE_LEFT: /* one argument is no application in the standard; solvers take (and x) for x. (- x) is another operator */
                return n >= (op == OP_MINUS ? 2 : 1);
        case SHAPE_RIGHT:
        case SHAPE_CHAIN:
        case SHAPE_PAIRWISE:
                return n >= 2;
        }
        return false;
}

/* -- names -- */

#define NAMES_SIZE 1024 /* slots, a power of two; there are some 250 names */

static struct name_slot {
        const char *name;
        uint16_t size;
        uint16_t op; /* the first of this name; 0: empty */
} by_name[NAMES_SIZE];
static uint16_t next_of_name[N_OPS];

static struct name_slot *name_slot(struct slice name)
{
        size_t at = text_hash(0, name) & (NAMES_SIZE - 1);

        while (by_name[at].op != 0 && (by_name[at].size != name.size || !text_is_same(by_name[at].name, name.data, name.size)))
                at = (at + 1) & (NAMES_SIZE - 1);
        return &by_name[at];
}

static void add_name(enum op op, const char *name, size_t size)
{
        struct name_slot *slot = name_slot(SLICE(name, size));
        uint16_t *last = &slot->op;

        slot->name = name;
        slot->size = (uint16_t)size;
        while (*last != 0 && *last != op)
                last = &next_of_name[*last];
        *last = (uint16_t)op;
}

static void add_names(void)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const struct operator_row *row = &rows[op];

                add_name(op, row->name, strlen(row->name));
                if (row->old_name)
                        add_name(op, row->old_name, strlen(row->old_name));
                for (const char *p = row->aliases; p && *p; p += strspn(p, " ")) {
                        add_name(op, p, strcspn(p, " "));
                        p += strcspn(p, " ");
                }
        }
}

enum op operator_find(struct slice name)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, add_names);
        return (enum op)name_slot(name)->op;
}

enum op operator_next(enum op op)
{
        return (enum op)next_of_name[op];
}
