/* Builders over lowered terms: sums, Booleans, comparisons, words. They simplify what is simple. */
#include "lower_parts.h"

/* ---- linear sums ---- */

void lower_fail(struct lower *l, const char *why)
{
        if (!l->fail)
                l->fail = why;
}

/* s += k * t, where t is lowered. */
void lower_sum_add(struct lower *l, struct sum *s, int64_t k, tid t)
{
        const struct term *x = term_get(l->b, t);
        int64_t v;

        if (x->op == OP_NUM) {
                if (__builtin_mul_overflow(k, x->a, &v) || __builtin_add_overflow(s->c, v, &s->c))
                        lower_fail(l, "integers of more than 63 bits");
                return;
        }
        if (x->op == OP_ADD) {
                for (uint32_t i = 0; i < x->nargs; i++) /* sums are flat: one level */
                        lower_sum_add(l, s, k, x->args[i]);
                return;
        }
        if (x->op == OP_MUL && term_get(l->b, x->args[0])->op == OP_NUM) {
                if (__builtin_mul_overflow(k, term_get(l->b, x->args[0])->a, &k))
                        lower_fail(l, "integers of more than 63 bits");
                t = x->args[1];
        }
        for (size_t i = 0; i < s->m.n; i++)
                if (s->m.d[i].leaf == t) {
                        if (__builtin_add_overflow(s->m.d[i].k, k, &s->m.d[i].k))
                                lower_fail(l, "integers of more than 63 bits");
                        return;
                }
        vec_push(&s->m, (struct monomial){t, k});
}

static int by_leaf(const void *a, const void *b)
{
        tid x = ((const struct monomial *)a)->leaf, y = ((const struct monomial *)b)->leaf;

        return x < y ? -1 : x > y;
}

tid lower_sum_term(struct lower *l, struct sum *s)
{
        vec_u32 parts = {};
        tid r;

        if (s->m.n)
                qsort(s->m.d, s->m.n, sizeof(*s->m.d), by_leaf);
        for (size_t i = 0; i < s->m.n; i++) {
                if (s->m.d[i].k == 1)
                        vec_push(&parts, s->m.d[i].leaf);
                else if (s->m.d[i].k)
                        vec_push(&parts,
                                 term_app(l->b, OP_MUL, SORT_INT, (tid[]){term_num(l->b, s->m.d[i].k), s->m.d[i].leaf}, 2));
        }
        if (s->c || !parts.n)
                vec_push(&parts, term_num(l->b, s->c));
        r = parts.n == 1 ? parts.d[0] : term_app(l->b, OP_ADD, SORT_INT, parts.d, parts.n);
        vec_free(&parts);
        vec_free(&s->m);
        return r;
}

tid lower_sum(struct lower *l, tid a, int64_t k, tid b)
{
        struct sum s = {};

        lower_sum_add(l, &s, 1, a);
        lower_sum_add(l, &s, k, b);
        return lower_sum_term(l, &s);
}

/* ---- fresh variables and their definitions ---- */

tid lower_fresh(struct lower *l, enum sort s, const char *name)
{
        return term_var(l->b, s, name);
}

void lower_define(struct lower *l, tid var, tid formula)
{
        vec_push(&l->defs, (struct lower_def){var, formula});
        map_set(&l->def_of, var, (uint32_t)l->defs.n);
}

bool lower_is(const struct lower *l, tid t, enum op op)
{
        return term_get(l->b, t)->op == op;
}

bool lower_is_const(const struct lower *l, tid t)
{
        enum op op = (enum op)term_get(l->b, t)->op;

        return op == OP_NUM || op == OP_STR || op == OP_TRUE || op == OP_FALSE;
}

/* An ite over strings or integers, where a plain term is wanted: a variable defined by cases. */
tid lower_pure(struct lower *l, tid t)
{
        const struct term *x = term_get(l->b, t);
        tid v, parts[2];

        if (x->op != OP_ITE || x->sort == SORT_BOOL)
                return t;
        v = map_get(&l->memo, t);
        if (v)
                return v;
        v = lower_fresh(l, (enum sort)x->sort, "ite");
        map_set(&l->memo, t, v);
        x = term_get(l->b, t);
        parts[0] = lower_or(l, (tid[]){lower_not(l, x->args[0]), lower_eq(l, v, x->args[1])}, 2);
        parts[1] = lower_or(l, (tid[]){x->args[0], lower_eq(l, v, x->args[2])}, 2);
        lower_define(l, v, lower_and(l, parts, 2));
        return v;
}

