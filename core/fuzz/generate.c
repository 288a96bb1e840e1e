/* A term is made from its head down: generate_term() draws an operator by its weight, generate_application() makes its arguments, and leaf() ends it. What
 * does not fit (a width, an index, a sort that no term here has) gives NULL; then another operator is drawn. */
#include "core/fuzz/generate.h"

#include <math.h>

#include "core/smtlib/logic.h"

const struct generate_options generate_defaults = {
        .literal_length = 60,
        .variables = 6,
        .assertions = 6,
        .depth = 3,
        .literals = 0.3,
        .alphabet = 4,
        .dialect = DIALECT_2_6,
};

/* -- weights -- */

/* Predicates of strings outweigh the connectives, so that depth goes into the theory. Operators without a weight are not generated for strings:
 * constants, extensions, and operators of other theories. If a weight changes, equal seeds give other formulas. */
static const double string_weights[N_OPS] = {
        [OP_NOT] = 1, [OP_IMPLIES] = 0.3, [OP_AND] = 0.6, [OP_OR] = 0.8, [OP_XOR] = 0.2, [OP_EQUAL] = 3,
        [OP_DISTINCT] = 0.5, [OP_ITE] = 0.5,
        [OP_NEGATE] = 0.3, [OP_MINUS] = 1, [OP_PLUS] = 1.5, [OP_TIMES] = 0.4, [OP_DIVIDE] = 0.2, [OP_INT_DIV] = 0.2,
        [OP_MOD] = 0.4, [OP_ABS] = 0.1, [OP_LE] = 1, [OP_LT] = 0.7, [OP_GE] = 0.7, [OP_GT] = 0.7,
        [OP_BV_CONCAT] = 0.2, [OP_BV_NOT] = 1, [OP_BV_NEG] = 1, [OP_BV_AND] = 1, [OP_BV_OR] = 1, [OP_BV_XOR] = 1,
        [OP_BV_NAND] = 0.2, [OP_BV_NOR] = 0.2, [OP_BV_XNOR] = 0.2, [OP_BV_ADD] = 1, [OP_BV_SUB] = 1, [OP_BV_MUL] = 1,
        [OP_BV_UDIV] = 0.5, [OP_BV_UREM] = 0.5, [OP_BV_SDIV] = 0.3, [OP_BV_SREM] = 0.3, [OP_BV_SMOD] = 0.3,
        [OP_BV_SHL] = 0.7, [OP_BV_LSHR] = 0.7, [OP_BV_ASHR] = 0.5, [OP_BV_ULT] = 1, [OP_BV_ULE] = 1, [OP_BV_UGT] = 0.5,
        [OP_BV_UGE] = 0.5, [OP_BV_SLT] = 1, [OP_BV_SLE] = 1, [OP_BV_SGT] = 0.5, [OP_BV_SGE] = 0.5,
        [OP_SELECT] = 1, [OP_STORE] = 1,
        [OP_STR_CONCAT] = 4, [OP_STR_LEN] = 3, [OP_STR_LT] = 0.3, [OP_STR_LE] = 0.3, [OP_STR_AT] = 1,
        [OP_STR_SUBSTR] = 2, [OP_STR_PREFIXOF] = 1, [OP_STR_SUFFIXOF] = 1, [OP_STR_CONTAINS] = 2,
        [OP_STR_INDEXOF] = 1.5, [OP_STR_REPLACE] = 1.5, [OP_STR_REPLACE_ALL] = 0.3, [OP_STR_REPLACE_RE] = 0.1,
        [OP_STR_REPLACE_RE_ALL] = 0.05, [OP_STR_IS_DIGIT] = 0.2, [OP_STR_TO_CODE] = 0.3, [OP_STR_FROM_CODE] = 0.2,
        [OP_STR_TO_INT] = 0.7, [OP_STR_FROM_INT] = 0.5, [OP_STR_IN_RE] = 3,
        [OP_RE_FROM_STR] = 2, [OP_RE_NONE] = 0.05, [OP_RE_ALL] = 0.2, [OP_RE_ALLCHAR] = 0.4, [OP_RE_CONCAT] = 3,
        [OP_RE_UNION] = 2, [OP_RE_INTER] = 0.7, [OP_RE_STAR] = 1.5, [OP_RE_PLUS] = 1, [OP_RE_OPT] = 0.7,
        [OP_RE_COMP] = 0.3, [OP_RE_DIFF] = 0.2, [OP_RE_RANGE] = 1, [OP_RE_POWER] = 0.3, [OP_RE_LOOP] = 0.4,
};

bool op_is_newer(enum op op, enum dialect d)
{
        static const enum op newer[] = {
                OP_STR_LT,      OP_STR_LE,        OP_STR_REPLACE_ALL, OP_STR_REPLACE_RE, OP_STR_REPLACE_RE_ALL, OP_STR_IS_DIGIT,
                OP_STR_TO_CODE, OP_STR_FROM_CODE, OP_RE_COMP,         OP_RE_DIFF,        OP_RE_POWER,
        };

        return d != DIALECT_2_6 && op_is_among(op, newer, ARRAY_SIZE(newer));
}

#define OTHER_WEIGHT 0.5 /* of an operator without one in `string_weights` */

static bool has_theory(const struct logic *l, enum theory theory)
{
        return l->theories >> theory & 1;
}

/* Checks the operator's theory. That is not enough: the vocabulary excludes operators with an argument of a sort that the logic lacks. */
static bool is_in_logic(enum op op, const struct logic *l, bool extensions)
{
        const struct operator_row *row = operator_row(op);
        bool is_linear = op != OP_POWER && op != OP_IAND && op != OP_INT_POW2 && (op < OP_PI || op > OP_REAL_SQRT);

        if (op == OP_IS_INT && l->no_int)
                return false;
        return has_theory(l, row->theory) && (extensions || !(row->flags & (OPERATOR_EXTENSION | OPERATOR_RARE))) && (is_linear || l->is_nonlinear);
}

