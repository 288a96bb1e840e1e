#include "core/fuzz/generate.h"

#include <math.h>

const struct generate_options generate_defaults = {
        .literal_length = 60,
        .variables = 6,
        .assertions = 6,
        .depth = 3,
        .literals = 0.3,
        .alphabet = 4,
        .dialect = DIALECT_2_6,
};

/* Predicates of strings outnumber the connectives, so that depth goes into the theory. Operators without a weight are not generated: constants,
 * extensions, and operators of theories whose inputs come from a corpus. */
const double generate_weights[N_OPS] = {
        [OP_NOT] = 1,
        [OP_IMPLIES] = 0.3,
        [OP_AND] = 0.6,
        [OP_OR] = 0.8,
        [OP_XOR] = 0.2,
        [OP_EQUAL] = 3,
        [OP_DISTINCT] = 0.5,
        [OP_ITE] = 0.5,

        [OP_NEGATE] = 0.3,
        [OP_MINUS] = 1,
        [OP_PLUS] = 1.5,
        [OP_TIMES] = 0.4,
        [OP_DIVIDE] = 0.2,
        [OP_INT_DIV] = 0.2,
        [OP_MOD] = 0.4,
        [OP_ABS] = 0.1,
        [OP_LE] = 1,
        [OP_LT] = 0.7,
        [OP_GE] = 0.7,
        [OP_GT] = 0.7,
        /* no OP_DIVISIBLE: z3 4.8.12 does not read it */

        [OP_BV_CONCAT] = 0.2,
        [OP_BV_NOT] = 1,
        [OP_BV_NEG] = 1,
        [OP_BV_AND] = 1,
        [OP_BV_OR] = 1,
        [OP_BV_XOR] = 1,
        [OP_BV_NAND] = 0.2,
        [OP_BV_NOR] = 0.2,
        [OP_BV_XNOR] = 0.2,
        [OP_BV_ADD] = 1,
        [OP_BV_SUB] = 1,
        [OP_BV_MUL] = 1,
        [OP_BV_UDIV] = 0.5,
        [OP_BV_UREM] = 0.5,
        [OP_BV_SDIV] = 0.3,
        [OP_BV_SREM] = 0.3,
        [OP_BV_SMOD] = 0.3,
        [OP_BV_SHL] = 0.7,
        [OP_BV_LSHR] = 0.7,
        [OP_BV_ASHR] = 0.5,
        [OP_BV_ULT] = 1,
        [OP_BV_ULE] = 1,
        [OP_BV_UGT] = 0.5,
        [OP_BV_UGE] = 0.5,
        [OP_BV_SLT] = 1,
        [OP_BV_SLE] = 1,
        [OP_BV_SGT] = 0.5,
        [OP_BV_SGE] = 0.5,
        [OP_SELECT] = 1,
        [OP_STORE] = 1,

        [OP_STR_CONCAT] = 4,
        [OP_STR_LEN] = 3,
        [OP_STR_LT] = 0.3,
        [OP_STR_LE] = 0.3,
        [OP_STR_AT] = 1,
        [OP_STR_SUBSTR] = 2,
        [OP_STR_PREFIXOF] = 1,
        [OP_STR_SUFFIXOF] = 1,
        [OP_STR_CONTAINS] = 2,
        [OP_STR_INDEXOF] = 1.5,
        [OP_STR_REPLACE] = 1.5,
        [OP_STR_REPLACE_ALL] = 0.3,
        [OP_STR_REPLACE_RE] = 0.1,
        [OP_STR_REPLACE_RE_ALL] = 0.05,
        [OP_STR_IS_DIGIT] = 0.2,
        [OP_STR_TO_CODE] = 0.3,
        [OP_STR_FROM_CODE] = 0.2,
        [OP_STR_TO_INT] = 0.7,
        [OP_STR_FROM_INT] = 0.5,
        [OP_STR_IN_RE] = 3,
        [OP_RE_FROM_STR] = 2,
        [OP_RE_NONE] = 0.05,
        [OP_RE_ALL] = 0.2,
        [OP_RE_ALLCHAR] = 0.4,
        [OP_RE_CONCAT] = 3,
        [OP_RE_UNION] = 2,
        [OP_RE_INTER] = 0.7,
        [OP_RE_STAR] = 1.5,
        [OP_RE_PLUS] = 1,
        [OP_RE_OPT] = 0.7,
        [OP_RE_COMP] = 0.3,
        [OP_RE_DIFF] = 0.2,
        [OP_RE_RANGE] = 1,
        [OP_RE_POWER] = 0.3,
        [OP_RE_LOOP] = 0.4,
};

