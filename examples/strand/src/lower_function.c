/* Functions of strings, each a fresh variable with a definition (paper, section 1.2) or, where there is none, a link. */
#include "lower_parts.h"
#include "eval.h"

tid lower_num(struct lower *l, int64_t v)
{
        return term_num(l->b, v);
}

tid lower_in_re(struct lower *l, tid s, tid re)
{
        const struct term *r = term_get(l->b, re);

        s = lower_pure(l, s);
        if (r->op == OP_RE_NONE)
                return l->b->t_false;
        if (r->op == OP_RE_ALL)
                return l->b->t_true;
        if (r->op == OP_TO_RE)
                return lower_eq(l, s, r->args[0]);
        if (lower_is(l, s, OP_STR)) {
                int v = eval_in_re(l->b, term_get(l->b, s)->str, re, NULL);

                if (v >= 0)
                        return v ? l->b->t_true : l->b->t_false;
        }
        return term_app(l->b, OP_IN_RE, SORT_BOOL, (tid[]){s, re}, 2);
}

static tid re_str(struct lower *l, tid s)
{
        return term_app(l->b, OP_TO_RE, SORT_RE, &s, 1);
}

tid lower_contains(struct lower *l, tid s, tid t)
{
        size_t n, m;
        const tid *p, *q;

        s = lower_pure(l, s);
        t = lower_pure(l, t);
        p = lower_parts(l, &s, &n);
        q = lower_parts(l, &t, &m);
        if (!m || s == t)
                return l->b->t_true;
        for (size_t i = 0; i + m <= n; i++) /* t stands in s as it is */
                if (!memcmp(p + i, q, m * sizeof(*p)))
                        return l->b->t_true;
        if (lower_is(l, t, OP_STR)) {
                tid all = term_app(l->b, OP_RE_ALL, SORT_RE, NULL, 0);

                return lower_in_re(l, s, term_app(l->b, OP_RE_CONCAT, SORT_RE, (tid[]){all, re_str(l, t), all}, 3));
        }
        if (!n)
                return lower_eq(l, t, s);
        return term_app(l->b, OP_CONTAINS, SORT_BOOL, (tid[]){s, t}, 2);
}

static tid known(struct lower *l, tid app, enum sort sort, const char *name, bool *fresh)
{
        tid v = map_get(&l->memo, app);

        *fresh = !v;
        if (!v) {
                v = lower_fresh(l, sort, name);
                map_set(&l->memo, app, v);
        }
        return v;
}

/* The definition of (str.substr s i n): if it is not empty, s = p r q with |p| = i. */
tid lower_substr(struct lower *l, tid s, tid i, tid n)
{
        tid empty = lower_string(l, NULL, 0), len, rest, app, r, p, q, inside, short_;
        const struct term *x, *y;
        const tid *parts;
        size_t np;
        bool fresh;

        s = lower_pure(l, s);
        i = lower_pure(l, i);
        n = lower_pure(l, n);
        x = term_get(l->b, i);
        y = term_get(l->b, n);
        if ((x->op == OP_NUM && x->a < 0) || (y->op == OP_NUM && y->a <= 0) || s == empty)
                return empty;
        parts = lower_parts(l, &s, &np);
        if (x->op == OP_NUM && lower_is(l, parts[0], OP_STR)) {
                const struct ustr *head = term_get(l->b, parts[0])->str;

                if (x->a >= head->len) /* skip the constant that s begins with */
                        return np == 1 ? empty
                                       : lower_substr(l, lower_concat(l, parts + 1, np - 1), lower_num(l, x->a - head->len), n);
                if (y->op == OP_NUM && y->a <= head->len - x->a)
                        return lower_slice(l, parts[0], (size_t)x->a, (size_t)y->a);
                if (np == 1 && y->op == OP_NUM)
                        return lower_slice(l, parts[0], (size_t)x->a, head->len - (size_t)x->a);
        }
        len = lower_len(l, s);
        rest = lower_sum(l, len, -1, i); /* what remains of s from i */
        if (x->op == OP_NUM && x->a == 0 && lower_le(l, len, n) == l->b->t_true)
                return s;
        app = term_app(l->b, OP_SUBSTR, SORT_STR, (tid[]){s, i, n}, 3);
        r = known(l, app, SORT_STR, "substr", &fresh);
        if (!fresh)
                return r;
        short_ = lower_le(l, rest, n); /* s ends before n characters */
        inside = lower_and(l, (tid[]){lower_le(l, lower_num(l, 0), i), lower_lt(l, i, len), lower_lt(l, lower_num(l, 0), n)}, 3);
        p = x->op == OP_NUM && x->a == 0 ? empty : lower_fresh(l, SORT_STR, "before");
        q = short_ == l->b->t_true ? empty : lower_fresh(l, SORT_STR, "after");
        lower_define(
                l, r,
                lower_ite(l, inside,
                          lower_and(l,
                                    (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, r, q}, 3)), lower_eq(l, lower_len(l, p), i),
                                            lower_ite(l, short_, lower_eq(l, q, empty), lower_eq(l, lower_len(l, r), n))},
                                    3),
                          lower_eq(l, r, empty)));
        return r;
}

