/* What a term must wish of one of its arguments to have a given value itself; the others keep theirs. */
#include "guess.h"

#define WISH_MAX_LENGTH 300

/* ---- strings in the making ---- */

static struct value text(struct guess *g, const uint32_t *c, size_t n)
{
        n = n > WISH_MAX_LENGTH ? WISH_MAX_LENGTH : n;
        return (struct value){.sort = SORT_STR, .set = true, .s = ustr_get(&g->b->strings, &g->b->arena, c, n)};
}

static struct value number(int64_t i)
{
        return (struct value){.sort = SORT_INT, .set = true, .i = i};
}

/* What is too large wraps: it is only a wish. */
static int64_t plus(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a - (uint64_t)b);
}

static struct value truth(bool b)
{
        return (struct value){.sort = SORT_BOOL, .set = true, .b = b};
}

/* A character: of the constants that the formula mentions, or a letter. */
static uint32_t some_char(struct guess *g)
{
        if (g->text.n && guess_random(g, 2)) {
                const struct ustr *s = term_get(g->b, g->text.d[guess_random(g, (uint32_t)g->text.n)])->str;

                if (s->len)
                        return s->c[guess_random(g, s->len)];
        }
        return guess_random(g, 4) ? 'a' + guess_random(g, 26) : '0' + guess_random(g, 10);
}

/* s with its characters from i to j replaced by t; filled up where it is shorter than i. */
static struct value splice(struct guess *g, const struct ustr *s, int64_t i, int64_t j, const struct ustr *t)
{
        vec_u32 c = {};
        struct value r;

        for (int64_t k = 0; k < i && k < WISH_MAX_LENGTH; k++)
                vec_push(&c, k < s->len ? s->c[k] : some_char(g));
        for (uint32_t k = 0; k < t->len; k++)
                vec_push(&c, t->c[k]);
        for (int64_t k = j; k < s->len; k++)
                vec_push(&c, s->c[k]);
        r = text(g, c.d, c.n);
        vec_free(&c);
        return r;
}

static struct value part(struct guess *g, const struct ustr *s, int64_t i, int64_t j)
{
        i = i < 0 ? 0 : i > s->len ? s->len : i;
        j = j < i ? i : j > s->len ? s->len : j;
        return text(g, s->c + i, (size_t)(j - i));
}

static const struct ustr *none(struct guess *g)
{
        return text(g, NULL, 0).s;
}

static bool begins(const struct ustr *s, const struct ustr *t)
{
        return t->len <= s->len && (!t->len || !memcmp(s->c, t->c, 4 * (size_t)t->len));
}

static bool ends(const struct ustr *s, const struct ustr *t)
{
        return t->len <= s->len && (!t->len || !memcmp(s->c + s->len - t->len, t->c, 4 * (size_t)t->len));
}

/* That many characters, of s as far as it goes. */
static struct value resized(struct guess *g, const struct ustr *s, int64_t n)
{
        const uint32_t at = s->len ? guess_random(g, s->len + 1) : 0;
        struct value fill;
        vec_u32 c = {};

        if (n <= s->len)
                return guess_random(g, 2) ? part(g, s, 0, n) : part(g, s, s->len - n, s->len);
        while ((int64_t)c.n < n - s->len && c.n < WISH_MAX_LENGTH)
                vec_push(&c, some_char(g));
        fill = text(g, c.d, c.n);
        vec_free(&c);
        return splice(g, s, guess_random(g, 2) ? s->len : at, guess_random(g, 2) ? s->len : at, fill.s);
}

struct value wish_other(struct guess *g, struct value v)
{
        struct value x;

