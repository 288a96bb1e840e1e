/* The pass over the parsed terms. */
#include "lower_parts.h"
#include "eval.h"

/* Z3 needs quadratic time for deep terms, and words and sums are copied at each level. The bytes are looked at before each term, so one
 * term may go beyond them. */
#define LOWER_MAX_DEPTH 20000
#define LOWER_MAX_BYTES ((size_t)2 << 30)

static tid fold(struct lower *l, enum op op, enum sort sort, const tid *a, size_t n)
{
        struct value v;

        for (size_t i = 0; i < n; i++)
                if (term_get(l->b, a[i])->sort != SORT_RE && !lower_is_const(l, a[i]))
                        return 0;
        if (op == OP_IN_RE || sort == SORT_RE)
                return 0;
        v = eval_constant(l->b, term_app(l->b, op, sort, a, n));
        if (!v.set)
                return 0;
        return sort == SORT_BOOL  ? (v.b ? l->b->t_true : l->b->t_false)
               : sort == SORT_INT ? term_num(l->b, v.i)
                                  : term_str(l->b, v.s);
}

static tid pairs(struct lower *l, enum op op, const tid *a, size_t n)
{
        vec_u32 parts = {};
        tid r;

        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) {
                        tid p;

                        switch (op) {
                        case OP_LE:
                                p = lower_le(l, a[i], a[j]);
                                break;
                        case OP_LT:
                                p = lower_lt(l, a[i], a[j]);
                                break;
                        case OP_GE:
                                p = lower_le(l, a[j], a[i]);
                                break;
                        case OP_GT:
                                p = lower_lt(l, a[j], a[i]);
                                break;
                        case OP_STR_LT:
                                p = lower_str_lt(l, a[i], a[j]);
                                break;
                        case OP_STR_LE:
                                p = lower_not(l, lower_str_lt(l, a[j], a[i]));
                                break;
                        case OP_DISTINCT:
                                p = lower_not(l, lower_eq(l, a[i], a[j]));
                                break;
                        default:
                                p = lower_eq(l, a[i], a[j]);
                        }
                        vec_push(&parts, p);
                        if (op != OP_DISTINCT)
                                break; /* neighbours */
                }
        r = lower_and(l, parts.d, parts.n);
        vec_free(&parts);
        return r;
}