/* p t q with t nowhere before: the text to search for an earlier occurrence is p and t without its end. */
static tid first_at(struct lower *l, tid p, tid t)
{
        const struct term *x = term_get(l->b, t);
        tid stub = x->op == OP_STR ? lower_slice(l, t, 0, x->str->len - 1)
                                   : lower_substr(l, t, lower_num(l, 0), lower_sum(l, lower_len(l, t), 1, lower_num(l, -1)));

        return lower_not(l, lower_contains(l, lower_concat(l, (tid[]){p, stub}, 2), t));
}

static tid last_at(struct lower *l, tid t, tid q)
{
        const struct term *x = term_get(l->b, t);
        tid stub = x->op == OP_STR ? lower_slice(l, t, 1, x->str->len - 1)
                                   : lower_substr(l, t, lower_num(l, 1), lower_sum(l, lower_len(l, t), 1, lower_num(l, -1)));

        return lower_not(l, lower_contains(l, lower_concat(l, (tid[]){stub, q}, 2), t));
}

tid lower_indexof(struct lower *l, tid s, tid t, tid i)
{
        tid empty = lower_string(l, NULL, 0), tail, k, p, q, app, outside, found;
        bool fresh;

        s = lower_pure(l, s);
        t = lower_pure(l, t);
        i = lower_pure(l, i);
        app = term_app(l->b, OP_INDEXOF, SORT_INT, (tid[]){s, t, i}, 3);
        k = known(l, app, SORT_INT, "indexof", &fresh);
        if (!fresh)
                return k;
        outside = lower_or(l, (tid[]){lower_lt(l, i, lower_num(l, 0)), lower_lt(l, lower_len(l, s), i)}, 2);
        tail = lower_substr(l, s, i, lower_sum(l, lower_len(l, s), -1, i));
        if (t == empty) {
                lower_define(l, k, lower_ite(l, outside, lower_eq(l, k, lower_num(l, -1)), lower_eq(l, k, i)));
                return k;
        }
        p = lower_fresh(l, SORT_STR, "before");
        q = lower_fresh(l, SORT_STR, "after");
        found = lower_and(l,
                          (tid[]){lower_eq(l, tail, lower_concat(l, (tid[]){p, t, q}, 3)),
                                  lower_eq(l, k, lower_sum(l, i, 1, lower_len(l, p))), first_at(l, p, t)},
                          3);
        if (!lower_is(l, t, OP_STR))
                found = lower_ite(l, lower_eq(l, t, empty), lower_eq(l, k, i), found);
        lower_define(l, k,
                     lower_ite(l, outside, lower_eq(l, k, lower_num(l, -1)),
                               lower_ite(l, lower_contains(l, tail, t), found, lower_eq(l, k, lower_num(l, -1)))));
        return k;
}