/* Operators that solvers of the dialects 2.0 and 2.5 do not know. */
static const enum op newer[] = {
        OP_STR_LT,      OP_STR_LE,        OP_STR_REPLACE_ALL, OP_STR_REPLACE_RE, OP_STR_REPLACE_RE_ALL, OP_STR_IS_DIGIT,
        OP_STR_TO_CODE, OP_STR_FROM_CODE, OP_RE_COMP,         OP_RE_DIFF,        OP_RE_POWER,
};

struct candidates { /* operators whose result can be a sort, with running sums of their weights */
        bool is_filled;
        size_t n;
        enum op ops[N_OPS];
        double sums[N_OPS];
};

struct generator {
        struct random random;
        struct generate_options options; /* weights: `weights` */
        double weights[N_OPS];
        struct candidates candidates[N_SORT_KINDS];
        uint32_t alphabet[128]; /* of the formula at hand */
        size_t n_alphabet;
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Few characters, so that words overlap; others for each formula. */
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
        const double *weights = options->weights ? options->weights : generate_weights;

        if (options->literal_length == 0 || options->variables == 0 || options->assertions == 0 || options->depth == 0)
                return errorf(-EINVAL, "a generator's length of literals, variables, assertions and depth are at least 1");
        g->options = *options;
        memmove(g->weights, weights, sizeof(g->weights));
        g->options.weights = g->weights;
        for (size_t i = 0; i < N_OPS; i++) {
                if (!(g->weights[i] >= 0) || isinf(g->weights[i]))
                        return errorf(-EINVAL, "the weight of %s is not a number from 0 on", operator_row((enum op)i)->name);
                if (options->dialect != DIALECT_2_6 && op_is_among((enum op)i, newer, ARRAY_SIZE(newer)))
                        g->weights[i] = 0;
        }
        for (size_t i = 0; i < N_SORT_KINDS; i++)
                g->candidates[i].is_filled = false;
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

        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                uint64_t n = *sizes[i];

                transfer_u64(t, &n);
                *sizes[i] = (unsigned)n;
        }
        transfer_real(t, &o->literals);
        transfer_same(t, N_OPS);
        transfer_reals(t, g->weights, N_OPS);
        transfer_count(t, &g->n_alphabet, 1);
        g->n_alphabet = MIN(g->n_alphabet, ARRAY_SIZE(g->alphabet));
        for (size_t i = 0; i < g->n_alphabet; i++) {
                uint64_t character = g->alphabet[i];

                transfer_u64(t, &character);
                g->alphabet[i] = (uint32_t)character;
        }
        for (size_t i = 0; transfer_reads(t) && i < N_SORT_KINDS; i++)
                g->candidates[i].is_filled = false;
}

enum dialect generator_dialect(const struct generator *g)
{
        return g->options.dialect;
}

/* -- vocabulary -- */

static void allow(struct vocabulary *v, const struct sort *s)
{
        v->sorts |= 1u << s->kind;
        if (s->kind == SORT_STRING)
                v->sorts |= 1u << SORT_INT | 1u << SORT_REGLAN;
        for (uint32_t i = 0; i < s->n_args; i++)
                allow(v, s->args[i]);
}

void vocabulary_add(struct vocabulary *v, const struct term *t)
{
        allow(v, t->sort);
        term_list_add(&v->constants, t);
}