        if (v.sort == SORT_BOOL)
                return truth(!v.b);
        if (v.sort == SORT_INT)
                return number(guess_random(g, 3) ? plus(v.i, (guess_random(g, 2) ? 1 : -1) * (1 + (int64_t)guess_random(g, 3)))
                                                 : (int64_t)guess_random(g, 12) - 2);
        x = text(g, (uint32_t[]){some_char(g)}, 1);
        switch (guess_random(g, 6)) {
        case 0:
                return v.s->len ? part(g, v.s, 1, v.s->len) : x;
        case 1:
                return v.s->len ? part(g, v.s, 0, v.s->len - 1) : x;
        case 2: {
                uint32_t i = guess_random(g, v.s->len + 1);

                return splice(g, v.s, i, i + 1, x.s);
        }
        case 3:
                return v.s->len ? text(g, NULL, 0) : x;
        case 4:
                if (g->text.n) {
                        x.s = term_get(g->b, g->text.d[guess_random(g, (uint32_t)g->text.n)])->str;
                        return x;
                }
                /* fall through */
        default:
                return splice(g, v.s, v.s->len, v.s->len, x.s);
        }
}

/* ---- one step down ---- */

struct step {
        struct guess *g;
        const struct term *x;
        struct value v; /* what x is to be; then what the argument is to be */
        uint32_t at;    /* the argument */
};

static const struct value *arg(const struct step *p, uint32_t i)
{
        return &p->g->val[p->x->args[i]];
}

static bool is_fixed(const struct step *p, uint32_t i)
{
        enum op op = (enum op)term_get(p->g->b, p->x->args[i])->op;

        return op == OP_NUM || op == OP_STR || op == OP_TRUE || op == OP_FALSE;
}

static bool ask(struct step *p, uint32_t at, struct value v)
{
        p->at = at;
        p->v = v;
        return true;
}

/* Some argument for which `fits` holds and that is no constant; nargs: none. */
static uint32_t choose(struct step *p, bool (*fits)(const struct step *, uint32_t))
{
        uint32_t n = p->x->nargs, from = guess_random(p->g, n);

        for (uint32_t k = 0; k < n; k++) {
                uint32_t i = (from + k) % n;

                if (!is_fixed(p, i) && (!fits || fits(p, i)))
                        return i;
        }
        return n;
}

static bool is_false(const struct step *p, uint32_t i)
{
        return !arg(p, i)->set || !arg(p, i)->b;
}

static bool is_true(const struct step *p, uint32_t i)
{
        return !is_false(p, i);
}

static bool step_ite(struct step *p)
{
        const struct value *c = arg(p, 0);
        uint32_t now = c->set && c->b ? 1 : 2;
        const struct value *o = arg(p, 3 - now);
        bool better = o->set && (p->v.sort == SORT_BOOL ? o->b == p->v.b : p->v.sort == SORT_INT ? o->i == p->v.i : o->s == p->v.s);

        if (is_fixed(p, now) || better || guess_random(p->g, 4) == 0)
                return !is_fixed(p, 0) && ask(p, 0, truth(now == 2));
        return ask(p, now, p->v);
}

/* Two arguments that stand side by side (of distinct: any two) shall be equal, or shall not. */
static bool step_equal(struct step *p, bool equal)
{
        uint32_t n = p->x->nargs, i = 0, j, bad = 0;

        for (uint32_t k = 0; k + 1 < n; k++) { /* one of the pairs that are not as wished */
                const struct value *a = arg(p, k), *b = arg(p, k + 1);
                bool same = a->sort == SORT_STR ? a->s == b->s : a->sort == SORT_INT ? a->i == b->i : a->b == b->b;

                if ((!a->set || !b->set || same != equal) && guess_random(p->g, ++bad) == 0)
                        i = k;
        }
        j = i + 1;
        if (p->x->op == OP_DISTINCT && n > 2) {
                i = guess_random(p->g, n);
                j = (i + 1) % n;
        }
        if (is_fixed(p, i) || (!is_fixed(p, j) && guess_random(p->g, 2))) {
                uint32_t k = i;

                i = j;
                j = k;
        }
        if (is_fixed(p, i) || !arg(p, j)->set)
                return false;
        return ask(p, i, equal ? *arg(p, j) : wish_other(p->g, *arg(p, j)));
}

