#include "eval.h"

/* eval_in_re gives up on tables larger than this. */
#define EVAL_MAX_TABLE (1u << 27)

static const struct ustr *slice(struct bank *b, const struct ustr *s, int64_t i, int64_t n)
{
        if (i < 0 || i >= s->len || n <= 0)
                return ustr_get(&b->strings, &b->arena, NULL, 0);
        if (n > s->len - i)
                n = s->len - i;
        return ustr_get(&b->strings, &b->arena, s->c + i, (size_t)n);
}

static const struct ustr *join(struct bank *b, const struct ustr *const *parts, size_t n)
{
        const struct ustr *r;
        size_t len = 0, k = 0;
        uint32_t *c;

        for (size_t i = 0; i < n; i++)
                len += parts[i]->len;
        if (len > EVAL_MAX_STRING)
                return NULL;
        c = util_alloc(4 * len);
        for (size_t i = 0; i < n; i++) {
                memcpy(c + k, parts[i]->c, 4 * (size_t)parts[i]->len);
                k += parts[i]->len;
        }
        r = ustr_get(&b->strings, &b->arena, c, len);
        free(c);
        return r;
}

static int compare(const struct ustr *s, const struct ustr *t)
{
        for (uint32_t i = 0; i < s->len && i < t->len; i++)
                if (s->c[i] != t->c[i])
                        return s->c[i] < t->c[i] ? -1 : 1;
        return s->len == t->len ? 0 : s->len < t->len ? -1 : 1;
}

/* ---- regular expressions: for each subterm, which spans [i, j) of the string it matches ---- */

struct spans {
        size_t n; /* length of the string + 1 */
        uint8_t *bit;
};

static uint8_t *row(const struct spans *m, size_t i)
{
        return m->bit + i * m->n;
}

static void spans_concat(const struct spans *x, const struct spans *y, struct spans *out)
{
        for (size_t i = 0; i < out->n; i++)
                for (size_t k = i; k < out->n; k++)
                        if (row(x, i)[k])
                                for (size_t j = k; j < out->n; j++)
                                        row(out, i)[j] |= row(y, k)[j];
}

static void spans_star(const struct spans *x, struct spans *out)
{
        for (size_t i = out->n; i-- > 0;) {
                row(out, i)[i] = 1;
                for (size_t k = i + 1; k < out->n; k++)
                        if (row(x, i)[k])
                                for (size_t j = k; j < out->n; j++)
                                        row(out, i)[j] |= row(out, k)[j];
        }
}

static void spans_copy(const struct spans *x, struct spans *out)
{
        memcpy(out->bit, x->bit, out->n * out->n);
}

/* r{lo,hi}; hi < 0 is "or more". */
static void spans_loop(const struct spans *x, int64_t lo, int64_t hi, struct spans *out)
{
        struct spans power = {out->n, util_alloc(out->n * out->n)}, next = {out->n, util_alloc(out->n * out->n)};
        int64_t cap = (int64_t)out->n; /* powers of nonempty matches above this are empty */

        for (size_t i = 0; i < out->n; i++)
                row(&power, i)[i] = 1;
        if (hi >= 0 && lo > hi)
                goto out; /* the empty language */
        for (int64_t k = 0;; k++) {
                bool same;

                if (k >= lo)
                        for (size_t i = 0; i < out->n * out->n; i++)
                                out->bit[i] |= power.bit[i];
                if (k == hi || (k >= lo && k > lo + cap))
                        break;
                memset(next.bit, 0, out->n * out->n);
                spans_concat(&power, x, &next);
                same = !memcmp(power.bit, next.bit, out->n * out->n);
                memcpy(power.bit, next.bit, out->n * out->n);
                if (same) { /* a fixpoint: every higher power is this one */
                        for (size_t i = 0; i < out->n * out->n; i++)
                                out->bit[i] |= power.bit[i];
                        break;
                }
        }
out:
        free(power.bit);
        free(next.bit);
}

/* NULL: unknown, or not a string. */
static const struct ustr *string_value(const struct bank *b, tid t, const struct value *val)
{
        const struct term *x = term_get(b, t);

        if (x->op == OP_STR)
                return x->str;
        return x->sort == SORT_STR && val && val[t].set ? val[t].s : NULL;
}

