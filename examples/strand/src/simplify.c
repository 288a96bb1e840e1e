/* Consequences in a state, until nothing changes: of equations, memberships, negated facts, functions. */
#include "state.h"

/* v := w everywhere. */
static bool solve(struct search *s, struct state *st, uint32_t v, const struct word *w, dep *why, dep **conflict)
{
        tid len = lower_eq(s->lower, s->vars.d[v].len, word_len(s, w));

        s->stats->propagations++;
        if (!state_fact(s, st, len, why, conflict))
                return false;
        for (size_t i = 0; i < st->eqs.n; i++) {
                struct eqn *e = &st->eqs.d[i];

                if (word_has(e->l, v) || word_has(e->r, v)) {
                        e->l = word_subst(s, e->l, v, w);
                        e->r = word_subst(s, e->r, v, w);
                        e->why = dep_union(s, e->why, why);
                        e->sized = true; /* follows from the lengths of both */
                }
        }
        for (size_t i = 0; i < st->mems.n; i++) {
                struct member *m = &st->mems.d[i];

                if (word_has(m->w, v)) {
                        m->w = word_subst(s, m->w, v, w);
                        m->why = dep_union(s, m->why, why);
                }
        }
        for (int k = 0; k < 2; k++)
                for (size_t i = 0; i < (k ? st->lacks.n : st->neqs.n); i++) {
                        struct negation *n = k ? &st->lacks.d[i] : &st->neqs.d[i];

                        if (word_has(n->l, v) || word_has(n->r, v)) {
                                n->l = word_subst(s, n->l, v, w);
                                n->r = word_subst(s, n->r, v, w);
                                n->why = dep_union(s, n->why, why);
                        }
                }
        for (size_t i = 0; i < st->links.n; i++) {
                struct link *l = &st->links.d[i];
                bool has = l->result && word_has(l->result, v);

                for (int k = 0; k < 3; k++)
                        has |= l->arg[k] && word_has(l->arg[k], v);
                if (!has)
                        continue;
                for (int k = 0; k < 3; k++)
                        if (l->arg[k])
                                l->arg[k] = word_subst(s, l->arg[k], v, w);
                if (l->result)
                        l->result = word_subst(s, l->result, v, w);
                l->why = dep_union(s, l->why, why);
        }
        vec_push(&st->solved, (struct solved){v, w});
        return true;
}

/* How many symbols both words begin (end) with in common. */
static uint32_t common_prefix(const struct word *l, const struct word *r)
{
        uint32_t i = 0;

        while (i < l->n && i < r->n && l->s[i] == r->s[i])
                i++;
        return i;
}

static uint32_t common_suffix(const struct word *l, const struct word *r, uint32_t skip)
{
        uint32_t i = 0;

        while (i + skip < l->n && i + skip < r->n && l->s[l->n - 1 - i] == r->s[r->n - 1 - i])
                i++;
        return i;
}

static void strip(struct search *s, const struct word **l, const struct word **r)
{
        uint32_t p = common_prefix(*l, *r), q = common_suffix(*l, *r, p);

        if (p || q) {
                *l = word_slice(s, *l, p, (*l)->n - p - q);
                *r = word_slice(s, *r, p, (*r)->n - p - q);
        }
}

static bool clash(int32_t a, int32_t b)
{
        return !SYM_IS_VAR(a) && !SYM_IS_VAR(b) && a != b;
}

/* Both ends show different characters. */
static bool words_clash(const struct word *l, const struct word *r)
{
        return l->n && r->n && (clash(l->s[0], r->s[0]) || clash(l->s[l->n - 1], r->s[r->n - 1]));
}

/* One equation. Returns -1: contradiction, 0: nothing new, 1: something changed (the equation may be gone).
 */
