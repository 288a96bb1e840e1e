/* Builds the other side of a rule from what was matched; what was not matched is drawn. */
#include "core/weaken/weaken_internal.h"

/* -- parameters -- */

/* NULL for a sort without literals here. */
const struct term *literal_draw(struct bank *b, const struct sort *sort, struct random *random, bool is_positive)
{
        static const char *const words[] = {"a", "b", "ab", "0", "7", "-1", "aa", "B"};
        int64_t n = is_positive ? 1 + (int64_t)random_below(random, 9) : (int64_t)random_below(random, 21) - 10;

        switch ((int)sort->kind) {
        case SORT_BOOL:
                return random_below(random, 2) ? term_true(b) : term_false(b);
        case SORT_INT:
                return term_int(b, n);
        case SORT_REAL:
                return term_real(b, n);
        case SORT_STRING:
                return term_string(b, !is_positive && random_below(random, 4) == 0 ? "" : words[random_below(random, ARRAY_SIZE(words))]);
        case SORT_BITVEC:
                return term_bitvec(b, random_bits(random), sort->index[0]);
        case SORT_REGLAN:
                return random_below(random, 3) == 0
                               ? term_op(b, OP_RE_ALLCHAR, NULL, 0)
                               : term_op1(b, OP_RE_FROM_STR, term_string(b, words[random_below(random, ARRAY_SIZE(words))]));
        default:
                return NULL;
        }
}

/* NULL: the sort is not known, as nothing was matched with Num or Any, or it is Free. */
static const struct sort *variable_sort(const struct application *a, enum variable_sort of)
{
        if (of == OF_NUMBER || of == OF_ANY)
                return of == OF_NUMBER ? a->number : a->any;
        return variable_kinds[of].kind == SORT_UNKNOWN ? NULL : sort_simple(a->bank, variable_kinds[of].kind);
}

/* A variable that only this side has. */
static const struct term *draw(struct application *a, const struct rule_variable *v)
{
        const struct sort *sort = variable_sort(a, v->sort);
        uint32_t letter = 'a';

        if (v->sort == OF_CHARACTER) {
                letter += (uint32_t)random_below(a->random, 26);
                return term_string_of(a->bank, &letter, 1);
        }
        if (!sort)
                return NULL;
        return v->is_literal ? literal_draw(a->bank, sort, a->random, true) : a->draw(a, sort);
}

static const struct term *build_variable(struct application *a, const struct node *n)
{
        struct binding *x = &a->bindings[n->number];
        const struct rule_variable *v = &a->rule->variables[n->number];

        if (v->is_run)
                return x->is_set && a->each < x->n ? x->list[a->each] : NULL;
        if (!x->is_set)
                *x = (struct binding){.is_set = true, .one = draw(a, v)};
        return x->one;
}

/* -- applications -- */

/* The run below a NODE_EACH. */
static const struct node *run_of(const struct application *a, const struct node *n)
{
        if (n->kind == NODE_VARIABLE && a->rule->variables[n->number].is_run)
                return n;
        for (size_t i = 0; i < n->n_args; i++) {
                const struct node *x = run_of(a, n->args[i]);

                if (x)
                        return x;
        }
        return NULL;
}

static bool add_each(struct application *a, const struct node *n, struct term_list *args)
{
        const struct node *run = run_of(a, n->args[0]);

        if (!run || !a->bindings[run->number].is_set)
                return false;
        for (size_t i = 0; i < a->bindings[run->number].n; i++) {
                a->each = i;
                term_list_add(args, rule_build(a, n->args[0]));
                a->each = SIZE_MAX;
        }
        return true;
}

static bool add_run(const struct binding *run, struct term_list *args)
{
        for (size_t i = 0; i < run->n; i++)
                term_list_add(args, run->list[i]);
        return run->is_set;
}

/* Adds the arguments. False, or a NULL among them: one cannot be built. */
static bool build_args(struct application *a, const struct node *n, struct term_list *args)
{
        for (size_t i = 0; i < n->n_args; i++) {
                const struct node *x = n->args[i];
                bool is_built = true;

                if (x->kind == NODE_RUN)
                        is_built = add_run(&a->bindings[x->number], args);
                else if (x->kind == NODE_EACH)
                        is_built = add_each(a, x, args);
                else
                        term_list_add(args, rule_build(a, x));
                if (!is_built)
                        return false;
        }
        return true;
}

