/* States: what is added to them, how they are copied, their lengths asked of the integer solver. */
#include "state.h"

#define COPY(f)                                      \
        do {                                         \
                for (size_t i = 0; i < st->f.n; i++) \
                        vec_push(&c->f, st->f.d[i]); \
        } while (0)

struct state *state_copy(const struct state *st)
{
        struct state *c = util_alloc(sizeof(*c));

        COPY(eqs);
        COPY(mems);
        COPY(neqs);
        COPY(lacks);
        COPY(links);
        COPY(facts);
        COPY(solved);
        c->nfacts_checked = st->nfacts_checked;
        c->overlaps = st->overlaps;
        c->mends = st->mends;
        return c;
}

void state_free(struct state *st)
{
        vec_free(&st->eqs);
        vec_free(&st->mems);
        vec_free(&st->neqs);
        vec_free(&st->lacks);
        vec_free(&st->links);
        vec_free(&st->facts);
        vec_free(&st->solved);
        free(st);
}

void state_eq(struct search *s, struct state *st, const struct word *l, const struct word *r, dep *why)
{
        (void)s;
        vec_push(&st->eqs, (struct eqn){l, r, {l, r}, why, false});
}

void state_member(struct search *s, struct state *st, const struct word *w, struct aut *a, dep *why)
{
        (void)s;
        vec_push(&st->mems, (struct member){w, a, why, false});
}

bool state_fact(struct search *s, struct state *st, tid fact, dep *why, dep **conflict)
{
        uint32_t p;

        if (fact == s->b->t_true)
                return true;
        if (fact == s->b->t_false) {
                *conflict = why;
                return false;
        }
        if (term_get(s->b, fact)->op == OP_AND) {
                for (uint32_t i = 0; i < term_get(s->b, fact)->nargs; i++)
                        if (!state_fact(s, st, term_get(s->b, fact)->args[i], why, conflict))
                                return false;
                return true;
        }
        p = zed_proxy(s->zed, fact);
        for (size_t i = 0; i < st->facts.n; i++)
                if (st->facts.d[i].proxy == p)
                        return true;
        vec_push(&st->facts, (struct fact){p, why});
        return true;
}

struct aut *state_domain(const struct search *s, const struct state *st, uint32_t v, dep **why)
{
        for (size_t i = 0; i < st->mems.n; i++)
                if (st->mems.d[i].w->n == 1 && st->mems.d[i].w->s[0] == -1 - (int32_t)v) {
                        if (why)
                                *why = st->mems.d[i].why;
                        return st->mems.d[i].a;
                }
        if (why)
                *why = s->no_reason;
        return s->auts->all;
}

int64_t state_length(struct search *s, uint32_t v)
{
        int64_t n = 0;

        return zed_value(s->zed, s->vars.d[v].len, &n) ? n : 0;
}

enum outcome state_check_lengths(struct search *s, struct state *st, dep **conflict)
{
        vec_u32 proxies = {}, core = {};
        enum verdict v;
        dep *why = s->no_reason;

        for (size_t i = 0; i < st->facts.n; i++)
                vec_push(&proxies, st->facts.d[i].proxy);
        v = zed_check_facts(s->zed, proxies.d, proxies.n, &core);
        if (v == VERDICT_UNSAT) {
                s->stats->length_conflicts++;
                for (size_t i = 0; i < core.n; i++)
                        why = dep_union(s, why, st->facts.d[core.d[i]].why);
                *conflict = why;
        }
        vec_free(&proxies);
        vec_free(&core);
        return v == VERDICT_UNSAT ? OUT_UNSAT : v == VERDICT_SAT ? OUT_SAT : OUT_UNKNOWN;
}
