#include "guess.h"

#define GUESS_RESTART 400
#define GUESS_MEMORY  ((size_t)64 << 20)

/* ---- what to guess ---- */

static void add_goal(struct guess *g, tid root, bool want)
{
        VEC(struct goal) todo = {};

        vec_push(&todo, (struct goal){root, want, 1});
        while (todo.n) {
                struct goal o = vec_pop(&todo);
                const struct term *x = term_get(g->b, o.t);

                if (x->op == OP_NOT)
                        vec_push(&todo, (struct goal){x->args[0], !o.want, 1});
                else if (x->op == (o.want ? OP_AND : OP_OR))
                        for (uint32_t i = 0; i < x->nargs; i++)
                                vec_push(&todo, (struct goal){x->args[i], o.want, 1});
                else
                        vec_push(&g->goals, o);
        }
        vec_free(&todo);
}

/* (= x t) with a variable x that t lacks: x is t from now on. One pass takes what does not stand in another's way:
 * used[x]: 1 in a definition's term, 2 defined. */
static bool take_definitions(struct guess *g)
{
        vec_u32 used = {}, from = {}, to = {}, order = {};
        size_t kept = 0;

        for (size_t i = 0; i < g->goals.n; i++) {
                const struct term *x = term_get(g->b, g->goals.d[i].t);
                bool taken = false;

                for (uint32_t k = 0; k < 2 && !taken && g->goals.d[i].want && x->op == OP_EQ && x->nargs == 2; k++) {
                        tid v = x->args[k], t = x->args[1 - k];

                        if (term_get(g->b, v)->op != OP_VAR || map_get(&used, v))
                                continue;
                        order.n = 0;
                        term_reach(g->b, &t, 1, &order);
                        taken = true;
                        for (size_t j = 0; j < order.n && taken; j++)
                                taken = order.d[j] != v && map_get(&used, order.d[j]) != 2;
                        for (size_t j = 0; j < order.n && taken; j++)
                                map_set(&used, order.d[j], 1);
                        if (taken) {
                                map_set(&used, v, 2);
                                vec_push(&from, v);
                                vec_push(&to, t);
                        }
                }
                if (!taken)
                        g->goals.d[kept++] = g->goals.d[i];
        }
        g->goals.n = kept;
        for (size_t i = 0; i < g->goals.n && from.n; i++)
                g->goals.d[i].t = term_subst(g->b, g->goals.d[i].t, from.d, to.d, from.n);
        for (size_t i = 0; i < from.n; i++) {
                vec_push(&g->from, from.d[i]);
                vec_push(&g->to, to.d[i]);
        }
        kept = from.n;
        vec_free(&used);
        vec_free(&from);
        vec_free(&to);
        vec_free(&order);
        return kept > 0;
}

struct aut *guess_aut(struct guess *g, tid re)
{
        uint32_t k = map_get(&g->aut_of, re);
        struct aut *a = NULL;
        rid r;

        if (!k) {
                if (re_from_term(&g->auts->re, g->b, re, &r))
                        a = aut_from_re(g->auts, r);
                map_set(&g->aut_of, re, a ? a->id + 2 : 1);
                return a;
        }
        return k == 1 ? NULL : g->auts->autos.d[k - 2];
}

/* ---- values ---- */

static bool same_value(const struct value *a, const struct value *b)
{
        if (a->set != b->set || !a->set)
                return a->set == b->set;
        return a->sort == SORT_BOOL ? a->b == b->b : a->sort == SORT_INT ? a->i == b->i : a->s == b->s;
}