/* ---- Booleans ---- */

tid lower_not(struct lower *l, tid a)
{
        if (a == l->b->t_true)
                return l->b->t_false;
        if (a == l->b->t_false)
                return l->b->t_true;
        if (lower_is(l, a, OP_NOT))
                return term_get(l->b, a)->args[0];
        return term_app(l->b, OP_NOT, SORT_BOOL, &a, 1);
}

static tid junction(struct lower *l, enum op op, const tid *a, size_t n)
{
        tid unit = op == OP_AND ? l->b->t_true : l->b->t_false, zero = op == OP_AND ? l->b->t_false : l->b->t_true;
        vec_u32 parts = {};
        tid r;

        for (size_t i = 0; i < n; i++) {
                bool seen = a[i] == unit;

                if (a[i] == zero) {
                        vec_free(&parts);
                        return zero;
                }
                for (size_t j = 0; j < parts.n && j < 16; j++)
                        seen |= parts.d[j] == a[i];
                if (!seen)
                        vec_push(&parts, a[i]);
        }
        r = parts.n == 0 ? unit : parts.n == 1 ? parts.d[0] : term_app(l->b, op, SORT_BOOL, parts.d, parts.n);
        vec_free(&parts);
        return r;
}

tid lower_and(struct lower *l, const tid *a, size_t n)
{
        return junction(l, OP_AND, a, n);
}

tid lower_or(struct lower *l, const tid *a, size_t n)
{
        return junction(l, OP_OR, a, n);
}

tid lower_ite(struct lower *l, tid c, tid a, tid b)
{
        if (c == l->b->t_true || a == b)
                return a;
        if (c == l->b->t_false)
                return b;
        if (term_get(l->b, a)->sort == SORT_BOOL) {
                if (a == l->b->t_true)
                        return lower_or(l, (tid[]){c, b}, 2);
                if (a == l->b->t_false)
                        return lower_and(l, (tid[]){lower_not(l, c), b}, 2);
                if (b == l->b->t_true)
                        return lower_or(l, (tid[]){lower_not(l, c), a}, 2);
                if (b == l->b->t_false)
                        return lower_and(l, (tid[]){c, a}, 2);
        }
        return term_app(l->b, OP_ITE, (enum sort)term_get(l->b, a)->sort, (tid[]){c, a, b}, 3);
}

tid lower_implies(struct lower *l, tid a, tid b)
{
        return lower_or(l, (tid[]){lower_not(l, a), b}, 2);
}

tid lower_both(struct lower *l, tid a, tid b)
{
        return lower_and(l, (tid[]){a, b}, 2);
}

tid lower_iff(struct lower *l, tid a, tid b)
{
        if (a == b)
                return l->b->t_true;
        if (a == l->b->t_true)
                return b;
        if (b == l->b->t_true)
                return a;
        if (a == l->b->t_false)
                return lower_not(l, b);
        if (b == l->b->t_false)
                return lower_not(l, a);
        if (a == lower_not(l, b))
                return l->b->t_false;
        return term_app(l->b, OP_EQ, SORT_BOOL, (tid[]){a < b ? a : b, a < b ? b : a}, 2);
}

/* ---- integers ---- */

/* Is the sum at most / at least zero whatever lengths are? */
static bool never_positive(const struct lower *l, tid s)
{
        const struct term *x = term_get(l->b, s);
        const tid *a = x->op == OP_ADD ? x->args : &s;
        size_t n = x->op == OP_ADD ? x->nargs : 1;

        for (size_t i = 0; i < n; i++) {
                const struct term *p = term_get(l->b, a[i]);

                if (p->op == OP_NUM && p->a <= 0)
                        continue;
                if (p->op == OP_MUL && term_get(l->b, p->args[0])->op == OP_NUM && term_get(l->b, p->args[0])->a <= 0 &&
                    term_get(l->b, p->args[1])->op == OP_LEN)
                        continue;
                return false;
        }
        return true;
}

