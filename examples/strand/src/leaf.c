/* A leaf of the search: every equation is solved, each variable left has one regular language, and the
 * integer solver has lengths that suit them all. What remains is to pick words, and to mend what that
 * violates. */
#include "search.h"

#define LEAF_TRIES      4
#define LEAF_MAX_LENGTH (1 << 22)
#define LEAF_MAX_DIGITS 18 /* of numbers that go by their digits */

struct picks {
        const struct ustr **val; /* by variable */
        size_t n;
};

static const struct ustr *instance(struct search *s, const struct picks *p, const struct word *w)
{
        const struct ustr *r;
        vec_u32 c = {};

        for (uint32_t i = 0; i < w->n; i++) {
                const struct ustr *v;

                if (!SYM_IS_VAR(w->s[i])) {
                        vec_push(&c, (uint32_t)w->s[i]);
                        continue;
                }
                v = p->val[SYM_VAR(w->s[i])];
                for (uint32_t k = 0; k < v->len; k++)
                        vec_push(&c, v->c[k]);
        }
        r = ustr_get(&s->b->strings, &s->b->arena, c.d, c.n);
        vec_free(&c);
        return r;
}

/* Takes the length of the word from what is left; false: it is longer. */
static bool take_length(const struct picks *p, const struct word *w, uint64_t *left)
{
        uint64_t n = 0;

        for (uint32_t i = 0; w && i < w->n; i++)
                n += SYM_IS_VAR(w->s[i]) ? p->val[SYM_VAR(w->s[i])]->len : 1;
        if (n > *left)
                return false;
        *left -= n;
        return true;
}

/* Are the words that check() looks at short enough to be built? */
static bool is_small_enough(const struct state *st, const struct picks *p, uint64_t left)
{
        bool ok = true;

        for (size_t i = 0; i < st->neqs.n && ok; i++)
                ok = take_length(p, st->neqs.d[i].l, &left) && take_length(p, st->neqs.d[i].r, &left);
        for (size_t i = 0; i < st->lacks.n && ok; i++)
                ok = take_length(p, st->lacks.d[i].l, &left) && take_length(p, st->lacks.d[i].r, &left);
        for (size_t i = 0; i < st->links.n && ok; i++)
                for (int k = 0; k < 4 && ok && !st->links.d[i].done; k++)
                        ok = take_length(p, k < 3 ? st->links.d[i].arg[k] : st->links.d[i].result, &left);
        return ok;
}

/* Words of the model's lengths for the variables that are not solved, then for those that are. */
static bool pick(struct search *s, const struct state *st, struct picks *p)
{
        uint64_t left = EVAL_MAX_STRING;

        for (size_t v = 0; v < p->n; v++)
                p->val[v] = NULL;
        for (size_t i = 0; i < st->solved.n; i++)
                p->val[st->solved.d[i].var] = ustr_get(&s->b->strings, &s->b->arena, NULL, 0); /* later */
        for (uint32_t v = 0; v < p->n; v++) {
                struct aut *a;
                vec_u32 c = {};
                int64_t n;
                bool ok;

                if (p->val[v])
                        continue;
                a = state_domain(s, st, v, NULL);
                n = state_length(s, v);
                ok = n >= 0 && n <= LEAF_MAX_LENGTH && aut_sample(s->auts, a, (uint32_t)n, &s->random, &c);
                if (ok)
                        p->val[v] = ustr_get(&s->b->strings, &s->b->arena, c.d, c.n);
                vec_free(&c);
                if (!ok)
                        return false;
        }
        for (size_t i = st->solved.n; i-- > 0;) {
                if (!take_length(p, st->solved.d[i].w, &left))
                        return false;
                p->val[st->solved.d[i].var] = instance(s, p, st->solved.d[i].w);
        }
        return is_small_enough(st, p, left);
}

struct trouble {
        enum {
                TROUBLE_NONE,
                TROUBLE_NEQ,
                TROUBLE_LACK,
                TROUBLE_LINK
        } kind;
        size_t at;
};