static void evaluate(struct guess *g, tid t)
{
        const struct term *x = term_get(g->b, t);
        struct aut *a = x->op == OP_IN_RE && g->val[x->args[0]].set ? guess_aut(g, x->args[1]) : NULL;

        g->work += 1 + (g->val[t].set && x->sort == SORT_STR ? g->val[t].s->len / 4 : 0);
        if ((x->op == OP_REPLACE_RE || x->op == OP_REPLACE_RE_ALL) && g->val[x->args[0]].set)
                g->work += (uint64_t)g->val[x->args[0]].s->len * g->val[x->args[0]].s->len; /* the referee's way is cubic */
        if (a) {
                const struct ustr *s = g->val[x->args[0]].s;
                uint32_t q = 0;

                for (uint32_t i = 0; i < s->len && q != AUT_DEAD; i++)
                        q = aut_step(a, q, s->c[i]);
                g->val[t] = (struct value){.sort = SORT_BOOL, .set = true, .b = q != AUT_DEAD && a->accept[q]};
                return;
        }
        eval_terms(g->b, &t, 1, g->val);
}

/* The variable's new value, and all that follows; undo takes it back. */
static void move(struct guess *g, tid var, struct value v)
{
        g->now++;
        g->undo.n = 0;
        vec_push(&g->undo, (typeof(*g->undo.d)){var, g->val[var]});
        g->val[var] = v;
        g->stamp[var] = g->now;
        for (size_t i = 0; i < g->order.n; i++) {
                tid t = g->order.d[i];
                const struct term *x = term_get(g->b, t);
                struct value was = g->val[t];
                bool stale = false;

                for (uint32_t k = 0; k < x->nargs && !stale; k++)
                        stale = g->stamp[x->args[k]] == g->now;
                if (!stale || x->sort == SORT_RE)
                        continue;
                evaluate(g, t);
                if (same_value(&was, &g->val[t]))
                        continue;
                g->stamp[t] = g->now;
                vec_push(&g->undo, (typeof(*g->undo.d)){t, was});
        }
        g->work += g->order.n / 16;
}

static void take_back(struct guess *g)
{
        for (size_t i = 0; i < g->undo.n; i++)
                g->val[g->undo.d[i].t] = g->undo.d[i].was;
}

static void restart(struct guess *g, bool empty)
{
        for (size_t i = 0; i < g->vars.n; i++) {
                tid t = g->vars.d[i];
                struct value v = {.sort = (enum sort)term_get(g->b, t)->sort, .set = true};

                v.s = ustr_get(&g->b->strings, &g->b->arena, NULL, 0);
                g->val[t] = empty || guess_random(g, 3) ? v : wish_other(g, v);
        }
        for (size_t i = 0; i < g->order.n; i++)
                if (term_get(g->b, g->order.d[i])->op != OP_VAR)
                        evaluate(g, g->order.d[i]);
}

static bool holds(const struct guess *g, const struct goal *o)
{
        return g->val[o->t].set && g->val[o->t].b == o->want;
}

/* The weight of the goals that are not met; *one is one of them. */
static uint64_t cost(struct guess *g, struct goal **one)
{
        uint64_t r = 0;
        uint32_t n = 0;

        for (size_t i = 0; i < g->goals.n; i++) {
                struct goal *o = &g->goals.d[i];

                if (holds(g, o))
                        continue;
                r += o->weight;
                if (guess_random(g, ++n) == 0)
                        *one = o;
        }
        return r;
}