/* All spans of s that the language of re matches; .bit NULL: cannot say. The caller frees it. */
static struct spans spans_of(struct bank *b, const struct ustr *s, tid re, const struct value *val)
{
        vec_u32 order = {};
        size_t n = (size_t)s->len + 1;
        struct spans *m, r = {n};

        term_reach(b, &re, 1, &order);
        m = util_alloc((re + 1) * sizeof(*m));
        if (order.n * n * n > EVAL_MAX_TABLE)
                goto out;
        for (size_t k = 0; k < order.n; k++) {
                const struct term *t = term_get(b, order.d[k]);
                struct spans *o = &m[order.d[k]];
                const struct ustr *x, *y;

                if (t->sort != SORT_RE)
                        continue;
                *o = (struct spans){n, util_alloc(n * n)};
                x = t->nargs ? string_value(b, t->args[0], val) : NULL;
                y = t->nargs > 1 ? string_value(b, t->args[1], val) : NULL;
                if ((t->op == OP_TO_RE && !x) || (t->op == OP_RE_RANGE && (!x || !y)))
                        goto out;
                switch ((enum op)t->op) {
                case OP_RE_NONE:
                        break;
                case OP_RE_ALL:
                        for (size_t i = 0; i < n; i++)
                                memset(row(o, i) + i, 1, n - i);
                        break;
                case OP_RE_ALLCHAR:
                        for (size_t i = 0; i + 1 < n; i++)
                                row(o, i)[i + 1] = 1;
                        break;
                case OP_TO_RE:
                        for (size_t i = 0; i + x->len < n; i++)
                                row(o, i)[i + x->len] = !x->len || !memcmp(s->c + i, x->c, 4 * (size_t)x->len);
                        break;
                case OP_RE_RANGE:
                        if (x->len == 1 && y->len == 1)
                                for (size_t i = 0; i + 1 < n; i++)
                                        row(o, i)[i + 1] = s->c[i] >= x->c[0] && s->c[i] <= y->c[0];
                        break;
                case OP_RE_CONCAT: {
                        struct spans acc = {n, util_alloc(n * n)};

                        spans_copy(&m[t->args[0]], o);
                        for (uint32_t a = 1; a < t->nargs; a++) {
                                memcpy(acc.bit, o->bit, n * n);
                                memset(o->bit, 0, n * n);
                                spans_concat(&acc, &m[t->args[a]], o);
                        }
                        free(acc.bit);
                        break;
                }
                case OP_RE_UNION:
                        for (uint32_t a = 0; a < t->nargs; a++)
                                for (size_t i = 0; i < n * n; i++)
                                        o->bit[i] |= m[t->args[a]].bit[i];
                        break;
                case OP_RE_INTER:
                        spans_copy(&m[t->args[0]], o);
                        for (uint32_t a = 1; a < t->nargs; a++)
                                for (size_t i = 0; i < n * n; i++)
                                        o->bit[i] &= m[t->args[a]].bit[i];
                        break;
                case OP_RE_DIFF:
                        spans_copy(&m[t->args[0]], o);
                        for (uint32_t a = 1; a < t->nargs; a++)
                                for (size_t i = 0; i < n * n; i++)
                                        o->bit[i] &= !m[t->args[a]].bit[i];
                        break;
                case OP_RE_COMP:
                        for (size_t i = 0; i < n; i++)
                                for (size_t j = i; j < n; j++)
                                        row(o, i)[j] = !row(&m[t->args[0]], i)[j];
                        break;
                case OP_RE_STAR:
                        spans_star(&m[t->args[0]], o);
                        break;
                case OP_RE_PLUS:
                        spans_loop(&m[t->args[0]], 1, -1, o);
                        break;
                case OP_RE_OPT:
                        spans_copy(&m[t->args[0]], o);
                        for (size_t i = 0; i < n; i++)
                                row(o, i)[i] = 1;
                        break;
                case OP_RE_LOOP:
                        spans_loop(&m[t->args[0]], t->a, t->b, o);
                        break;
                default:
                        goto out;
                }
        }
        r.bit = m[re].bit;
        m[re].bit = NULL;
out:
        for (size_t k = 0; k < order.n; k++)
                free(m[order.d[k]].bit);
        free(m);
        vec_free(&order);
        return r;
}