int vocabulary_of(const struct script *s, struct vocabulary *ret)
{
        cleanup_free const struct function **functions = NULL;
        struct vocabulary v = {.bank = s->bank, .sorts = 1u << SORT_BOOL};
        size_t n;
        int r = script_functions_at(s, s->n_commands, &functions, &n);

        for (size_t i = 0; r == 0 && i < n; i++) {
                const struct term *t;

                if (functions[i]->n_args > 0 || functions[i]->kind == FUNCTION_NAMED)
                        continue;
                if (!(t = term_constant(s->bank, functions[i])))
                        r = -ENOMEM;
                else
                        vocabulary_add(&v, t);
        }
        if (r < 0) {
                vocabulary_done(&v);
                return r;
        }
        *ret = v;
        return 0;
}

void vocabulary_done(struct vocabulary *v)
{
        term_list_done(&v->constants);
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
                return term_real(b, number(g));
        case SORT_STRING:
                return string_literal(g, b);
        case SORT_REGLAN:
                return regular_leaf(g, b);
        case SORT_BITVEC:
                return bitvec_literal(g, b, sort->index[0]);
        default:
                return NULL;
        }
}

static bool fits(const struct term *t, const struct sort *sort, enum sort_kind kind)
{
        return sort ? t->sort == sort : t->sort->kind == kind;
}

/* A constant of this sort; where that is NULL, of any sort of this kind. NULL: there is none. */
static const struct term *constant(struct generator *g, const struct vocabulary *v, const struct sort *sort, enum sort_kind kind)
{
        size_t n = 0;

        for (size_t i = 0; i < v->constants.n; i++)
                n += fits(v->constants.list[i], sort, kind);
        if (n == 0)
                return NULL;
        n = below(g, n);
        for (size_t i = 0;; i++)
                if (fits(v->constants.list[i], sort, kind) && n-- == 0)
                        return v->constants.list[i];
}

static const struct term *leaf(struct generator *g, const struct vocabulary *v, const struct sort *sort)
{
        /* A Boolean literal would be simplified away with what is around it. */
        double literals = sort->kind == SORT_BOOL ? g->options.literals / 8 : g->options.literals;
        const struct term *t = chance(g, literals) ? NULL : constant(g, v, sort, sort->kind);

        if (!t)
                t = literal(g, v->bank, sort);
        return t ? t : constant(g, v, sort, sort->kind);
}

/* -- applications -- */

/* The sorts that the variables of a signature have in one application. */
struct places {
        const struct sort *same; /* PLACE_SAME, PLACE_NUMBER, PLACE_BITVEC, PLACE_FLOAT */
        const struct sort *array;
};

/* A sort to compare at: that of a constant, when there is one. */
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

static const struct sort *sort_among(struct generator *g, const struct vocabulary *v, enum sort_kind kind)
{
        const struct term *t = constant(g, v, NULL, kind);

        return t ? t->sort : NULL;
}

enum sort_kind place_kind(enum place_sort place)
{
        static const enum sort_kind kinds[] = {
                [PLACE_BOOL] = SORT_BOOL,     [PLACE_INT] = SORT_INT,       [PLACE_REAL] = SORT_REAL,   [PLACE_STRING] = SORT_STRING,
                [PLACE_REGLAN] = SORT_REGLAN, [PLACE_BITVEC] = SORT_BITVEC, [PLACE_FLOAT] = SORT_FLOAT, [PLACE_ARRAY] = SORT_ARRAY,
        };

        return place < ARRAY_SIZE(kinds) ? kinds[place] : SORT_UNKNOWN;
}

bool place_can_hold(enum place_sort place, const struct sort *sort)
{
        enum sort_kind kind = place_kind(place);

        return place == PLACE_SAME || (place == PLACE_NUMBER ? sort_is_number(sort) : kind != SORT_UNKNOWN && kind == sort->kind);
}

/* Can an operator give `sort` when its result is declared as `place`? Notes what that says of its variables. */
static bool result_fits(enum place_sort place, const struct sort *sort, struct places *p)
{
        if (place == PLACE_NUMBER || place == PLACE_SAME || place == PLACE_BITVEC || place == PLACE_FLOAT)
                p->same = sort;
        else if (place == PLACE_ARRAY)
                p->array = sort;
        return place_can_hold(place, sort);
}