/* a <= b + slack shall hold of two neighbours. */
static bool step_order(struct step *p, enum op op, bool want)
{
        int64_t slack = op == OP_LT || op == OP_GT ? -1 : 0, more;
        uint32_t i = guess_random(p->g, p->x->nargs - 1), a = i, b = i + 1;

        if (op == OP_GE || op == OP_GT) {
                a = i + 1;
                b = i;
        }
        if (!want) { /* b < a, or b <= a */
                uint32_t k = a;

                a = b;
                b = k;
                slack = -1 - slack;
        }
        more = guess_random(p->g, 3) ? 0 : guess_random(p->g, 4);
        if (!arg(p, a)->set || !arg(p, b)->set)
                return false;
        if (is_fixed(p, b) || (!is_fixed(p, a) && guess_random(p->g, 2)))
                return !is_fixed(p, a) && ask(p, a, number(plus(arg(p, b)->i, slack - more)));
        return ask(p, b, number(plus(arg(p, a)->i, more - slack)));
}

static bool step_text_order(struct step *p, bool want)
{
        uint32_t i = guess_random(p->g, p->x->nargs - 1), a = want ? i : i + 1, b = want ? i + 1 : i;
        const struct ustr *s = arg(p, a)->s, *t = arg(p, b)->s; /* s < t is wished */

        if (is_fixed(p, b) || (!is_fixed(p, a) && guess_random(p->g, 2))) {
                uint32_t k;

                if (is_fixed(p, a))
                        return false;
                for (k = 0; k < t->len && t->c[k] == 0; k++)
                        ;
                if (k < t->len && guess_random(p->g, 2))
                        return ask(p, a, splice(p->g, t, k, t->len, text(p->g, (uint32_t[]){t->c[k] - 1}, 1).s));
                return ask(p, a, part(p->g, t, 0, t->len ? guess_random(p->g, t->len) : 0));
        }
        return ask(p, b, splice(p->g, s, s->len, s->len, text(p->g, (uint32_t[]){some_char(p->g)}, 1).s));
}

/* x shall be a prefix, suffix or part of y, or shall not. */
static bool step_within(struct step *p, uint32_t x, uint32_t y, bool want)
{
        const struct ustr *s = arg(p, x)->s, *t = arg(p, y)->s;
        enum op op = (enum op)p->x->op;
        int64_t at, n;

        if (is_fixed(p, y) || (!is_fixed(p, x) && guess_random(p->g, 3) == 0)) {
                if (is_fixed(p, x))
                        return false;
                if (!want)
                        return ask(p, x, guess_random(p->g, 2) ? resized(p->g, t, t->len + 1) : wish_other(p->g, *arg(p, x)));
                n = guess_random(p->g, 3) && s->len <= t->len ? s->len : guess_random(p->g, t->len + 1);
                at = op == OP_PREFIXOF ? 0 : op == OP_SUFFIXOF ? t->len - n : guess_random(p->g, (uint32_t)(t->len - n) + 1);
                return ask(p, x, part(p->g, t, at, at + n));
        }
        n = guess_random(p->g, 2) ? s->len : 0; /* over what is there, or before it */
        at = op == OP_PREFIXOF ? 0 : op == OP_SUFFIXOF ? t->len : guess_random(p->g, t->len + 1);
        if (want)
                return ask(p, y, splice(p->g, t, op == OP_SUFFIXOF && n <= t->len ? at - n : at, at + n, s));
        at = op == OP_PREFIXOF ? 0 : op == OP_SUFFIXOF ? (int64_t)t->len - s->len : ustr_find(t, s, 0);
        if (at < 0 || !s->len)
                return false;
        n = guess_random(p->g, s->len);
        return ask(p, y, splice(p->g, t, at + n, at + n + 1, wish_other(p->g, text(p->g, t->c + at + n, 1)).s));
}

static bool step_member(struct step *p, bool want)
{
        struct aut *a = guess_aut(p->g, p->x->args[1]);
        const struct aut_lengths *l;
        struct value v = {};
        vec_u32 c = {};
        uint32_t n;

        if (a && !want)
                a = aut_comp(p->g->auts, a);
        if (!a || a == p->g->auts->empty || a->n > 2000 || is_fixed(p, 0))
                return false;
        l = aut_lengths(p->g->auts, a);
        n = guess_random(p->g, 2) ? arg(p, 0)->s->len : l->min + guess_random(p->g, 6);
        for (uint32_t k = 0; k < 20 && !aut_has_length(l, n); k++)
                n = k < 10 ? l->min + guess_random(p->g, 2 + 2 * k) : l->min;
        if (n <= WISH_MAX_LENGTH && aut_sample(p->g->auts, a, n, &p->g->random, &c))
                v = text(p->g, c.d, c.n);
        vec_free(&c);
        return v.set && ask(p, 0, v);
}

