/* Formulas that tell whether a solver supports an operator, and the operators to ask for. */
#include "core/smtlib/print.h"
#include "core/weaken/weaken_internal.h"

#define PROBE_ARGS_MOST 4

static void add_operators(const struct node *n, bool ret[N_OPS])
{
        if (n->kind == NODE_OPERATOR)
                for (enum op op = n->op; op != OP_NONE; op = operator_next(op))
                        ret[op] = true;
        for (size_t i = 0; i < n->n_args; i++)
                add_operators(n->args[i], ret);
}

void weaken_operators(const struct weaken *w, bool ret[N_OPS])
{
        memset(ret, 0, N_OPS * sizeof(*ret));
        for (size_t i = 0; i < w->n_rules; i++)
                for (size_t side = 0; side < 2; side++) /* a rule is read in either direction */
                        add_operators(w->rules[i].side[side], ret);
}

static const enum sort_kind probe_sorts[] = {SORT_BOOL, SORT_INT, SORT_REAL, SORT_STRING, SORT_REGLAN};

/* A constant of that sort; for a language or a bound of a range a fixed value, as solvers require. */
static const struct term *probe_argument(struct bank *b, enum op op, enum sort_kind kind, size_t i)
{
        if (op == OP_RE_RANGE && kind == SORT_STRING)
                return term_string(b, i == 0 ? "a" : "c");
        if (kind == SORT_REGLAN)
                return term_op1(b, OP_RE_STAR, term_op2(b, OP_RE_RANGE, term_string(b, "a"), term_string(b, "c")));
        return term_fresh_constant(b, "x", sort_simple(b, kind));
}

/* The first well-sorted application of all combinations of sorts, with as many arguments as the signature has. NULL: none is, or it has too many. */
static const struct term *apply_to_constants(struct bank *b, enum op op)
{
        static const uint32_t index[] = {1, 2};
        size_t combinations = 1, n = operator_n_args(op);

        for (size_t k = 0; k < n; k++)
                combinations *= ARRAY_SIZE(probe_sorts);
        for (size_t i = 0; n <= PROBE_ARGS_MOST && i < combinations; i++) {
                const struct term *args[PROBE_ARGS_MOST], *t;
                size_t rest = i;

                for (size_t k = 0; k < n; k++, rest /= ARRAY_SIZE(probe_sorts))
                        args[k] = probe_argument(b, op, probe_sorts[rest % ARRAY_SIZE(probe_sorts)], k);
                if (term_apply(b, op, index, operator_row(op)->indices_most, args, n, &t) == 0)
                        return t;
        }
        return NULL;
}

/* An assertion with the term: itself, or that a new constant equals it, or is in it. */
static const struct term *as_assertion(struct bank *b, const struct term *t)
{
        if (t->sort->kind == SORT_BOOL)
                return t;
        if (t->sort->kind == SORT_REGLAN)
                return term_op2(b, OP_STR_IN_RE, term_fresh_constant(b, "s", sort_simple(b, SORT_STRING)), t);
        return term_op2(b, OP_EQUAL, term_fresh_constant(b, "r", t->sort), t);
}

static int print_probe(struct bank *b, const struct term *assertion, enum dialect dialect, struct buffer *ret)
{
        cleanup_script struct script *s = NULL;

        script_new(b, dialect, &s);
        script_add_logic(s, "ALL");
        script_add_assert(s, assertion);
        script_end(s);
        return script_print(s, &(struct print_options){.dialect = dialect}, ret);
}

int weaken_probe(enum op op, enum dialect dialect, struct buffer *ret)
{
        cleanup_bank struct bank *b = bank_new();
        const struct term *t = apply_to_constants(b, op);

        return t ? print_probe(b, as_assertion(b, t), dialect, ret)
                 : errorf(-ENOENT, "no formula tells whether %s is supported", operator_name(op, dialect));
}

int weaken_probe_quantifier(enum term_kind kind, enum dialect dialect, struct buffer *ret)
{
        cleanup_bank struct bank *b = bank_new();
        const struct term *x = term_fresh_variable(b, "x", sort_simple(b, SORT_BOOL));
        const struct term *y = term_fresh_constant(b, "y", sort_simple(b, SORT_BOOL));

        return print_probe(b, term_quantifier(b, kind, &x, 1, term_op2(b, OP_OR, x, y)), dialect, ret);
}
