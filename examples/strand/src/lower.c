#include "lower.h"
#include "eval.h"

/* Z3 needs quadratic time for deep terms, and words and sums are copied at each level. */
#define LOWER_MAX_DEPTH 20000
#define LOWER_MAX_BYTES ((size_t)2 << 30)

/* ---- linear sums ---- */

struct monomial {
        tid leaf;
        int64_t k;
};

struct sum {
        VEC(struct monomial) m; /* leaves ascending */
        int64_t c;
};

static void fail(struct lower *l, const char *why)
{
        if (!l->fail)
                l->fail = why;
}

/* s += k * t, where t is lowered. */
static void sum_add(struct lower *l, struct sum *s, int64_t k, tid t)
{
        const struct term *x = term_get(l->b, t);
        int64_t v;

        if (x->op == OP_NUM) {
                if (__builtin_mul_overflow(k, x->a, &v) || __builtin_add_overflow(s->c, v, &s->c))
                        fail(l, "integers of more than 63 bits");
                return;
        }
        if (x->op == OP_ADD) {
                for (uint32_t i = 0; i < x->nargs; i++) /* sums are flat: one level */
                        sum_add(l, s, k, x->args[i]);
                return;
        }
        if (x->op == OP_MUL && term_get(l->b, x->args[0])->op == OP_NUM) {
                if (__builtin_mul_overflow(k, term_get(l->b, x->args[0])->a, &k))
                        fail(l, "integers of more than 63 bits");
                t = x->args[1];
        }
        for (size_t i = 0; i < s->m.n; i++)
                if (s->m.d[i].leaf == t) {
                        if (__builtin_add_overflow(s->m.d[i].k, k, &s->m.d[i].k))
                                fail(l, "integers of more than 63 bits");
                        return;
                }
        vec_push(&s->m, (struct monomial){t, k});
}

static int by_leaf(const void *a, const void *b)
{
        tid x = ((const struct monomial *)a)->leaf, y = ((const struct monomial *)b)->leaf;

        return x < y ? -1 : x > y;
}

static tid sum_term(struct lower *l, struct sum *s)
{
        vec_u32 parts = {};
        tid r;

        if (s->m.n)
                qsort(s->m.d, s->m.n, sizeof(*s->m.d), by_leaf);
        for (size_t i = 0; i < s->m.n; i++) {
                if (s->m.d[i].k == 1)
                        vec_push(&parts, s->m.d[i].leaf);
                else if (s->m.d[i].k)
                        vec_push(&parts, term_app(l->b, OP_MUL, SORT_INT,
                                                  (tid[]){term_num(l->b, s->m.d[i].k), s->m.d[i].leaf}, 2));
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

        sum_add(l, &s, 1, a);
        sum_add(l, &s, k, b);
        return sum_term(l, &s);
}

/* ---- fresh variables and their definitions ---- */

tid lower_fresh(struct lower *l, enum sort s, const char *name)
{
        return term_var(l->b, s, name);
}

static void set_def(struct lower *l, tid var, tid formula)
{
        vec_push(&l->defs, (struct lower_def){var, formula});
        map_set(&l->def_of, var, (uint32_t)l->defs.n);
}

static bool is_op(const struct lower *l, tid t, enum op op)
{
        return term_get(l->b, t)->op == op;
}

static bool is_const(const struct lower *l, tid t)
{
        enum op op = (enum op)term_get(l->b, t)->op;

        return op == OP_NUM || op == OP_STR || op == OP_TRUE || op == OP_FALSE;
}

/* An ite over strings or integers, where a plain term is wanted: a variable defined by cases. */
static tid pure(struct lower *l, tid t)
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
        set_def(l, v, lower_and(l, parts, 2));
        return v;
}

/* ---- Booleans ---- */

