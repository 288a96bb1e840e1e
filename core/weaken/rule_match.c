/* Matches a side of a rule against a term, and binds the rule's variables. A variable that is bound already must be the same term. */
#include "core/weaken/weaken_internal.h"

static bool is_positive_literal(const struct term *t)
{
        double real;

        if (t->kind != TERM_LITERAL)
                return false;
        return t->sort->kind == SORT_STRING ? term_string_length(t) > 0 : sort_is_number(t->sort) && term_to_real(t, &real) && real > 0;
}

/* Matches a sort with Num or Any, whose sort the first use fixes. */
static bool unify(const struct sort **is, const struct sort *sort)
{
        if (!*is)
                *is = sort;
        return *is == sort;
}

static bool variable_fits(struct application *a, const struct rule_variable *v, const struct term *t)
{
        const struct sort *sort = t->sort;
        uint32_t c;

        if (sort->has_unknown || (v->is_literal && !is_positive_literal(t)))
                return false;
        switch ((int)v->sort) {
        case OF_NONE:
                return false;
        case OF_NUMBER:
                return sort_is_number(sort) && unify(&a->number, sort);
        case OF_ANY:
                return sort->kind != SORT_REGLAN && unify(&a->any, sort);
        case OF_FREE:
                return sort->kind != SORT_REGLAN;
        case OF_CHARACTER:
                return character_of(t, &c);
        default:
                return sort->kind == variable_kinds[v->sort].kind;
        }
}

static bool match_variable(struct application *a, const struct node *n, const struct term *t)
{
        const struct rule_variable *v = &a->rule->variables[n->number];
        struct binding *x = &a->bindings[n->number];

        if (v->is_run) { /* below a NODE_EACH: argument a->each of the run, which a run before it may have bound */
                if (a->each >= RUN_MOST)
                        return false;
                if (a->each < x->n)
                        return x->list[a->each] == t;
                if ((x->is_set && x->list != a->run_store[n->number]) || !variable_fits(a, v, t))
                        return false;
                a->run_store[n->number][x->n++] = t;
                x->list = a->run_store[n->number];
                x->is_set = true;
                return true;
        }
        if (x->is_set)
                return x->one == t;
        if (!variable_fits(a, v, t))
                return false;
        *x = (struct binding){.is_set = true, .one = t};
        return true;
}

static bool match(struct application *a, const struct node *n, const struct term *t);

static bool match_run(struct application *a, const struct node *n, const struct term *const *args, size_t count)
{
        const struct rule_variable *v = &a->rule->variables[n->number];
        struct binding *x = &a->bindings[n->number];

        if (x->is_set)
                return x->n == count && (count == 0 || memcmp(x->list, args, count * sizeof(*args)) == 0);
        for (size_t i = 0; i < count; i++)
                if (!variable_fits(a, v, args[i]))
                        return false;
        *x = (struct binding){.is_set = true, .list = args, .n = count};
        return true;
}

static bool match_each(struct application *a, const struct node *n, const struct term *const *args, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                a->each = i;
                if (!match(a, n->args[0], args[i]))
                        return false;
        }
        a->each = SIZE_MAX;
        return count > 0 && count <= RUN_MOST;
}

/* Matches arguments against patterns, at most two of which are runs. The first run takes `first` arguments, the other the rest of `spare`. */
static bool match_split(struct application *a, const struct node *n, const struct term *const *args, size_t count, size_t first, size_t spare)
{
        size_t at = 0, runs = 0;

        for (size_t i = 0; i < n->n_args; i++) {
                const struct node *x = n->args[i];
                bool is_run = x->kind == NODE_RUN || x->kind == NODE_EACH;
                size_t take = 1;
                bool fits;

                if (is_run)
                        take = runs++ == 0 ? first : spare - first;
                fits = x->kind == NODE_RUN    ? match_run(a, x, args + at, take)
                       : x->kind == NODE_EACH ? match_each(a, x, args + at, take)
                                              : match(a, x, args[at]);
                if (!fits)
                        return false;
                at += take;
        }
        return at == count;
}