/* The assertions as they were parsed, under the values and what the definitions make of them. */
static bool confirm(struct guess *g, struct value *val, size_t nval)
{
        struct value *all = util_alloc(g->b->terms.n * sizeof(*all));
        vec_u32 order = {};
        bool ok = true;

        term_reach(g->b, g->asserts, g->nasserts, &order);
        for (size_t i = 0; i < order.n; i++) /* what no goal mentions any more may be anything */
                if (term_get(g->b, order.d[i])->op == OP_VAR)
                        all[order.d[i]] = (struct value){.sort = (enum sort)term_get(g->b, order.d[i])->sort, .set = true,
                                                         .s = ustr_get(&g->b->strings, &g->b->arena, NULL, 0)};
        for (size_t i = 0; i < g->vars.n; i++)
                all[g->vars.d[i]] = g->val[g->vars.d[i]];
        for (size_t i = g->from.n; i-- > 0;) { /* later definitions first: they are of terms without earlier variables */
                vec_u32 below = {};

                term_reach(g->b, &g->to.d[i], 1, &below);
                eval_terms(g->b, below.d, below.n, all);
                all[g->from.d[i]] = all[g->to.d[i]];
                vec_free(&below);
        }
        eval_terms(g->b, order.d, order.n, all);
        for (size_t i = 0; i < g->nasserts && ok; i++)
                ok = all[g->asserts[i]].set && all[g->asserts[i]].b;
        if (ok)
                memcpy(val, all, nval * sizeof(*val));
        free(all);
        vec_free(&order);
        return ok;
}

bool guess_run(struct guess *g, uint64_t work, struct value *val, size_t nval)
{
        uint64_t end = g->work + work, now;
        struct goal *o = NULL;

        now = cost(g, &o);
        for (uint32_t i = 1; now && g->work < end; i++) {
                struct value v;
                uint64_t next;
                tid t;

                if (g->b->arena.total > g->memory + GUESS_MEMORY)
                        return false;
                g->work += 8;
                if (i % GUESS_RESTART == 0) {
                        restart(g, false);
                        now = cost(g, &o);
                        continue;
                }
                if (!wish(g, o->t, (struct value){.sort = SORT_BOOL, .set = true, .b = o->want}, &t, &v)) {
                        if (!g->vars.n)
                                return false;
                        if (guess_random(g, 4)) {
                                o->weight++;
                                now = cost(g, &o);
                                continue;
                        }
                        t = g->vars.d[guess_random(g, (uint32_t)g->vars.n)];
                        v = wish_other(g, g->val[t]);
                }
                if (same_value(&v, &g->val[t])) {
                        now = cost(g, &o);
                        continue;
                }
                move(g, t, v);
                next = cost(g, &o);
                if (next > now && guess_random(g, 16)) {
                        take_back(g);
                        for (size_t k = 0; k < g->goals.n; k++)
                                g->goals.d[k].weight += !holds(g, &g->goals.d[k]);
                        next = cost(g, &o);
                }
                now = next;
        }
        return !now && confirm(g, val, nval);
}

void guess_init(struct guess *g, struct bank *b, struct aut_store *auts, const tid *asserts, size_t n, uint32_t seed)
{
        vec_u32 roots = {};

        *g = (struct guess){.b = b, .auts = auts, .asserts = asserts, .nasserts = n};
        g->random = 0x9e3779b97f4a7c15ull ^ seed;
        g->memory = b->arena.total;
        for (size_t i = 0; i < n; i++)
                add_goal(g, asserts[i], true);
        for (int i = 0; i < 8 && take_definitions(g); i++)
                ;
        for (size_t i = 0; i < g->goals.n; i++)
                vec_push(&roots, g->goals.d[i].t);
        term_reach(b, roots.d, roots.n, &g->order);
        vec_free(&roots);
        for (size_t i = 0; i < g->order.n; i++) {
                const struct term *x = term_get(b, g->order.d[i]);

                if (x->op == OP_VAR)
                        vec_push(&g->vars, g->order.d[i]);
                if (x->op == OP_STR)
                        vec_push(&g->text, g->order.d[i]);
        }
        g->val = util_alloc(b->terms.n * sizeof(*g->val));
        g->stamp = util_alloc(b->terms.n * sizeof(*g->stamp));
        restart(g, true);
}

void guess_free(struct guess *g)
{
        vec_free(&g->goals);
        vec_free(&g->from);
        vec_free(&g->to);
        vec_free(&g->order);
        vec_free(&g->vars);
        vec_free(&g->text);
        vec_free(&g->undo);
        vec_free(&g->aut_of);
        free(g->val);
        free(g->stamp);
}