static bool step_bool(struct step *p)
{
        bool want = p->v.b, all;
        uint32_t i;

        switch ((enum op)p->x->op) {
        case OP_NOT:
                return ask(p, 0, truth(!want));
        case OP_AND:
        case OP_OR:
                all = want == (p->x->op == OP_AND);
                i = choose(p, all ? (want ? is_false : is_true) : NULL);
                return i < p->x->nargs && ask(p, i, p->v);
        case OP_IMPLIES:
                i = guess_random(p->g, p->x->nargs);
                return ask(p, i, truth(want == (i + 1 == p->x->nargs)));
        case OP_XOR:
                i = choose(p, NULL);
                return i < p->x->nargs && ask(p, i, truth(is_false(p, i)));
        case OP_EQ:
        case OP_DISTINCT:
                return step_equal(p, want == (p->x->op == OP_EQ));
        case OP_LE:
        case OP_LT:
        case OP_GE:
        case OP_GT:
                return step_order(p, (enum op)p->x->op, want);
        case OP_STR_LT:
        case OP_STR_LE:
                return step_text_order(p, want);
        case OP_PREFIXOF:
        case OP_SUFFIXOF:
                return step_within(p, 0, 1, want);
        case OP_CONTAINS:
                return step_within(p, 1, 0, want);
        case OP_IS_DIGIT:
                return ask(p, 0, text(p->g, (uint32_t[]){(want ? '0' : 'a') + guess_random(p->g, 10)}, 1));
        case OP_IN_RE:
                return step_member(p, want);
        default:
                return false;
        }
}

/* t shall stand in s at k, and not before (indexof), or not at all. */
static bool step_find(struct step *p, int64_t k)
{
        const struct ustr *s = arg(p, 0)->s, *t = arg(p, 1)->s;
        int64_t from = p->x->nargs > 2 ? arg(p, 2)->i : 0, at = ustr_find(s, t, from < 0 ? 0 : from);
        uint32_t way = guess_random(p->g, 4);

        if (k < 0) {
                if (way == 0 && p->x->nargs > 2 && !is_fixed(p, 2))
                        return ask(p, 2, number(guess_random(p->g, 2) ? -1 : (int64_t)s->len + 1));
                if ((way < 3 || is_fixed(p, 1)) && at >= 0 && t->len && !is_fixed(p, 0))
                        return ask(p, 0, splice(p->g, s, at, at + 1 + guess_random(p->g, t->len), none(p->g)));
                return !is_fixed(p, 1) && ask(p, 1, resized(p->g, t, t->len + 1));
        }
        if (k > WISH_MAX_LENGTH)
                return false;
        if (p->x->nargs > 2 && !is_fixed(p, 2) && (from > k || way == 0))
                return ask(p, 2, number(k));
        if (way == 1 && !is_fixed(p, 1))
                return ask(p, 1, part(p->g, s, k, k + (guess_random(p->g, 2) ? t->len : 1 + guess_random(p->g, 4))));
        if (is_fixed(p, 0))
                return false;
        if (at >= 0 && at < k && t->len && way == 2)
                return ask(p, 0, splice(p->g, s, at, at, resized(p->g, none(p->g), k - at).s));
        return ask(p, 0, splice(p->g, s, k, k + t->len, t));
}

