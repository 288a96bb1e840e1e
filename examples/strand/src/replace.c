/* str.replace_re and str.replace_re_all with a constant language R: result = x u rest where the argument is x m y, m the leftmost match
 * and of those the shortest.
 *
 * That no match begins in x depends on all that follows. The automaton B of what begins with a match, read backward, says it state by
 * state: if m y read backward leads B to q, then x read backward from q must come through no accepting state. Each side is a regular
 * language, so there is one alternative for each accepting q, and one without any match. (The functions and why they are decidable
 * where variables stand once: T. Chen et al., What Is Decidable about String Constraints with the ReplaceAll Function, POPL 2018.) */
#include "search.h"

/* The automaton of the words read backward. */
static struct aut *backward(struct search *s, const struct aut *a)
{
        uint64_t *target = util_alloc(((size_t)a->n / 64 + 1) * 8);
        struct aut *r;

        for (uint32_t q = 0; q < a->n; q++)
                if (a->accept[q])
                        bit_set(target, q);
        if (a->accept[0])
                bit_set(target, a->n);
        r = aut_reverse(s->auts, a, 0, target, false);
        free(target);
        return r;
}

/* What can stand before and after the place where B, coming from the end, is in state q. False: too large. */
static bool sides(struct search *s, const struct aut *b, uint32_t q, struct aut **before, struct aut **after)
{
        size_t size = ((size_t)b->n / 64 + 1) * 8;
        uint64_t *target = util_alloc(size);

        bit_set(target, q);
        if (q == 0)
                bit_set(target, b->n);
        *after = aut_reverse(s->auts, b, 0, target, false);
        memset(target, 0, size);
        for (uint32_t p = 0; p < b->n; p++)
                if (!b->accept[p])
                        bit_set(target, p);
        bit_set(target, b->n);
        *before = aut_reverse(s->auts, b, q, target, true);
        free(target);
        return *before && *after;
}

/* The words in which no match begins, B's start among its states. */
static struct aut *never(struct search *s, const struct aut *b)
{
        struct aut *before = NULL, *after;

        return b->accept[0] ? s->auts->empty : sides(s, b, 0, &before, &after) ? before : NULL;
}

/* The language that l's function replaces: its matches, none part of another that begins with it, and what begins with one. False: it
 * replaces no constant language, or the empty word, or something too large. */
static bool languages(struct search *s, const struct link *l, struct aut **match, struct aut **begins)
{
        const struct term *f = term_get(s->b, l->app);
        struct re_bank *re = &s->auts->re;
        rid r, more = re_concat(re, re->any, re->all);

        if (f->op == OP_REPLACE_ALL) {
                if (!word_is_const(l->arg[1]) || !l->arg[1]->n)
                        return false;
                r = re_word(re, (const uint32_t *)l->arg[1]->s, l->arg[1]->n);
        } else if (!re_from_term(re, s->b, f->args[1], &r)) {
                return false;
        }
        if (f->op == OP_REPLACE_RE_ALL)
                r = re_inter(re, r, more); /* the empty match does not count */
        *match = aut_from_re(s->auts, re_inter(re, r, re_comp(re, re_concat(re, r, more))));
        *begins = aut_from_re(s->auts, re_concat(re, r, re->all));
        return *match && *begins;
}

/* ---- the words whose image is in a language ----
 *
 * Reading such a word, the state is a triple: q, what B, coming from the end, says of the rest (guessed, and held to at each step); m,
 * outside of a match (0), in one (1 + the state of its automaton), or behind the only one; p, where the image has led `out`. */
struct triples {
        const struct aut *b, *match, *out;
        const struct word *by;
        bool all;
};

#define MAX_TRIPLES 20000

static uint32_t after_word(const struct aut *a, uint32_t p, const struct word *w)
{
        for (uint32_t i = 0; i < w->n && p != AUT_DEAD; i++)
                p = aut_step(a, p, (uint32_t)w->s[i]);
        return p;
}

static void step_triple(void *data, uint32_t state, uint32_t c, uint64_t *to)
{
        const struct triples *t = data;
        uint32_t phases = t->match->n + 2, p = state % t->out->n, m = state / t->out->n % phases, q = state / t->out->n / phases;

        if (m == phases - 1 || (m == 0 && !t->b->accept[q])) { /* c stays */
                p = aut_step(t->out, p, c);
        } else {
                uint32_t k = aut_step(t->match, m ? m - 1 : 0, c);

                if (k == AUT_DEAD)
                        return;
                m = 1 + k;
                if (t->match->accept[k]) {
                        p = after_word(t->out, p, t->by);
                        m = t->all ? 0 : phases - 1;
                }
        }
        if (p == AUT_DEAD)
                return;
        for (uint32_t rest = 0; rest < t->b->n; rest++)
                if (aut_step(t->b, rest, c) == q)
                        bit_set(to, (rest * phases + m) * t->out->n + p);
}

