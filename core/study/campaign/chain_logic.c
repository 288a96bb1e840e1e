/* The terms that the steps of a chain may bring in. */
#include "core/study/campaign/chain.h"

#define SIZE_MOST 100000 /* nodes of an assertion; a larger seed may grow by half */

static bool is_literal(const struct term *t)
{
        return t->kind == TERM_LITERAL || (t->op == OP_NEGATE && t->args[0]->kind == TERM_LITERAL);
}

static bool is_nonlinear(const struct term *t)
{
        size_t n = 0;

        if (t->op == OP_TIMES)
                for (size_t i = 0; i < t->n_args; i++)
                        n += !is_literal(t->args[i]);
        if (t->op == OP_DIVIDE || t->op == OP_INT_DIV || t->op == OP_MOD || t->op == OP_REM)
                return !is_literal(t->args[1]);
        return n > 1;
}

bool chain_allows(void *user, const struct term *t)
{
        const struct chain *ch = user;
        cleanup_term_list struct term_list all = {0};

        if (t->has_quantifier && (ch->quantifier_free || ch->hunt->no_quantifier))
                return false;
        if (term_subterms(&t, 1, &all) < 0)
                return false;
        for (size_t i = 0; i < all.n; i++)
                if ((all.list[i]->kind == TERM_OPERATOR && ch->hunt->unsupported[all.list[i]->op]) ||
                    (ch->linear && is_nonlinear(all.list[i])))
                        return false;
        return true;
}

void chain_set_bounds(struct chain *ch)
{
        const char *logic = ch->place.seed->logic;
        uint64_t largest = 0;

        if (ch->place.mode == LOGIC_STATED && *logic && strcmp(logic, "ALL") != 0) {
                ch->quantifier_free = strncmp(logic, "QF_", 3) == 0;
                logic += ch->quantifier_free ? 3 : 0;
                ch->linear = strchr(logic, 'L') && !strchr(logic, 'N');
        }
        for (size_t i = 0; i < ch->now->n_commands; i++)
                if (ch->now->commands[i].kind == COMMAND_ASSERT)
                        largest = MAX(largest, ch->now->commands[i].term->tree_size);
        ch->size_most = MAX((uint64_t)SIZE_MOST, largest + largest / 2);
}
