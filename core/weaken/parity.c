#include "core/weaken/parity.h"

/* The parity of argument `arg` in a positive application. */
static enum parity of_operator(const struct term *t, size_t arg)
{
        switch ((int)t->op) {
        case OP_NOT:
        case OP_RE_COMP:
                return PARITY_NEGATIVE;
        case OP_AND:
        case OP_OR:
        case OP_RE_CONCAT:
        case OP_RE_UNION:
        case OP_RE_INTER:
        case OP_RE_STAR:
        case OP_RE_PLUS:
        case OP_RE_OPT:
        case OP_RE_POWER:
        case OP_RE_LOOP:
                return PARITY_POSITIVE;
        case OP_IMPLIES: /* right-associative: all but the last are premises */
                return arg + 1 < t->n_args ? PARITY_NEGATIVE : PARITY_POSITIVE;
        case OP_RE_DIFF: /* left-associative: all but the first are subtracted */
                return arg > 0 ? PARITY_NEGATIVE : PARITY_POSITIVE;
        case OP_ITE:
                return arg > 0 && (t->sort->kind == SORT_BOOL || t->sort->kind == SORT_REGLAN) ? PARITY_POSITIVE : PARITY_BOTH;
        case OP_STR_IN_RE:
                return arg == 1 ? PARITY_POSITIVE : PARITY_BOTH;
        default:
                return PARITY_BOTH;
        }
}

static enum parity of_argument(const struct term *t, size_t arg, bool names_are_used)
{
        switch ((int)t->kind) {
        case TERM_OPERATOR:
                return of_operator(t, arg);
        case TERM_FORALL:
        case TERM_EXISTS:
                return PARITY_POSITIVE;
        case TERM_ANNOTATED:
                return names_are_used && term_is_named(t) ? PARITY_BOTH : PARITY_POSITIVE;
        default:
                return PARITY_BOTH;
        }
}

signed char *parity_of(const struct term_places *p, bool names_are_used)
{
        signed char *list = allocate(p->n, 1);

        for (size_t i = 0; i < p->n; i++) {
                const struct term_place *at = &p->list[i];

                if (i == at->parent)
                        list[i] = PARITY_POSITIVE;
                else /* signs multiply; BOTH is 0 */
                        list[i] = (signed char)(list[at->parent] * of_argument(p->list[at->parent].term, at->arg, names_are_used));
        }
        return list;
}
