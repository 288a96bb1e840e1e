/* The search on a conjunction of literals: they become the root of its tree, its refutation becomes a core, its
 * model is checked against the original formula. */
#include "label.h"
#include "solver.h"

/* The search stack is deep but bounded. */
#define CONJUNCTION_MAX_DEPTH 3000
/* Limits at a level. */
#define CONJUNCTION_NODES(l)    (500ull << 2 * (l))
#define CONJUNCTION_MENDS(l)    (4 * (6 + 10 * (l)))
#define CONJUNCTION_OVERLAPS(l) (1 + 2 * (l))

/* Is the original formula true when variables have these values? */
static bool accept(struct search *s, const struct ustr *const *value, void *data)
{
        struct solver *v = data;
        bool ok = true;

        memset(v->val, 0, v->nval * sizeof(*v->val));
        for (size_t i = 0; i < v->order.n; i++) {
                tid t = v->order.d[i];
                const struct term *x = term_get(v->b, t);
                struct value *o = &v->val[t];

                if (x->op != OP_VAR)
                        continue;
                *o = (struct value){.sort = (enum sort)x->sort, .set = true};
                if (x->sort == SORT_BOOL) {
                        o->b = zed_truth(&v->zed, t);
                } else if (x->sort == SORT_INT) {
                        o->set = zed_value(&v->zed, t, &o->i);
                } else {
                        uint32_t k = map_get(&s->index, t);

                        o->s = k && k <= s->nfixed ? value[k - 1] : ustr_get(&v->b->strings, &v->b->arena, NULL, 0);
                }
        }
        eval_terms(v->b, v->order.d, v->order.n, v->val);
        for (size_t i = 0; i < v->nasserts && ok; i++)
                ok = v->val[v->asserts[i]].set && v->val[v->asserts[i]].b;
        return ok;
}

/* Puts the literals into a state. False: contradiction at once. */
static bool load(struct solver *v, struct search *s, struct state *st, const vec_u32 *seen, dep **conflict, bool *failed)
{
        for (tid t = 1; t < seen->n; t++) /* also those of which only the length matters */
                if (seen->d[t] && term_get(v->b, t)->op == OP_VAR && term_get(v->b, t)->sort == SORT_STR)
                        search_var(s, t);
        for (size_t i = 0; i < v->lits.n; i++) {
                tid t = v->lits.d[i].atom;
                bool neg = v->lits.d[i].negative;
                const struct term *x = term_get(v->b, t);
                const struct word *l, *r;
                dep *why = dep_of(s, (uint32_t)i);
                struct aut *a;
                rid re;

                if (x->op == OP_LE || (x->op == OP_EQ && term_get(v->b, x->args[0])->sort == SORT_INT)) {
                        if (!state_fact(s, st, neg ? lower_not(&v->lower, t) : t, why, conflict))
                                return false;
                        continue;
                }
                l = word_of_term(s, x->args[0]);
                if (x->op == OP_IN_RE) {
                        if (!re_from_term(&v->auts.re, v->b, x->args[1], &re)) {
                                *failed = true;
                                return true;
                        }
                        a = aut_from_re(&v->auts, neg ? re_comp(&v->auts.re, re) : re);
                        if (!a) {
                                *failed = true;
                                return true;
                        }
                        state_member(s, st, l, a, why);
                        continue;
                }
                r = word_of_term(s, x->args[1]);
                if (x->op == OP_EQ && !neg) {
                        struct generalized g = {l, r};

                        state_eq(s, st, l, r, why);
                        vec_push(&s->asserted, g);
                        if (v->opt->labels)
                                label_print_equation(stderr, s, &g);
                } else if (x->op == OP_EQ)
                        vec_push(&st->neqs, (struct negation){l, r, why});
                else if (neg)
                        vec_push(&st->lacks, (struct negation){l, r, why});
                else /* l contains r: l = p r q */
                        state_eq(s, st, l,
                                 word_join(s, word_var(s, search_var(s, search_pool(s))),
                                           word_join(s, r, word_var(s, search_var(s, search_pool(s))))),
                                 why);
        }
        for (size_t i = 0; i < v->lower.links.n; i++) {
                const struct lower_link *k = &v->lower.links.d[i];
                const struct term *x = term_get(v->b, k->app);
                struct link link = {.app = k->app, .var = k->var, .why = s->no_reason};

                if (!map_get(seen, k->var))
                        continue;
                for (uint32_t j = 0; j < x->nargs; j++)
                        if (term_get(v->b, x->args[j])->sort == SORT_STR)
                                link.arg[j] = word_of_term(s, x->args[j]);
                if (term_get(v->b, k->var)->sort == SORT_STR)
                        link.result = word_of_term(s, k->var);
                vec_push(&st->links, link);
        }
        return true;
}

enum outcome conjunction_search(struct solver *v, const vec_u32 *seen, uint32_t level, vec_u32 *core, bool *limited)
{
        struct search s = {.lower = &v->lower,
                           .zed = &v->zed,
                           .auts = &v->auts,
                           .b = v->b,
                           .opt = v->opt,
                           .stats = v->stats,
                           .nlits = (uint32_t)v->lits.n,
                           .max_depth = CONJUNCTION_MAX_DEPTH,
                           .node_limit = CONJUNCTION_NODES(level),
                           .max_mends = CONJUNCTION_MENDS(level),
                           .max_overlaps = CONJUNCTION_OVERLAPS(level),
                           .random = v->opt->seed,
                           .pool = &v->pool,
                           .accept = accept,
                           .accept_data = v};
        struct state *st = util_alloc(sizeof(*st));
        enum outcome r = OUT_UNSAT;
        dep *conflict = NULL;
        bool failed = false;

        s.dep_words = (s.nlits + s.max_depth) / 64 + 1;
        s.no_reason = memset(arena_alloc(&s.scratch, 8 * s.dep_words), 0, 8 * s.dep_words);
        conflict = s.no_reason;
        if (load(v, &s, st, seen, &conflict, &failed)) {
                s.nfixed = s.nfresh = (uint32_t)s.vars.n;
                r = failed ? OUT_UNKNOWN : search_run(&s, st, &conflict);
        }
        state_free(st);
        *limited |= r == OUT_UNKNOWN && s.limited;
        if (r == OUT_UNSAT)
                for (uint32_t i = 0; i < s.nlits; i++)
                        if (dep_has(conflict, i))
                                vec_push(core, i);
        vec_free(&s.vars);
        vec_free(&s.index);
        vec_free(&s.asserted);
        arena_free(&s.scratch);
        return r;
}
