/* Reasons, variables and words. */
#include "state.h"

/* ---- reasons ---- */

dep *dep_union(struct search *s, dep *a, dep *b)
{
        bool in = true;
        uint64_t *r;

        if (a == b || b == s->no_reason)
                return a;
        if (a == s->no_reason)
                return b;
        for (uint32_t i = 0; in && i < s->dep_words; i++)
                in = !(b[i] & ~a[i]);
        if (in)
                return a;
        r = arena_alloc(&s->scratch, 8 * s->dep_words);
        for (uint32_t i = 0; i < s->dep_words; i++)
                r[i] = a[i] | b[i];
        return r;
}

dep *dep_of(struct search *s, uint32_t bit)
{
        uint64_t *r = arena_alloc(&s->scratch, 8 * s->dep_words);

        memset(r, 0, 8 * s->dep_words);
        r[bit >> 6] |= 1ull << (bit & 63);
        return r;
}

dep *dep_without(struct search *s, dep *a, uint32_t bit)
{
        uint64_t *r = arena_dup(&s->scratch, a, 8 * s->dep_words);

        r[bit >> 6] &= ~(1ull << (bit & 63));
        return r;
}

/* ---- words ---- */

uint32_t search_var(struct search *s, tid v)
{
        tid len;

        while (s->index.n <= v)
                vec_push(&s->index, 0);
        if (s->index.d[v])
                return s->index.d[v] - 1;
        len = term_app(s->b, OP_LEN, SORT_INT, &v, 1);
        vec_push(&s->vars, (struct svar){v, len});
        s->index.d[v] = (uint32_t)s->vars.n;
        return (uint32_t)s->vars.n - 1;
}

tid search_pool(struct search *s)
{
        if (s->pool_used == s->pool->n)
                vec_push(s->pool, lower_fresh(s->lower, SORT_STR, "cut"));
        return s->pool->d[s->pool_used++];
}

/* Variables are taken back with the node that made them, so equal nodes meet equal names and Z3 old facts. */
uint32_t search_fresh(struct search *s)
{
        if (s->nfresh == s->vars.n)
                search_var(s, search_pool(s));
        return s->nfresh++;
}

const struct word *word_make(struct search *s, const int32_t *sym, size_t n)
{
        struct word *w = arena_alloc(&s->scratch, sizeof(*w) + 4 * n);

        w->n = (uint32_t)n;
        if (n)
                memcpy(w->s, sym, 4 * n);
        return w;
}

const struct word *word_join(struct search *s, const struct word *a, const struct word *b)
{
        struct word *w = arena_alloc(&s->scratch, sizeof(*w) + 4 * ((size_t)a->n + b->n));

        w->n = a->n + b->n;
        memcpy(w->s, a->s, 4 * (size_t)a->n);
        memcpy(w->s + a->n, b->s, 4 * (size_t)b->n);
        return w;
}

const struct word *word_slice(struct search *s, const struct word *w, uint32_t from, uint32_t n)
{
        return from == 0 && n == w->n ? w : word_make(s, w->s + from, n);
}

const struct word *word_var(struct search *s, uint32_t v)
{
        return word_make(s, &(int32_t){-1 - (int32_t)v}, 1);
}

const struct word *word_chars(struct search *s, const uint32_t *c, size_t n)
{
        return word_make(s, (const int32_t *)c, n);
}

const struct word *word_of_term(struct search *s, tid t)
{
        const struct term *x = term_get(s->b, t);
        const tid *p = x->op == OP_CONCAT ? x->args : &t;
        size_t n = x->op == OP_CONCAT ? x->nargs : 1;
        const struct word *w;
        vec_i32 sym = {};

        for (size_t i = 0; i < n; i++) {
                const struct term *y = term_get(s->b, p[i]);

                if (y->op == OP_STR)
                        for (uint32_t k = 0; k < y->str->len; k++)
                                vec_push(&sym, (int32_t)y->str->c[k]);
                else
                        vec_push(&sym, -1 - (int32_t)search_var(s, p[i]));
        }
        w = word_make(s, sym.d, sym.n);
        vec_free(&sym);
        return w;
}

bool word_has(const struct word *w, uint32_t v)
{
        for (uint32_t i = 0; i < w->n; i++)
                if (w->s[i] == -1 - (int32_t)v)
                        return true;
        return false;
}

bool word_same(const struct word *a, const struct word *b)
{
        return a->n == b->n && !memcmp(a->s, b->s, 4 * (size_t)a->n);
}

bool word_is_const(const struct word *w)
{
        for (uint32_t i = 0; i < w->n; i++)
                if (SYM_IS_VAR(w->s[i]))
                        return false;
        return true;
}

const struct ustr *word_const(struct search *s, const struct word *w)
{
        return ustr_get(&s->b->strings, &s->b->arena, (const uint32_t *)w->s, w->n);
}

tid word_len(struct search *s, const struct word *w)
{
        vec_u32 vars = {};
        tid sum, *parts;
        int64_t chars = 0;

        for (uint32_t i = 0; i < w->n; i++)
                if (SYM_IS_VAR(w->s[i]))
                        vec_push(&vars, s->vars.d[SYM_VAR(w->s[i])].len);
                else
                        chars++;
        vec_push(&vars, term_num(s->b, chars));
        parts = vars.d;
        sum = vars.n == 1 ? parts[0] : lower_sum(s->lower, term_app(s->b, OP_ADD, SORT_INT, parts, vars.n), 1, term_num(s->b, 0));
        vec_free(&vars);
        return sum;
}

const struct word *word_subst(struct search *s, const struct word *w, uint32_t v, const struct word *by)
{
        vec_i32 sym = {};
        const struct word *r;

        if (!word_has(w, v))
                return w;
        for (uint32_t i = 0; i < w->n; i++) {
                if (w->s[i] != -1 - (int32_t)v) {
                        vec_push(&sym, w->s[i]);
                        continue;
                }
                for (uint32_t k = 0; k < by->n; k++)
                        vec_push(&sym, by->s[k]);
        }
        r = word_make(s, sym.d, sym.n);
        vec_free(&sym);
        return r;
}