static bool link_holds(struct search *s, const struct picks *p, const struct link *l)
{
        const struct term *x = term_get(s->b, l->app);
        struct value v;
        tid args[3];
        int64_t n;

        for (uint32_t k = 0; k < x->nargs; k++)
                args[k] = l->arg[k] ? term_str(s->b, instance(s, p, l->arg[k])) : x->args[k];
        v = eval_constant(s->b, term_rebuild(s->b, l->app, args));
        if (!v.set)
                return false;
        if (l->result)
                return instance(s, p, l->result) == v.s;
        return zed_value(s->zed, l->var, &n) && n == v.i;
}

static struct trouble check(struct search *s, const struct state *st, const struct picks *p)
{
        for (size_t i = 0; i < st->neqs.n; i++)
                if (instance(s, p, st->neqs.d[i].l) == instance(s, p, st->neqs.d[i].r))
                        return (struct trouble){TROUBLE_NEQ, i};
        for (size_t i = 0; i < st->lacks.n; i++)
                if (ustr_find(instance(s, p, st->lacks.d[i].l), instance(s, p, st->lacks.d[i].r), 0) >= 0)
                        return (struct trouble){TROUBLE_LACK, i};
        for (int codes = 0; codes < 2; codes++) /* last, as there are many, and numbers may turn out to be contradictory without them */
                for (size_t i = 0; i < st->links.n; i++) {
                        const struct link *l = &st->links.d[i];

                        if ((term_get(s->b, l->app)->op == OP_TO_CODE) == codes && !l->done && !link_holds(s, p, l))
                                return (struct trouble){TROUBLE_LINK, i};
                }
        return (struct trouble){};
}

static struct aut *word_aut(struct search *s, const struct ustr *u, bool negated)
{
        rid r = re_word(&s->auts->re, u->c, u->len);

        return aut_from_re(s->auts, negated ? re_comp(&s->auts->re, r) : r);
}

/* l != r: their lengths differ, or they differ first behind a common prefix. */
static void mend_neq(struct search *s, const struct state *st, size_t at, const struct picks *p, struct split *out)
{
        const struct negation *n = &st->neqs.d[at];
        tid ll = word_len(s, n->l), lr = word_len(s, n->r), one = term_num(s->b, 1);
        struct branch less = {.drop_neq = (int)at + 1}, more = less, same = less;

        out->why = n->why;
        if (n->l->n == 1 && n->r->n == 1 && instance(s, p, n->l)->len == 1) {
                /* perhaps single characters: try this one, and all others */
                const struct ustr *u = instance(s, p, n->l);
                struct branch is = {}, isnt = {};
                struct aut *a = word_aut(s, u, false), *b = word_aut(s, u, true);

                if (!a || !b) {
                        out->incomplete = true;
                        return;
                }
                branch_mem(&is, n->l, a);
                branch_mem(&isnt, n->l, b);
                vec_push(&out->way, is);
                vec_push(&out->way, isnt);
                return;
        }
        branch_fact(&less, lower_le(s->lower, lower_sum(s->lower, ll, 1, one), lr));
        branch_fact(&more, lower_le(s->lower, lower_sum(s->lower, lr, 1, one), ll));
        {
                uint32_t pre = search_fresh(s), a = search_fresh(s), b = search_fresh(s), x = search_fresh(s),
                         y = search_fresh(s);

                branch_eq(&same, n->l, word_join(s, word_var(s, pre), word_join(s, word_var(s, a), word_var(s, x))));
                branch_eq(&same, n->r, word_join(s, word_var(s, pre), word_join(s, word_var(s, b), word_var(s, y))));
                branch_fact(&same, lower_eq(s->lower, ll, lr));
                branch_fact(&same, lower_eq(s->lower, s->vars.d[a].len, one));
                branch_fact(&same, lower_eq(s->lower, s->vars.d[b].len, one));
                same.neq[0].l = word_var(s, a);
                same.neq[0].r = word_var(s, b);
                same.neqs = 1;
        }
        vec_push(&out->way, less);
        vec_push(&out->way, more);
        vec_push(&out->way, same);
}