static tid lower_op(struct lower *l, const struct term *t, const tid *a)
{
        enum op op = (enum op)t->op;
        size_t n = t->nargs;
        struct sum s = {};
        tid r;

        if (n && (r = fold(l, op, (enum sort)t->sort, a, n)))
                return r;
        switch (op) {
        case OP_NOT:
                return lower_not(l, a[0]);
        case OP_AND:
                return lower_and(l, a, n);
        case OP_OR:
                return lower_or(l, a, n);
        case OP_XOR:
                r = a[0];
                for (size_t i = 1; i < n; i++)
                        r = lower_not(l, lower_iff(l, r, a[i]));
                return r;
        case OP_IMPLIES:
                r = a[n - 1];
                for (size_t i = n - 1; i-- > 0;)
                        r = lower_implies(l, a[i], r);
                return r;
        case OP_ITE:
                return lower_ite(l, a[0], a[1], a[2]);
        case OP_EQ:
        case OP_DISTINCT:
        case OP_LE:
        case OP_LT:
        case OP_GE:
        case OP_GT:
        case OP_STR_LT:
        case OP_STR_LE:
                return pairs(l, op, a, n);
        case OP_ADD:
        case OP_SUB:
                for (size_t i = 0; i < n; i++)
                        lower_sum_add(l, &s, op == OP_SUB && (i || n == 1) ? -1 : 1, lower_pure(l, a[i]));
                return lower_sum_term(l, &s);
        case OP_MUL:
                r = lower_pure(l, a[0]);
                for (size_t i = 1; i < n; i++) {
                        tid x = lower_pure(l, a[i]);

                        if (lower_is(l, r, OP_NUM))
                                r = lower_sum(l, lower_num(l, 0), term_get(l->b, r)->a, x);
                        else if (lower_is(l, x, OP_NUM))
                                r = lower_sum(l, lower_num(l, 0), term_get(l->b, x)->a, r);
                        else
                                r = term_app(l->b, OP_MUL, SORT_INT, (tid[]){r, x}, 2);
                }
                return r;
        case OP_DIV:
        case OP_MOD:
                r = lower_pure(l, a[0]);
                for (size_t i = 1; i < n; i++)
                        r = term_app(l->b, op, SORT_INT, (tid[]){r, lower_pure(l, a[i])}, 2);
                return r;
        case OP_ABS:
                r = lower_pure(l, a[0]);
                return lower_ite(l, lower_le(l, lower_num(l, 0), r), r, lower_sum(l, lower_num(l, 0), -1, r));
        case OP_CONCAT:
                return lower_concat(l, a, n);
        case OP_LEN:
                return lower_len(l, a[0]);
        case OP_AT:
                return lower_substr(l, a[0], a[1], lower_num(l, 1));
        case OP_SUBSTR:
                return lower_substr(l, a[0], a[1], a[2]);
        case OP_PREFIXOF:
                return lower_eq(l, lower_substr(l, a[1], lower_num(l, 0), lower_len(l, a[0])), a[0]);
        case OP_SUFFIXOF:
                return lower_eq(
                        l, lower_substr(l, a[1], lower_sum(l, lower_len(l, a[1]), -1, lower_len(l, a[0])), lower_len(l, a[0])),
                        a[0]);
        case OP_CONTAINS:
                return lower_contains(l, a[0], a[1]);
        case OP_INDEXOF:
                return lower_indexof(l, a[0], a[1], a[2]);
        case OP_LASTINDEXOF:
                return lower_lastindexof(l, a[0], a[1]);
        case OP_REPLACE:
                return lower_replace(l, a[0], a[1], a[2]);
        case OP_REPLACE_ALL:
        case OP_REPLACE_RE:
        case OP_REPLACE_RE_ALL:
                return lower_replace_all(l, op, a[0], a[1], a[2]);
        case OP_IS_DIGIT:
                return lower_in_re(l, a[0], lower_re_range(l, '0', '9'));
        case OP_TO_CODE:
                return lower_to_code(l, a[0]);
        case OP_FROM_CODE:
                return lower_from_code(l, a[0]);
        case OP_TO_INT:
                return lower_to_int(l, a[0]);
        case OP_FROM_INT:
                return lower_from_int(l, a[0]);
        case OP_IN_RE:
                return lower_in_re(l, a[0], a[1]);
        default:
                break;
        }
        return 0;
}

tid lower_formula(struct lower *l, tid root)
{
        vec_u32 order = {}, args = {}, depth = {};
        tid r;

        term_reach(l->b, &root, 1, &order);
        for (size_t i = 0; i < order.n && !l->fail; i++) {
                tid t = order.d[i];
                const struct term *x = term_get(l->b, t);
                uint32_t d = 0;

                for (uint32_t j = 0; j < x->nargs; j++)
                        if (depth.d[x->args[j]] >= d)
                                d = depth.d[x->args[j]] + 1;
                map_set(&depth, t, d);
                if (d > LOWER_MAX_DEPTH)
                        lower_fail(l, "terms nested too deeply");
                if (l->b->arena.total > LOWER_MAX_BYTES)
                        lower_fail(l, "a formula too large");

                if (map_get(&l->image, t))
                        continue;
                args.n = 0;
                for (uint32_t j = 0; j < x->nargs; j++)
                        vec_push(&args, l->image.d[x->args[j]]);
                if (x->sort == SORT_RE) {
                        r = term_rebuild(l->b, t, args.d);
                        for (uint32_t j = 0; j < x->nargs; j++)
                                if (term_get(l->b, args.d[j])->sort == SORT_STR && !lower_is_const(l, args.d[j]) &&
                                    x->op != OP_TO_RE)
                                        lower_fail(l, "a regular expression over a string that is not constant");
                } else if (!x->nargs) {
                        r = t;
                } else {
                        r = lower_op(l, x, args.d);
                }
                map_set(&l->image, t, r);
        }
        vec_free(&args);
        vec_free(&order);
        vec_free(&depth);
        if (l->fail)
                return 0;
        return l->image.d[root];
}

void lower_init(struct lower *l, struct bank *b)
{
        memset(l, 0, sizeof(*l));
        l->b = b;
}

void lower_free(struct lower *l)
{
        vec_free(&l->defs);
        vec_free(&l->links);
        vec_free(&l->image);
        vec_free(&l->memo);
        vec_free(&l->def_of);
        vec_free(&l->link_of);
}