/* Constants that literal() makes get no weight. */
static double usual_weight(enum op op, const struct logic *l, bool extensions)
{
        if (!is_in_logic(op, l, extensions))
                return 0;
        if (string_weights[op] > 0)
                return string_weights[op];
        return operator_n_args(op) > 0 || op == OP_PI ? OTHER_WEIGHT : 0;
}

static int read_logic(const char *name, struct logic *ret)
{
        *ret = logic_of(name);
        /* Solvers disagree on the arithmetic of QF_S. */
        if (!ret->is_known || ret->is_difference || (has_theory(ret, THEORY_STRINGS) && !has_theory(ret, THEORY_ARITHMETIC)))
                return errorf(-EINVAL, "no formulas are generated for the logic '%s'; known are names such as QF_BV, QF_AUFBV, QF_UFLIA, QF_NRA, QF_FP, "
                                       "QF_BVFP, QF_SLIA, UF or LIA", name);
        return 0;
}

int generate_weights_of(const char *logic, bool extensions, double ret[N_OPS])
{
        struct logic l;
        int r = logic ? read_logic(logic, &l) : 0;

        ret[OP_NONE] = 0;
        for (enum op op = OP_NONE + 1; op < N_OPS && r == 0; op++)
                ret[op] = logic ? usual_weight(op, &l, extensions) : string_weights[op];
        return r;
}

/* -- the generator -- */

struct candidates { /* operators whose result can be a sort, with running sums of their weights */
        bool is_filled;
        size_t n;
        enum op ops[N_OPS];
        double sums[N_OPS];
};