tid lower_lastindexof(struct lower *l, tid s, tid t)
{
        tid empty = lower_string(l, NULL, 0), k, p, q, app, found;
        bool fresh;

        s = lower_pure(l, s);
        t = lower_pure(l, t);
        if (t == empty)
                return lower_len(l, s);
        app = term_app(l->b, OP_LASTINDEXOF, SORT_INT, (tid[]){s, t}, 2);
        k = known(l, app, SORT_INT, "lastindexof", &fresh);
        if (!fresh)
                return k;
        p = lower_fresh(l, SORT_STR, "before");
        q = lower_fresh(l, SORT_STR, "after");
        found = lower_and(
                l,
                (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, t, q}, 3)), lower_eq(l, k, lower_len(l, p)), last_at(l, t, q)},
                3);
        if (!lower_is(l, t, OP_STR))
                found = lower_ite(l, lower_eq(l, t, empty), lower_eq(l, k, lower_len(l, s)), found);
        lower_define(l, k, lower_ite(l, lower_contains(l, s, t), found, lower_eq(l, k, lower_num(l, -1))));
        return k;
}

tid lower_replace(struct lower *l, tid s, tid t, tid u)
{
        tid empty = lower_string(l, NULL, 0), r, p, q, app, found;
        bool fresh;

        s = lower_pure(l, s);
        t = lower_pure(l, t);
        u = lower_pure(l, u);
        if (t == empty)
                return lower_concat(l, (tid[]){u, s}, 2);
        if (t == u)
                return s;
        if (s == t)
                return u;
        app = term_app(l->b, OP_REPLACE, SORT_STR, (tid[]){s, t, u}, 3);
        r = known(l, app, SORT_STR, "replace", &fresh);
        if (!fresh)
                return r;
        p = lower_fresh(l, SORT_STR, "before");
        q = lower_fresh(l, SORT_STR, "after");
        found = lower_and(l,
                          (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, t, q}, 3)),
                                  lower_eq(l, r, lower_concat(l, (tid[]){p, u, q}, 3)), first_at(l, p, t)},
                          3);
        if (!lower_is(l, t, OP_STR))
                found = lower_ite(l, lower_eq(l, t, empty), lower_eq(l, r, lower_concat(l, (tid[]){u, s}, 2)), found);
        lower_define(l, r, lower_ite(l, lower_contains(l, s, t), found, lower_eq(l, r, s)));
        return r;
}

/* A function checked by value only; what is cheap to say about its result goes into the definition. */
static tid link_value(struct lower *l, tid app, const char *name, tid *out_fresh)
{
        const struct term *x = term_get(l->b, app);
        bool fresh;
        tid r = known(l, app, (enum sort)x->sort, name, &fresh);

        *out_fresh = fresh;
        if (fresh) {
                vec_push(&l->links, (struct lower_link){r, app});
                map_set(&l->link_of, r, (uint32_t)l->links.n);
        }
        return r;
}

tid lower_replace_all(struct lower *l, enum op op, tid s, tid t, tid u)
{
        tid empty = lower_string(l, NULL, 0), r, app, fresh;

        s = lower_pure(l, s);
        if (op == OP_REPLACE_ALL)
                t = lower_pure(l, t);
        u = lower_pure(l, u);
        if (s == empty && op != OP_REPLACE_RE)
                return s;
        if (op == OP_REPLACE_ALL && (t == empty || t == u))
                return s;
        app = term_app(l->b, op, SORT_STR, (tid[]){s, t, u}, 3);
        r = link_value(l, app, "replaced", &fresh);
        if (fresh && op == OP_REPLACE_ALL) {
                tid same = lower_implies(l, lower_not(l, lower_contains(l, s, t)), lower_eq(l, r, s));
                tid sizes = l->b->t_true, gone = l->b->t_true;

                if (lower_is(l, t, OP_STR) && lower_is(l, u, OP_STR)) {
                        uint32_t n = term_get(l->b, t)->str->len, m = term_get(l->b, u)->str->len;
                        tid ls = lower_len(l, s), lr = lower_len(l, r);

                        sizes = n == m ? lower_eq(l, ls, lr) : n < m ? lower_le(l, ls, lr) : lower_le(l, lr, ls);
                        if (n == 1 && lower_contains(l, u, t) == l->b->t_false)
                                gone = lower_not(l, lower_contains(l, r, t));
                }
                lower_define(l, r, lower_and(l, (tid[]){same, sizes, gone}, 3));
        }
        return r;
}