static bool step_int(struct step *p)
{
        int64_t v = p->v.i, rest = 0, d;
        char digits[24];
        uint32_t c[24], n, i = choose(p, NULL);

        if (i == p->x->nargs)
                return false;
        switch ((enum op)p->x->op) {
        case OP_ADD:
                for (uint32_t k = 0; k < p->x->nargs; k++)
                        rest = plus(rest, k == i ? 0 : arg(p, k)->i);
                return ask(p, i, number(minus(v, rest)));
        case OP_SUB:
                if (p->x->nargs == 1)
                        return ask(p, 0, number(minus(0, v)));
                for (uint32_t k = 1; k < p->x->nargs; k++)
                        rest = plus(rest, k == i ? 0 : arg(p, k)->i);
                return ask(p, i, number(i ? minus(minus(arg(p, 0)->i, rest), v) : plus(v, rest)));
        case OP_MUL:
                rest = 1;
                for (uint32_t k = 0; k < p->x->nargs; k++)
                        if (k != i && __builtin_mul_overflow(rest, arg(p, k)->i, &rest))
                                return false;
                return rest != 0 && ask(p, i, number(rest == -1 ? minus(0, v) : v / rest));
        case OP_DIV:
        case OP_MOD:
                d = arg(p, 1)->i;
                if (is_fixed(p, 0) || !d || d == -1 || p->x->nargs > 2)
                        return !is_fixed(p, 1) && ask(p, 1, wish_other(p->g, *arg(p, 1)));
                rest = arg(p, 0)->i % d;
                rest = rest < 0 ? rest + (d < 0 ? -d : d) : rest;
                if (p->x->op == OP_MOD)
                        return ask(p, 0, number(plus(minus(arg(p, 0)->i, rest), v)));
                return !__builtin_mul_overflow(v, d, &v) && ask(p, 0, number(plus(v, rest)));
        case OP_ABS:
                return ask(p, 0, number(guess_random(p->g, 2) ? v : minus(0, v)));
        case OP_LEN:
                return v >= 0 && v <= WISH_MAX_LENGTH && ask(p, 0, resized(p->g, arg(p, 0)->s, v));
        case OP_INDEXOF:
        case OP_LASTINDEXOF:
                return step_find(p, v);
        case OP_TO_CODE:
                if (v < 0 || v > USTR_MAX_CHAR)
                        return v == -1 && ask(p, 0, text(p->g, NULL, 0));
                return ask(p, 0, text(p->g, (uint32_t[]){(uint32_t)v}, 1));
        case OP_TO_INT:
                if (v < 0)
                        return v == -1 && ask(p, 0, text(p->g, (uint32_t[]){'a' + guess_random(p->g, 26)}, guess_random(p->g, 2)));
                n = (uint32_t)snprintf(digits, sizeof(digits), "%lld", (long long)v);
                for (uint32_t k = 0; k < n; k++)
                        c[k] = (unsigned char)digits[k];
                return ask(p, 0, text(p->g, c, n));
        default:
                return false;
        }
}

/* The part of v that argument i of a concatenation is to be. */
static bool step_concat(struct step *p)
{
        const struct ustr *v = p->v.s;
        uint32_t i = choose(p, NULL);
        struct value before = text(p->g, NULL, 0), after = before;
        int64_t from, to;

        if (i == p->x->nargs)
                return false;
        for (uint32_t k = 0; k < i; k++)
                before = splice(p->g, before.s, before.s->len, before.s->len, arg(p, k)->s);
        for (uint32_t k = i + 1; k < p->x->nargs; k++)
                after = splice(p->g, after.s, after.s->len, after.s->len, arg(p, k)->s);
        from = begins(v, before.s) || guess_random(p->g, 2) ? before.s->len : ustr_find(v, before.s, 0);
        to = ends(v, after.s) || guess_random(p->g, 2) ? (int64_t)v->len - after.s->len : guess_random(p->g, v->len + 1);
        return ask(p, i, part(p->g, v, from, to));
}

static bool step_substr(struct step *p, int64_t i, int64_t n)
{
        const struct ustr *s = arg(p, 0)->s, *v = p->v.s;
        bool at = p->x->op == OP_AT, fixed_n = at || is_fixed(p, 2);
        uint32_t way = guess_random(p->g, 4);
        int64_t k;

        if (v->len != n && !fixed_n && (way || v->len > n))
                return ask(p, 2, number(v->len));
        if (v->len > n)
                return false;
        if (!is_fixed(p, 1) && (way == 0 || i < 0 || is_fixed(p, 0))) {
                k = v->len ? ustr_find(s, v, 0) : s->len;
                if (k >= 0)
                        return ask(p, 1, number(k));
        }
        if (is_fixed(p, 0))
                return false;
        if (i < 0 || i > WISH_MAX_LENGTH)
                return !is_fixed(p, 1) && ask(p, 1, number(guess_random(p->g, s->len + 1)));
        return ask(p, 0, splice(p->g, s, i, v->len < n ? s->len : i + n, v));
}

