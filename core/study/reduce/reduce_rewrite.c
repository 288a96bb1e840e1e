/* Simpler terms of the same sort that are no part of a term: the same in fewer words; other operators, fewer arguments, arguments of arguments. */
#include "core/study/reduce/reduce_internal.h"

#define FLAT_MOST      256  /* arguments that a list gets by those in it: where terms are shared, lists in lists grow exponentially */
#define OPERATORS_MOST 2    /* others of one signature: those with the shortest names */
#define ARGS_MOST      16   /* of a term that is looked at argument by argument */
#define NESTED_SIZE    1000 /* nodes of a term whose parts are put into each other */
#define NESTED_PLACES  40   /* of an argument of it that are looked at */

/* -- the same term in fewer words: what is plain whatever the arguments are -- */

static bool op_is_associative(enum op op)
{
        return op != OP_NONE && operator_row(op)->flags & OPERATOR_ASSOCIATIVE;
}

/* The argument that changes nothing; NULL: there is none. */
static const struct term *neutral_of(struct bank *b, const struct term *t)
{
        bool is_int = t->sort->kind == SORT_INT;

        if (t->op == OP_AND)
                return term_true(b);
        if (t->op == OP_OR || t->op == OP_XOR)
                return term_false(b);
        if (t->op == OP_PLUS)
                return is_int ? term_int(b, 0) : term_real(b, 0);
        if (t->op == OP_TIMES)
                return is_int ? term_int(b, 1) : term_real(b, 1);
        if (t->op == OP_STR_CONCAT)
                return term_string(b, "");
        if (t->op == OP_RE_UNION)
                return term_op(b, OP_RE_NONE, NULL, 0);
        return t->op == OP_RE_INTER ? term_op(b, OP_RE_ALL, NULL, 0) : NULL;
}

/* The arguments, with those of arguments of the same operator in their place, unless there are too many. */
static void term_list_add_flat(const struct term *t, struct term_list *ret)
{
        for (size_t i = 0; i < t->n_args; i++) {
                const struct term *arg = t->args[i];
                bool is_list = arg->kind == TERM_OPERATOR && arg->op == t->op && ret->n + arg->n_args <= FLAT_MOST;

                for (size_t k = 0; k < (is_list ? arg->n_args : 1); k++)
                        term_list_add(ret, is_list ? arg->args[k] : arg);
        }
}

static const struct term *tidy_list(struct bank *b, const struct term *t)
{
        cleanup_term_list struct term_list args = {0};
        const struct term *neutral = neutral_of(b, t), *made = NULL;
        size_t n = 0;

        term_list_add_flat(t, &args);
        for (size_t i = 0; i < args.n; i++)
                if (args.list[i] != neutral)
                        args.list[n++] = args.list[i];
        if (n <= 1)
                return n == 1 ? args.list[0] : neutral;
        return term_apply(b, t->op, NULL, 0, args.list, n, &made) == 0 && made->sort == t->sort ? made : t;
}

static const struct term *tidy_one(void *user, struct bank *b, const struct term *t)
{
        if (t->kind != TERM_OPERATOR || t->sort->has_unknown)
                return t;
        if (t->op == OP_NOT && t->args[0]->kind == TERM_OPERATOR && t->args[0]->op == OP_NOT)
                return t->args[0]->args[0];
        return op_is_associative(t->op) ? tidy_list(b, t) : t;
}

const struct term *term_tidied(struct bank *b, const struct term *t)
{
        return term_rewrite(b, t, tidy_one, NULL);
}

/* -- other terms -- */

/* What a negated relation is without the negation. */
static const struct {
        enum op of, is;
} negations[] = {{OP_LE, OP_GT}, {OP_LT, OP_GE},          {OP_GE, OP_LT},
                 {OP_GT, OP_LE}, {OP_EQUAL, OP_DISTINCT}, {OP_DISTINCT, OP_EQUAL}};

static size_t name_size(enum op op)
{
        return strlen(operator_row(op)->name);
}