tid lower_not(struct lower *l, tid a)
{
        if (a == l->b->t_true)
                return l->b->t_false;
        if (a == l->b->t_false)
                return l->b->t_true;
        if (is_op(l, a, OP_NOT))
                return term_get(l->b, a)->args[0];
        return term_app(l->b, OP_NOT, SORT_BOOL, &a, 1);
}

static tid junction(struct lower *l, enum op op, const tid *a, size_t n)
{
        tid unit = op == OP_AND ? l->b->t_true : l->b->t_false,
            zero = op == OP_AND ? l->b->t_false : l->b->t_true;
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

static tid ite(struct lower *l, tid c, tid a, tid b)
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

static tid implies(struct lower *l, tid a, tid b)
{
        return lower_or(l, (tid[]){lower_not(l, a), b}, 2);
}

static tid both(struct lower *l, tid a, tid b)
{
        return lower_and(l, (tid[]){a, b}, 2);
}

static tid iff(struct lower *l, tid a, tid b)
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
                if (p->op == OP_MUL && term_get(l->b, p->args[0])->op == OP_NUM &&
                    term_get(l->b, p->args[0])->a <= 0 && term_get(l->b, p->args[1])->op == OP_LEN)
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
                else if (p->op != OP_LEN &&
                         !(p->op == OP_MUL && term_get(l->b, p->args[0])->op == OP_NUM &&
                           term_get(l->b, p->args[0])->a >= 0 && term_get(l->b, p->args[1])->op == OP_LEN))
                        return false;
        }
        return positive;
}

tid lower_le(struct lower *l, tid a, tid b)
{
        tid d = lower_sum(l, pure(l, a), -1, pure(l, b));

        if (is_op(l, d, OP_NUM))
                return term_get(l->b, d)->a <= 0 ? l->b->t_true : l->b->t_false;
        if (never_positive(l, d))
                return l->b->t_true;
        if (always_positive(l, d))
                return l->b->t_false;
        return term_app(l->b, OP_LE, SORT_BOOL, (tid[]){d, term_num(l->b, 0)}, 2);
}

static tid lt(struct lower *l, tid a, tid b)
{
        return lower_le(l, lower_sum(l, pure(l, a), 1, term_num(l->b, 1)), b);
}

/* ---- words ---- */

static const tid *parts_of(const struct lower *l, const tid *t, size_t *n)
{
        const struct term *x = term_get(l->b, *t);

        *n = x->op == OP_CONCAT ? x->nargs : x->op == OP_STR && !x->str->len ? 0 : 1;
        return x->op == OP_CONCAT ? x->args : t;
}

static tid constant(struct lower *l, const uint32_t *c, size_t n)
{
        return term_str(l->b, ustr_get(&l->b->strings, &l->b->arena, c, n));
}

tid lower_concat(struct lower *l, const tid *a, size_t n)
{
        vec_u32 parts = {}, text = {};
        tid r;

        for (size_t i = 0; i < n; i++) {
                tid t = pure(l, a[i]);
                size_t m;
                const tid *p = parts_of(l, &t, &m);

                for (size_t j = 0; j < m; j++) {
                        const struct term *x = term_get(l->b, p[j]);

                        if (x->op == OP_STR) {
                                for (uint32_t k = 0; k < x->str->len; k++)
                                        vec_push(&text, x->str->c[k]);
                                continue;
                        }
                        if (text.n)
                                vec_push(&parts, constant(l, text.d, text.n));
                        text.n = 0;
                        vec_push(&parts, p[j]);
                }
        }
        if (text.n || !parts.n)
                vec_push(&parts, constant(l, text.d, text.n));
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

        a = pure(l, a);
        p = parts_of(l, &a, &n);
        for (size_t i = 0; i < n; i++) {
                const struct term *x = term_get(l->b, p[i]);

                if (x->op == OP_STR)
                        s.c += x->str->len;
                else
                        sum_add(l, &s, 1, term_app(l->b, OP_LEN, SORT_INT, &p[i], 1));
        }
        return sum_term(l, &s);
}

