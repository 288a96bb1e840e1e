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

void replace_split(struct search *s, const struct link *l, size_t at, struct split *out)
{
        const struct term *f = term_get(s->b, l->app);
        const struct word *w = l->arg[0], *u = l->arg[2], *some;
        bool all = f->op == OP_REPLACE_RE_ALL;
        struct re_bank *re = &s->auts->re;
        rid r, more = re_concat(re, re->any, re->all);
        struct branch none = {.drop_link = (int)at + 1};
        struct aut *match, *begins, *b;
        uint32_t x, m, y, z;
        struct link *next;

        out->incomplete = true;
        if (!re_from_term(re, s->b, f->args[1], &r))
                return;
        if (all)
                r = re_inter(re, r, more); /* the empty match does not count */
        match = aut_from_re(s->auts, re_inter(re, r, re_comp(re, re_concat(re, r, more))));
        begins = aut_from_re(s->auts, re_concat(re, r, re->all));
        b = begins ? backward(s, begins) : NULL;
        if (!match || !b)
                return;
        branch_eq(&none, l->result, w);
        branch_mem(&none, w, aut_comp(s->auts, aut_from_re(s->auts, re_concat(re, re->all, re_concat(re, r, re->all)))));
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
                struct aut *before, *after;

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