static struct aut *preimage(struct search *s, const struct link *l, struct aut *out)
{
        struct triples t = {.out = out, .by = l->arg[2], .all = term_get(s->b, l->app)->op != OP_REPLACE_RE};
        struct aut *match, *begins, *r;
        uint64_t *start, *accept;
        uint32_t n, phases;
        vec_u32 first = {};

        if (!word_is_const(l->arg[2]) || !languages(s, l, &match, &begins) || match->accept[0])
                return NULL;
        if (match == s->auts->empty) /* B would have no next state */
                return out;
        t.b = backward(s, begins);
        if (!t.b)
                return NULL;
        t.match = match;
        phases = match->n + 2;
        if ((uint64_t)t.b->n * phases * out->n > MAX_TRIPLES)
                return NULL;
        n = t.b->n * phases * out->n;
        start = util_alloc((n / 64 + 1) * 8);
        accept = util_alloc((n / 64 + 1) * 8);
        for (uint32_t q = 0; q < t.b->n; q++)
                bit_set(start, q * phases * out->n);
        for (uint32_t p = 0; p < out->n; p++)
                if (out->accept[p]) { /* the rest is empty, q = 0 */
                        bit_set(accept, p);
                        bit_set(accept, (phases - 1) * out->n + p);
                }
        aut_classes(t.b, &first);
        aut_classes(match, &first);
        aut_classes(out, &first);
        r = aut_determinise(s->auts, &first, n, start, accept, step_triple, &t);
        vec_free(&first);
        free(start);
        free(accept);
        return r;
}

struct aut *replace_preimage(struct search *s, const struct link *l, struct aut *out)
{
        tid args[3] = {term_get(s->b, l->app)->args[0], term_get(s->b, l->app)->args[1], 0}, app;
        struct aut *r;

        if (!word_is_const(l->arg[2]) || (l->arg[1] && !word_is_const(l->arg[1])))
                return NULL;
        args[2] = term_str(s->b, word_const(s, l->arg[2]));
        if (l->arg[1])
                args[1] = term_str(s->b, word_const(s, l->arg[1]));
        app = term_rebuild(s->b, l->app, args);
        for (size_t i = 0; i < s->auts->images.n; i++)
                if (s->auts->images.d[i].app == app && s->auts->images.d[i].out == out)
                        return s->auts->images.d[i].pre;
        r = preimage(s, l, out);
        vec_push(&s->auts->images, (typeof(*s->auts->images.d)){app, out, r});
        return r;
}

void replace_split(struct search *s, const struct link *l, size_t at, struct split *out)
{
        const struct term *f = term_get(s->b, l->app);
        const struct word *w = l->arg[0], *u = l->arg[2], *some;
        bool all = f->op == OP_REPLACE_RE_ALL;
        struct branch none = {.drop_link = (int)at + 1};
        struct aut *match, *begins, *b, *before, *after;
        uint32_t x, m, y, z;
        struct link *next;

        out->incomplete = true;
        if (!languages(s, l, &match, &begins) || !(b = backward(s, begins)))
                return;
        branch_eq(&none, l->result, w);
        if (match == s->auts->empty) { /* nothing is replaced; B has no next state */
                vec_push(&out->way, none);
                out->incomplete = false;
                return;
        }
        if (!(before = never(s, b)))
                return;
        branch_mem(&none, w, before);
        vec_push(&out->way, none);
        x = search_fresh(s);
        m = search_fresh(s);
        y = search_fresh(s);
        z = all ? search_fresh(s) : y;
        some = word_join(s, word_var(s, m), word_var(s, y));
        next = arena_alloc(&s->scratch, sizeof(*next));
        *next = (struct link){.app = l->app, .var = l->var, .arg = {word_var(s, y), NULL, u}, .result = word_var(s, z)};
        for (uint32_t q = 0; q < b->n; q++) {
                struct branch way = {.drop_link = (int)at + 1};

                if (!b->accept[q])
                        continue;
                if (!sides(s, b, q, &before, &after))
                        return;
                branch_eq(&way, w, word_join(s, word_var(s, x), some));
                branch_eq(&way, l->result, word_join(s, word_var(s, x), word_join(s, u, word_var(s, z))));
                branch_mem(&way, word_var(s, x), before);
                branch_mem(&way, word_var(s, m), match);
                branch_mem(&way, some, after);
                if (all)
                        way.link[way.links++] = next;
                vec_push(&out->way, way);
        }
        out->incomplete = false;
}
