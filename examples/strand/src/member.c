/* Memberships of words with several variables: x rest in A splits by the state of A that x leads to. */
#include "search.h"

/* The sets of states that the word can pass through: set[i] after i symbols, given the languages of
 * variables. With reasons. Returns the sets, (w->n + 1) * words; NULL: too large. */
static uint64_t *forward(struct search *s, const struct state *st, const struct member *m, size_t words, dep **why)
{
        uint64_t *set = util_alloc((m->w->n + 1) * words * 8);

        bit_set(set, 0);
        *why = m->why;
        for (uint32_t i = 0; i < m->w->n; i++) {
                const uint64_t *from = set + i * words;
                uint64_t *to = set + (i + 1) * words;

                if (SYM_IS_VAR(m->w->s[i])) {
                        dep *d;
                        struct aut *a = state_domain(s, st, (uint32_t)SYM_VAR(m->w->s[i]), &d);

                        *why = dep_union(s, *why, d);
                        if (!aut_image(s->auts, m->a, from, a, to)) {
                                free(set);
                                return NULL;
                        }
                        continue;
                }
                for (uint32_t q = 0; q < m->a->n; q++)
                        if (bit_get(from, q)) {
                                uint32_t t = aut_step(m->a, q, (uint32_t)m->w->s[i]);

                                if (t != AUT_DEAD)
                                        bit_set(to, t);
                        }
        }
        return set;
}

bool member_refute(struct search *s, struct state *st, dep **conflict)
{
        for (size_t i = 0; i < st->mems.n; i++) {
                const struct member *m = &st->mems.d[i];
                size_t words = ((size_t)m->a->n + 63) / 64;
                bool any = false;
                uint64_t *set;
                dep *why;

                if (m->w->n < 2)
                        continue;
                set = forward(s, st, m, words, &why);
                if (!set)
                        continue;
                for (uint32_t q = 0; q < m->a->n; q++)
                        any |= bit_get(set + m->w->n * words, q) && m->a->accept[q];
                free(set);
                if (!any) {
                        *conflict = why;
                        return true;
                }
        }
        return false;
}

bool member_split(struct search *s, struct state *st, struct split *out)
{
        const struct member *m = NULL;
        uint64_t *set, *target;
        size_t words, best = 0;
        uint32_t cost = UINT32_MAX;
        dep *why;

        for (size_t i = 0; i < st->mems.n; i++) {
                const struct member *o = &st->mems.d[i];

                if (o->w->n > 1 && o->a->n < cost) {
                        cost = o->a->n;
                        best = i;
                        m = o;
                }
        }
        if (!m)
                return false;
        words = ((size_t)m->a->n + 63) / 64;
        out->why = m->why;
        set = forward(s, st, m, words, &why);
        target = util_alloc(words * 8);
        for (uint32_t q = 0; q < m->a->n; q++) {
                struct branch b = {.drop_mem = (int)best + 1};

                if (set && !bit_get(set + words, q))
                        continue; /* the first variable cannot lead there; its language is a reason */
                memset(target, 0, words * 8);
                bit_set(target, q);
                branch_mem(&b, word_slice(s, m->w, 0, 1), aut_between(s->auts, m->a, 0, target));
                branch_mem(&b, word_slice(s, m->w, 1, m->w->n - 1), aut_between(s->auts, m->a, q, NULL));
                vec_push(&out->way, b);
        }
        if (set)
                out->why = dep_union(s, out->why, why);
        free(set);
        free(target);
        return true;
}
