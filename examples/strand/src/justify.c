/* Which literals of an assignment make the formula true: of a disjunction one member will do, and a definition
 * matters only where its variable does. */
#include "solver.h"

bool justify_is_atom(const struct solver *v, tid t)
{
        const struct term *x = term_get(v->b, t);

        switch ((enum op)x->op) {
        case OP_LE:
        case OP_IN_RE:
        case OP_CONTAINS:
        case OP_VAR:
                return true;
        case OP_EQ:
                return term_get(v->b, x->args[0])->sort != SORT_BOOL;
        default:
                return false;
        }
}

/* The truth of a lowered Boolean term under the skeleton's model; iterative. */
static bool truth(struct solver *v, tid root)
{
        vec_u32 todo = {};
        bool r;

        while (v->truth.n < v->b->terms.n) {
                vec_push(&v->truth, 0);
                vec_push(&v->truth_round, 0);
        }
        vec_push(&todo, root);
        while (todo.n) {
                tid t = vec_last(&todo);
                const struct term *x = term_get(v->b, t);
                bool ready = true, b = false;

                if (v->truth_round.d[t] == v->round) {
                        todo.n--;
                        continue;
                }
                if (!justify_is_atom(v, t))
                        for (uint32_t i = 0; i < x->nargs; i++)
                                if (v->truth_round.d[x->args[i]] != v->round) {
                                        vec_push(&todo, x->args[i]);
                                        ready = false;
                                }
                if (!ready)
                        continue;
#define ARG(i) (v->truth.d[x->args[i]] == 2)
                switch (justify_is_atom(v, t) ? OP_VAR : (enum op)x->op) {
                case OP_VAR:
                        b = zed_truth(&v->zed, t);
                        break;
                case OP_TRUE:
                        b = true;
                        break;
                case OP_NOT:
                        b = !ARG(0);
                        break;
                case OP_AND:
                        b = true;
                        for (uint32_t i = 0; i < x->nargs; i++)
                                b &= ARG(i);
                        break;
                case OP_OR:
                        for (uint32_t i = 0; i < x->nargs; i++)
                                b |= ARG(i);
                        break;
                case OP_EQ:
                        b = ARG(0) == ARG(1);
                        break;
                case OP_ITE:
                        b = ARG(0) ? ARG(1) : ARG(2);
                        break;
                default:
                        break;
                }
#undef ARG
                v->truth.d[t] = b ? 2 : 1;
                v->truth_round.d[t] = v->round;
                todo.n--;
        }
        r = v->truth.d[root] == 2;
        vec_free(&todo);
        return r;
}

/* How much it costs to rely on a term: what is relied on already is free, integers are cheap. */
static uint32_t cost(const struct solver *v, tid t)
{
        const struct term *x = term_get(v->b, t);

        if (x->op == OP_NOT)
                return cost(v, x->args[0]);
        if (map_get(&v->lit_index, t))
                return 0;
        switch ((enum op)x->op) {
        case OP_TRUE:
        case OP_FALSE:
                return 0;
        case OP_VAR:
                return 1;
        case OP_LE:
                return 2;
        case OP_EQ:
                return term_get(v->b, x->args[0])->sort == SORT_STR ? 4 : 2;
        case OP_IN_RE:
                return 3;
        case OP_CONTAINS:
                return 6;
        default:
                return 5;
        }
}

/* Marks the definitions of the variables in an atom as wanted. */
static void want_variables(struct solver *v, tid atom, vec_u32 *seen, vec_u32 *todo)
{
        vec_u32 stack = {};

        vec_push(&stack, atom);
        while (stack.n) {
                tid t = vec_pop(&stack);
                const struct term *x = term_get(v->b, t);
                uint32_t d;

                if (map_get(seen, t))
                        continue;
                map_set(seen, t, 1);
                d = map_get(&v->lower.def_of, t);
                if (d)
                        vec_push(todo, v->lower.defs.d[d - 1].formula);
                d = map_get(&v->lower.link_of, t);
                if (d)
                        vec_push(&stack, v->lower.links.d[d - 1].app);
                for (uint32_t i = 0; i < x->nargs; i++)
                        if (term_get(v->b, x->args[i])->sort != SORT_RE)
                                vec_push(&stack, x->args[i]);
        }
        vec_free(&stack);
}

void justify(struct solver *v, vec_u32 *seen)
{
        vec_u32 todo = {}, done = {};

        for (size_t i = 0; i < v->lits.n; i++)
                map_set(&v->lit_index, v->lits.d[i].atom, 0);
        v->lits.n = 0;
        for (size_t i = 0; i < v->roots.n; i++)
                vec_push(&todo, v->roots.d[i]);
        while (todo.n) {
                tid t = vec_pop(&todo);
                const struct term *x;
                bool b;

                while (term_get(v->b, t)->op == OP_NOT)
                        t = term_get(v->b, t)->args[0];
                if (map_get(&done, t))
                        continue;
                map_set(&done, t, 1);
                x = term_get(v->b, t);
                b = truth(v, t);
                if (justify_is_atom(v, t)) {
                        if (x->op != OP_VAR) {
                                vec_push(&v->lits, (struct literal){t, !b});
                                map_set(&v->lit_index, t, (uint32_t)(2 * v->lits.n + !b));
                        }
                        want_variables(v, t, seen, &todo);
                } else if (x->op == OP_AND || x->op == OP_OR) {
                        bool all = b == (x->op == OP_AND);
                        tid best = 0;

                        for (uint32_t i = 0; i < x->nargs; i++) {
                                if (all)
                                        vec_push(&todo, x->args[i]);
                                else if (truth(v, x->args[i]) == b && (!best || cost(v, x->args[i]) < cost(v, best)))
                                        best = x->args[i];
                        }
                        if (!all)
                                vec_push(&todo, best);
                } else if (x->op == OP_ITE) {
                        vec_push(&todo, x->args[truth(v, x->args[0]) ? 1 : 2]);
                        vec_push(&todo, x->args[0]);
                } else if (x->op == OP_EQ) {
                        vec_push(&todo, x->args[0]);
                        vec_push(&todo, x->args[1]);
                }
        }
        vec_free(&todo);
        vec_free(&done);
}