static tid char_slice(struct lower *l, tid s, size_t from, size_t n)
{
        return constant(l, term_get(l->b, s)->str->c + from, n);
}

/* Word equation without what both sides begin and end with. */
static tid eq_str(struct lower *l, tid a, tid b)
{
        tid empty = constant(l, NULL, 0), r;
        vec_u32 x = {}, y = {};
        size_t i = 0, j = 0, n, m;
        const tid *p;

        a = pure(l, a);
        b = pure(l, b);
        if (a == b)
                return l->b->t_true;
        p = parts_of(l, &a, &n);
        for (size_t k = 0; k < n; k++)
                vec_push(&x, p[k]);
        p = parts_of(l, &b, &n);
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
                        n == s->str->len ? (void)i++
                                         : (void)(x.d[i] = char_slice(l, x.d[i], n, s->str->len - n));
                        n == t->str->len ? (void)j++
                                         : (void)(y.d[j] = char_slice(l, y.d[j], n, t->str->len - n));
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
                        k == n ? (void)x.n-- : (void)(vec_last(&x) = char_slice(l, vec_last(&x), 0, n - k));
                        k == m ? (void)y.n-- : (void)(vec_last(&y) = char_slice(l, vec_last(&y), 0, m - k));
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
                return iff(l, a, b);
        if (y->op == OP_ITE && is_const(l, a)) {
                d = a;
                a = b;
                b = d;
                x = y;
        }
        /* (= (ite c 1 0) 0), as symbolic execution writes conditions */
        if (x->op == OP_ITE && is_const(l, b) && (is_const(l, x->args[1]) || is_const(l, x->args[2]))) {
                tid c = x->args[0], p = x->args[1], q = x->args[2];

                p = lower_eq(l, p, b);
                q = lower_eq(l, q, b);
                return ite(l, c, p, q);
        }
        if (x->sort == SORT_STR)
                return eq_str(l, a, b);
        d = lower_sum(l, pure(l, a), -1, pure(l, b));
        if (is_op(l, d, OP_NUM))
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

/* ---- string functions ---- */

static tid num(struct lower *l, int64_t v)
{
        return term_num(l->b, v);
}

static tid in_re(struct lower *l, tid s, tid re)
{
        const struct term *r = term_get(l->b, re);

        s = pure(l, s);
        if (r->op == OP_RE_NONE)
                return l->b->t_false;
        if (r->op == OP_RE_ALL)
                return l->b->t_true;
        if (r->op == OP_TO_RE)
                return lower_eq(l, s, r->args[0]);
        if (is_op(l, s, OP_STR)) {
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

static tid contains(struct lower *l, tid s, tid t)
{
        size_t n, m;
        const tid *p, *q;

        s = pure(l, s);
        t = pure(l, t);
        p = parts_of(l, &s, &n);
        q = parts_of(l, &t, &m);
        if (!m || s == t)
                return l->b->t_true;
        for (size_t i = 0; i + m <= n; i++) /* t stands in s as it is */
                if (!memcmp(p + i, q, m * sizeof(*p)))
                        return l->b->t_true;
        if (is_op(l, t, OP_STR)) {
                tid all = term_app(l->b, OP_RE_ALL, SORT_RE, NULL, 0);

                return in_re(l, s, term_app(l->b, OP_RE_CONCAT, SORT_RE, (tid[]){all, re_str(l, t), all}, 3));
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
static tid substr(struct lower *l, tid s, tid i, tid n)
{
        tid empty = constant(l, NULL, 0), len, rest, app, r, p, q, inside, short_;
        const struct term *x, *y;
        const tid *parts;
        size_t np;
        bool fresh;

        s = pure(l, s);
        i = pure(l, i);
        n = pure(l, n);
        x = term_get(l->b, i);
        y = term_get(l->b, n);
        if ((x->op == OP_NUM && x->a < 0) || (y->op == OP_NUM && y->a <= 0) || s == empty)
                return empty;
        parts = parts_of(l, &s, &np);
        if (x->op == OP_NUM && is_op(l, parts[0], OP_STR)) {
                const struct ustr *head = term_get(l->b, parts[0])->str;

                if (x->a >= head->len) /* skip the constant that s begins with */
                        return np == 1 ? empty
                                       : substr(l, lower_concat(l, parts + 1, np - 1),
                                                num(l, x->a - head->len), n);
                if (y->op == OP_NUM && y->a <= head->len - x->a)
                        return char_slice(l, parts[0], (size_t)x->a, (size_t)y->a);
                if (np == 1 && y->op == OP_NUM)
                        return char_slice(l, parts[0], (size_t)x->a, head->len - (size_t)x->a);
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
        inside = lower_and(l, (tid[]){lower_le(l, num(l, 0), i), lt(l, i, len), lt(l, num(l, 0), n)}, 3);
        p = x->op == OP_NUM && x->a == 0 ? empty : lower_fresh(l, SORT_STR, "before");
        q = short_ == l->b->t_true ? empty : lower_fresh(l, SORT_STR, "after");
        set_def(l, r,
                ite(l, inside,
                    lower_and(l,
                              (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, r, q}, 3)),
                                      lower_eq(l, lower_len(l, p), i),
                                      ite(l, short_, lower_eq(l, q, empty), lower_eq(l, lower_len(l, r), n))},
                              3),
                    lower_eq(l, r, empty)));
        return r;
}

/* p t q with t nowhere before: the text to search for an earlier occurrence is p and t without its end. */
static tid first_at(struct lower *l, tid p, tid t)
{
        const struct term *x = term_get(l->b, t);
        tid stub = x->op == OP_STR ? char_slice(l, t, 0, x->str->len - 1)
                                   : substr(l, t, num(l, 0), lower_sum(l, lower_len(l, t), 1, num(l, -1)));

        return lower_not(l, contains(l, lower_concat(l, (tid[]){p, stub}, 2), t));
}

static tid last_at(struct lower *l, tid t, tid q)
{
        const struct term *x = term_get(l->b, t);
        tid stub = x->op == OP_STR ? char_slice(l, t, 1, x->str->len - 1)
                                   : substr(l, t, num(l, 1), lower_sum(l, lower_len(l, t), 1, num(l, -1)));

        return lower_not(l, contains(l, lower_concat(l, (tid[]){stub, q}, 2), t));
}

static tid indexof(struct lower *l, tid s, tid t, tid i)
{
        tid empty = constant(l, NULL, 0), tail, k, p, q, app, outside, found;
        bool fresh;

        s = pure(l, s);
        t = pure(l, t);
        i = pure(l, i);
        app = term_app(l->b, OP_INDEXOF, SORT_INT, (tid[]){s, t, i}, 3);
        k = known(l, app, SORT_INT, "indexof", &fresh);
        if (!fresh)
                return k;
        outside = lower_or(l, (tid[]){lt(l, i, num(l, 0)), lt(l, lower_len(l, s), i)}, 2);
        tail = substr(l, s, i, lower_sum(l, lower_len(l, s), -1, i));
        if (t == empty) {
                set_def(l, k, ite(l, outside, lower_eq(l, k, num(l, -1)), lower_eq(l, k, i)));
                return k;
        }
        p = lower_fresh(l, SORT_STR, "before");
        q = lower_fresh(l, SORT_STR, "after");
        found = lower_and(l,
                          (tid[]){lower_eq(l, tail, lower_concat(l, (tid[]){p, t, q}, 3)),
                                  lower_eq(l, k, lower_sum(l, i, 1, lower_len(l, p))), first_at(l, p, t)},
                          3);
        if (!is_op(l, t, OP_STR))
                found = ite(l, lower_eq(l, t, empty), lower_eq(l, k, i), found);
        set_def(l, k,
                ite(l, outside, lower_eq(l, k, num(l, -1)),
                    ite(l, contains(l, tail, t), found, lower_eq(l, k, num(l, -1)))));
        return k;
}

static tid lastindexof(struct lower *l, tid s, tid t)
{
        tid empty = constant(l, NULL, 0), k, p, q, app, found;
        bool fresh;

        s = pure(l, s);
        t = pure(l, t);
        if (t == empty)
                return lower_len(l, s);
        app = term_app(l->b, OP_LASTINDEXOF, SORT_INT, (tid[]){s, t}, 2);
        k = known(l, app, SORT_INT, "lastindexof", &fresh);
        if (!fresh)
                return k;
        p = lower_fresh(l, SORT_STR, "before");
        q = lower_fresh(l, SORT_STR, "after");
        found = lower_and(l,
                          (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, t, q}, 3)),
                                  lower_eq(l, k, lower_len(l, p)), last_at(l, t, q)},
                          3);
        if (!is_op(l, t, OP_STR))
                found = ite(l, lower_eq(l, t, empty), lower_eq(l, k, lower_len(l, s)), found);
        set_def(l, k, ite(l, contains(l, s, t), found, lower_eq(l, k, num(l, -1))));
        return k;
}