/* A word with variables takes the value it has, or another. */
static void mend_value(struct search *s, const struct word *w, const struct ustr *u, struct split *out)
{
        struct branch is = {}, isnt = {};
        struct aut *a = word_aut(s, u, false), *b = word_aut(s, u, true);

        if (!a || !b) {
                out->incomplete = true;
                return;
        }
        branch_eq(&is, w, word_chars(s, u->c, u->len));
        branch_mem(&isnt, w, b);
        vec_push(&out->way, is);
        vec_push(&out->way, isnt);
}

static void mend_lack(struct search *s, const struct state *st, size_t at, const struct picks *p, struct split *out)
{
        const struct negation *n = &st->lacks.d[at];
        tid ll = word_len(s, n->l), lr = word_len(s, n->r);
        struct branch shorter = {.drop_lack = (int)at + 1};

        out->why = n->why;
        branch_fact(&shorter, lower_le(s->lower, lower_sum(s->lower, ll, 1, term_num(s->b, 1)), lr));
        vec_push(&out->way, shorter);
        mend_value(s, n->r, instance(s, p, n->r), out);
        for (size_t i = 1; i < out->way.n; i++)
                branch_fact(&out->way.d[i], lower_le(s->lower, lr, ll));
}

/* r = replace_all(w, t, u) by its first occurrence: w lacks t and r = w, or w = x t y with nothing of t
 * before, r = x u r' and r' = replace_all(y, t, u). */
static void mend_replace_all(struct search *s, const struct link *l, size_t at, struct split *out)
{
        const struct word *w = l->arg[0], *t = l->arg[1], *u = l->arg[2], *none = word_make(s, NULL, 0), *stub;
        uint32_t x = search_fresh(s), y = search_fresh(s), r = search_fresh(s);
        struct branch empty = {.drop_link = (int)at + 1}, without = empty, with = empty;
        struct link *next = arena_alloc(&s->scratch, sizeof(*next));
        tid one = term_num(s->b, 1);

        branch_eq(&empty, t, none);
        branch_eq(&empty, l->result, w);
        branch_eq(&without, l->result, w);
        without.lack[0].l = w;
        without.lack[0].r = t;
        without.lacks = 1;
        if (word_is_const(t) && t->n) {
                stub = word_slice(s, t, 0, t->n - 1);
        } else { /* t without its last character */
                uint32_t p = search_fresh(s), c = search_fresh(s);

                stub = word_var(s, p);
                branch_eq(&with, t, word_join(s, stub, word_var(s, c)));
                branch_fact(&with, lower_eq(s->lower, s->vars.d[c].len, one));
        }
        *next = (struct link){.app = l->app, .var = l->var, .arg = {word_var(s, y), t, u}, .result = word_var(s, r)};
        with.link[with.links++] = next;
        branch_eq(&with, w, word_join(s, word_var(s, x), word_join(s, t, word_var(s, y))));
        branch_eq(&with, l->result, word_join(s, word_var(s, x), word_join(s, u, word_var(s, r))));
        with.lack[0].l = word_join(s, word_var(s, x), stub);
        with.lack[0].r = t;
        with.lacks = 1;
        if (!t->n || !word_is_const(t))
                vec_push(&out->way, empty);
        if (t->n) {
                vec_push(&out->way, without);
                vec_push(&out->way, with);
        }
}

/* A code, or a number short enough to go by its digits: what mending it leaves is smaller. */
static bool is_small(struct search *s, const struct link *l, const struct picks *p)
{
        enum op op = (enum op)term_get(s->b, l->app)->op;

        return op == OP_TO_CODE || (op == OP_TO_INT && instance(s, p, l->arg[0])->len <= LEAF_MAX_DIGITS);
}

/* A link of its own for (op x), x a variable; the integer it stands for is that term itself. */
static const struct link *link_of_var(struct search *s, enum op op, uint32_t x)
{
        struct link *l = arena_alloc(&s->scratch, sizeof(*l));
        tid t = term_app(s->b, op, SORT_INT, &s->vars.d[x].var, 1);

        *l = (struct link){.app = t, .var = t, .arg = {word_var(s, x)}};
        return l;
}