static bool match_args(struct application *a, const struct node *n, const struct term *const *args, size_t count)
{
        size_t runs = 0, spare, start;
        struct application before = *a;

        for (size_t i = 0; i < n->n_args; i++)
                runs += n->args[i]->kind == NODE_RUN || n->args[i]->kind == NODE_EACH;
        if (count < n->n_args - runs || (runs == 0 && count != n->n_args) || runs > 2)
                return false;
        spare = count - (n->n_args - runs);
        if (runs < 2)
                return match_split(a, n, args, count, spare, spare);
        start = random_below(a->random, spare + 1);
        for (size_t i = 0; i <= spare; i++) {
                if (match_split(a, n, args, count, (start + i) % (spare + 1), spare))
                        return true;
                *a = before;
        }
        return false;
}

static bool match_operator(struct application *a, const struct node *n, const struct term *t)
{
        enum op op = n->op;

        if (t->kind != TERM_OPERATOR)
                return false;
        while (op != OP_NONE && op != t->op)
                op = operator_next(op);
        if (op == OP_NONE || term_n_index(t) != n->n_index)
                return false;
        for (size_t i = 0; i < n->n_index; i++) {
                struct binding *x = &a->bindings[n->index[i].value];

                if (n->index[i].kind == INDEX_DRAWN && t->index[i] < 1) /* no rule draws it: ((_ re.loop 1 0) r) is empty */
                        return false;
                if (n->index[i].kind == INDEX_DRAWN)
                        *x = (struct binding){.is_set = true, .index = t->index[i]};
                else if (n->index[i].value != t->index[i])
                        return false;
        }
        return match_args(a, n, t->args, t->n_args);
}

static bool match_call(struct application *a, const struct node *n, const struct term *t)
{
        if (t->n_args == 0 || (t->kind != TERM_OPERATOR && t->kind != TERM_FUNCTION) || t->sort->kind == SORT_REGLAN)
                return false;
        if (a->call && (a->call->kind != t->kind || a->call->op != t->op || a->call->n_args != t->n_args || a->call->sort != t->sort ||
                        a->call->function != t->function || memcmp(a->call->index, t->index, sizeof(t->index)) != 0))
                return false;
        for (size_t i = 0; a->call && i < t->n_args; i++)
                if (a->call->args[i]->sort != t->args[i]->sort) /* a function over Int differs from the one over Real, or over another width */
                        return false;
        a->call = t;
        return match_args(a, n, t->args, t->n_args);
}

static bool match_quantifier(struct application *a, const struct node *n, const struct term *t)
{
        if (t->kind != n->quantifier || t->n_bound != a->rule->n_new)
                return false;
        for (size_t i = 0; i < t->n_bound; i++) {
                if (t->args[i]->sort->kind != variable_kinds[a->rule->new_sorts[i]].kind)
                        return false;
                a->new_variables[i] = t->args[i];
        }
        return match(a, n->args[0], term_body(t));
}

static bool match(struct application *a, const struct node *n, const struct term *t)
{
        int64_t value;

        switch ((int)n->kind) {
        case NODE_VARIABLE:
                return match_variable(a, n, t);
        case NODE_OPERATOR:
                return match_operator(a, n, t);
        case NODE_CALL:
                return match_call(a, n, t);
        case NODE_NUMBER:
                return t->kind == TERM_LITERAL && t->sort->kind == SORT_INT && term_to_int(t, &value) && value == n->number;
        case NODE_EMPTY:
                return t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING && term_string_length(t) == 0;
        case NODE_QUANTIFIER:
                return match_quantifier(a, n, t);
        case NODE_NEW:
                return a->new_variables[n->number] == t;
        case NODE_KEPT:
                if (t->kind != n->quantifier)
                        return false;
                a->kept = t;
                return match(a, n->args[0], term_body(t));
        default:
                return false;
        }
}

/* Variables that the matched quantifier binds must not leave it. */
static bool is_closed_in(const struct application *a, const struct term *variable)
{
        for (size_t i = 0; i < a->rule->n_variables; i++) {
                const struct binding *x = &a->bindings[i];

                if (x->one && term_has_free(x->one, &variable, 1))
                        return false;
                for (size_t k = 0; k < x->n; k++)
                        if (term_has_free(x->list[k], &variable, 1))
                                return false;
        }
        return true;
}

bool rule_match(struct application *a, const struct node *side, const struct term *t)
{
        a->each = SIZE_MAX;
        if (!match(a, side, t))
                return false;
        for (size_t i = 0; i < NEW_MOST; i++)
                if (a->new_variables[i] && !is_closed_in(a, a->new_variables[i]))
                        return false;
        memset(a->new_variables, 0, sizeof(a->new_variables));
        return true;
}