int eval_in_re(struct bank *b, const struct ustr *s, tid re, const struct value *val)
{
        struct spans m = spans_of(b, s, re, val);
        int r = m.bit ? row(&m, 0)[s->len] : -1;

        free(m.bit);
        return r;
}

static const struct ustr *replace_all(struct bank *b, const struct ustr *s, const struct ustr *t, const struct ustr *u)
{
        VEC(const struct ustr *) parts = {};
        const struct ustr *r;
        int64_t from = 0, at;

        if (!t->len)
                return s;
        for (; (at = ustr_find(s, t, from)) >= 0; from = at + t->len) {
                vec_push(&parts, slice(b, s, from, at - from));
                vec_push(&parts, u);
        }
        vec_push(&parts, slice(b, s, from, s->len));
        r = join(b, parts.d, parts.n);
        vec_free(&parts);
        return r;
}

/* The leftmost match that begins at or after `from` and is at least `min` long, and of these the shortest. */
static bool find_span(const struct spans *m, uint32_t from, uint32_t min, uint32_t *at, uint32_t *len)
{
        for (*at = from; *at < m->n; ++*at)
                for (*len = min; *at + *len < m->n; ++*len)
                        if (row(m, *at)[*at + *len])
                                return true;
        return false;
}

static const struct ustr *replace_re(struct bank *b, const struct ustr *s, tid re, const struct ustr *u, bool all,
                                     const struct value *val)
{
        struct spans m = spans_of(b, s, re, val);
        VEC(const struct ustr *) parts = {};
        const struct ustr *r = NULL;
        uint32_t from = 0, at, len;

        while (m.bit && find_span(&m, from, all, &at, &len)) {
                vec_push(&parts, slice(b, s, from, at - from));
                vec_push(&parts, u);
                from = at + len;
                if (!all)
                        break;
        }
        if (m.bit) {
                vec_push(&parts, slice(b, s, from, s->len));
                r = join(b, parts.d, parts.n);
        }
        free(m.bit);
        vec_free(&parts);
        return r;
}

static void eval_bool(struct bank *b, const struct term *t, const struct value *val, struct value *o)
{
        const struct value *x = val + t->args[0], *y = t->nargs > 1 ? val + t->args[1] : NULL;

        o->set = true;
        switch ((enum op)t->op) {
        case OP_NOT:
                o->b = !x->b;
                break;
        case OP_AND:
                o->b = true;
                for (uint32_t i = 0; i < t->nargs; i++)
                        o->b &= val[t->args[i]].b;
                break;
        case OP_OR:
                o->b = false;
                for (uint32_t i = 0; i < t->nargs; i++)
                        o->b |= val[t->args[i]].b;
                break;
        case OP_XOR:
                o->b = false;
                for (uint32_t i = 0; i < t->nargs; i++)
                        o->b ^= val[t->args[i]].b;
                break;
        case OP_IMPLIES: /* right-associative: false only if all but the last are true */
                o->b = val[t->args[t->nargs - 1]].b;
                for (uint32_t i = 0; i + 1 < t->nargs; i++)
                        o->b |= !val[t->args[i]].b;
                break;
        case OP_EQ:
        case OP_DISTINCT:
                o->b = true;
                for (uint32_t i = 0; i < t->nargs; i++)
                        for (uint32_t j = i + 1; j < t->nargs; j++) {
                                const struct value *p = val + t->args[i], *q = val + t->args[j];
                                bool same = p->sort == SORT_BOOL  ? p->b == q->b
                                            : p->sort == SORT_INT ? p->i == q->i
                                                                  : p->s == q->s;

                                if (same != (t->op == OP_EQ))
                                        o->b = false;
                                if (t->op == OP_EQ)
                                        break; /* neighbours are enough */
                        }
                break;
        case OP_LE:
        case OP_LT:
        case OP_GE:
        case OP_GT:
                o->b = true;
                for (uint32_t i = 0; i + 1 < t->nargs; i++) {
                        int64_t p = val[t->args[i]].i, q = val[t->args[i + 1]].i;

                        o->b &= t->op == OP_LE ? p <= q : t->op == OP_LT ? p < q : t->op == OP_GE ? p >= q : p > q;
                }
                break;
        case OP_STR_LT:
        case OP_STR_LE:
                o->b = true;
                for (uint32_t i = 0; i + 1 < t->nargs; i++) {
                        int c = compare(val[t->args[i]].s, val[t->args[i + 1]].s);

                        o->b &= t->op == OP_STR_LT ? c < 0 : c <= 0;
                }
                break;
        case OP_PREFIXOF:
                o->b = x->s->len <= y->s->len && slice(b, y->s, 0, x->s->len) == x->s;
                break;
        case OP_SUFFIXOF:
                o->b = x->s->len <= y->s->len && slice(b, y->s, y->s->len - x->s->len, x->s->len) == x->s;
                break;
        case OP_CONTAINS:
                o->b = ustr_find(x->s, y->s, 0) >= 0;
                break;
        case OP_IS_DIGIT:
                o->b = x->s->len == 1 && x->s->c[0] >= '0' && x->s->c[0] <= '9';
                break;
        case OP_IN_RE: {
                int r = eval_in_re(b, x->s, t->args[1], val);

                o->set = r >= 0;
                o->b = r > 0;
                break;
        }
        default:
                o->set = false;
        }
}