/* k = to_int(w) by the last digit: w is no number and k = -1; or w is a digit; or w = x c, k = 10 to_int(x) + c. Where lengths are
 * bounded this ends, and all that is left is arithmetic. (As in cvc5: A. Reynolds et al., Reductions for Strings and Regular
 * Expressions Revisited, FMCAD 2020.) */
static void mend_digits(struct search *s, const struct link *l, size_t at, struct split *out)
{
        struct re_bank *re = &s->auts->re;
        rid digit = re_chars(re, '0', '9'), digits = re_concat(re, digit, re_star(re, digit));
        struct aut *one = aut_from_re(s->auts, digit), *many = aut_from_re(s->auts, digits);
        struct branch no = {.drop_link = (int)at + 1}, single = no, more = no;
        uint32_t x = search_fresh(s), c = search_fresh(s);
        const struct link *head = link_of_var(s, OP_TO_INT, x), *last = link_of_var(s, OP_TO_CODE, c);
        tid value = lower_sum(s->lower, last->var, 1, term_num(s->b, -'0'));
        const struct word *w = l->arg[0];
        int64_t k = 0;

        branch_mem(&no, w, aut_comp(s->auts, many));
        branch_fact(&no, lower_eq(s->lower, l->var, term_num(s->b, -1)));
        branch_eq(&single, w, word_var(s, c));
        branch_mem(&single, word_var(s, c), one);
        branch_fact(&single, lower_eq(s->lower, l->var, value));
        single.link[single.links++] = last;
        branch_eq(&more, w, word_join(s, word_var(s, x), word_var(s, c)));
        branch_mem(&more, word_var(s, x), many);
        branch_mem(&more, word_var(s, c), one);
        branch_fact(&more, lower_le(s->lower, term_num(s->b, 0), head->var));
        branch_fact(&more, lower_eq(s->lower, l->var, lower_sum(s->lower, value, 10, head->var)));
        more.link[more.links++] = head;
        more.link[more.links++] = last;
        if (zed_value(s->zed, l->var, &k) && k == -1) {
                vec_push(&out->way, no);
                vec_push(&out->way, single);
                vec_push(&out->way, more);
        } else {
                vec_push(&out->way, single);
                vec_push(&out->way, more);
                vec_push(&out->way, no);
        }
}

static void mend_link(struct search *s, const struct state *st, size_t at, const struct picks *p, struct split *out)
{
        const struct link *l = &st->links.d[at];
        enum op op = (enum op)term_get(s->b, l->app)->op;
        struct re_bank *re = &s->auts->re;
        struct aut *a;
        int64_t k;

        out->why = l->why;
        if (op == OP_TO_INT && is_small(s, l, p)) {
                mend_digits(s, l, at, out);
                return;
        }
        if ((op == OP_TO_CODE || (op == OP_TO_INT && st->mends / 4 % 2 == 0)) && zed_value(s->zed, l->var, &k)) {
                /* The integer leads: the text is what has that value. For to_int it alternates with the text,
                 * since either may be the one that is hard to meet. */
                struct branch is = {.drop_link = (int)at + 1}, less = {}, more = {};
                rid lang;

                if (op == OP_TO_CODE) {
                        lang = k >= 0 && k <= USTR_MAX_CHAR ? re_chars(re, (uint32_t)k, (uint32_t)k)
                               : k == -1                    ? re_comp(re, re->any)
                                                            : re->none;
                } else {
                        rid digit = re_chars(re, '0', '9');
                        char text[24];
                        uint32_t c[24], n;

                        n = (uint32_t)snprintf(text, sizeof(text), "%lld", (long long)k);
                        for (uint32_t i = 0; i < n; i++)
                                c[i] = (unsigned char)text[i];
                        lang = k == -1 ? re_comp(re, re_concat(re, digit, re_star(re, digit)))
                               : k < 0 ? re->none
                                       : re_concat(re, re_star(re, re_chars(re, '0', '0')), re_word(re, c, n));
                }
                a = aut_from_re(s->auts, lang);
                if (!a) {
                        out->incomplete = true;
                        return;
                }
                branch_fact(&is, lower_eq(s->lower, l->var, term_num(s->b, k)));
                branch_mem(&is, l->arg[0], a);
                branch_fact(&less, lower_le(s->lower, l->var, term_num(s->b, k - 1)));
                branch_fact(&more, lower_le(s->lower, term_num(s->b, k + 1), l->var));
                vec_push(&out->way, is);
                vec_push(&out->way, less);
                vec_push(&out->way, more);
                return;
        }
        if (op == OP_REPLACE_ALL) {
                mend_replace_all(s, l, at, out);
                return;
        }
        if (op == OP_REPLACE_RE || op == OP_REPLACE_RE_ALL) {
                replace_split(s, l, at, out);
                return;
        }
        for (int i = 0; i < 3; i++)
                if (l->arg[i] && !word_is_const(l->arg[i])) {
                        mend_value(s, l->arg[i], instance(s, p, l->arg[i]), out);
                        return;
                }
        out->incomplete = true;
}