static bool step_replace(struct step *p)
{
        const struct ustr *s = arg(p, 0)->s, *t = arg(p, 1)->s, *u = arg(p, 2)->s, *v = p->v.s;
        bool plain = p->x->op == OP_REPLACE || p->x->op == OP_REPLACE_ALL;
        int64_t at = plain ? ustr_find(s, t, 0) : -1, k;
        struct value head, tail;

        switch (guess_random(p->g, 5)) {
        case 0:
                if (at >= 0 && !is_fixed(p, 2)) { /* u := what is missing */
                        head = part(p->g, s, 0, at);
                        tail = part(p->g, s, at + t->len, s->len);
                        if (begins(v, head.s) && ends(v, tail.s) && head.s->len + tail.s->len <= v->len)
                                return ask(p, 2, part(p->g, v, at, (int64_t)v->len - tail.s->len));
                }
                return !is_fixed(p, 2) && ask(p, 2, p->v);
        case 1:
                k = plain && u->len ? ustr_find(v, u, 0) : -1;
                if (k >= 0 && !is_fixed(p, 0))
                        return ask(p, 0, splice(p->g, v, k, k + u->len, t));
                return !is_fixed(p, 0) && ask(p, 0, p->v);
        case 2:
                if (plain && !is_fixed(p, 1))
                        return ask(p, 1, guess_random(p->g, 2) ? *arg(p, 0) : resized(p->g, s, s->len + 1));
                /* fall through */
        default:
                return !is_fixed(p, 0) && ask(p, 0, p->v);
        }
}

static bool step_str(struct step *p)
{
        const struct ustr *v = p->v.s;
        int64_t k = 0;

        switch ((enum op)p->x->op) {
        case OP_CONCAT:
                return step_concat(p);
        case OP_AT:
                return step_substr(p, arg(p, 1)->i, 1);
        case OP_SUBSTR:
                return step_substr(p, arg(p, 1)->i, arg(p, 2)->i);
        case OP_REPLACE:
        case OP_REPLACE_ALL:
        case OP_REPLACE_RE:
        case OP_REPLACE_RE_ALL:
                return step_replace(p);
        case OP_FROM_CODE:
                return v->len <= 1 && ask(p, 0, number(v->len ? (int64_t)v->c[0] : -1));
        case OP_FROM_INT:
                for (uint32_t i = 0; i < v->len; i++) {
                        if (v->c[i] < '0' || v->c[i] > '9' || v->len > 18 || (v->len > 1 && v->c[0] == '0'))
                                return false;
                        k = 10 * k + (v->c[i] - '0');
                }
                return ask(p, 0, number(v->len ? k : -1));
        default:
                return false;
        }
}

bool wish(struct guess *g, tid t, struct value v, tid *var, struct value *out)
{
        for (;;) {
                struct step p = {g, term_get(g->b, t), v, 0};

                if (p.x->op == OP_VAR) {
                        *var = t;
                        *out = v;
                        return true;
                }
                for (uint32_t i = 0; p.x->op != OP_ITE && i < p.x->nargs; i++)
                        if (p.x->sort != SORT_BOOL && !g->val[p.x->args[i]].set && term_get(g->b, p.x->args[i])->sort != SORT_RE)
                                return false;
                for (uint32_t i = 0; p.x->sort == SORT_BOOL && i < p.x->nargs; i++)
                        if (!g->val[p.x->args[i]].set && term_get(g->b, p.x->args[i])->sort == SORT_STR)
                                return false;
                if (!p.x->nargs || !(p.x->op == OP_ITE       ? step_ite(&p)
                                     : p.x->sort == SORT_BOOL ? step_bool(&p)
                                     : p.x->sort == SORT_INT  ? step_int(&p)
                                                              : step_str(&p)))
                        return false;
                t = p.x->args[p.at];
                v = p.v;
        }
}
