#include "tests/weaken/example.h"

#include "core/weaken/weaken_internal.h"

/* A constant of the sort, a literal, or a small application. */
static const struct term *draw_simple(struct application *a, const struct sort *sort, bool is_literal)
{
        struct bank *b = a->bank;
        char name[32];
        const struct term *x;

        if (is_literal || (sort->kind != SORT_FLOAT && random_below(a->random, 4) == 0))
                return literal_draw(b, sort, a->random, is_literal);
        if (sort->kind == SORT_REGLAN) {
                static const enum op ops[] = {OP_RE_STAR, OP_RE_OPT, OP_RE_COMP, OP_RE_PLUS};
                static const enum op pairs[] = {OP_RE_CONCAT, OP_RE_UNION, OP_RE_INTER, OP_RE_DIFF};

                x = literal_draw(b, sort, a->random, false);
                return random_below(a->random, 2)
                               ? term_op1(b, ops[random_below(a->random, 4)], x)
                               : term_op2(b, pairs[random_below(a->random, 4)], x, literal_draw(b, sort, a->random, false));
        }
        snprintf(name, sizeof(name), "%c%u", "?bxrsmvfan"[MIN((size_t)sort->kind, 9u)], (unsigned)random_below(a->random, 3));
        x = term_constant(b, function_of(b, FUNCTION_DECLARED, symbol_of(b, slice_string(name)), NULL, 0, sort));
        if (random_below(a->random, 3) > 0 || !x)
                return x;
        switch ((int)sort->kind) {
        case SORT_BOOL:
                return term_op1(b, OP_NOT, x);
        case SORT_INT:
        case SORT_REAL:
                return term_op2(b, OP_PLUS, x, literal_draw(b, sort, a->random, false));
        case SORT_STRING:
                return term_op2(b, OP_STR_CONCAT, x, literal_draw(b, sort, a->random, false));
        default:
                return x;
        }
}

static const struct term *draw_parameter(struct application *a, const struct sort *sort)
{
        return draw_simple(a, sort, false);
}

static const struct sort *sort_of(const struct application *a, enum variable_sort of)
{
        static const enum sort_kind simple[] = {[OF_BOOL] = SORT_BOOL,
                                                [OF_INT] = SORT_INT,
                                                [OF_REAL] = SORT_REAL,
                                                [OF_STRING] = SORT_STRING,
                                                [OF_REGLAN] = SORT_REGLAN};

        if (of == OF_NUMBER || of == OF_ANY)
                return of == OF_NUMBER ? a->number : a->any;
        return of == OF_NONE || of > OF_ANY ? NULL : sort_simple(a->bank, simple[of]);
}

/* What Num and Any are. */
static void draw_sorts(struct application *a)
{
        static const enum sort_kind free_sorts[] = {SORT_INT, SORT_REAL, SORT_STRING, SORT_BOOL};
        enum op op = a->rule->side[0]->op;
        enum theory theory = op != OP_NONE ? operator_row(op)->theory : THEORY_CORE;

        a->number = sort_simple(a->bank, random_below(a->random, 2) ? SORT_INT : SORT_REAL);
        a->any = theory == THEORY_BITVECTORS ? sort_bitvec(a->bank, 4)
                 : theory == THEORY_FLOATS   ? sort_float(a->bank, 3, 5)
                                             : sort_simple(a->bank, free_sorts[random_below(a->random, ARRAY_SIZE(free_sorts))]);
}

/* Each run has two or three arguments, so that every application is allowed. */
static bool draw_runs(struct application *a)
{
        for (size_t v = 0; v < a->rule->n_variables; v++) {
                const struct sort *sort = sort_of(a, a->rule->variables[v].sort);
                struct binding *x = &a->bindings[v];

                if (!a->rule->variables[v].is_run || !sort)
                        continue;
                *x = (struct binding){.is_set = true, .n = 2 + random_below(a->random, 2), .list = a->run_store[v]};
                for (size_t i = 0; i < x->n; i++)
                        if (!(a->run_store[v][i] = draw_simple(a, sort, a->rule->variables[v].is_literal)))
                                return false;
        }
        return true;
}

/* A quantifier of an integer and what it is compared with, where the side has one. */
static bool draw_kept(struct application *a, const struct node *n)
{
        static const enum op compare[] = {OP_LE, OP_LT, OP_EQUAL, OP_DISTINCT};
        const struct sort *sort = sort_simple(a->bank, SORT_INT);
        const struct term *x, *body;

        for (size_t i = 0; n->kind != NODE_KEPT && i < n->n_args; i++)
                if (!draw_kept(a, n->args[i]))
                        return false;
        if (n->kind != NODE_KEPT)
                return true;
        x = term_variable(a->bank, symbol_of(a->bank, slice_string("x!example")), sort);
        body = term_op2(a->bank, compare[random_below(a->random, ARRAY_SIZE(compare))],
                        random_below(a->random, 2) ? x : term_op2(a->bank, OP_PLUS, x, draw_simple(a, sort, false)),
                        draw_simple(a, sort, false));
        if (random_below(a->random, 2))
                body = term_op2(a->bank, OP_AND, body, draw_simple(a, sort_simple(a->bank, SORT_BOOL), false));
        a->kept = body ? term_quantifier(a->bank, n->quantifier, &x, 1, body) : NULL;
        a->bindings[n->args[0]->kind == NODE_VARIABLE ? n->args[0]->number : n->args[0]->args[0]->number] =
                (struct binding){.is_set = true, .one = body};
        return a->kept;
}

/* (= (?f ?x...) (?f ?y...)): of concatenation or addition. */
static const struct term *build_calls(struct application *a, const struct node *side)
{
        const struct sort *sort = sort_simple(a->bank, a->seed % 2 ? SORT_STRING : SORT_INT);
        const struct term *calls[2];

        for (size_t i = 0; i < 2; i++) {
                const struct term *x[] = {draw_simple(a, sort, false), draw_simple(a, sort, false)};

                calls[i] = term_op(a->bank, a->seed % 2 ? OP_STR_CONCAT : OP_PLUS, x, 2);
        }
        return term_op(a->bank, side->op, calls, 2);
}

int weaken_example(const struct weaken *w, size_t rule, enum weaken_direction direction, struct bank *b, struct random *random,
                   const struct term **ret)
{
        const struct term *run_store[VARIABLES_MOST][RUN_MOST];
        const struct node *side = w->rules[rule].side[direction == WEAKEN ? 0 : 1];
        struct application a = {.bank = b,
                                .rule = &w->rules[rule],
                                .random = random,
                                .draw = draw_parameter,
                                .seed = (uint32_t)random_bits(random),
                                .each = SIZE_MAX,
                                .run_store = run_store};

        *ret = NULL;
        draw_sorts(&a);
        if (a.rule->matches[direction == WEAKEN ? 0 : 1] && draw_runs(&a) && draw_kept(&a, side))
                *ret = side->n_args == 2 && side->args[0]->kind == NODE_CALL ? build_calls(&a, side) : rule_build(&a, side);
        return *ret ? 0 : bank_error(b) == -ENOMEM ? -ENOMEM : -ENOENT;
}
