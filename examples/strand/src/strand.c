/* The loop between the Boolean skeleton and the string search (lazy SMT; paper, Algorithm 1): Z3 proposes an
 * assignment, what justifies the formula under it is a conjunction of literals, the search refutes it with a
 * reason, which becomes a clause, or finds a model, which the evaluator checks against the original formula.
 */
#include "strand.h"
#include "search.h"
#include <time.h>

/* The search stack is deep but bounded. */
#define STRAND_MAX_DEPTH 3000
/* Limits of the search on one conjunction, at level 0 and more at each further level. */
#define STRAND_LEVELS      7
#define STRAND_NODES(l)    (500ull << 2 * (l))
#define STRAND_MENDS(l)    (6 + 10 * (l))
#define STRAND_OVERLAPS(l) (1 + 2 * (l))

struct literal {
        tid atom;
        bool negative;
};

struct solver {
        struct bank *b;
        struct lower lower;
        struct zed zed;
        struct aut_store auts;
        const struct strand_options *opt;
        struct strand_stats *stats;
        const tid *asserts;
        size_t nasserts;
        vec_u32 roots; /* lowered */
        vec_u32 pool;  /* fresh variables for the search */
        VEC(struct literal) lits;
        vec_u32 lit_index; /* by term id: 2 * (index + 1) + negative */
        vec_u32 truth;     /* by term id, under the skeleton's model: 0 unknown, 1 false, 2 true */
        vec_u32 truth_round;
        uint32_t round;
        size_t ndefs; /* definitions asserted so far */
        struct value *val;
        size_t nval;
        vec_u32 order; /* terms of the original assertions */
};

double strand_now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool late(const struct solver *v)
{
        return v->opt->deadline > 0 && strand_now() > v->opt->deadline;
}

/* ---- what the skeleton needs to know beforehand ---- */

/* Definitions hold always; equal words have equal lengths (paper, section 4.2, rules 3 and 4). */
static void assert_definitions(struct solver *v)
{
        for (; v->ndefs < v->lower.defs.n; v->ndefs++)
                zed_assert(&v->zed, v->lower.defs.d[v->ndefs].formula);
}

static void assert_lengths(struct solver *v)
{
        vec_u32 all = {}, order = {};

        for (size_t i = 0; i < v->roots.n; i++)
                vec_push(&all, v->roots.d[i]);
        for (size_t i = 0; i < v->lower.defs.n; i++)
                vec_push(&all, v->lower.defs.d[i].formula);
        term_reach(v->b, all.d, all.n, &order);
        for (size_t i = 0; i < order.n; i++) {
                const struct term *x = term_get(v->b, order.d[i]);

                if (x->op == OP_EQ && term_get(v->b, x->args[0])->sort == SORT_STR) {
                        tid same = lower_eq(&v->lower, lower_len(&v->lower, x->args[0]),
                                            lower_len(&v->lower, x->args[1]));

                        zed_assert(&v->zed,
                                   lower_or(&v->lower, (tid[]){lower_not(&v->lower, order.d[i]), same}, 2));
                }
        }
        vec_free(&all);
        vec_free(&order);
}

/* ---- justification ---- */

static bool is_atom(const struct solver *v, tid t)
{
        const struct term *x = term_get(v->b, t);

        switch ((enum op)x->op) {
        case OP_LE:
        case OP_IN_RE:
        case OP_CONTAINS:
        case OP_VAR:
                return true;
        case OP_EQ:
                return term_get(v->b, x->args[0])->sort != SORT_BOOL;
        default:
                return false;
        }
}

/* The truth of a lowered Boolean term under the skeleton's model; iterative. */
static bool truth(struct solver *v, tid root)
{
        vec_u32 todo = {};
        bool r;

        while (v->truth.n < v->b->terms.n) {
                vec_push(&v->truth, 0);
                vec_push(&v->truth_round, 0);
        }
        vec_push(&todo, root);
        while (todo.n) {
                tid t = vec_last(&todo);
                const struct term *x = term_get(v->b, t);
                bool ready = true, b = false;

                if (v->truth_round.d[t] == v->round) {
                        todo.n--;
                        continue;
                }
                if (!is_atom(v, t))
                        for (uint32_t i = 0; i < x->nargs; i++)
                                if (v->truth_round.d[x->args[i]] != v->round) {
                                        vec_push(&todo, x->args[i]);
                                        ready = false;
                                }
                if (!ready)
                        continue;
#define ARG(i) (v->truth.d[x->args[i]] == 2)
                switch (is_atom(v, t) ? OP_VAR : (enum op)x->op) {
                case OP_VAR:
                        b = zed_truth(&v->zed, t);
                        break;
                case OP_TRUE:
                        b = true;
                        break;
                case OP_NOT:
                        b = !ARG(0);
                        break;
                case OP_AND:
                        b = true;
                        for (uint32_t i = 0; i < x->nargs; i++)
                                b &= ARG(i);
                        break;
                case OP_OR:
                        for (uint32_t i = 0; i < x->nargs; i++)
                                b |= ARG(i);
                        break;
                case OP_EQ:
                        b = ARG(0) == ARG(1);
                        break;
                case OP_ITE:
                        b = ARG(0) ? ARG(1) : ARG(2);
                        break;
                default:
                        break;
                }
#undef ARG
                v->truth.d[t] = b ? 2 : 1;
                v->truth_round.d[t] = v->round;
                todo.n--;
        }
        r = v->truth.d[root] == 2;
        vec_free(&todo);
        return r;
}