static int simplify_eq(struct search *s, struct state *st, size_t i, dep **conflict)
{
        struct eqn *e = &st->eqs.d[i];
        dep *why = e->why;

        if (!e->sized) {
                e->sized = true;
                if (!state_fact(s, st, lower_eq(s->lower, word_len(s, e->l), word_len(s, e->r)), why, conflict))
                        return -1;
        }
        strip(s, &e->l, &e->r);
        if (words_clash(e->l, e->r)) {
                *conflict = why;
                return -1;
        }
        if (!e->l->n && !e->r->n) {
                st->eqs.d[i] = vec_pop(&st->eqs);
                return 1;
        }
        if (!e->l->n || !e->r->n) { /* all variables of the other side are empty */
                const struct word *w = e->l->n ? e->l : e->r;

                for (uint32_t k = 0; k < w->n; k++)
                        if (!SYM_IS_VAR(w->s[k])) {
                                *conflict = why;
                                return -1;
                        }
                if (!solve(s, st, (uint32_t)SYM_VAR(w->s[0]), word_make(s, NULL, 0), why, conflict))
                        return -1;
                return 1;
        }
        for (int side = 0; side < 2; side++) {
                const struct word *x = side ? e->r : e->l, *w = side ? e->l : e->r;
                uint32_t v;

                if (x->n != 1 || !SYM_IS_VAR(x->s[0]))
                        continue;
                v = (uint32_t)SYM_VAR(x->s[0]);
                if (word_has(w, v)) { /* x = .. x ..: all else is empty */
                        for (uint32_t k = 0; k < w->n; k++)
                                if (!SYM_IS_VAR(w->s[k])) {
                                        *conflict = why;
                                        return -1;
                                }
                        for (uint32_t k = 0; k < w->n; k++)
                                if (SYM_VAR(w->s[k]) != (int32_t)v) {
                                        if (!solve(s, st, (uint32_t)SYM_VAR(w->s[k]), word_make(s, NULL, 0), why, conflict))
                                                return -1;
                                        return 1;
                                }
                        if (!solve(s, st, v, word_make(s, NULL, 0), why, conflict)) /* x = x x .. */
                                return -1;
                        return 1;
                }
                if (w->n == 1 && SYM_VAR(w->s[0]) > (int32_t)v && side == 0)
                        continue; /* of two variables the newer goes */
                st->eqs.d[i] = vec_pop(&st->eqs);
                if (!solve(s, st, v, w, why, conflict))
                        return -1;
                return 1;
        }
        return 0;
}

/* The only word of the language, if it has just one. */
static bool only_word(struct search *s, struct aut *a, vec_u32 *out)
{
        uint32_t q = 0;

        (void)s;
        for (uint32_t steps = 0; steps <= a->n; steps++) {
                uint32_t next = AUT_DEAD, ways = 0, c = 0;

                for (uint32_t k = 0; k < a->nclasses; k++) {
                        uint32_t t = a->step[q * a->nclasses + k];
                        uint32_t hi = k + 1 < a->nclasses ? a->first[k + 1] - 1 : USTR_MAX_CHAR;

                        if (t == AUT_DEAD)
                                continue;
                        ways += hi > a->first[k] ? 2 : 1;
                        next = t;
                        c = a->first[k];
                }
                if (a->accept[q])
                        return ways == 0;
                if (ways != 1)
                        return false;
                vec_push(out, c);
                q = next;
        }
        return false;
}

