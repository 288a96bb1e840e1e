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

int weaken_example(const struct weaken *w, size_t rule, enum weaken_direction direction, struct bank *b, struct random *random,
                   const struct term **ret)
{
        const struct term *run_store[VARIABLES_MOST][RUN_MOST];
        size_t side = direction == WEAKEN ? 0 : 1;
        struct application a = {.bank = b,
                                .rule = &w->rules[rule],
                                .random = random,
                                .draw = draw_simple,
                                .seed = (uint32_t)random_bits(random),
                                .each = SIZE_MAX,
                                .run_store = run_store,
                                .is_example = true};

        if (!a.rule->matches[side] || !(*ret = rule_build(&a, a.rule->side[side])))
                return bank_error(b) == -ENOMEM ? -ENOMEM : -ENOENT;
        return 0;
}