static void eval_int(const struct term *t, const struct value *val, struct value *o)
{
        const struct value *x = val + t->args[0], *y = t->nargs > 1 ? val + t->args[1] : NULL;
        bool bad = false;

        o->i = x->i;
        switch ((enum op)t->op) {
        case OP_ADD:
                for (uint32_t i = 1; i < t->nargs; i++)
                        bad |= __builtin_add_overflow(o->i, val[t->args[i]].i, &o->i);
                break;
        case OP_SUB:
                if (t->nargs == 1)
                        bad = __builtin_sub_overflow((int64_t)0, x->i, &o->i);
                for (uint32_t i = 1; i < t->nargs; i++)
                        bad |= __builtin_sub_overflow(o->i, val[t->args[i]].i, &o->i);
                break;
        case OP_MUL:
                for (uint32_t i = 1; i < t->nargs; i++)
                        bad |= __builtin_mul_overflow(o->i, val[t->args[i]].i, &o->i);
                break;
        case OP_DIV:
        case OP_MOD: /* Euclidean; by zero is anything, so unknown here */
                for (uint32_t i = 1; i < t->nargs && !bad; i++) {
                        int64_t d = val[t->args[i]].i, q, r;

                        if (!d || (d == -1 && o->i == INT64_MIN)) {
                                bad = true;
                                break;
                        }
                        q = o->i / d;
                        r = o->i % d;
                        if (r < 0) {
                                r += d < 0 ? -d : d;
                                q -= d < 0 ? -1 : 1;
                        }
                        o->i = t->op == OP_DIV ? q : r;
                }
                break;
        case OP_ABS:
                if (x->i < 0)
                        bad = __builtin_sub_overflow((int64_t)0, x->i, &o->i);
                break;
        case OP_LEN:
                o->i = x->s->len;
                break;
        case OP_INDEXOF:
                o->i = ustr_find(x->s, y->s, val[t->args[2]].i);
                break;
        case OP_LASTINDEXOF:
                for (o->i = (int64_t)x->s->len - y->s->len; o->i >= 0; o->i--)
                        if (!y->s->len || !memcmp(x->s->c + o->i, y->s->c, 4 * (size_t)y->s->len))
                                break;
                if (o->i < 0)
                        o->i = -1;
                break;
        case OP_TO_CODE:
                o->i = x->s->len == 1 ? (int64_t)x->s->c[0] : -1;
                break;
        case OP_TO_INT:
                o->i = x->s->len ? 0 : -1;
                for (uint32_t i = 0; i < x->s->len; i++)
                        if (x->s->c[i] < '0' || x->s->c[i] > '9') {
                                o->i = -1;
                                bad = false;
                                break;
                        } else if (!bad) {
                                bad = __builtin_mul_overflow(o->i, 10, &o->i) ||
                                      __builtin_add_overflow(o->i, (int64_t)x->s->c[i] - '0', &o->i);
                        }
                break;
        default:
                bad = true;
        }
        o->set = !bad;
}