/* The sort of an argument; NULL: nothing here makes one. */
static const struct sort *argument_sort(struct generator *g, const struct vocabulary *v, enum place_sort place, struct places *p)
{
        switch ((int)place) {
        case PLACE_NUMBER:
        case PLACE_SAME:
                return p->same = p->same ? p->same : any_sort(g, v, place == PLACE_NUMBER);
        case PLACE_BITVEC:
        case PLACE_FLOAT:
                return p->same = p->same ? p->same : sort_among(g, v, place_kind(place));
        case PLACE_ARRAY:
                return p->array = p->array ? p->array : sort_among(g, v, SORT_ARRAY);
        case PLACE_INDEX:
                return p->array ? p->array->args[0] : NULL;
        case PLACE_ELEMENT:
                return p->array ? p->array->args[1] : NULL;
        default:
                return place_kind(place) != SORT_UNKNOWN ? sort_simple(v->bank, place_kind(place)) : NULL;
        }
}

/* The indices of (_ op i j); false where there is no rule. */
static bool choose_indices(struct generator *g, enum op op, uint32_t index[2], size_t *ret_n)
{
        *ret_n = operator_row(op)->indices_least;
        switch ((int)op) {
        case OP_RE_POWER:
                *ret_n = 1;
                index[0] = (uint32_t)below(g, 5);
                return true;
        case OP_RE_LOOP:
                *ret_n = 2;
                index[0] = (uint32_t)below(g, 4);
                index[1] = index[0] + (uint32_t)below(g, 5);
                return true;
        case OP_DIVISIBLE:
                *ret_n = 1;
                index[0] = 2 + (uint32_t)below(g, 8);
                return true;
        default:
                return *ret_n == 0;
        }
}