static const struct term *build_operator(struct application *a, const struct node *n)
{
        cleanup_term_list struct term_list args = {0};
        uint32_t index[2] = {0};
        const struct term *t = NULL;
        enum op op = n->op;

        if (!build_args(a, n, &args))
                return NULL;
        for (size_t i = 0; i < n->n_index; i++) {
                struct binding *x = &a->bindings[n->index[i].value];

                if (n->index[i].kind == INDEX_DRAWN && !x->is_set)
                        *x = (struct binding){.is_set = true, .index = 1 + (uint32_t)random_below(a->random, INDEX_MOST)};
                index[i] = n->index[i].kind == INDEX_FIXED   ? n->index[i].value
                           : n->index[i].kind == INDEX_DRAWN ? x->index
                                                             : (uint32_t)x->n;
        }
        while (op != OP_NONE && !operator_takes(op, args.n))
                op = operator_next(op);
        if (op != OP_NONE && operator_row(op)->shape != SHAPE_FIXED && args.n < 2)
                return NULL; /* one argument, as in (and x): not in the standard */
        if (op == OP_NONE || term_apply(a->bank, op, index, n->n_index, args.list, args.n, &t) < 0)
                return NULL;
        return t;
}

/* x₁ = y₁ ∧ …, without pairs of equal terms. */
static const struct term *build_pairs(struct application *a, const struct node *n)
{
        cleanup_term_list struct term_list list = {0};
        const struct binding *x = &a->bindings[n->args[0]->number], *y = &a->bindings[n->args[1]->number];

        if (!x->is_set || !y->is_set || x->n != y->n)
                return NULL;
        for (size_t i = 0; i < x->n; i++)
                if (x->list[i] != y->list[i])
                        term_list_add(&list, term_op2(a->bank, OP_EQUAL, x->list[i], y->list[i]));
        return term_and(a->bank, list.list, list.n);
}

/* -- quantifiers -- */

/* The step's seed makes the name new. `number`: 0 or 1, among the new variables of one rule. */
static const struct term *new_variable(struct application *a, const char *stem, size_t number, const struct sort *sort)
{
        char name[64];

        snprintf(name, sizeof(name), "%s!%08x%s", stem, a->seed, number > 0 ? "+" : "");
        return term_variable(a->bank, symbol_of(a->bank, slice_string(name)), sort);
}

/* With new variables, or those of the matched quantifier. */
static const struct term *build_quantifier(struct application *a, const struct node *n)
{
        bool is_kept = n->kind == NODE_KEPT;

        if (is_kept && !a->kept)
                return NULL;
        for (size_t i = 0; !is_kept && i < a->rule->n_new; i++)
                a->new_variables[i] = new_variable(a, a->rule->new_names[i], i, variable_sort(a, a->rule->new_sorts[i]));
        return term_quantifier(a->bank, n->quantifier, is_kept ? a->kept->args : a->new_variables, is_kept ? a->kept->n_bound : a->rule->n_new,
                               rule_build(a, n->args[0]));
}

/* True if a quantifier in `t` binds a variable that is free in `other`. Then a substitution would rename it, and a replay in another bank would give
 * other names. */
static bool binds_free_of(const struct term *t, const struct term *other)
{
        cleanup_term_list struct term_list subterms = {0}, variables = {0};

        if (!other->is_open || !t->has_quantifier)
                return false;
        term_subterms(&t, 1, &subterms);
        term_free_variables(other, &variables);
        for (size_t i = 0; i < subterms.n; i++)
                for (size_t k = 0; term_is_quantifier(subterms.list[i]) && k < subterms.list[i]->n_bound; k++)
                        for (size_t v = 0; v < variables.n; v++)
                                if (subterms.list[i]->args[k]->symbol == variables.list[v]->symbol)
                                        return true;
        return false;
}