/* The facts with an upper bound for all variables, and a lower bound of one for as many as can have it. */
static bool choose_lengths(struct search *s, struct state *st, int64_t bound, bool some)
{
        vec_u32 proxies = {}, core = {};
        bool ok;

        for (size_t i = 0; i < st->facts.n; i++)
                vec_push(&proxies, st->facts.d[i].proxy);
        for (uint32_t v = 0; v < s->nfresh; v++)
                vec_push(&proxies, zed_proxy(s->zed, lower_le(s->lower, s->vars.d[v].len, term_num(s->b, bound))));
        ok = zed_check_facts(s->zed, proxies.d, proxies.n, &core) == VERDICT_SAT;
        for (uint32_t v = 0, n = 0; v < s->nfresh && ok && some && n < 24; v++) {
                bool solved = false;

                for (size_t i = 0; i < st->solved.n && !solved; i++)
                        solved = st->solved.d[i].var == v;
                if (solved || state_length(s, v) > 0)
                        continue;
                n++;
                vec_push(&proxies, zed_proxy(s->zed, lower_le(s->lower, term_num(s->b, 1), s->vars.d[v].len)));
                core.n = 0;
                if (zed_check_facts(s->zed, proxies.d, proxies.n, &core) != VERDICT_SAT) {
                        proxies.n--;
                        core.n = 0;
                        ok = zed_check_facts(s->zed, proxies.d, proxies.n, &core) == VERDICT_SAT;
                }
        }
        vec_free(&proxies);
        vec_free(&core);
        return ok;
}

/* OUT_SAT, OUT_UNKNOWN, or OUT_UNSAT with a split to go on with. */
enum outcome leaf_solve(struct search *s, struct state *st, struct split *out)
{
        struct picks p = {util_alloc(s->nfresh * sizeof(*p.val)), s->nfresh};
        struct trouble t = {};
        enum outcome r = OUT_UNKNOWN;
        dep *conflict;

        /* Short words first: they are cheaper to check and to read. If they will not do, words that are not
         * empty. */
        for (int round = 0; round < 2; round++) {
                if (!choose_lengths(s, st, 40, round) && !choose_lengths(s, st, 2000, round) &&
                    state_check_lengths(s, st, &conflict) != OUT_SAT)
                        goto out;
                for (int i = 0; i < LEAF_TRIES; i++) {
                        s->stats->models++;
                        if (!pick(s, st, &p))
                                goto out;
                        t = check(s, st, &p);
                        if (t.kind == TROUBLE_NONE) {
                                if (s->accept(s, p.val, s->accept_data))
                                        r = OUT_SAT;
                                goto out;
                        }
                }
        }
        if (st->mends >= s->max_mends) {
                s->limited = true;
                goto out;
        }
        r = OUT_UNSAT;
        st->mends += t.kind == TROUBLE_LINK && is_small(s, &st->links.d[t.at], &p) ? 1 : 4;
        if (t.kind == TROUBLE_NEQ)
                mend_neq(s, st, t.at, &p, out);
        else if (t.kind == TROUBLE_LACK)
                mend_lack(s, st, t.at, &p, out);
        else
                mend_link(s, st, t.at, &p, out);
out:
        free(p.val);
        return r;
}
