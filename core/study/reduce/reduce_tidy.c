/* The same term in fewer words: what is plain whatever the arguments are. */
#include "core/study/reduce/reduce_internal.h"

#define FLAT_MOST 256 /* arguments that a list gets by those in it: where terms are shared, lists in lists grow exponentially */

bool op_is_associative(enum op op)
{
        return op != OP_NONE && operator_row(op)->flags & OPERATOR_ASSOCIATIVE;
}

/* The argument that changes nothing; NULL: there is none, or no memory for it. */
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

void term_list_add_flat(const struct term *t, struct term_list *ret)
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