static uint32_t get(const vec_u32 *m, tid t)
{
        return t < m->n ? m->d[t] : 0;
}

static void set(vec_u32 *m, tid t, uint32_t x)
{
        while (m->n <= t)
                vec_push(m, 0);
        m->d[t] = x;
}

/* How much it costs to rely on a term: what is relied on already is free, integers are cheap. */
static uint32_t cost(const struct solver *v, tid t)
{
        const struct term *x = term_get(v->b, t);

        if (x->op == OP_NOT)
                return cost(v, x->args[0]);
        if (get(&v->lit_index, t))
                return 0;
        switch ((enum op)x->op) {
        case OP_TRUE:
        case OP_FALSE:
                return 0;
        case OP_VAR:
                return 1;
        case OP_LE:
                return 2;
        case OP_EQ:
                return term_get(v->b, x->args[0])->sort == SORT_STR ? 4 : 2;
        case OP_IN_RE:
                return 3;
        case OP_CONTAINS:
                return 6;
        default:
                return 5;
        }
}

/* Marks the definitions of the variables in an atom as wanted. */
static void want_variables(struct solver *v, tid atom, vec_u32 *seen, vec_u32 *todo)
{
        vec_u32 stack = {};

        vec_push(&stack, atom);
        while (stack.n) {
                tid t = vec_pop(&stack);
                const struct term *x = term_get(v->b, t);
                uint32_t d;

                if (get(seen, t))
                        continue;
                set(seen, t, 1);
                d = get(&v->lower.def_of, t);
                if (d)
                        vec_push(todo, v->lower.defs.d[d - 1].formula);
                d = get(&v->lower.link_of, t);
                if (d)
                        vec_push(&stack, v->lower.links.d[d - 1].app);
                for (uint32_t i = 0; i < x->nargs; i++)
                        if (term_get(v->b, x->args[i])->sort != SORT_RE)
                                vec_push(&stack, x->args[i]);
        }
        vec_free(&stack);
}

/* Collects literals whose truth makes the roots true, and the definitions of their variables. */
static void justify(struct solver *v, vec_u32 *seen)
{
        vec_u32 todo = {}, done = {};

        for (size_t i = 0; i < v->lits.n; i++)
                set(&v->lit_index, v->lits.d[i].atom, 0);
        v->lits.n = 0;
        for (size_t i = 0; i < v->roots.n; i++)
                vec_push(&todo, v->roots.d[i]);
        while (todo.n) {
                tid t = vec_pop(&todo);
                const struct term *x;
                bool b;

                while (term_get(v->b, t)->op == OP_NOT)
                        t = term_get(v->b, t)->args[0];
                if (get(&done, t))
                        continue;
                set(&done, t, 1);
                x = term_get(v->b, t);
                b = truth(v, t);
                if (is_atom(v, t)) {
                        if (x->op != OP_VAR) {
                                vec_push(&v->lits, (struct literal){t, !b});
                                set(&v->lit_index, t, (uint32_t)(2 * v->lits.n + !b));
                        }
                        want_variables(v, t, seen, &todo);
                } else if (x->op == OP_AND || x->op == OP_OR) {
                        bool all = b == (x->op == OP_AND);
                        tid best = 0;

                        for (uint32_t i = 0; i < x->nargs; i++) {
                                if (all)
                                        vec_push(&todo, x->args[i]);
                                else if (truth(v, x->args[i]) == b &&
                                         (!best || cost(v, x->args[i]) < cost(v, best)))
                                        best = x->args[i];
                        }
                        if (!all)
                                vec_push(&todo, best);
                } else if (x->op == OP_ITE) {
                        vec_push(&todo, x->args[truth(v, x->args[0]) ? 1 : 2]);
                        vec_push(&todo, x->args[0]);
                } else if (x->op == OP_EQ) {
                        vec_push(&todo, x->args[0]);
                        vec_push(&todo, x->args[1]);
                }
        }
        vec_free(&todo);
        vec_free(&done);
}

/* ---- models ---- */

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
                        uint32_t k = get(&s->index, t);

                        o->s = k && k <= s->nfixed ? value[k - 1]
                                                   : ustr_get(&v->b->strings, &v->b->arena, NULL, 0);
                }
        }
        eval_terms(v->b, v->order.d, v->order.n, v->val);
        for (size_t i = 0; i < v->nasserts && ok; i++)
                ok = v->val[v->asserts[i]].set && v->val[v->asserts[i]].b;
        return ok;
}

/* ---- the search on a conjunction ---- */

/* Puts the literals into a state. False: contradiction at once. */
static bool load(struct solver *v, struct search *s, struct state *st, const vec_u32 *seen, dep **conflict,
                 bool *failed)
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
                if (x->op == OP_EQ && !neg)
                        state_eq(s, st, l, r, why);
                else if (x->op == OP_EQ)
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

                if (!get(seen, k->var))
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