static void add_made(struct bank *b, const struct term *t, enum op op, const struct term *const *args, size_t n, struct term_list *ret)
{
        const struct term *made = NULL;

        if (term_apply(b, op, NULL, 0, args, n, &made) == 0 && made->sort == t->sort && made != t)
                term_list_add(ret, made);
}

static int shorter_name(const void *a, const void *b)
{
        const enum op *x = a, *y = b;

        return ORDER(name_size(*x), name_size(*y)) ?: ORDER(*x, *y);
}

/* Operators for these arguments whose names are at most so long. */
static void add_operators(struct bank *b, const struct term *t, const struct term *const *args, size_t n, size_t most,
                          struct term_list *ret)
{
        enum op ops[N_OPS];
        size_t n_ops = operators_of(b, args, n, t->sort, ops);

        qsort(ops, n_ops, sizeof(*ops), shorter_name);
        for (size_t i = 0; i < n_ops && i < OPERATORS_MOST && name_size(ops[i]) <= most; i++)
                add_made(b, t, ops[i], args, n, ret);
}

/* (str.replace a b c): (str.++ a c) and the like. */
static void add_fewer(struct bank *b, const struct term *t, struct term_list *ret)
{
        const struct term *left[ARGS_MOST];

        for (size_t out = 0; out < t->n_args && t->n_args > 1; out++) {
                size_t n = 0;

                for (size_t i = 0; i < t->n_args; i++)
                        if (i != out)
                                left[n++] = t->args[i];
                add_operators(b, t, left, n, name_size(t->op), ret);
        }
}

/* (str.in_re a (str.to_re b)): (= a b) and the like. */
static void add_pulled_up(struct bank *b, const struct term *t, struct term_list *ret)
{
        const struct term *args[ARGS_MOST];

        memcpy(args, t->args, t->n_args * sizeof(*args));
        for (size_t i = 0; i < t->n_args; i++) {
                const struct term *arg = t->args[i];

                for (size_t k = 0; !term_is_quantifier(arg) && arg->kind != TERM_ANNOTATED && k < arg->n_args; k++) {
                        args[i] = arg->args[k];
                        if (args[i]->sort != arg->sort)
                                add_operators(b, t, args, t->n_args, SIZE_MAX, ret);
                }
                args[i] = arg;
        }
}

static void add_flat(struct bank *b, const struct term *t, struct term_list *ret)
{
        cleanup_term_list struct term_list args = {0};

        if (op_is_associative(t->op))
                term_list_add_flat(t, &args);
        if (args.n > 0)
                add_made(b, t, t->op, args.list, args.n, ret);
}

static void add_unnegated(struct bank *b, const struct term *t, struct term_list *ret)
{
        const struct term *relation = t->op == OP_NOT ? t->args[0] : NULL;

        for (size_t i = 0; relation && relation->kind == TERM_OPERATOR && i < ARRAY_SIZE(negations); i++)
                if (relation->op == negations[i].of)
                        add_made(b, t, negations[i].is, relation->args, relation->n_args, ret);
}

/* The arguments of an equality with false, negated, and the like: (= false a) is (not a). */
static void add_negated(struct bank *b, const struct term *t, struct term_list *ret)
{
        bool is_equality = t->n_args == 2 && (t->op == OP_EQUAL || t->op == OP_XOR || t->op == OP_DISTINCT);

        for (size_t i = 0; is_equality && i < 2; i++)
                if (term_is_bool(t->args[i]) && t->args[1 - i]->n_args == 0 && term_rank(b, t->args[1 - i]) <= 1)
                        add_made(b, t, OP_NOT, &t->args[i], 1, ret);
}

/* (< (+ a b) c): (< a b). */
static void add_split(struct bank *b, const struct term *t, struct term_list *ret)
{
        for (size_t i = 0; t->n_args == 2 && i < 2; i++) {
                const struct term *arg = t->args[i];

                if (arg->kind == TERM_OPERATOR && arg->n_args == 2 && arg->args[0]->sort == arg->sort && arg->args[1]->sort == arg->sort)
                        add_made(b, t, t->op, arg->args, 2, ret);
        }
}