struct generator {
        struct random random;
        struct generate_options options; /* `weights` and `logic` point to the fields below */
        double weights[N_OPS];
        char *logic_name; /* owned */
        struct logic logic; /* if there is a name */
        bool is_generating; /* a whole formula; else a part of a mutant */
        unsigned quantifiers; /* left for the current formula */
        struct candidates candidates[2][N_SORT_KINDS]; /* [1]: operators without a weight have their usual one */
        uint32_t alphabet[128]; /* of the current formula */
        size_t n_alphabet;
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Few characters, so that words overlap; different ones for each formula. */
static void choose_alphabet(struct generator *g)
{
        uint32_t order[sizeof(letters) - 1];

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                order[i] = (uint32_t)letters[i];
        g->n_alphabet = ARRAY_SIZE(order);
        if (g->options.alphabet > 0 && g->options.alphabet < ARRAY_SIZE(order)) {
                random_shuffle(&g->random, order, ARRAY_SIZE(order));
                g->n_alphabet = g->options.alphabet;
        }
        memcpy(g->alphabet, order, g->n_alphabet * sizeof(*order));
}

int generator_configure(struct generator *g, const struct generate_options *options)
{
        const double *weights = options->weights;
        double usual[N_OPS] = {0};
        char *name;
        int r = generate_weights_of(options->logic, options->extensions, usual);

        if (r < 0)
                return r;
        if (options->literal_length == 0 || options->variables == 0 || options->assertions == 0 || options->depth == 0)
                return errorf(-EINVAL, "a generator's length of literals, variables, assertions and depth must be at least 1");
        name = options->logic ? copy_string(options->logic) : NULL; /* `options->logic` may be `logic_name` */
        free(g->logic_name);
        g->options = *options;
        g->options.logic = g->logic_name = name;
        g->logic = logic_of(name);
        memmove(g->weights, weights ? weights : usual, sizeof(g->weights));
        g->options.weights = g->weights;
        for (size_t i = 0; i < N_OPS; i++) {
                if (!(g->weights[i] >= 0) || isinf(g->weights[i]))
                        return errorf(-EINVAL, "the weight of %s must be a number of at least 0", operator_row((enum op)i)->name);
                if (op_is_newer((enum op)i, options->dialect) || (name && usual[i] <= 0))
                        g->weights[i] = 0;
        }
        for (size_t i = 0; i < N_SORT_KINDS; i++)
                g->candidates[0][i].is_filled = g->candidates[1][i].is_filled = false;
        choose_alphabet(g);
        return 0;
}

int generator_new(const struct generate_options *options, uint64_t seed, struct generator **ret)
{
        cleanup_generator struct generator *g = allocate(1, sizeof(*g));
        int r;

        random_seed(&g->random, seed);
        r = generator_configure(g, options);
        if (r < 0)
                return r;
        *ret = steal_pointer(g);
        return 0;
}

struct generator *generator_free(struct generator *g)
{
        if (g)
                free(g->logic_name);
        free(g);
        return NULL;
}

struct random *generator_random(struct generator *g)
{
        return &g->random;
}

void generator_transfer(struct generator *g, struct transfer *t)
{
        struct generate_options *o = &g->options;
        unsigned *const sizes[] = {&o->literal_length, &o->variables, &o->assertions, &o->depth, &o->alphabet};
        cleanup_buffer struct buffer logic = {0};

        if (g->logic_name)
                buffer_adds(&logic, g->logic_name);
        transfer_bytes(t, &logic);
        if (transfer_reads(t)) {
                free(g->logic_name);
                o->logic = g->logic_name = logic.size > 0 ? copy_prefix(logic.data, logic.size) : NULL;
                g->logic = logic_of(g->logic_name);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                transfer_u32(t, sizes[i]);
        transfer_real(t, &o->literals);
        transfer_same(t, N_OPS);
        transfer_reals(t, g->weights, N_OPS);
        transfer_count(t, &g->n_alphabet, 1);
        g->n_alphabet = MIN(g->n_alphabet, ARRAY_SIZE(g->alphabet));
        for (size_t i = 0; i < g->n_alphabet; i++)
                transfer_u32(t, &g->alphabet[i]);
        for (size_t i = 0; transfer_reads(t) && i < N_SORT_KINDS; i++)
                g->candidates[0][i].is_filled = g->candidates[1][i].is_filled = false;
}

enum dialect generator_dialect(const struct generator *g)
{
        return g->options.dialect;
}

/* -- vocabulary -- */

/* Allows the sort, those it is made of, and those that its theory's operators need. */
static void allow(struct vocabulary *v, const struct sort *s)
{
        v->sorts |= 1u << s->kind;
        if (s->kind == SORT_STRING)
                v->sorts |= 1u << SORT_INT | 1u << SORT_REGLAN;
        if (s->kind == SORT_FLOAT)
                v->sorts |= 1u << SORT_ROUNDING_MODE;
        for (uint32_t i = 0; i < s->n_args; i++)
                allow(v, s->args[i]);
}

void vocabulary_add(struct vocabulary *v, const struct term *t)
{
        allow(v, t->sort);
        term_list_add(&v->constants, t);
        term_list_add(&v->constants_of[t->sort->kind], t);
}

static void add_function(struct vocabulary *v, const struct function *f)
{
        allow(v, f->result);
        for (uint32_t i = 0; i < f->n_args; i++)
                allow(v, f->args[i]);
        list_add(v->functions, v->n_functions, f);
}

struct vocabulary vocabulary_at(const struct script *s, size_t at)
{
        cleanup_free const struct function **functions = NULL;
        struct vocabulary v = {.bank = s->bank, .sorts = 1u << SORT_BOOL};
        const struct logic logic = logic_of(s->logic ? s->logic->name.data : NULL);
        size_t n;

        script_functions_at(s, at, &functions, &n);
        for (size_t i = 0; i < n; i++)
                if (functions[i]->n_args == 0 && functions[i]->kind != FUNCTION_NAMED)
                        vocabulary_add(&v, term_constant(s->bank, functions[i]));
                else if (functions[i]->n_args > 0 && functions[i]->kind == FUNCTION_DECLARED)
                        add_function(&v, functions[i]);
        v.is_nonlinear = logic.is_known && logic.is_nonlinear;
        return v;
}

static void constants_done(struct vocabulary *v)
{
        term_list_done(&v->constants);
        for (size_t i = 0; i < N_SORT_KINDS; i++)
                term_list_done(&v->constants_of[i]);
}

void vocabulary_done(struct vocabulary *v)
{
        constants_done(v);
        free(v->functions);
}

static bool is_allowed(const struct vocabulary *v, const struct sort *s)
{
        if (!(v->sorts & 1u << s->kind))
                return false;
        for (uint32_t i = 0; i < s->n_args; i++)
                if (!is_allowed(v, s->args[i]))
                        return false;
        return true;
}

/* -- leaves -- */

static uint64_t below(struct generator *g, uint64_t n)
{
        return random_below(&g->random, n);
}

static bool chance(struct generator *g, double p)
{
        return random_uniform(&g->random) < p;
}

static uint32_t character(struct generator *g)
{
        return g->alphabet[below(g, g->n_alphabet)];
}

static const struct term *string_literal(struct generator *g, struct bank *b)
{
        uint32_t text[1024];
        size_t n = chance(g, 0.1) ? 0 : 1 + below(g, MIN(g->options.literal_length, (unsigned)ARRAY_SIZE(text)));

        for (size_t i = 0; i < n; i++)
                text[i] = character(g);
        return term_string_of(b, text, n);
}

static int64_t number(struct generator *g)
{
        double kind = random_uniform(&g->random);
        int64_t n = (int64_t)(kind < 0.6 ? below(g, 6) : kind < 0.9 ? below(g, g->options.literal_length + 1) : below(g, 100000));

        return chance(g, 0.1) ? -n : n;
}

static const struct term *bitvec_literal(struct generator *g, struct bank *b, uint32_t width)
{
        switch (below(g, 4)) {
        case 0:
                return term_bitvec(b, below(g, 3), width);
        case 1:
                return term_op1(b, OP_BV_NOT, term_bitvec(b, below(g, 3), width));
        default:
                return term_bitvec(b, random_bits(&g->random), width);
        }
}

static const struct term *decimal(struct generator *g, struct bank *b)
{
        char text[32];

        snprintf(text, sizeof(text), "%u.%u", (unsigned)below(g, 20), (unsigned)below(g, 100));
        return term_real_digits(b, slice_string(text));
}

static const struct term *rounding_mode(struct generator *g, struct bank *b)
{
        return term_op(b, (enum op)(OP_RNE + below(g, 5)), NULL, 0);
}

static const struct term *float_of_bits(struct generator *g, struct bank *b, const struct sort *sort)
{
        const uint32_t width = sort->index[0];
        const uint64_t all = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
        /* Small numbers, subnormal ones, infinite ones and NaN, or any. */
        const uint64_t exponents[] = {all / 2 + below(g, 3), 0, all, random_bits(&g->random)};
        const struct term *args[] = {term_bitvec(b, below(g, 2), 1), term_bitvec(b, exponents[below(g, 4)], width),
                                     chance(g, 0.5) ? term_bitvec(b, random_bits(&g->random), sort->index[1] - 1)
                                                    : term_bitvec(b, below(g, 3), sort->index[1] - 1)};

        return term_op(b, OP_FP, args, 3);
}

static const struct term *float_literal(struct generator *g, struct bank *b, const struct sort *sort)
{
        const struct term *args[] = {rounding_mode(g, b), decimal(g, b)}, *t = NULL; /* logics without reals have no minus */
        uint32_t k = (uint32_t)below(g, 12);

        if (k > 5)
                return float_of_bits(g, b, sort);
        if (k < 5)
                term_apply(b, (enum op)(OP_FP_PLUS_INFINITY + k), sort->index, 2, NULL, 0, &t);
        else
                term_apply(b, OP_TO_FP_ROUNDED, sort->index, 2, args, 2, &t);
        return t;
}

static const struct term *regular_leaf(struct generator *g, struct bank *b)
{
        uint32_t one = character(g), other = character(g), low = MIN(one, other), high = MAX(one, other);

        switch (below(g, 4)) {
        case 0:
                return term_op2(b, OP_RE_RANGE, term_string_of(b, &low, 1), term_string_of(b, &high, 1));
        case 1:
                return chance(g, 0.7) ? term_op(b, OP_RE_ALLCHAR, NULL, 0) : term_op(b, OP_RE_ALL, NULL, 0);
        default:
                return term_op1(b, OP_RE_FROM_STR, string_literal(g, b));
        }
}

static const struct term *literal(struct generator *g, struct bank *b, const struct sort *sort)
{
        switch ((int)sort->kind) {
        case SORT_BOOL:
                return chance(g, 0.5) ? term_true(b) : term_false(b);
        case SORT_INT:
                return term_int(b, number(g));
        case SORT_REAL:
                return chance(g, 0.7) ? term_real(b, number(g)) : decimal(g, b);
        case SORT_STRING:
                return string_literal(g, b);
        case SORT_REGLAN:
                return regular_leaf(g, b);
        case SORT_BITVEC:
                return bitvec_literal(g, b, sort->index[0]);
        case SORT_FLOAT:
                return float_literal(g, b, sort);
        case SORT_ROUNDING_MODE:
                return rounding_mode(g, b);
        default:
                return NULL;
        }
}

/* A constant of this sort; if the sort is NULL, of any sort of this kind. NULL if there is none. */
static const struct term *constant(struct generator *g, const struct vocabulary *v, const struct sort *sort, enum sort_kind kind)
{
        const struct term_list *all = &v->constants_of[kind];
        bool is_any = !sort || kind < SORT_BITVEC; /* the kind has one sort */
        size_t n = is_any ? all->n : 0;

        for (size_t i = 0; i < all->n && !is_any; i++)
                n += all->list[i]->sort == sort;
        if (n == 0)
                return NULL;
        n = below(g, n);
        for (size_t i = 0; !is_any; i++)
                if (all->list[i]->sort == sort && n-- == 0)
                        return all->list[i];
        return all->list[n];
}

static const struct term *leaf(struct generator *g, const struct vocabulary *v, const struct sort *sort)
{
        /* A Boolean literal and its context would be simplified away. */
        double literals = sort->kind == SORT_BOOL ? g->options.literals / 8 : g->options.literals;
        const struct term *t = chance(g, literals) ? NULL : constant(g, v, sort, sort->kind);

        if (!t)
                t = literal(g, v->bank, sort);
        return t ? t : constant(g, v, sort, sort->kind);
}

/* -- applications -- */

/* A signature in one application: the sorts of its variables, and its indices. */
struct signature {
        const struct sort *same; /* PLACE_SAME, PLACE_NUMBER, PLACE_BITVEC, PLACE_FLOAT */
        const struct sort *array;
        const struct sort *bits[2]; /* PLACE_BITVEC_2, PLACE_BITVEC_3 */
        uint32_t index[2];
        size_t n_index;
};

/* A sort for a comparison: that of a constant, if there is one. NULL: no number can occur. */
static const struct sort *any_sort(struct generator *g, const struct vocabulary *v, bool is_number)
{
        const struct term *t = NULL;

        for (int tries = 0; tries < 8 && v->constants.n > 0; tries++) {
                t = v->constants.list[below(g, v->constants.n)];
                if (!is_number || sort_is_number(t->sort))
                        return t->sort;
        }
        if (is_number && v->sorts & 1u << SORT_INT)
                return sort_simple(v->bank, SORT_INT);
        return is_number ? NULL : sort_simple(v->bank, SORT_BOOL);
}

/* The sort of a constant of this kind; NULL if there is none. */
static const struct sort *sort_among(struct generator *g, const struct vocabulary *v, enum sort_kind kind)
{
        const struct term *t = constant(g, v, NULL, kind);

        return t ? t->sort : NULL;
}

/* The sort of a constant that is an array with this element; NULL if there is none. */
static const struct sort *array_of(struct generator *g, const struct vocabulary *v, const struct sort *element)
{
        const struct sort *found = NULL;
        size_t n = 0;

        for (size_t i = 0; i < v->constants.n; i++) {
                const struct sort *s = v->constants.list[i]->sort;

                if (s->kind == SORT_ARRAY && s->args[1] == element && below(g, ++n) == 0)
                        found = s;
        }
        return found;
}

/* True if the operator can give `sort`. Notes the variables that this determines. */
static bool result_fits(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *sort, struct signature *p)
{
        enum place_sort place = operator_row(op)->result;

        if (op == OP_ABS && sort->kind == SORT_REAL) /* not in the standard */
                return false;
        if (place == PLACE_NUMBER || place == PLACE_SAME || place == PLACE_BITVEC || place == PLACE_FLOAT)
                p->same = sort;
        else if (place == PLACE_ARRAY || place == PLACE_ASCRIBED)
                p->array = sort;
        else if (place == PLACE_ELEMENT && !(p->array = array_of(g, v, sort)))
                return false;
        return place_can_hold(place, sort);
}

/* A bit-vector below `width` (or equal, with `equal`): if possible of a constant's sort, else of any width. */
static const struct sort *narrower(struct generator *g, const struct vocabulary *v, uint32_t width, bool equal)
{
        for (int tries = 0; tries < 4; tries++) {
                const struct sort *s = sort_among(g, v, SORT_BITVEC);

                if (s && s->index[0] < width + equal)
                        return s;
        }
        return sort_bitvec(v->bank, 1 + (uint32_t)below(g, width - 1 + equal));
}

/* Chooses widths and indices that give a bit-vector of `width`. False if there are none. */
static bool split_bits(struct generator *g, const struct vocabulary *v, enum place_sort place, uint32_t width, struct signature *p)
{
        const struct sort *from = sort_among(g, v, place == PLACE_FLOAT_BITS ? SORT_FLOAT : SORT_BITVEC);

        p->n_index = place == PLACE_BITVEC_SUM || place == PLACE_FLOAT_BITS ? 0 : place == PLACE_BITVEC_EXTRACT ? 2 : 1;
        switch ((int)place) {
        case PLACE_BITVEC_SUM:
                if (width < 2)
                        return false;
                p->bits[0] = narrower(g, v, width, false);
                p->bits[1] = sort_bitvec(v->bank, width - p->bits[0]->index[0]);
                return true;
        case PLACE_BITVEC_EXTRACT:
                if (!from || from->index[0] < width)
                        return false;
                p->bits[0] = from;
                p->index[1] = (uint32_t)below(g, from->index[0] - width + 1);
                p->index[0] = p->index[1] + width - 1;
                return true;
        case PLACE_BITVEC_REPEAT:
                p->index[0] = 1 + (uint32_t)below(g, 4);
                p->bits[0] = width % p->index[0] == 0 ? sort_bitvec(v->bank, width / p->index[0]) : NULL;
                return p->bits[0];
        case PLACE_BITVEC_EXTEND:
                p->bits[0] = narrower(g, v, width, true);
                p->index[0] = width - p->bits[0]->index[0];
                return true;
        case PLACE_BITVEC_INDEX:
                p->index[0] = width;
                return true;
        default: /* PLACE_FLOAT_BITS */
                p->same = from;
                return from && from->index[0] + from->index[1] == width;
        }
}

/* The sort that an operator converts to a float; NULL if the one drawn does not occur. */
static const struct sort *converted(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result)
{
        const struct sort *from[] = {sort_among(g, v, SORT_FLOAT), sort_among(g, v, SORT_BITVEC), sort_simple(v->bank, SORT_REAL)};

        if (op == OP_TO_FP)
                return sort_bitvec(v->bank, result->index[0] + result->index[1]);
        return from[below(g, ARRAY_SIZE(from))];
}

/* The sort of an argument; NULL if no term here can have it. */
static const struct sort *argument_sort(struct generator *g, const struct vocabulary *v, enum op op, enum place_sort place,
                                        const struct sort *result, struct signature *p)
{
        const struct sort **bits = &p->bits[place == PLACE_BITVEC_3];

        switch ((int)place) {
        case PLACE_NUMBER:
        case PLACE_SAME:
                return p->same = p->same ? p->same : any_sort(g, v, place == PLACE_NUMBER);
        case PLACE_BITVEC:
        case PLACE_FLOAT:
                return p->same = p->same ? p->same : sort_among(g, v, place_kind(place));
        case PLACE_BITVEC_2:
        case PLACE_BITVEC_3:
                return *bits ? *bits : sort_among(g, v, SORT_BITVEC);
        case PLACE_BIT:
                return sort_bitvec(v->bank, 1);
        case PLACE_CONVERTED:
                return converted(g, v, op, result);
        case PLACE_ARRAY:
                return p->array = p->array ? p->array : sort_among(g, v, SORT_ARRAY);
        case PLACE_INDEX:
                return p->array ? p->array->args[0] : NULL;
        case PLACE_ELEMENT:
        case PLACE_ANY: /* for a constant array */
                return p->array ? p->array->args[1] : NULL;
        default:
                return place_kind(place) != SORT_UNKNOWN ? sort_simple(v->bank, place_kind(place)) : NULL;
        }
}

/* Chooses the indices of (_ op i j), and the widths that they require; false if there are none. */
static bool choose_indices(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result, struct signature *p)
{
        p->n_index = operator_row(op)->indices_least;
        switch ((int)op) {
        case OP_RE_POWER:
                p->n_index = 1;
                p->index[0] = (uint32_t)below(g, 5);
                return true;
        case OP_RE_LOOP:
                p->n_index = 2;
                p->index[0] = (uint32_t)below(g, 4);
                p->index[1] = p->index[0] + (uint32_t)below(g, 5);
                return true;
        case OP_DIVISIBLE:
        case OP_IAND:
                p->index[0] = 2 + (uint32_t)below(g, 8);
                return true;
        case OP_BV_ROTATE_LEFT:
        case OP_BV_ROTATE_RIGHT:
                p->index[0] = (uint32_t)below(g, result->index[0]);
                return true;
        default:
                break;
        }
        switch ((int)operator_row(op)->result) {
        case PLACE_BITVEC_SUM:
        case PLACE_BITVEC_EXTRACT:
        case PLACE_BITVEC_REPEAT:
        case PLACE_BITVEC_EXTEND:
        case PLACE_BITVEC_INDEX:
        case PLACE_FLOAT_BITS:
                return split_bits(g, v, operator_row(op)->result, result->index[0], p);
        case PLACE_FLOAT_PARTS:
                p->bits[0] = sort_bitvec(v->bank, result->index[0]);
                p->bits[1] = sort_bitvec(v->bank, result->index[1] - 1);
                return true;
        case PLACE_FLOAT_INDEX:
                memcpy(p->index, result->index, sizeof(p->index));
                return true;
        default:
                return p->n_index == 0;
        }
}

/* True where solvers accept only a literal, or linear arithmetic needs one: a product has one non-literal factor. */
static bool wants_literal(const struct vocabulary *v, enum op op, size_t at)
{
        static const enum op factors[] = {OP_TIMES, OP_DIVIDE, OP_INT_DIV, OP_MOD, OP_REM};

        return op == OP_RE_FROM_STR || op == OP_RE_RANGE || op == OP_ARRAY_CONST || (op == OP_POWER && at > 0) ||
               (at > 0 && !v->is_nonlinear && op_is_among(op, factors, ARRAY_SIZE(factors)));
}

static bool is_literal(const struct term *t)
{
        int64_t n;

        return t->kind == TERM_LITERAL || term_to_int(t, &n);
}

static const struct term *literal_for(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *sort)
{
        uint32_t c = character(g);

        if (op == OP_RE_RANGE)
                return term_string_of(v->bank, &c, 1);
        if (sort->kind == SORT_INT)
                return term_int(v->bank, 2 + (int64_t)below(g, 9));
        if (sort->kind == SORT_REAL)
                return term_real(v->bank, 2 + (int64_t)below(g, 9));
        return literal(g, v->bank, sort);
}

/* A given term that fits and is unused, else NULL. */
static const struct term *given_argument(const struct vocabulary *v, enum op op, size_t at, const struct sort *sort, const struct term *const *given,
                                     size_t n, uint64_t *used)
{
        if (op == OP_RE_RANGE)
                return NULL;
        for (size_t i = 0; i < n && i < 64; i++) {
                if (*used >> i & 1 || given[i]->sort != sort || (wants_literal(v, op, at) && !is_literal(given[i])))
                        continue;
                *used |= UINT64_C(1) << i;
                return given[i];
        }
        return NULL;
}

static size_t choose_count(struct generator *g, enum op op, size_t n_given)
{
        const struct operator_row *row = operator_row(op);

        if (row->shape == SHAPE_FIXED)
                return operator_n_args(op);
        if (row->flags & OPERATOR_IN_PAIRS || row->result == PLACE_BITVEC_SUM)
                return 2;
        /* As many arguments as before, so that a mutation loses none. */
        if (n_given >= 2 && n_given <= 8)
                return n_given;
        return 2 + (chance(g, 0.2) ? 1 : 0);
}

const struct term *generate_application(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result,
                                        const struct term *const *given, size_t n_given, unsigned depth)
{
        const struct operator_row *row = operator_row(op);
        const struct term *args[8], *t = NULL;
        struct signature p = {0};
        size_t n = choose_count(g, op, n_given), full = n > 0 ? below(g, n) : 0;
        uint64_t used = 0;

        if (!result_fits(g, v, op, result, &p) || !choose_indices(g, v, op, result, &p))
                return NULL;
        if (!p.same && n_given > 0 && (row->args[0] == PLACE_SAME || row->args[0] == PLACE_NUMBER) &&
            given[0]->sort->kind != SORT_REGLAN && (row->args[0] == PLACE_SAME || sort_is_number(given[0]->sort)))
                p.same = given[0]->sort; /* keep the sort of the compared terms */
        for (size_t i = 0; i < n; i++) {
                const struct sort *sort = argument_sort(g, v, op, row->args[MIN(i, operator_n_args(op) - 1)], result, &p);

                if (!sort || !is_allowed(v, sort))
                        return NULL;
                args[i] = given_argument(v, op, i, sort, given, n_given, &used);
                if (!args[i] && wants_literal(v, op, i))
                        args[i] = literal_for(g, v, op, sort);
                else if (!args[i])
                        args[i] = generate_term(g, v, sort, i == full || depth == 0 ? depth : (unsigned)below(g, depth + 1));
                if (!args[i])
                        return NULL;
        }
        if (op == OP_RE_RANGE) { /* lower bound first, or the range is empty */
                uint32_t low = character(g), high = character(g);

                args[0] = term_string_of(v->bank, &(uint32_t){MIN(low, high)}, 1);
                args[1] = term_string_of(v->bank, &(uint32_t){MAX(low, high)}, 1);
        }
        if (op == OP_ARRAY_CONST)
                return term_array_constant(v->bank, result, args[0]);
        if (term_apply(v->bank, op, p.n_index > 0 ? p.index : NULL, p.n_index, args, n, &t) < 0)
                return NULL;
        return t->sort == result ? t : NULL;
}

/* In a mutant, operators without a weight get their usual one if the generator has a logic, or the script other sorts than those of strings. */
static const struct candidates *candidates_of(struct generator *g, const struct vocabulary *v, const struct sort *sort)
{
        static const struct logic any = {.theories = ~0u, .is_nonlinear = true};
        const unsigned strings = 1u << SORT_BOOL | 1u << SORT_INT | 1u << SORT_STRING | 1u << SORT_REGLAN;
        bool all = !g->is_generating && (g->logic_name || v->sorts & ~strings);
        struct candidates *c = &g->candidates[all][sort->kind];
        enum op ops[N_OPS];
        double sum = 0;
        size_t n;

        if (c->is_filled)
                return c;
        n = operators_to(sort->kind == SORT_BITVEC ? sort_bitvec(v->bank, 1) : sort, ops); /* some operators give single bits only */
        c->n = 0;
        for (size_t i = 0; i < n; i++) {
                double weight = g->weights[ops[i]];

                if (weight <= 0 && all && !op_is_newer(ops[i], g->options.dialect))
                        weight = usual_weight(ops[i], &any, false);
                if (weight <= 0)
                        continue;
                sum += weight;
                c->ops[c->n] = ops[i];
                c->sums[c->n++] = sum;
        }
        c->is_filled = true;
        return c;
}

size_t generator_operators(struct generator *g, const struct vocabulary *v, const struct sort *sort, enum op *ret)
{
        const struct candidates *c = candidates_of(g, v, sort);

        memcpy(ret, c->ops, c->n * sizeof(*ret));
        return c->n;
}

#define FUNCTION_WEIGHT   2.0 /* for each function with a result of the sort */
#define QUANTIFIERS_MOST  3
#define QUANTIFIER_CHANCE 0.2

static const struct term *call(struct generator *g, const struct vocabulary *v, const struct function *f, unsigned depth)
{
        cleanup_free const struct term **args = allocate(f->n_args, sizeof(*args));
        size_t full = below(g, f->n_args);

        for (uint32_t i = 0; i < f->n_args; i++) {
                args[i] = generate_term(g, v, f->args[i], i == full || depth == 0 ? depth : (unsigned)below(g, depth + 1));
                if (!args[i])
                        return NULL;
        }
        return term_call_as(v->bank, f, NULL, args, f->n_args);
}

static size_t count_functions(const struct vocabulary *v, const struct sort *result)
{
        size_t n = 0;

        for (size_t i = 0; i < v->n_functions; i++)
                n += v->functions[i]->result == result;
        return n;
}

static const struct term *call_one(struct generator *g, const struct vocabulary *v, const struct sort *sort, size_t which, unsigned depth)
{
        for (size_t i = 0; i < v->n_functions; i++)
                if (v->functions[i]->result == sort && which-- == 0)
                        return call(g, v, v->functions[i], depth);
        return NULL;
}

/* A quantifier, or just its body if that uses none of its variables. */
static const struct term *quantified(struct generator *g, const struct vocabulary *v, unsigned depth)
{
        struct vocabulary inner = *v;
        const struct term *variables[2], *body;
        size_t n = 1 + below(g, ARRAY_SIZE(variables)), n_bound = 0;

        g->quantifiers--;
        inner.constants = (struct term_list){0};
        memset(inner.constants_of, 0, sizeof(inner.constants_of));
        for (size_t i = 0; i < v->constants.n; i++)
                vocabulary_add(&inner, v->constants.list[i]);
        for (size_t i = 0; i < n; i++) {
                variables[i] = term_fresh_variable(v->bank, "q", any_sort(g, v, false));
                for (size_t k = 0; k < 1 + v->constants.n / 2; k++) /* as likely as a third of the other constants */
                        vocabulary_add(&inner, variables[i]);
        }
        body = generate_term(g, &inner, sort_simple(v->bank, SORT_BOOL), depth);
        constants_done(&inner);
        for (size_t i = 0; body && i < n; i++)
                if (term_has_free(body, &variables[i], 1))
                        variables[n_bound++] = variables[i];
        return body ? term_quantifier(v->bank, chance(g, 0.5) ? TERM_FORALL : TERM_EXISTS, variables, n_bound, body) : NULL;
}

const struct term *generate_term(struct generator *g, const struct vocabulary *v, const struct sort *sort, unsigned depth)
{
        const struct candidates *c = depth > 0 ? candidates_of(g, v, sort) : NULL;
        const double of_operators = c && c->n > 0 ? c->sums[c->n - 1] : 0, sum = of_operators + FUNCTION_WEIGHT * count_functions(v, sort);

        if (depth > 0 && g->quantifiers > 0 && sort->kind == SORT_BOOL && chance(g, QUANTIFIER_CHANCE))
                return quantified(g, v, depth);
        for (int tries = 0; c && sum > 0 && tries < 16; tries++) {
                double x = random_uniform(&g->random) * sum;
                const struct term *t;
                size_t i = 0;

                while (i + 1 < c->n && c->sums[i] <= x)
                        i++;
                if (x >= of_operators)
                        t = call_one(g, v, sort, (size_t)((x - of_operators) / FUNCTION_WEIGHT), depth - 1);
                else
                        t = generate_application(g, v, c->ops[i], sort, NULL, 0, depth - 1);
                if (t)
                        return t;
        }
        return leaf(g, v, sort);
}

/* -- formulas -- */

struct script *new_formula(enum dialect d, const char *logic)
{
        struct script *s;

        script_new(NULL, d, &s);
        script_add_logic(s, logic ?: LOGIC_OF_STRINGS);
        return s;
}

static const struct symbol *numbered_name(struct bank *b, char letter, unsigned number)
{
        cleanup_free char *text = format_string("%c%u", letter, number);

        return symbol_of(b, slice_string(text));
}

const struct function *numbered_constant(struct bank *b, char letter, unsigned number, const struct sort *sort)
{
        return function_of(b, FUNCTION_DECLARED, numbered_name(b, letter, number), NULL, 0, sort);
}

static const char letters_of_sorts[N_SORT_KINDS] = {
        [SORT_BOOL] = 'b',          [SORT_INT] = 'i',    [SORT_REAL] = 'x',  [SORT_STRING] = 's',
        [SORT_ROUNDING_MODE] = 'r', [SORT_BITVEC] = 'v', [SORT_FLOAT] = 'd', [SORT_ARRAY] = 'a',  [SORT_NAMED] = 'e'};

static void declare_constant(struct script *s, unsigned number, const struct sort *sort)
{
        script_add_function(s, numbered_constant(s->bank, letters_of_sorts[sort->kind], number, sort));
}

/* Half of the constants are strings, at least one. */
static void declare_strings(struct generator *g, struct script *s)
{
        static const enum sort_kind kinds[] = {SORT_STRING, SORT_STRING, SORT_INT, SORT_STRING, SORT_BOOL, SORT_INT};

        for (unsigned i = 0; i < g->options.variables; i++)
                declare_constant(s, i, sort_simple(s->bank, kinds[i % ARRAY_SIZE(kinds)]));
}

/* The sorts of a formula: those of constants, elements and arguments; then arrays and rounding modes. */
struct sorts {
        const struct sort *list[12];
        size_t n_simple, n;
};

static void add_sort(struct sorts *to, const struct sort *s)
{
        for (size_t i = 0; i < to->n; i++)
                if (to->list[i] == s)
                        return;
        to->list[to->n++] = s;
}

static const struct sort *float_format(struct generator *g, struct bank *b)
{
        static const uint32_t formats[][2] = {{8, 24}, {11, 53}, {5, 11}, {3, 5}, {2, 4}};
        size_t common = chance(g, 0.8) ? 0 : 1; /* cvc5 reads these two */
        const uint32_t *f = formats[g->options.extensions ? below(g, ARRAY_SIZE(formats)) : common];

        return sort_float(b, f[0], f[1]);
}

/* Adds two widths, one often twice the other. */
static void add_widths(struct generator *g, struct bank *b, struct sorts *to)
{
        static const uint32_t widths[] = {1, 2, 3, 4, 4, 8, 8, 8, 16, 32, 64};
        uint32_t width = widths[below(g, ARRAY_SIZE(widths))];

        add_sort(to, sort_bitvec(b, width));
        add_sort(to, sort_bitvec(b, chance(g, 0.5) ? 2 * width : widths[below(g, ARRAY_SIZE(widths))]));
}

static void add_declared_sort(struct script *s, const char *name, struct sorts *to)
{
        cleanup_free char *text = format_string("(declare-sort %s 0)", name);

        add_sort(to, sort_named(s->bank, symbol_of(s->bank, slice_string(name)), NULL, 0));
        script_add_text(s, COMMAND_DECLARE_SORT, text);
}

/* The sorts that the logic has. Without theories: one or two declared sorts. */
static struct sorts choose_sorts(struct generator *g, struct script *s)
{
        const struct logic *l = &g->logic;
        const bool arithmetic = has_theory(l, THEORY_ARITHMETIC);
        struct sorts c = {0};

        if (has_theory(l, THEORY_STRINGS))
                add_sort(&c, sort_simple(s->bank, SORT_STRING));
        if (arithmetic && !l->no_int)
                add_sort(&c, sort_simple(s->bank, SORT_INT));
        if (arithmetic && !l->no_real)
                add_sort(&c, sort_simple(s->bank, SORT_REAL));
        if (has_theory(l, THEORY_BITVECTORS))
                add_widths(g, s->bank, &c);
        for (unsigned i = 0; has_theory(l, THEORY_FLOATS) && i < 2; i++)
                add_sort(&c, float_format(g, s->bank));
        if (c.n == 0 && has_theory(l, THEORY_ARRAYS))
                add_declared_sort(s, "Index", &c);
        if (c.n == 0 || (c.n == 1 && c.list[0]->kind == SORT_NAMED))
                add_declared_sort(s, "Element", &c);
        c.n_simple = c.n;
        for (unsigned i = 0; has_theory(l, THEORY_ARRAYS) && i < 2; i++)
                add_sort(&c, sort_array(s->bank, c.list[below(g, c.n_simple)], c.list[below(g, c.n_simple)]));
        if (has_theory(l, THEORY_FLOATS) && chance(g, 0.3))
                add_sort(&c, sort_simple(s->bank, SORT_ROUNDING_MODE));
        return c;
}

/* Declares functions of one or two arguments, some of them predicates. */
static void declare_functions(struct generator *g, struct script *s, const struct sorts *sorts)
{
        unsigned n = 1 + (unsigned)below(g, 3);

        for (unsigned i = 0; i < n; i++) {
                const struct sort *args[] = {sorts->list[below(g, sorts->n_simple)], sorts->list[below(g, sorts->n_simple)]},
                                  *result = chance(g, 0.3) ? sort_simple(s->bank, SORT_BOOL) : sorts->list[below(g, sorts->n_simple)];

                script_add_function(s, function_of(s->bank, FUNCTION_DECLARED, numbered_name(s->bank, 'f', i), args, 1 + below(g, 2), result));
        }
}

static void declare_of_logic(struct generator *g, struct script *s)
{
        struct sorts sorts = choose_sorts(g, s);
        unsigned n = (unsigned)MAX(sorts.n, g->options.variables);

        for (unsigned i = 0; i < n; i++) {
                size_t which = i < sorts.n ? i : below(g, sorts.n + 1); /* the last: Booleans */

                declare_constant(s, i, which < sorts.n ? sorts.list[which] : sort_simple(s->bank, SORT_BOOL));
        }
        if (g->logic.has_functions)
                declare_functions(g, s, &sorts);
}

/* An empty formula with its constants and functions. */
static struct script *begin_formula(struct generator *g)
{
        struct script *s = new_formula(g->options.dialect, g->logic_name);

        choose_alphabet(g);
        (g->logic_name ? declare_of_logic : declare_strings)(g, s);
        return s;
}

struct script *generate_formula(struct generator *g)
{
        cleanup_vocabulary struct vocabulary v = {0};
        struct script *s = begin_formula(g);

        v = vocabulary_at(s, s->n_commands);
        g->is_generating = true;
        g->quantifiers = g->logic_name && g->logic.has_quantifiers ? QUANTIFIERS_MOST : 0;
        for (unsigned i = 0; i < g->options.assertions; i++)
                script_add_assert(s, generate_term(g, &v, sort_simple(s->bank, SORT_BOOL), g->options.depth));
        g->is_generating = false;
        g->quantifiers = 0;
        script_add_check(s);
        return s;
}

/* -- chains -- */

#define PATTERNS_MOST 4
#define REACH_MOST    16 /* how far back a definition looks */

struct chain {
        const struct sort *sort;
        const struct term *links[2]; /* what a pattern has in place of the constant before and an earlier one */
        const struct term *patterns[PATTERNS_MOST];
        unsigned reach[PATTERNS_MOST];
        size_t n;
};

static const struct term *link_of(struct bank *b, unsigned number, const struct sort *sort)
{
        return term_constant(b, numbered_constant(b, 'c', number, sort));
}

/* A term over the links. One of a sort that no operator makes is a link, or the call of a function. */
static const struct term *pattern(struct generator *g, const struct vocabulary *v, const struct chain *c)
{
        enum op ops[N_OPS];
        size_t n = generator_operators(g, v, c->sort, ops);
        const struct term *t = NULL;

        for (int tries = 0; !t && n > 0 && tries < 20; tries++)
                t = generate_application(g, v, ops[below(g, n)], c->sort, c->links, 1 + below(g, 2), 1 + (unsigned)below(g, 2));
        return t ?: generate_term(g, v, c->sort, 2) ?: c->links[0];
}

static void choose_patterns(struct generator *g, struct vocabulary *v, struct chain *c)
{
        c->sort = v->constants.list[below(g, v->constants.n)]->sort;
        for (unsigned i = 0; i < 2; i++) {
                c->links[i] = link_of(v->bank, i, c->sort);
                vocabulary_add(v, c->links[i]);
        }
        c->n = 1 + below(g, PATTERNS_MOST);
        for (size_t i = 0; i < c->n; i++) {
                c->patterns[i] = pattern(g, v, c);
                c->reach[i] = 1 + (unsigned)below(g, REACH_MOST);
        }
}

int generate_chain(struct generator *g, unsigned size, struct script **ret)
{
        cleanup_vocabulary struct vocabulary v = {0}, last = {0};
        struct chain c = {0};
        struct script *s;

        if (size == 0)
                return errorf(-EINVAL, "a formula of size 0 says nothing");
        *ret = s = begin_formula(g);
        v = vocabulary_at(s, s->n_commands);
        g->is_generating = true;
        choose_patterns(g, &v, &c);
        for (unsigned i = 0; i < size + 2; i++)
                script_add_function(s, numbered_constant(s->bank, 'c', i, c.sort));
        for (unsigned i = 2; i < size + 2; i++) {
                const size_t k = below(g, c.n);
                const struct term *to[] = {link_of(s->bank, i - 1, c.sort), link_of(s->bank, i > c.reach[k] ? i - c.reach[k] : 0, c.sort)};

                script_add_assert(s, term_op2(s->bank, OP_EQUAL, link_of(s->bank, i, c.sort), term_substitute(s->bank, c.patterns[k], c.links, to, 2)));
        }
        last = (struct vocabulary){.bank = s->bank, .sorts = v.sorts, .is_nonlinear = v.is_nonlinear};
        vocabulary_add(&last, link_of(s->bank, size + 1, c.sort));
        vocabulary_add(&last, link_of(s->bank, 0, c.sort));
        script_add_assert(s, generate_term(g, &last, sort_simple(s->bank, SORT_BOOL), 2));
        g->is_generating = false;
        script_add_check(s);
        return 0;
}