static tid replace(struct lower *l, tid s, tid t, tid u)
{
        tid empty = constant(l, NULL, 0), r, p, q, app, found;
        bool fresh;

        s = pure(l, s);
        t = pure(l, t);
        u = pure(l, u);
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
        if (!is_op(l, t, OP_STR))
                found = ite(l, lower_eq(l, t, empty), lower_eq(l, r, lower_concat(l, (tid[]){u, s}, 2)),
                            found);
        set_def(l, r, ite(l, contains(l, s, t), found, lower_eq(l, r, s)));
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

static tid replace_all(struct lower *l, enum op op, tid s, tid t, tid u)
{
        tid empty = constant(l, NULL, 0), r, app, fresh;

        s = pure(l, s);
        if (op == OP_REPLACE_ALL)
                t = pure(l, t);
        u = pure(l, u);
        if (s == empty && op != OP_REPLACE_RE)
                return s;
        if (op == OP_REPLACE_ALL && (t == empty || t == u))
                return s;
        app = term_app(l->b, op, SORT_STR, (tid[]){s, t, u}, 3);
        r = link_value(l, app, "replaced", &fresh);
        if (fresh && op == OP_REPLACE_ALL) {
                tid same = implies(l, lower_not(l, contains(l, s, t)), lower_eq(l, r, s));
                tid sizes = l->b->t_true, gone = l->b->t_true;

                if (is_op(l, t, OP_STR) && is_op(l, u, OP_STR)) {
                        uint32_t n = term_get(l->b, t)->str->len, m = term_get(l->b, u)->str->len;
                        tid ls = lower_len(l, s), lr = lower_len(l, r);

                        sizes = n == m  ? lower_eq(l, ls, lr)
                                : n < m ? lower_le(l, ls, lr)
                                        : lower_le(l, lr, ls);
                        if (n == 1 && contains(l, u, t) == l->b->t_false)
                                gone = lower_not(l, contains(l, r, t));
                }
                set_def(l, r, lower_and(l, (tid[]){same, sizes, gone}, 3));
        }
        return r;
}

static tid re_range(struct lower *l, uint32_t lo, uint32_t hi)
{
        return term_app(l->b, OP_RE_RANGE, SORT_RE, (tid[]){constant(l, &lo, 1), constant(l, &hi, 1)}, 2);
}

static tid re_digits(struct lower *l)
{
        tid d = re_range(l, '0', '9');

        return term_app(l->b, OP_RE_PLUS, SORT_RE, &d, 1);
}

/* A variable equal to the word. */
static tid named(struct lower *l, tid s)
{
        tid app, v;
        bool fresh;

        s = pure(l, s);
        if (is_op(l, s, OP_VAR))
                return s;
        app = term_app(l->b, OP_CONCAT, SORT_STR, &s, 1);
        v = known(l, app, SORT_STR, "word", &fresh);
        if (fresh)
                set_def(l, v, lower_eq(l, v, s));
        return v;
}

/* (str.to_code x) and (str.to_int x) stay leaves of sums; what bounds them is the definition of a variable.
 */
static tid to_code(struct lower *l, tid s)
{
        tid x = named(l, s), app = term_app(l->b, OP_TO_CODE, SORT_INT, &x, 1), fresh;
        tid k = link_value(l, app, "code", &fresh);

        if (fresh)
                set_def(l, k,
                        ite(l, lower_eq(l, lower_len(l, x), num(l, 1)),
                            both(l, lower_le(l, num(l, 0), k), lower_le(l, k, num(l, USTR_MAX_CHAR))),
                            lower_eq(l, k, num(l, -1))));
        return k;
}

static tid to_int(struct lower *l, tid s)
{
        tid x = named(l, s), app = term_app(l->b, OP_TO_INT, SORT_INT, &x, 1), fresh;
        tid k = link_value(l, app, "value", &fresh);

        if (fresh) {
                vec_u32 parts = {};
                tid len = lower_len(l, x);
                int64_t power = 1;

                vec_push(&parts, lower_le(l, num(l, 0), k));
                for (int d = 1; d <= 17; d++) { /* k >= 10^d needs more than d digits */
                        power *= 10;
                        vec_push(&parts,
                                 implies(l, lower_le(l, num(l, power), k), lower_le(l, num(l, d + 1), len)));
                }
                set_def(l, k,
                        ite(l, in_re(l, x, re_digits(l)), lower_and(l, parts.d, parts.n),
                            lower_eq(l, k, num(l, -1))));
                vec_free(&parts);
        }
        return k;
}

static tid from_code(struct lower *l, tid i)
{
        tid app, r, ok;
        bool fresh;

        i = pure(l, i);
        app = term_app(l->b, OP_FROM_CODE, SORT_STR, &i, 1);
        r = known(l, app, SORT_STR, "char", &fresh);
        if (!fresh)
                return r;
        ok = both(l, lower_le(l, num(l, 0), i), lower_le(l, i, num(l, USTR_MAX_CHAR)));
        set_def(l, r,
                ite(l, ok, both(l, lower_eq(l, lower_len(l, r), num(l, 1)), lower_eq(l, to_code(l, r), i)),
                    lower_eq(l, r, constant(l, NULL, 0))));
        return r;
}

static tid from_int(struct lower *l, tid i)
{
        tid app, r, d19, zero, positive, sizes = l->b->t_true;
        int64_t power = 1;
        bool fresh;

        i = pure(l, i);
        app = term_app(l->b, OP_FROM_INT, SORT_STR, &i, 1);
        r = known(l, app, SORT_STR, "digits", &fresh);
        if (!fresh)
                return r;
        d19 = re_range(l, '1', '9');
        zero = re_range(l, '0', '9');
        zero = term_app(l->b, OP_RE_STAR, SORT_RE, &zero, 1);
        positive = term_app(l->b, OP_RE_CONCAT, SORT_RE, (tid[]){d19, zero}, 2);
        for (int d = 1; d <= 17; d++) { /* more than d digits, the first not 0, need i >= 10^d */
                power *= 10;
                sizes = both(l, sizes,
                             implies(l, lower_le(l, num(l, d + 1), lower_len(l, r)),
                                     lower_le(l, num(l, power), i)));
        }
        set_def(l, r,
                ite(l, lt(l, i, num(l, 0)), lower_eq(l, r, constant(l, NULL, 0)),
                    lower_and(l,
                              (tid[]){ite(l, lower_eq(l, i, num(l, 0)),
                                          lower_eq(l, r, constant(l, &(uint32_t){'0'}, 1)),
                                          in_re(l, r, positive)),
                                      lower_eq(l, to_int(l, r), i), sizes},
                              3)));
        return r;
}

/* All strings below the constant s, as a regular expression: a proper prefix, or smaller at the first
 * difference. */
static tid re_below(struct lower *l, const struct ustr *s)
{
        tid all = term_app(l->b, OP_RE_ALL, SORT_RE, NULL, 0),
            r = term_app(l->b, OP_RE_NONE, SORT_RE, NULL, 0);

        for (uint32_t i = 0; i < s->len; i++) {
                tid head = re_str(l, constant(l, s->c, i)), alt = head;

                if (s->c[i] > 0) {
                        tid less = term_app(l->b, OP_RE_CONCAT, SORT_RE,
                                            (tid[]){head, re_range(l, 0, s->c[i] - 1), all}, 3);

                        alt = term_app(l->b, OP_RE_UNION, SORT_RE, (tid[]){head, less}, 2);
                }
                r = term_app(l->b, OP_RE_UNION, SORT_RE, (tid[]){r, alt}, 2);
        }
        return r;
}

static tid str_lt(struct lower *l, tid s, tid t)
{
        tid empty = constant(l, NULL, 0), app, v, p, x, y, a, b, differ, less;
        bool fresh;

        s = pure(l, s);
        t = pure(l, t);
        if (s == t || t == empty)
                return l->b->t_false;
        if (s == empty)
                return lower_not(l, lower_eq(l, t, empty));
        if (is_op(l, t, OP_STR) && term_get(l->b, t)->str->len < 64)
                return in_re(l, s, re_below(l, term_get(l->b, t)->str));
        if (is_op(l, s, OP_STR) && term_get(l->b, s)->str->len < 64)
                return both(l, lower_not(l, lower_eq(l, s, t)),
                            lower_not(l, in_re(l, t, re_below(l, term_get(l->b, s)->str))));
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
                           (tid[]){lower_eq(l, lower_len(l, a), num(l, 1)),
                                   lower_eq(l, lower_len(l, b), num(l, 1)),
                                   lower_not(l, lower_eq(l, to_code(l, a), to_code(l, b)))},
                           3);
        less = lower_or(
                l,
                (tid[]){lower_and(l, (tid[]){lower_eq(l, x, empty), lower_not(l, lower_eq(l, y, empty)), v},
                                  3),
                        both(l, lower_eq(l, y, empty), lower_not(l, v)),
                        both(l, differ, iff(l, v, lt(l, to_code(l, a), to_code(l, b))))},
                3);
        set_def(l, v,
                lower_and(l,
                          (tid[]){lower_eq(l, s, lower_concat(l, (tid[]){p, x}, 2)),
                                  lower_eq(l, t, lower_concat(l, (tid[]){p, y}, 2)), less},
                          3));
        return v;
}