/* Solvers take only literals there; linear arithmetic has one factor that is none. */
static bool wants_literal(enum op op, size_t at)
{
        static const enum op factors[] = {OP_TIMES, OP_DIVIDE, OP_INT_DIV, OP_MOD};

        return op == OP_RE_FROM_STR || op == OP_RE_RANGE || (at > 0 && op_is_among(op, factors, ARRAY_SIZE(factors)));
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

/* One of what is given that fits and is not yet used, else NULL. */
static const struct term *take_given(enum op op, size_t at, const struct sort *sort, const struct term *const *given, size_t n,
                                     uint64_t *used)
{
        if (op == OP_RE_RANGE)
                return NULL;
        for (size_t i = 0; i < n && i < 64; i++) {
                if (*used >> i & 1 || given[i]->sort != sort || (wants_literal(op, at) && !is_literal(given[i])))
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
        if (row->flags & OPERATOR_IN_PAIRS)
                return 2;
        /* As many as before, so that a mutation loses nothing. */
        if (n_given >= 2 && n_given <= 8)
                return n_given;
        return 2 + (chance(g, 0.2) ? 1 : 0);
}

const struct term *generate_application(struct generator *g, const struct vocabulary *v, enum op op, const struct sort *result,
                                        const struct term *const *given, size_t n_given, unsigned depth)
{
        const struct operator_row *row = operator_row(op);
        const struct term *args[8], *t = NULL;
        struct places p = {0};
        size_t n = choose_count(g, op, n_given), n_index, full = n > 0 ? below(g, n) : 0;
        uint32_t index[2] = {0};
        uint64_t used = 0;

        if (!result_fits(row->result, result, &p) || !choose_indices(g, op, index, &n_index))
                return NULL;
        if (!p.same && n_given > 0 && (row->args[0] == PLACE_SAME || row->args[0] == PLACE_NUMBER) &&
            given[0]->sort->kind != SORT_REGLAN && (row->args[0] == PLACE_SAME || sort_is_number(given[0]->sort)))
                p.same = given[0]->sort; /* stay with what is compared */
        for (size_t i = 0; i < n; i++) {
                const struct sort *sort = argument_sort(g, v, row->args[MIN(i, operator_n_args(op) - 1)], &p);

                if (!sort || !is_allowed(v, sort))
                        return NULL;
                args[i] = take_given(op, i, sort, given, n_given, &used);
                if (!args[i] && wants_literal(op, i))
                        args[i] = literal_for(g, v, op, sort);
                else if (!args[i])
                        args[i] = generate_term(g, v, sort, i == full || depth == 0 ? depth : (unsigned)below(g, depth + 1));
                if (!args[i])
                        return NULL;
        }
        if (op == OP_RE_RANGE) { /* from the lower to the higher, or it is empty */
                uint32_t low = character(g), high = character(g);

                args[0] = term_string_of(v->bank, &(uint32_t){MIN(low, high)}, 1);
                args[1] = term_string_of(v->bank, &(uint32_t){MAX(low, high)}, 1);
        }
        if (term_apply(v->bank, op, n_index > 0 ? index : NULL, n_index, args, n, &t) < 0)
                return NULL;
        return t->sort == result ? t : NULL;
}

static const struct candidates *candidates_of(struct generator *g, const struct sort *sort)
{
        struct candidates *c = &g->candidates[sort->kind];
        enum op ops[N_OPS];
        double sum = 0;
        size_t n;

        if (c->is_filled)
                return c;
        n = operators_to(sort, ops);
        c->n = 0;
        for (size_t i = 0; i < n; i++) {
                if (g->weights[ops[i]] <= 0)
                        continue;
                sum += g->weights[ops[i]];
                c->ops[c->n] = ops[i];
                c->sums[c->n++] = sum;
        }
        c->is_filled = true;
        return c;
}

size_t generator_operators(struct generator *g, const struct sort *sort, enum op *ret)
{
        const struct candidates *c = candidates_of(g, sort);

        memcpy(ret, c->ops, c->n * sizeof(*ret));
        return c->n;
}

const struct term *generate_term(struct generator *g, const struct vocabulary *v, const struct sort *sort, unsigned depth)
{
        const struct candidates *c = depth > 0 ? candidates_of(g, sort) : NULL;

        for (int tries = 0; c && c->n > 0 && tries < 16; tries++) {
                double x = random_uniform(&g->random) * c->sums[c->n - 1];
                const struct term *t;
                size_t i = 0;

                while (i + 1 < c->n && c->sums[i] <= x)
                        i++;
                t = generate_application(g, v, c->ops[i], sort, NULL, 0, depth - 1);
                if (t)
                        return t;
        }
        return leaf(g, v, sort);
}

/* -- formulas -- */

/* Half of the constants are strings; there is at least one. */
static int declare(struct generator *g, struct script *s)
{
        int r = 0;

        for (unsigned i = 0; r == 0 && i < g->options.variables; i++) {
                static const enum sort_kind kinds[] = {SORT_STRING, SORT_STRING, SORT_INT, SORT_STRING, SORT_BOOL, SORT_INT};
                const struct sort *sort = sort_simple(s->bank, kinds[i % ARRAY_SIZE(kinds)]);
                const struct symbol *name;
                char text[32];

                snprintf(text, sizeof(text), "%c%u", sort->kind == SORT_STRING ? 's' : sort->kind == SORT_INT ? 'i' : 'b', i);
                name = symbol_of(s->bank, SLICE(text, strlen(text)));
                r = name ? script_add_function(s, function_of(s->bank, FUNCTION_DECLARED, name, NULL, 0, sort)) : -ENOMEM;
        }
        return r;
}

int generate_formula(struct generator *g, struct script **ret)
{
        cleanup_script struct script *s = NULL;
        cleanup_vocabulary struct vocabulary v = {0};
        int r;

        choose_alphabet(g);
        r = script_new(NULL, g->options.dialect, &s);
        if (r == 0)
                r = script_add_logic(s, g->options.dialect == DIALECT_2_6 ? "QF_SLIA" : "QF_S");
        if (r == 0)
                r = declare(g, s);
        if (r == 0)
                r = vocabulary_of(s, &v);
        for (unsigned i = 0; r == 0 && i < g->options.assertions; i++) {
                const struct term *t = generate_term(g, &v, sort_simple(s->bank, SORT_BOOL), g->options.depth);

                r = t ? script_add_assert(s, t) : -ENOMEM;
        }
        if (r == 0)
                r = script_add_check(s);
        if (r < 0)
                return r;
        *ret = steal_pointer(s);
        return 0;
}