/* The lengths of words of a language, as a fact about the integer term len. */
static tid lengths_fact(struct search *s, struct aut *a, tid len)
{
        const struct aut_lengths *l = aut_lengths(s->auts, a);
        vec_u32 parts = {};
        tid r;

        if (!l->exact)
                return lower_le(s->lower, term_num(s->b, l->min), len);
        for (uint32_t n = 0; n < l->pre; n++)
                if (l->has[n]) { /* a run of lengths */
                        uint32_t m = n;

                        while (m + 1 < l->pre && l->has[m + 1])
                                m++;
                        if (m + 1 == l->pre && l->period == 1 && l->has[l->pre])
                                break;
                        vec_push(&parts, n == m ? lower_eq(s->lower, len, term_num(s->b, n))
                                                : lower_and(s->lower,
                                                            (tid[]){lower_le(s->lower, term_num(s->b, n), len),
                                                                    lower_le(s->lower, len, term_num(s->b, m))},
                                                            2));
                        n = m;
                }
        for (uint32_t n = l->pre; !l->finite && n < l->pre + l->period; n++) {
                uint32_t from = n;
                tid high;

                if (!l->has[n])
                        continue;
                while (l->period == 1 && from > 0 && l->has[from - 1])
                        from--;
                high = lower_le(s->lower, term_num(s->b, from), len);
                if (l->period > 1) {
                        tid mod = term_app(s->b, OP_MOD, SORT_INT, (tid[]){len, term_num(s->b, l->period)}, 2);

                        high = lower_and(s->lower, (tid[]){high, lower_eq(s->lower, mod, term_num(s->b, n % l->period))}, 2);
                }
                vec_push(&parts, high);
        }
        r = lower_or(s->lower, parts.d, parts.n);
        vec_free(&parts);
        return r;
}

/* Constants at the ends of the word are run through the automaton. */
static bool strip_member(struct search *s, struct member *m)
{
        const struct word *w = m->w;
        uint32_t p = 0, q = 0, state = 0;

        while (p < w->n && !SYM_IS_VAR(w->s[p]) && state != AUT_DEAD)
                state = aut_step(m->a, state, (uint32_t)w->s[p++]);
        if (state == AUT_DEAD)
                return false;
        while (q + p < w->n && !SYM_IS_VAR(w->s[w->n - 1 - q]))
                q++;
        if (q) { /* the states from which the suffix is accepted */
                uint64_t *target = util_alloc(((size_t)m->a->n + 63) / 64 * 8);

                for (uint32_t i = 0; i < m->a->n; i++) {
                        uint32_t t = i;

                        for (uint32_t k = 0; k < q && t != AUT_DEAD; k++)
                                t = aut_step(m->a, t, (uint32_t)w->s[w->n - q + k]);
                        if (t != AUT_DEAD && m->a->accept[t])
                                bit_set(target, i);
                }
                m->a = aut_between(s->auts, m->a, state, target);
                free(target);
        } else if (state) {
                m->a = aut_between(s->auts, m->a, state, NULL);
        }
        if (p || q) {
                m->w = word_slice(s, w, p, w->n - p - q);
                m->sized = false;
        }
        return m->a != s->auts->empty;
}

static int simplify_member(struct search *s, struct state *st, size_t i, dep **conflict)
{
        struct member *m = &st->mems.d[i];
        vec_u32 text = {};

        if (!strip_member(s, m) || (!m->w->n && !m->a->accept[0])) {
                *conflict = m->why;
                return -1;
        }
        if (!m->w->n || m->a == s->auts->all) {
                st->mems.d[i] = vec_pop(&st->mems);
                return 1;
        }
        if (m->w->n == 1) { /* one language for each variable */
                for (size_t k = 0; k < st->mems.n; k++) {
                        struct member *o = &st->mems.d[k];
                        struct aut *both;

                        if (k == i || !word_same(o->w, m->w))
                                continue;
                        both = aut_inter(s->auts, o->a, m->a);
                        if (!both)
                                continue; /* too large: keep both, the leaf will complain */
                        s->stats->intersections++;
                        o->why = dep_union(s, o->why, m->why);
                        if (both == s->auts->empty) {
                                *conflict = o->why;
                                return -1;
                        }
                        o->a = both;
                        o->sized = false;
                        st->mems.d[i] = vec_pop(&st->mems);
                        return 1;
                }
                if (only_word(s, m->a, &text)) {
                        uint32_t v = (uint32_t)SYM_VAR(m->w->s[0]);
                        const struct word *w = word_chars(s, text.d, text.n);
                        dep *why = m->why;
                        bool ok;

                        vec_free(&text);
                        st->mems.d[i] = vec_pop(&st->mems);
                        ok = solve(s, st, v, w, why, conflict);
                        return ok ? 1 : -1;
                }
                vec_free(&text);
        }
        if (!m->sized) {
                m->sized = true;
                if (!state_fact(s, st, lengths_fact(s, m->a, word_len(s, m->w)), m->why, conflict))
                        return -1;
        }
        return 0;
}