/* (forall ((x Int)) (forall ((y Int)) p)): (forall ((x Int) (y Int)) p). */
static void add_one_quantifier(struct bank *b, const struct term *t, struct term_list *ret)
{
        const struct term *inner = term_body(t);
        cleanup_term_list struct term_list variables = {0};

        if (inner->kind != t->kind || t->kind == TERM_LAMBDA)
                return;
        for (size_t i = 0; i < t->n_bound + inner->n_bound; i++)
                term_list_add(&variables, i < t->n_bound ? t->args[i] : inner->args[i - t->n_bound]);
        term_list_add(ret, term_quantifier(b, t->kind, variables.list, variables.n, term_body(inner)));
}

void term_rewrites(struct bank *b, const struct term *t, struct term_list *ret)
{
        if (term_is_quantifier(t))
                add_one_quantifier(b, t, ret);
        if (t->kind != TERM_OPERATOR || t->n_args == 0 || t->n_args > ARGS_MOST || t->sort->has_unknown)
                return;
        add_made(b, t, OP_RE_ALL, NULL, 0, ret); /* no other step tries this value */
        add_flat(b, t, ret);
        add_unnegated(b, t, ret);
        add_negated(b, t, ret);
        add_fewer(b, t, ret);
        add_pulled_up(b, t, ret);
        add_split(b, t, ret);
        if (name_size(t->op) > 1)
                add_operators(b, t, t->args, t->n_args, name_size(t->op) - 1, ret);
}

/* -- parts of a term within each other -- */

/* One argument goes, and a subterm of it takes a leaf's place in another one: (and (< (f 1) 2) (< 3 (g 4))) is (< (f (g 4)) 2). */
static void add_nested(struct bank *b, const struct term *t, size_t keep, size_t out, struct term_list *ret)
{
        cleanup_term_places struct term_places places = {0}, moved = {0};
        bool is_out[ARGS_MOST] = {0};
        const struct term *args[ARGS_MOST];

        term_places(t->args[keep], NESTED_PLACES, &places);
        term_places(t->args[out], NESTED_PLACES, &moved);
        is_out[out] = true;
        memcpy(args, t->args, t->n_args * sizeof(*args));
        for (size_t m = 0; m < moved.n && ret->n < NESTINGS_MOST; m++)
                for (size_t i = 1; i < places.n && moved.list[m].term->n_args > 0 && !moved.list[m].term->is_open; i++) {
                        const struct term *whole;

                        if (places.list[i].term->n_args > 0 || places.list[i].term->sort != moved.list[m].term->sort)
                                continue;
                        args[keep] = term_replace_at(b, &places, i, moved.list[m].term);
                        whole = args[keep] ? term_with_args(b, t, args) : NULL;
                        whole = whole ? term_without_args(b, whole, is_out) : NULL;
                        if (whole)
                                term_list_add(ret, whole);
                }
}

/* A formula gives way to an equality of a part and the simplest value. */
static void add_equalities(struct bank *b, const struct term *t, struct term_list *ret)
{
        cleanup_term_list struct term_list all = {0};

        term_subterms(&t, 1, &all);
        for (size_t i = all.n; i-- > 0;) {
                const struct term *part = all.list[i], *value;

                if (part->n_args == 0 || part->is_open || term_is_bool(part) || (part->depth + 1 == t->depth && name_size(t->op) == 1))
                        continue;
                value = term_replacement(b, part, REPLACEMENT_ZERO, NULL, NULL);
                if (value)
                        add_made(b, t, OP_EQUAL, (const struct term *[]){part, value}, 2, ret);
        }
}

void term_nestings(struct bank *b, const struct term *t, struct term_list *ret)
{
        if (t->kind != TERM_OPERATOR || t->n_args > ARGS_MOST || t->sort->has_unknown || t->tree_size > NESTED_SIZE)
                return;
        for (size_t keep = 0; t->n_args > 1 && keep < t->n_args; keep++)
                for (size_t out = 0; out < t->n_args; out++)
                        if (out != keep)
                                add_nested(b, t, keep, out, ret);
        if (term_is_bool(t))
                add_equalities(b, t, ret);
}
