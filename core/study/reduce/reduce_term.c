/* Candidates for a term's place: a value of its sort, a constant, one of its subterms, itself without arguments or variables. */
#include "core/study/reduce/reduce_internal.h"

struct replacing {
        struct bank *bank;
        const struct replacement *list;
        struct term_map at; /* of a term: its replacement's index in the list, and 1 */
};

static bool has_patterns(const struct term *t)
{
        return t->kind == TERM_ANNOTATED && t->n_args > 1;
}

/* Patterns stand in a quantifier only, and are applications: a pattern goes if a replacement would put it elsewhere, or is a value now. */
static const struct term *replaced(void *user, const struct term *t, const struct term **args)
{
        const struct replacing *r = user;
        uint32_t at = term_map_get(&r->at, t);
        const struct term *to = at != 0 ? r->list[at - 1].to : NULL;

        while (to && has_patterns(to))
                to = to->args[0];
        for (size_t i = 1; at == 0 && has_patterns(t) && i < t->n_args; i++)
                if (args[i]->n_args == 0 && args[i]->kind != TERM_FUNCTION)
                        return args[0];
        return at != 0 ? to : term_with_args(r->bank, t, args);
}

const struct term *term_replaced(struct bank *b, const struct term *t, const struct replacement *list, size_t n)
{
        struct replacing r = {.bank = b, .list = list};
        const struct term *ret;

        for (size_t i = 0; i < n; i++)
                term_map_set(&r.at, list[i].from, (uint32_t)i + 1);
        ret = term_rebuild(b, t, replaced, &r);
        term_map_done(&r.at);
        return ret;
}

/* The simplest value of a sort (true, 0, "", #b00, …), or the next one (false, 1). NULL: it has none. */
static const struct term *value_of(struct bank *b, const struct sort *s, bool is_one)
{
        const struct term *made = NULL;

        switch ((int)s->kind) {
        case SORT_BOOL:
                return is_one ? term_false(b) : term_true(b);
        case SORT_INT:
                return term_int(b, is_one);
        case SORT_REAL:
                return term_real(b, is_one);
        case SORT_STRING:
                return is_one ? NULL : term_string(b, "");
        case SORT_REGLAN:
                return term_op(b, is_one ? OP_RE_ALLCHAR : OP_RE_NONE, NULL, 0);
        case SORT_ROUNDING_MODE:
                return is_one ? NULL : term_op(b, OP_RNE, NULL, 0);
        case SORT_BITVEC:
                return term_bitvec(b, is_one, s->index[0]);
        case SORT_FLOAT:
                return !is_one && term_apply(b, OP_FP_PLUS_ZERO, s->index, 2, NULL, 0, &made) == 0 ? made : NULL;
        default:
                return NULL;
        }
}

unsigned term_rank(struct bank *b, const struct term *t)
{
        if (t->n_args > 0)
                return 4;
        if (t->kind != TERM_LITERAL && t->kind != TERM_OPERATOR)
                return 3;
        return t == value_of(b, t->sort, false) ? 0 : t == value_of(b, t->sort, true) ? 1 : 2;
}

void term_nearest(const struct term *t, struct term_list *ret)
{
        cleanup_term_list struct term_list walk = {0}, variables = {0};
        cleanup_term_map struct term_map seen = {0};

        if (t->sort->kind == SORT_UNKNOWN || t->sort->has_unknown)
                return;
        term_list_add(&walk, t);
        term_free_variables(t, &variables);
        for (size_t i = 0; i < walk.n && walk.n < 1 << 20; i++) {
                const struct term *x = walk.list[i];
                size_t n = x->kind == TERM_ANNOTATED ? 1 : x->n_args;

                for (size_t k = term_first_arg(x); k < n; k++) {
                        const struct term *arg = x->args[k];

                        if (term_map_get(&seen, arg) != 0)
                                continue;
                        term_map_set(&seen, arg, 1);
                        if (arg->sort != t->sort)
                                term_list_add(&walk, arg);
                        else if (term_is_closed_by(arg, variables.list, variables.n))
                                term_list_add(ret, arg);
                }
        }
}

/* The first of this sort; NULL: none, or no list. */
static const struct term *term_of_sort(const struct term_list *list, const struct sort *sort)
{
        for (size_t i = 0; list && i < list->n; i++)
                if (list->list[i]->sort == sort)
                        return list->list[i];
        return NULL;
}

const struct term *term_replacement(struct bank *b, const struct term *t, size_t kind, const struct term_list *constants,
                                    const struct term_list *fresh)
{
        cleanup_term_list struct term_list nearest = {0};
        unsigned rank = term_rank(b, t);
        const struct term *to;

        switch (kind) {
        case REPLACEMENT_ZERO:
                return rank > 0 ? value_of(b, t->sort, false) : NULL;
        case REPLACEMENT_ONE:
                return rank > 1 ? value_of(b, t->sort, true) : NULL;
        case REPLACEMENT_CONSTANT:
                to = rank >= 3 ? term_of_sort(constants, t->sort) : NULL;
                return to != t ? to : NULL;
        case REPLACEMENT_FRESH:
                return rank == 4 ? term_of_sort(fresh, t->sort) : NULL;
        default:
                if (rank == 4)
                        term_nearest(t, &nearest);
                return kind - REPLACEMENT_CHILD < nearest.n ? nearest.list[kind - REPLACEMENT_CHILD] : NULL;
        }
}

const struct term *term_without_args(struct bank *b, const struct term *t, const bool *is_out)
{
        cleanup_free const struct term **args = allocate(t->n_args, sizeof(*args));
        const struct term *made = NULL;
        size_t n = 0;

        if (t->kind != TERM_OPERATOR || operator_row(t->op)->shape == SHAPE_FIXED)
                return NULL;
        for (size_t i = 0; i < t->n_args; i++)
                if (!is_out[i])
                        args[n++] = t->args[i];
        if (n == 1)
                return args[0]->sort == t->sort ? args[0] : NULL;
        return n > 1 && term_apply(b, t->op, t->index, term_n_index(t), args, n, &made) == 0 && made->sort == t->sort ? made
                                                                                                                      : NULL;
}

const struct term *term_without_variable(struct bank *b, const struct term *q, size_t i, const struct term *value)
{
        cleanup_free const struct term **left = allocate(q->n_bound, sizeof(*left));
        const struct term *body = value ? term_substitute(b, term_body(q), &q->args[i], &value, 1) : term_body(q);
        size_t n = 0;

        if (!body)
                return NULL;
        for (size_t k = 0; k < q->n_bound; k++)
                if (k != i)
                        left[n++] = q->args[k];
        return term_quantifier(b, q->kind, left, n, body);
}