/* The language of all words but one. */
static struct aut *aut_not_word(struct search *s, const struct word *w)
{
        struct aut *a = aut_from_re(s->auts, re_word(&s->auts->re, (const uint32_t *)w->s, w->n));

        return a ? aut_comp(s->auts, a) : NULL;
}

static int simplify_neq(struct search *s, struct state *st, size_t i, dep **conflict)
{
        struct negation *n = &st->neqs.d[i];

        strip(s, &n->l, &n->r);
        if (!n->l->n && !n->r->n) {
                *conflict = n->why;
                return -1;
        }
        if (words_clash(n->l, n->r)) {
                st->neqs.d[i] = vec_pop(&st->neqs);
                return 1;
        }
        for (int side = 0; side < 2; side++) {
                const struct word *c = side ? n->r : n->l, *w = side ? n->l : n->r;
                struct aut *a;

                if (!word_is_const(c) || !(a = aut_not_word(s, c)))
                        continue;
                state_member(s, st, w, a, n->why);
                st->neqs.d[i] = vec_pop(&st->neqs);
                return 1;
        }
        return 0;
}

static int simplify_lack(struct search *s, struct state *st, size_t i, dep **conflict)
{
        struct negation *n = &st->lacks.d[i];

        for (uint32_t k = 0; k + n->r->n <= n->l->n; k++)
                if (!memcmp(n->l->s + k, n->r->s, 4 * (size_t)n->r->n)) {
                        *conflict = n->why;
                        return -1;
                }
        if (word_is_const(n->r)) {
                struct re_bank *re = &s->auts->re;
                rid r = re_concat(re, re->all, re_concat(re, re_word(re, (const uint32_t *)n->r->s, n->r->n), re->all));
                struct aut *a = aut_from_re(s->auts, re_comp(re, r));

                if (a) {
                        state_member(s, st, n->l, a, n->why);
                        st->lacks.d[i] = vec_pop(&st->lacks);
                        return 1;
                }
        }
        if (!n->l->n) { /* only the empty word is in the empty word */
                struct aut *a = aut_not_word(s, n->l);

                if (!a)
                        return 0;
                state_member(s, st, n->r, a, n->why);
                st->lacks.d[i] = vec_pop(&st->lacks);
                return 1;
        }
        return 0;
}

/* The value of the function where its strings are constants. */
static bool link_value(struct search *s, const struct link *l, struct value *out)
{
        const struct term *x = term_get(s->b, l->app);
        tid args[3];

        for (uint32_t k = 0; k < x->nargs; k++)
                args[k] = l->arg[k] ? term_str(s->b, word_const(s, l->arg[k])) : x->args[k];
        *out = eval_constant(s->b, term_rebuild(s->b, l->app, args));
        return out->set;
}

/* (str.to_code x) is among the codes of the one-character words that x can be. */
static bool code_fact(struct search *s, struct state *st, const struct link *l, dep **conflict)
{
        dep *why;
        struct aut *a;
        vec_u32 parts = {};
        bool ok;

        if (l->arg[0]->n != 1)
                return true;
        a = state_domain(s, st, (uint32_t)SYM_VAR(l->arg[0]->s[0]), &why);
        if (a == s->auts->all || a->nclasses > 40)
                return true;
        for (uint32_t c = 0; c < a->nclasses; c++) {
                uint32_t t = a->step[c], hi = c + 1 < a->nclasses ? a->first[c + 1] - 1 : USTR_MAX_CHAR;

                if (t != AUT_DEAD && a->accept[t])
                        vec_push(&parts, lower_and(s->lower,
                                                   (tid[]){lower_le(s->lower, term_num(s->b, a->first[c]), l->var),
                                                           lower_le(s->lower, l->var, term_num(s->b, hi))},
                                                   2));
        }
        vec_push(&parts, lower_not(s->lower, lower_eq(s->lower, s->vars.d[SYM_VAR(l->arg[0]->s[0])].len, term_num(s->b, 1))));
        ok = state_fact(s, st, lower_or(s->lower, parts.d, parts.n), dep_union(s, why, l->why), conflict);
        vec_free(&parts);
        return ok;
}