tid lower_re_range(struct lower *l, uint32_t lo, uint32_t hi)
{
        return term_app(l->b, OP_RE_RANGE, SORT_RE, (tid[]){lower_string(l, &lo, 1), lower_string(l, &hi, 1)}, 2);
}

static tid re_digits(struct lower *l)
{
        tid d = lower_re_range(l, '0', '9');

        return term_app(l->b, OP_RE_PLUS, SORT_RE, &d, 1);
}

/* A variable equal to the word. */
static tid named(struct lower *l, tid s)
{
        tid app, v;
        bool fresh;

        s = lower_pure(l, s);
        if (lower_is(l, s, OP_VAR))
                return s;
        app = term_app(l->b, OP_CONCAT, SORT_STR, &s, 1);
        v = known(l, app, SORT_STR, "word", &fresh);
        if (fresh)
                lower_define(l, v, lower_eq(l, v, s));
        return v;
}

/* (str.to_code x) and (str.to_int x) stay leaves of sums; what bounds them is the definition of a variable.
 */
tid lower_to_code(struct lower *l, tid s)
{
        tid x = named(l, s), app = term_app(l->b, OP_TO_CODE, SORT_INT, &x, 1), fresh;
        tid k = link_value(l, app, "code", &fresh);

        if (fresh)
                lower_define(
                        l, k,
                        lower_ite(l, lower_eq(l, lower_len(l, x), lower_num(l, 1)),
                                  lower_both(l, lower_le(l, lower_num(l, 0), k), lower_le(l, k, lower_num(l, USTR_MAX_CHAR))),
                                  lower_eq(l, k, lower_num(l, -1))));
        return k;
}

tid lower_to_int(struct lower *l, tid s)
{
        tid x = named(l, s), app = term_app(l->b, OP_TO_INT, SORT_INT, &x, 1), fresh;
        tid k = link_value(l, app, "value", &fresh);

        if (fresh) {
                vec_u32 parts = {};
                tid len = lower_len(l, x);
                int64_t power = 1;

                vec_push(&parts, lower_le(l, lower_num(l, 0), k));
                for (int d = 1; d <= 17; d++) { /* k >= 10^d needs more than d digits */
                        power *= 10;
                        vec_push(&parts,
                                 lower_implies(l, lower_le(l, lower_num(l, power), k), lower_le(l, lower_num(l, d + 1), len)));
                }
                lower_define(l, k,
                             lower_ite(l, lower_in_re(l, x, re_digits(l)), lower_and(l, parts.d, parts.n),
                                       lower_eq(l, k, lower_num(l, -1))));
                vec_free(&parts);
        }
        return k;
}

tid lower_from_code(struct lower *l, tid i)
{
        tid app, r, ok;
        bool fresh;

        i = lower_pure(l, i);
        app = term_app(l->b, OP_FROM_CODE, SORT_STR, &i, 1);
        r = known(l, app, SORT_STR, "char", &fresh);
        if (!fresh)
                return r;
        ok = lower_both(l, lower_le(l, lower_num(l, 0), i), lower_le(l, i, lower_num(l, USTR_MAX_CHAR)));
        lower_define(l, r,
                     lower_ite(l, ok,
                               lower_both(l, lower_eq(l, lower_len(l, r), lower_num(l, 1)), lower_eq(l, lower_to_code(l, r), i)),
                               lower_eq(l, r, lower_string(l, NULL, 0))));
        return r;
}

tid lower_from_int(struct lower *l, tid i)
{
        tid app, r, d19, zero, positive, sizes = l->b->t_true;
        int64_t power = 1;
        bool fresh;

        i = lower_pure(l, i);
        app = term_app(l->b, OP_FROM_INT, SORT_STR, &i, 1);
        r = known(l, app, SORT_STR, "digits", &fresh);
        if (!fresh)
                return r;
        d19 = lower_re_range(l, '1', '9');
        zero = lower_re_range(l, '0', '9');
        zero = term_app(l->b, OP_RE_STAR, SORT_RE, &zero, 1);
        positive = term_app(l->b, OP_RE_CONCAT, SORT_RE, (tid[]){d19, zero}, 2);
        for (int d = 1; d <= 17; d++) { /* more than d digits, the first not 0, need i >= 10^d */
                power *= 10;
                sizes = lower_both(
                        l, sizes,
                        lower_implies(l, lower_le(l, lower_num(l, d + 1), lower_len(l, r)), lower_le(l, lower_num(l, power), i)));
        }
        lower_define(l, r,
                     lower_ite(l, lower_lt(l, i, lower_num(l, 0)), lower_eq(l, r, lower_string(l, NULL, 0)),
                               lower_and(l,
                                         (tid[]){lower_ite(l, lower_eq(l, i, lower_num(l, 0)),
                                                           lower_eq(l, r, lower_string(l, &(uint32_t){'0'}, 1)),
                                                           lower_in_re(l, r, positive)),
                                                 lower_eq(l, lower_to_int(l, r), i), sizes},
                                         3)));
        return r;
}