/* The matched quantifier with a drawn term for one of its variables. The others stay bound. */
static const struct term *build_instance(struct application *a)
{
        cleanup_term_list struct term_list order = {0}; /* that variable first */
        const struct term *q = a->kept, *with;
        size_t at;

        if (!q)
                return NULL;
        at = random_below(a->random, q->n_bound);
        if (q->args[at]->sort->has_unknown)
                return NULL;
        with = a->draw(a, q->args[at]->sort);
        if (!with || binds_free_of(term_body(q), with))
                return NULL;
        term_list_add(&order, q->args[at]);
        for (size_t i = 0; i < q->n_bound; i++) {
                if (i == at)
                        continue;
                term_list_add(&order, q->args[i]);
                /* nor may a variable that stays bound be free in the drawn term; this quantifier is made for the question only */
                if (with->is_open && binds_free_of(term_quantifier(a->bank, TERM_FORALL, &q->args[i], 1, term_body(q)), with))
                        return NULL;
        }
        q = term_quantifier(a->bank, q->kind, order.list, order.n, term_body(q));
        return term_instantiate(a->bank, q, &with, 1);
}

static bool can_generalize(const struct term *t)
{
        switch ((int)t->sort->kind) {
        case SORT_BOOL:
        case SORT_INT:
        case SORT_REAL:
        case SORT_STRING:
        case SORT_BITVEC:
                return !t->is_open && t->kind != TERM_ANNOTATED;
        default:
                return false;
        }
}

/* Builds the argument, puts a new variable in place of one of its closed subterms, wherever that occurs, and binds the variable by a quantifier. NULL:
 * there is no such subterm. */
static const struct term *build_generalize(struct application *a, const struct node *n)
{
        cleanup_term_places struct term_places places = {0};
        const struct term *body = rule_build(a, n->args[0]), *from = NULL, *x;
        size_t start;

        if (body)
                term_places(body, 1000, &places);
        if (places.n < 2)
                return NULL;
        start = random_below(a->random, places.n - 1);
        for (size_t i = 0; !from && i + 1 < places.n; i++) {
                const struct term *t = places.list[1 + (start + i) % (places.n - 1)].term;

                if (can_generalize(t) && t != body)
                        from = t;
        }
        if (!from)
                return NULL;
        x = new_variable(a, "x", 0, from->sort);
        body = term_substitute(a->bank, body, &from, &x, 1);
        return body && body->is_open ? term_quantifier(a->bank, n->quantifier, &x, 1, body) : NULL;
}

/* -- ranges -- */

bool character_of(const struct term *t, uint32_t *ret)
{
        cleanup_free uint32_t *text = NULL;
        size_t n;

        if (!t || t->kind != TERM_LITERAL || t->sort->kind != SORT_STRING || term_to_string(t, &text, &n) < 0 || n != 1)
                return false;
        *ret = text[0];
        return true;
}

static const struct term *build_range(struct application *a, const struct node *n)
{
        uint32_t low, high;

        if (!character_of(a->bindings[n->args[0]->number].one, &low) || !character_of(a->bindings[n->args[1]->number].one, &high) || low > high)
                return NULL;
        if (n->kind == NODE_WIDER) {
                low -= (uint32_t)random_below(a->random, MIN(low, 10u) + 1);
                high += (uint32_t)random_below(a->random, MIN(0x2ffffu - high, 10u) + 1);
        } else {
                low += (uint32_t)random_below(a->random, high - low + 1);
                high -= (uint32_t)random_below(a->random, high - low + 1);
        }
        return term_op2(a->bank, OP_RE_RANGE, term_string_of(a->bank, &low, 1), term_string_of(a->bank, &high, 1));
}

const struct term *rule_build(struct application *a, const struct node *n)
{
        switch ((int)n->kind) {
        case NODE_VARIABLE:
                return build_variable(a, n);
        case NODE_OPERATOR:
                return build_operator(a, n);
        case NODE_NUMBER:
                return term_int(a->bank, n->number);
        case NODE_EMPTY:
                return term_string(a->bank, "");
        case NODE_QUANTIFIER:
        case NODE_KEPT:
                return build_quantifier(a, n);
        case NODE_NEW:
                return a->new_variables[n->number];
        case NODE_INSTANCE:
                return build_instance(a);
        case NODE_GENERALIZE:
                return build_generalize(a, n);
        case NODE_PAIRS:
                return build_pairs(a, n);
        case NODE_WIDER:
        case NODE_NARROWER:
                return build_range(a, n);
        default: /* only matched, or only among arguments */
                return NULL;
        }
}