/* Equal arguments give equal results. */
static bool congruence(struct search *s, struct state *st, size_t i, dep **conflict)
{
        const struct link *l = &st->links.d[i];

        for (size_t k = 0; k < i; k++) {
                const struct link *o = &st->links.d[k];

                if (term_get(s->b, o->app)->op != term_get(s->b, l->app)->op || l->result || o->var == l->var ||
                    !word_same(o->arg[0], l->arg[0]))
                        continue;
                if (!state_fact(s, st, lower_eq(s->lower, o->var, l->var), dep_union(s, o->why, l->why), conflict))
                        return false;
        }
        return true;
}

/* The argument of a replacement is among the words whose image can be the result. */
static bool preimage(struct search *s, struct state *st, struct link *l)
{
        dep *why = s->no_reason;
        struct aut *out, *in;

        if (word_is_const(l->result))
                out = aut_from_re(s->auts, re_word(&s->auts->re, (const uint32_t *)l->result->s, l->result->n));
        else if (l->result->n == 1)
                out = state_domain(s, st, (uint32_t)SYM_VAR(l->result->s[0]), &why);
        else
                return false;
        if (!out || out == s->auts->all || out == l->seen)
                return false;
        l->seen = out;
        in = replace_preimage(s, l, out);
        if (!in || in == s->auts->all)
                return false;
        state_member(s, st, l->arg[0], in, dep_union(s, why, l->why));
        return true;
}

static int simplify_link(struct search *s, struct state *st, size_t i, dep **conflict)
{
        struct link *l = &st->links.d[i];
        struct value v;

        if (l->done)
                return 0;
        if (l->result && l->arg[2] && preimage(s, st, l))
                return 1;
        for (int k = 0; k < 3; k++)
                if (l->arg[k] && !word_is_const(l->arg[k])) {
                        if (term_get(s->b, l->app)->op == OP_TO_CODE && !code_fact(s, st, l, conflict))
                                return -1;
                        return l->result || congruence(s, st, i, conflict) ? 0 : -1;
                }
        if (!link_value(s, l, &v))
                return 0;
        l->done = true;
        s->stats->propagations++;
        if (l->result) {
                state_eq(s, st, l->result, word_make(s, (const int32_t *)v.s->c, v.s->len), l->why);
        } else if (!state_fact(s, st, lower_eq(s->lower, l->var, term_num(s->b, v.i)), l->why, conflict)) {
                return -1;
        }
        return 1;
}

bool state_simplify(struct search *s, struct state *st, dep **conflict)
{
        bool changed = true;

        while (changed) {
                changed = false;
                for (size_t i = 0; i < st->eqs.n;) {
                        int r = simplify_eq(s, st, i, conflict);

                        if (r < 0)
                                return false;
                        changed |= r > 0;
                        i = r ? 0 : i + 1;
                }
                for (size_t i = 0; i < st->mems.n;) {
                        int r = simplify_member(s, st, i, conflict);

                        if (r < 0)
                                return false;
                        changed |= r > 0;
                        i = r ? 0 : i + 1;
                        if (r && st->eqs.n)
                                break;
                }
                for (size_t i = 0; i < st->neqs.n;) {
                        int r = simplify_neq(s, st, i, conflict);

                        if (r < 0)
                                return false;
                        changed |= r > 0;
                        i = r ? i : i + 1;
                }
                for (size_t i = 0; i < st->lacks.n;) {
                        int r = simplify_lack(s, st, i, conflict);

                        if (r < 0)
                                return false;
                        changed |= r > 0;
                        i = r ? i : i + 1;
                }
                for (size_t i = 0; i < st->links.n; i++) {
                        int r = simplify_link(s, st, i, conflict);

                        if (r < 0)
                                return false;
                        changed |= r > 0;
                }
        }
        return true;
}