static const struct ustr *eval_str(struct bank *b, const struct term *t, const struct value *val)
{
        const struct value *x = val + t->args[0], *y = t->nargs > 1 ? val + t->args[1] : NULL;
        const struct value *z = t->nargs > 2 ? val + t->args[2] : NULL;
        VEC(const struct ustr *) parts = {};
        const struct ustr *r;
        uint32_t buf[20], n = 20;
        int64_t at;

        switch ((enum op)t->op) {
        case OP_CONCAT:
                for (uint32_t i = 0; i < t->nargs; i++)
                        vec_push(&parts, val[t->args[i]].s);
                r = join(b, parts.d, parts.n);
                vec_free(&parts);
                return r;
        case OP_AT:
                return slice(b, x->s, y->i, 1);
        case OP_SUBSTR:
                return slice(b, x->s, y->i, z->i);
        case OP_REPLACE:
                at = ustr_find(x->s, y->s, 0);
                if (at < 0)
                        return x->s;
                return join(b, (const struct ustr *[]){slice(b, x->s, 0, at), z->s, slice(b, x->s, at + y->s->len, x->s->len)},
                            3);
        case OP_REPLACE_ALL:
                return replace_all(b, x->s, y->s, z->s);
        case OP_REPLACE_RE:
        case OP_REPLACE_RE_ALL:
                return replace_re(b, x->s, t->args[1], z->s, t->op == OP_REPLACE_RE_ALL, val);
        case OP_FROM_CODE:
                if (x->i < 0 || x->i > USTR_MAX_CHAR)
                        return ustr_get(&b->strings, &b->arena, NULL, 0);
                return ustr_get(&b->strings, &b->arena, &(uint32_t){(uint32_t)x->i}, 1);
        case OP_FROM_INT:
                if (x->i < 0)
                        return ustr_get(&b->strings, &b->arena, NULL, 0);
                at = x->i;
                do {
                        buf[--n] = '0' + (uint32_t)(at % 10);
                        at /= 10;
                } while (at);
                return ustr_get(&b->strings, &b->arena, buf + n, 20 - n);
        default:
                return NULL;
        }
}

void eval_terms(struct bank *b, const uint32_t *order, size_t n, struct value *val)
{
        for (size_t k = 0; k < n; k++) {
                const struct term *t = term_get(b, order[k]);
                struct value *o = &val[order[k]];
                bool ready = true;

                if (t->op == OP_VAR)
                        continue;
                o->sort = (enum sort)t->sort;
                o->set = false;
                if (t->op == OP_ITE) { /* only the chosen side needs a value */
                        const struct value *c = val + t->args[0];

                        if (c->set)
                                *o = val[t->args[c->b ? 1 : 2]];
                        continue;
                }
                if (t->op == OP_AND || t->op == OP_OR) { /* one decided argument may be enough */
                        for (uint32_t i = 0; i < t->nargs; i++)
                                if (val[t->args[i]].set && val[t->args[i]].b == (t->op == OP_OR)) {
                                        o->set = true;
                                        o->b = t->op == OP_OR;
                                }
                        if (o->set)
                                continue;
                }
                for (uint32_t i = 0; i < t->nargs; i++)
                        ready &= val[t->args[i]].set || val[t->args[i]].sort == SORT_RE;
                if (t->sort == SORT_RE) {
                        o->set = true; /* evaluated at its membership */
                        continue;
                }
                if (t->op == OP_FROM_INT && !ready && val[t->args[0]].s) {
                        *o = (struct value){.sort = SORT_STR, .set = true, .s = val[t->args[0]].s};
                        continue;
                }
                if (!ready)
                        continue;
                switch ((enum op)t->op) {
                case OP_TRUE:
                case OP_FALSE:
                        o->set = true;
                        o->b = t->op == OP_TRUE;
                        break;
                case OP_NUM:
                        o->set = true;
                        o->i = t->a;
                        break;
                case OP_STR:
                        o->set = true;
                        o->s = t->str;
                        break;
                default:
                        if (t->sort == SORT_BOOL) {
                                eval_bool(b, t, val, o);
                        } else if (t->sort == SORT_INT) {
                                eval_int(t, val, o);
                        } else {
                                o->s = eval_str(b, t, val);
                                o->set = o->s != NULL;
                        }
                }
        }
}

struct value eval_constant(struct bank *b, tid t)
{
        struct value *val = util_alloc((t + 1) * sizeof(*val)), v;
        vec_u32 order = {};

        term_reach(b, &t, 1, &order);
        eval_terms(b, order.d, order.n, val);
        v = val[t];
        free(val);
        vec_free(&order);
        return v;
}