/* All strings below the constant s, as a regular expression: a proper prefix, or smaller at the first
 * difference. */
static tid re_below(struct lower *l, const struct ustr *s)
{
        tid all = term_app(l->b, OP_RE_ALL, SORT_RE, NULL, 0), r = term_app(l->b, OP_RE_NONE, SORT_RE, NULL, 0);

        for (uint32_t i = 0; i < s->len; i++) {
                tid head = re_str(l, lower_string(l, s->c, i)), alt = head;

                if (s->c[i] > 0) {
                        tid less =
                                term_app(l->b, OP_RE_CONCAT, SORT_RE, (tid[]){head, lower_re_range(l, 0, s->c[i] - 1), all}, 3);

                        alt = term_app(l->b, OP_RE_UNION, SORT_RE, (tid[]){head, less}, 2);
                }
                r = term_app(l->b, OP_RE_UNION, SORT_RE, (tid[]){r, alt}, 2);
        }
        return r;
}

tid lower_str_lt(struct lower *l, tid s, tid t)
{
        tid empty = lower_string(l, NULL, 0), app, v, p, x, y, a, b, differ, less;
        bool fresh;

        s = lower_pure(l, s);
        t = lower_pure(l, t);
        if (s == t || t == empty)
                return l->b->t_false;
        if (s == empty)
                return lower_not(l, lower_eq(l, t, empty));
        if (lower_is(l, t, OP_STR) && term_get(l->b, t)->str->len < 64)
                return lower_in_re(l, s, re_below(l, term_get(l->b, t)->str));
        if (lower_is(l, s, OP_STR) && term_get(l->b, s)->str->len < 64)
                return lower_both(l, lower_not(l, lower_eq(l, s, t)),
                                  lower_not(l, lower_in_re(l, t, re_below(l, term_get(l->b, s)->str))));
        app = term_app(l->b, OP_STR_LT, SORT_BOOL, (tid[]){s, t}, 2);
        v = known(l, app, SORT_BOOL, "less", &fresh);
        if (!fresh)
                return v;
        /* s = p x, t = p y, where p is all they begin with in common */
        p = lower_fresh(l, SORT_STR, "common");
        a = lower_fresh(l, SORT_STR, "a");
        b = lower_fresh(l, SORT_STR, "b");
        x = lower_concat(l, (tid[]){a, lower_fresh(l, SORT_STR, "x")}, 2);
        y = lower_concat(l, (tid[]){b, lower_fresh(l, SORT_STR, "y")}, 2);
        differ = lower_and(l,
                           (tid[]){lower_eq(l, lower_len(l, a), lower_num(l, 1)), lower_eq(l, lower_len(l, b), lower_num(l, 1)),
                                   lower_not(l, lower_eq(l, lower_to_code(l, a), lower_to_code(l, b)))},
                           3);
        less = lower_or(l,
                        (tid[]){lower_and(l, (tid[]){lower_eq(l, x, empty), lower_not(l, lower_eq(l, y, empty)), v}, 3),
                                lower_both(l, lower_eq(l, y, empty), lower_not(l, v)),
                                lower_both(l, differ, lower_iff(l, v, lower_lt(l, lower_to_code(l, a), lower_to_code(l, b))))},
                        3);
        lower_define(l, v,
                     lower_and(l,
                               (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, x}, 2)),
                                       lower_eq(l, t, lower_concat(l, (tid[]){p, y}, 2)), less},
                               3));
        return v;
}