/* At least one whatever lengths are? */
static bool always_positive(const struct lower *l, tid s)
{
        const struct term *x = term_get(l->b, s);
        const tid *a = x->op == OP_ADD ? x->args : &s;
        size_t n = x->op == OP_ADD ? x->nargs : 1;
        bool positive = false;

        for (size_t i = 0; i < n; i++) {
                const struct term *p = term_get(l->b, a[i]);

                if (p->op == OP_NUM && p->a > 0)
                        positive = true;
                else if (p->op != OP_LEN && !(p->op == OP_MUL && term_get(l->b, p->args[0])->op == OP_NUM &&
                                              term_get(l->b, p->args[0])->a >= 0 && term_get(l->b, p->args[1])->op == OP_LEN))
                        return false;
        }
        return positive;
}

tid lower_le(struct lower *l, tid a, tid b)
{
        tid d = lower_sum(l, lower_pure(l, a), -1, lower_pure(l, b));

        if (lower_is(l, d, OP_NUM))
                return term_get(l->b, d)->a <= 0 ? l->b->t_true : l->b->t_false;
        if (never_positive(l, d))
                return l->b->t_true;
        if (always_positive(l, d))
                return l->b->t_false;
        return term_app(l->b, OP_LE, SORT_BOOL, (tid[]){d, term_num(l->b, 0)}, 2);
}

tid lower_lt(struct lower *l, tid a, tid b)
{
        return lower_le(l, lower_sum(l, lower_pure(l, a), 1, term_num(l->b, 1)), b);
}

/* ---- words ---- */

const tid *lower_parts(const struct lower *l, const tid *t, size_t *n)
{
        const struct term *x = term_get(l->b, *t);

        *n = x->op == OP_CONCAT ? x->nargs : x->op == OP_STR && !x->str->len ? 0 : 1;
        return x->op == OP_CONCAT ? x->args : t;
}

tid lower_string(struct lower *l, const uint32_t *c, size_t n)
{
        return term_str(l->b, ustr_get(&l->b->strings, &l->b->arena, c, n));
}

tid lower_concat(struct lower *l, const tid *a, size_t n)
{
        vec_u32 parts = {}, text = {};
        tid r;

        for (size_t i = 0; i < n; i++) {
                tid t = lower_pure(l, a[i]);
                size_t m;
                const tid *p = lower_parts(l, &t, &m);

                for (size_t j = 0; j < m; j++) {
                        const struct term *x = term_get(l->b, p[j]);

                        if (x->op == OP_STR) {
                                for (uint32_t k = 0; k < x->str->len; k++)
                                        vec_push(&text, x->str->c[k]);
                                continue;
                        }
                        if (text.n)
                                vec_push(&parts, lower_string(l, text.d, text.n));
                        text.n = 0;
                        vec_push(&parts, p[j]);
                }
        }
        if (text.n || !parts.n)
                vec_push(&parts, lower_string(l, text.d, text.n));
        r = parts.n == 1 ? parts.d[0] : term_app(l->b, OP_CONCAT, SORT_STR, parts.d, parts.n);
        vec_free(&parts);
        vec_free(&text);
        return r;
}

tid lower_len(struct lower *l, tid a)
{
        struct sum s = {};
        size_t n;
        const tid *p;

        a = lower_pure(l, a);
        p = lower_parts(l, &a, &n);
        for (size_t i = 0; i < n; i++) {
                const struct term *x = term_get(l->b, p[i]);

                if (x->op == OP_STR)
                        s.c += x->str->len;
                else
                        lower_sum_add(l, &s, 1, term_app(l->b, OP_LEN, SORT_INT, &p[i], 1));
        }
        return lower_sum_term(l, &s);
}

tid lower_slice(struct lower *l, tid s, size_t from, size_t n)
{
        return lower_string(l, term_get(l->b, s)->str->c + from, n);
}