/* ---- the pass ---- */

static tid fold(struct lower *l, enum op op, enum sort sort, const tid *a, size_t n)
{
        vec_u32 order = {};
        struct value *val, v;
        tid app;

        for (size_t i = 0; i < n; i++)
                if (term_get(l->b, a[i])->sort != SORT_RE && !is_const(l, a[i]))
                        return 0;
        if (op == OP_IN_RE || sort == SORT_RE)
                return 0;
        app = term_app(l->b, op, sort, a, n);
        term_reach(l->b, &app, 1, &order);
        val = util_alloc((app + 1) * sizeof(*val));
        eval_terms(l->b, order.d, order.n, val);
        v = val[app];
        free(val);
        vec_free(&order);
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
                                p = lt(l, a[i], a[j]);
                                break;
                        case OP_GE:
                                p = lower_le(l, a[j], a[i]);
                                break;
                        case OP_GT:
                                p = lt(l, a[j], a[i]);
                                break;
                        case OP_STR_LT:
                                p = str_lt(l, a[i], a[j]);
                                break;
                        case OP_STR_LE:
                                p = lower_not(l, str_lt(l, a[j], a[i]));
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
                        r = lower_not(l, iff(l, r, a[i]));
                return r;
        case OP_IMPLIES:
                r = a[n - 1];
                for (size_t i = n - 1; i-- > 0;)
                        r = implies(l, a[i], r);
                return r;
        case OP_ITE:
                return ite(l, a[0], a[1], a[2]);
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
                        sum_add(l, &s, op == OP_SUB && (i || n == 1) ? -1 : 1, pure(l, a[i]));
                return sum_term(l, &s);
        case OP_MUL:
                r = pure(l, a[0]);
                for (size_t i = 1; i < n; i++) {
                        tid x = pure(l, a[i]);

                        if (is_op(l, r, OP_NUM))
                                r = lower_sum(l, num(l, 0), term_get(l->b, r)->a, x);
                        else if (is_op(l, x, OP_NUM))
                                r = lower_sum(l, num(l, 0), term_get(l->b, x)->a, r);
                        else
                                r = term_app(l->b, OP_MUL, SORT_INT, (tid[]){r, x}, 2);
                }
                return r;
        case OP_DIV:
        case OP_MOD:
                r = pure(l, a[0]);
                for (size_t i = 1; i < n; i++)
                        r = term_app(l->b, op, SORT_INT, (tid[]){r, pure(l, a[i])}, 2);
                return r;
        case OP_ABS:
                r = pure(l, a[0]);
                return ite(l, lower_le(l, num(l, 0), r), r, lower_sum(l, num(l, 0), -1, r));
        case OP_CONCAT:
                return lower_concat(l, a, n);
        case OP_LEN:
                return lower_len(l, a[0]);
        case OP_AT:
                return substr(l, a[0], a[1], num(l, 1));
        case OP_SUBSTR:
                return substr(l, a[0], a[1], a[2]);
        case OP_PREFIXOF:
                return lower_eq(l, substr(l, a[1], num(l, 0), lower_len(l, a[0])), a[0]);
        case OP_SUFFIXOF:
                return lower_eq(l,
                                substr(l, a[1], lower_sum(l, lower_len(l, a[1]), -1, lower_len(l, a[0])),
                                       lower_len(l, a[0])),
                                a[0]);
        case OP_CONTAINS:
                return contains(l, a[0], a[1]);
        case OP_INDEXOF:
                return indexof(l, a[0], a[1], a[2]);
        case OP_LASTINDEXOF:
                return lastindexof(l, a[0], a[1]);
        case OP_REPLACE:
                return replace(l, a[0], a[1], a[2]);
        case OP_REPLACE_ALL:
        case OP_REPLACE_RE:
        case OP_REPLACE_RE_ALL:
                return replace_all(l, op, a[0], a[1], a[2]);
        case OP_IS_DIGIT:
                return in_re(l, a[0], re_range(l, '0', '9'));
        case OP_TO_CODE:
                return to_code(l, a[0]);
        case OP_FROM_CODE:
                return from_code(l, a[0]);
        case OP_TO_INT:
                return to_int(l, a[0]);
        case OP_FROM_INT:
                return from_int(l, a[0]);
        case OP_IN_RE:
                return in_re(l, a[0], a[1]);
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
                        fail(l, "terms nested too deeply");
                if (l->b->arena.total > LOWER_MAX_BYTES)
                        fail(l, "a formula too large");

                if (map_get(&l->image, t))
                        continue;
                args.n = 0;
                for (uint32_t j = 0; j < x->nargs; j++)
                        vec_push(&args, l->image.d[x->args[j]]);
                if (x->sort == SORT_RE) {
                        r = term_rebuild(l->b, t, args.d);
                        for (uint32_t j = 0; j < x->nargs; j++)
                                if (term_get(l->b, args.d[j])->sort == SORT_STR && !is_const(l, args.d[j]) &&
                                    x->op != OP_TO_RE)
                                        fail(l, "a regular expression over a string that is not constant");
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