static enum outcome search_literals(struct solver *v, const vec_u32 *seen, uint32_t level, vec_u32 *core,
                                    bool *limited)
{
        struct search s = {.lower = &v->lower,
                           .zed = &v->zed,
                           .auts = &v->auts,
                           .b = v->b,
                           .opt = v->opt,
                           .stats = v->stats,
                           .nlits = (uint32_t)v->lits.n,
                           .max_depth = STRAND_MAX_DEPTH,
                           .node_limit = STRAND_NODES(level),
                           .max_mends = STRAND_MENDS(level),
                           .max_overlaps = STRAND_OVERLAPS(level),
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
        arena_free(&s.scratch);
        return r;
}

static void block(struct solver *v, const vec_u32 *core, tid guard)
{
        VEC(tid) atom = {};
        bool *negative = util_alloc(core->n);

        for (size_t i = 0; i < core->n; i++) {
                vec_push(&atom, v->lits.d[core->d[i]].atom);
                negative[i] = v->lits.d[core->d[i]].negative;
        }
        zed_block(&v->zed, atom.d, negative, core->n, guard);
        free(negative);
        vec_free(&atom);
}

/* What the search cannot decide within the limits of a level is set aside under the level's guard, and looked
 * at again with larger limits when nothing else is left. */
static enum verdict loop(struct solver *v)
{
        uint32_t level = 0;
        bool limited = false;
        tid guard = lower_fresh(&v->lower, SORT_BOOL, "level");

        for (;;) {
                vec_u32 seen = {}, core = {};
                bool guarded = false;
                enum outcome r;

                if (late(v))
                        return VERDICT_UNKNOWN;
                v->round++;
                v->stats->rounds++;
                switch (zed_check(&v->zed, guard, &guarded)) {
                case VERDICT_UNSAT:
                        if (!guarded)
                                return VERDICT_UNSAT;
                        if (!limited || ++level == STRAND_LEVELS)
                                return VERDICT_UNKNOWN;
                        v->stats->levels++;
                        limited = false;
                        guard = lower_fresh(&v->lower, SORT_BOOL, "level");
                        continue;
                case VERDICT_UNKNOWN:
                        return VERDICT_UNKNOWN;
                case VERDICT_SAT:
                        break;
                }
                justify(v, &seen);
                r = search_literals(v, &seen, level, &core, &limited);
                if (r == OUT_UNKNOWN)
                        for (uint32_t i = 0; i < v->lits.n; i++)
                                vec_push(&core, i);
                if (r != OUT_SAT) {
                        v->stats->conflicts++;
                        block(v, &core, r == OUT_UNKNOWN ? guard : 0);
                }
                vec_free(&seen);
                vec_free(&core);
                if (r == OUT_SAT)
                        return VERDICT_SAT;
        }
}

enum verdict strand_solve(struct bank *b, const tid *asserts, size_t n, const struct strand_options *opt,
                          struct strand_stats *stats, struct value *val)
{
        struct solver v = {.b = b, .opt = opt, .stats = stats, .asserts = asserts, .nasserts = n, .val = val};
        enum verdict verdict = VERDICT_UNKNOWN;

        term_reach(b, asserts, n, &v.order);
        v.nval = b->terms.n;
        lower_init(&v.lower, b);
        for (size_t i = 0; i < n && !v.lower.fail; i++)
                vec_push(&v.roots, lower_formula(&v.lower, asserts[i]));
        if (v.lower.fail) {
                fprintf(stderr, "strand: unknown, because of %s\n", v.lower.fail);
        } else {
                zed_init(&v.zed, b, stats, opt->deadline, opt->seed);
                aut_store_init(&v.auts, opt->deadline);
                for (size_t i = 0; i < v.roots.n; i++)
                        zed_assert(&v.zed, v.roots.d[i]);
                assert_definitions(&v);
                assert_lengths(&v);
                verdict = loop(&v);
                aut_store_free(&v.auts);
                zed_free(&v.zed);
        }
        lower_free(&v.lower);
        vec_free(&v.roots);
        vec_free(&v.pool);
        vec_free(&v.lits);
        vec_free(&v.lit_index);
        vec_free(&v.truth);
        vec_free(&v.truth_round);
        vec_free(&v.order);
        return verdict;
}

void strand_print_stats(FILE *f, const struct strand_stats *s)
{
        const struct {
                const char *name;
                uint64_t n;
        } lines[] = {
                {"rounds", s->rounds},
                {"conflicts", s->conflicts},
                {"levels", s->levels},
                {"nodes", s->nodes},
                {"splits", s->splits},
                {"arrangements", s->arrangements},
                {"dead-ends", s->dead_ends},
                {"propagations", s->propagations},
                {"length-conflicts", s->length_conflicts},
                {"periods", s->periods},
                {"pruned", s->pruned},
                {"intersections", s->intersections},
                {"models", s->models},
                {"z3-checks", s->z3_checks},
        };

        for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
                fprintf(f, ":%s %llu\n", lines[i].name, (unsigned long long)lines[i].n);
}