/* Word equation without what both sides begin and end with. */
static tid eq_str(struct lower *l, tid a, tid b)
{
        tid empty = lower_string(l, NULL, 0), r;
        vec_u32 x = {}, y = {};
        size_t i = 0, j = 0, n, m;
        const tid *p;

        a = lower_pure(l, a);
        b = lower_pure(l, b);
        if (a == b)
                return l->b->t_true;
        p = lower_parts(l, &a, &n);
        for (size_t k = 0; k < n; k++)
                vec_push(&x, p[k]);
        p = lower_parts(l, &b, &n);
        for (size_t k = 0; k < n; k++)
                vec_push(&y, p[k]);
        r = 0;
        while (i < x.n && j < y.n) { /* from the left */
                const struct term *s = term_get(l->b, x.d[i]), *t = term_get(l->b, y.d[j]);

                if (x.d[i] == y.d[j]) {
                        i++;
                        j++;
                } else if (s->op == OP_STR && t->op == OP_STR) {
                        n = s->str->len < t->str->len ? s->str->len : t->str->len;
                        if (memcmp(s->str->c, t->str->c, 4 * n)) {
                                r = l->b->t_false;
                                goto out;
                        }
                        n == s->str->len ? (void)i++ : (void)(x.d[i] = lower_slice(l, x.d[i], n, s->str->len - n));
                        n == t->str->len ? (void)j++ : (void)(y.d[j] = lower_slice(l, y.d[j], n, t->str->len - n));
                } else {
                        break;
                }
        }
        while (i < x.n && j < y.n) { /* from the right */
                const struct term *s = term_get(l->b, vec_last(&x)), *t = term_get(l->b, vec_last(&y));

                if (vec_last(&x) == vec_last(&y)) {
                        x.n--;
                        y.n--;
                } else if (s->op == OP_STR && t->op == OP_STR) {
                        n = s->str->len;
                        m = t->str->len;
                        size_t k = n < m ? n : m;

                        if (memcmp(s->str->c + n - k, t->str->c + m - k, 4 * k)) {
                                r = l->b->t_false;
                                goto out;
                        }
                        k == n ? (void)x.n-- : (void)(vec_last(&x) = lower_slice(l, vec_last(&x), 0, n - k));
                        k == m ? (void)y.n-- : (void)(vec_last(&y) = lower_slice(l, vec_last(&y), 0, m - k));
                } else {
                        break;
                }
        }
        a = i < x.n ? lower_concat(l, x.d + i, x.n - i) : empty;
        b = j < y.n ? lower_concat(l, y.d + j, y.n - j) : empty;
        if (a == b) {
                r = l->b->t_true;
        } else if (lower_le(l, lower_len(l, a), lower_len(l, b)) == l->b->t_false ||
                   lower_le(l, lower_len(l, b), lower_len(l, a)) == l->b->t_false) {
                r = l->b->t_false;
        } else {
                r = term_app(l->b, OP_EQ, SORT_BOOL, (tid[]){a < b ? a : b, a < b ? b : a}, 2);
        }
out:
        vec_free(&x);
        vec_free(&y);
        return r;
}

tid lower_eq(struct lower *l, tid a, tid b)
{
        const struct term *x = term_get(l->b, a), *y = term_get(l->b, b);
        tid d;

        if (a == b)
                return l->b->t_true;
        if (x->sort == SORT_BOOL)
                return lower_iff(l, a, b);
        if (y->op == OP_ITE && lower_is_const(l, a)) {
                d = a;
                a = b;
                b = d;
                x = y;
        }
        /* (= (ite c 1 0) 0), as symbolic execution writes conditions */
        if (x->op == OP_ITE && lower_is_const(l, b) && (lower_is_const(l, x->args[1]) || lower_is_const(l, x->args[2]))) {
                tid c = x->args[0], p = x->args[1], q = x->args[2];

                p = lower_eq(l, p, b);
                q = lower_eq(l, q, b);
                return lower_ite(l, c, p, q);
        }
        if (x->sort == SORT_STR)
                return eq_str(l, a, b);
        d = lower_sum(l, lower_pure(l, a), -1, lower_pure(l, b));
        if (lower_is(l, d, OP_NUM))
                return term_get(l->b, d)->a == 0 ? l->b->t_true : l->b->t_false;
        if (always_positive(l, d) || always_positive(l, lower_sum(l, term_num(l->b, 0), -1, d)))
                return l->b->t_false;
        /* one sign for d = 0 and -d = 0 */
        {
                tid e = lower_sum(l, term_num(l->b, 0), -1, d);

                if (e < d)
                        d = e;
        }
        return term_app(l->b, OP_EQ, SORT_BOOL, (tid[]){d, term_num(l->b, 0)}, 2);
}
