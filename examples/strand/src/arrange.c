/* Word equations by arrangements (paper, sections 3 and 4.1).
 *
 * The two sides of a generalized word equation are two sequences of boundary labels. An arrangement merges
 * them into one: the next label of one side comes before, with, or after the next of the other. What is
 * merged already has been stripped from both sides, so the front of an equation is always a pair of left
 * labels in one set, and a split decides the pair of right labels that follow: |X| < |Y|, = or >. Replacing
 * the longer variable by pieces everywhere merges the label sets of all equations that share it. Both ends of
 * an equation are fronts.
 *
 * The integer solver's current lengths say which way to try first, and its facts which ways are left. */
#include "label.h"
#include "search.h"

/* Symbol i from the front (or from the back). */
static int32_t at(const struct word *w, uint32_t i, bool back)
{
        return w->s[back ? w->n - 1 - i : i];
}

/* Where v occurs first in w, counted from the front (back); w->n if nowhere. */
static uint32_t find(const struct word *w, uint32_t v, bool back)
{
        uint32_t i = 0;

        while (i < w->n && at(w, i, back) != -1 - (int32_t)v)
                i++;
        return i;
}

/* The part of w after (before) its first n symbols. */
static const struct word *rest(struct search *s, const struct word *w, uint32_t n, bool back)
{
        return word_slice(s, w, back ? 0 : n, w->n - n);
}

static const struct word *head(struct search *s, const struct word *w, uint32_t n, bool back)
{
        return word_slice(s, w, back ? w->n - n : 0, n);
}

static const struct word *glue(struct search *s, const struct word *a, const struct word *b, bool back)
{
        return back ? word_join(s, b, a) : word_join(s, a, b);
}

/* The number of characters at the front. */
static uint32_t run(const struct word *w, bool back)
{
        uint32_t i = 0;

        while (i < w->n && !SYM_IS_VAR(at(w, i, back)))
                i++;
        return i;
}

/* ---- contradictions by counting ---- */

/* Once the variables that both sides have are taken away, at most one side has any left: then that side has
 * at most as many of each character in its constants as the other (Parikh). */
static bool parikh_clash(const struct word *l, const struct word *r)
{
        VEC(int64_t) count = {};
        vec_i32 sym = {};
        bool left = false, right = false, clash = false;

        for (int side = 0; side < 2; side++) {
                const struct word *w = side ? r : l;

                for (uint32_t i = 0; i < w->n; i++) {
                        size_t k = 0;

                        while (k < sym.n && sym.d[k] != w->s[i])
                                k++;
                        if (k == sym.n) {
                                vec_push(&sym, w->s[i]);
                                vec_push(&count, 0);
                        }
                        count.d[k] += side ? -1 : 1;
                }
        }
        for (size_t k = 0; k < sym.n; k++)
                if (SYM_IS_VAR(sym.d[k])) {
                        left |= count.d[k] > 0;
                        right |= count.d[k] < 0;
                }
        for (size_t k = 0; k < sym.n && !(left && right); k++)
                if (!SYM_IS_VAR(sym.d[k]))
                        clash |= (count.d[k] > 0 && !right) || (count.d[k] < 0 && !left);
        vec_free(&count);
        vec_free(&sym);
        return clash;
}

bool arrange_refute(struct search *s, const struct state *st, dep **conflict)
{
        (void)s;
        for (size_t i = 0; i < st->eqs.n; i++)
                if (parikh_clash(st->eqs.d[i].l, st->eqs.d[i].r)) {
                        *conflict = st->eqs.d[i].why;
                        return true;
                }
        return false;
}

/* ---- splits ---- */

struct choice {
        size_t eq;
        bool back, swap;
        enum {
                CHOICE_CUT,
                CHOICE_RUN,
                CHOICE_PAIR,
                CHOICE_PERIOD,
                CHOICE_OVERLAP
        } kind;
        uint32_t cost, cut_l, cut_r, offset;
};

/* Prefixes of both sides that must be equally long: the equation falls apart there. */
static bool find_cut(const struct word *l, const struct word *r, uint32_t *cl, uint32_t *cr)
{
        VEC(int32_t) diff = {}; /* by variable that occurs: l - r */
        vec_i32 sym = {};
        bool found = false;

        /* Advance the right side as far as the left prefix has symbols for it; small words, so by trial. */
        for (uint32_t i = 1; i < l->n && !found; i++) {
                for (uint32_t j = 1; j < r->n && !found; j++) {
                        int32_t chars = 0;
                        bool same = true;

                        sym.n = diff.n = 0;
                        for (uint32_t k = 0; k < i + j; k++) {
                                int32_t c = k < i ? l->s[k] : r->s[k - i], d = k < i ? 1 : -1;
                                size_t m = 0;

                                if (!SYM_IS_VAR(c)) {
                                        chars += d;
                                        continue;
                                }
                                while (m < sym.n && sym.d[m] != c)
                                        m++;
                                if (m == sym.n) {
                                        vec_push(&sym, c);
                                        vec_push(&diff, 0);
                                }
                                diff.d[m] += d;
                        }
                        for (size_t m = 0; m < diff.n; m++)
                                same &= diff.d[m] == 0;
                        if (same && chars == 0) {
                                found = true;
                                *cl = i;
                                *cr = j;
                        }
                }
        }
        vec_free(&diff);
        vec_free(&sym);
        return found;
}

/* Boundaries of both sides that are in one place in the integer solver's model: candidates for one label set. */
struct meeting {
        uint32_t l, r;
        tid apart; /* the fact that they are not in one place after all */
};
#define MAX_MEETINGS 12

/* At most 2^31, so that sums do not overflow: a word as long is never built. */
static int64_t symbol_length(struct search *s, int32_t symbol)
{
        int64_t n = SYM_IS_VAR(symbol) ? state_length(s, (uint32_t)SYM_VAR(symbol)) : 1;

        return n < (int64_t)1 << 31 ? n : (int64_t)1 << 31;
}

static size_t find_meetings(struct search *s, const struct word *l, const struct word *r, struct meeting *out)
{
        int64_t at_l = 0, at_r = 0;
        bool met = true; /* the boundaries before met, too */
        uint32_t j = 0;
        size_t n = 0;

        for (uint32_t i = 1; i < l->n && n < MAX_MEETINGS; i++) {
                at_l += symbol_length(s, l->s[i - 1]);
                while (j < r->n && at_r < at_l)
                        at_r += symbol_length(s, r->s[j++]);
                if (at_r == at_l && j > 0 && j < r->n) {
                        bool letters = met && !SYM_IS_VAR(l->s[i - 1]) && !SYM_IS_VAR(r->s[j - 1]);
                        tid a = word_len(s, word_slice(s, l, 0, i)), b = word_len(s, word_slice(s, r, 0, j));

                        if (!letters)
                                out[n++] = (struct meeting){i, j, lower_not(s->lower, lower_eq(s->lower, a, b))};
                        met = true;
                } else {
                        met = false;
                }
        }
        return n;
}

/* Boundaries that must be in one place, by all that is known of lengths: their label sets are one, and the equation
 * falls apart there. *why: the reasons. */
static bool find_entailed_cut(struct search *s, const struct state *st, const struct eqn *e, uint32_t *cl, uint32_t *cr,
                              dep **why)
{
        struct meeting m[MAX_MEETINGS];
        size_t n = find_meetings(s, e->l, e->r, m);
        vec_u32 proxies = {}, core = {};
        VEC(tid) apart = {};
        bool found = false;

        if (!n)
                return false;
        for (size_t i = 0; i < st->facts.n; i++)
                vec_push(&proxies, st->facts.d[i].proxy);
        for (size_t i = 0; i < n; i++)
                vec_push(&apart, m[i].apart);
        if (n == 1 || !zed_allows(s->zed, proxies.d, proxies.n, apart.d, n)) /* one question often answers all */
                for (size_t i = 0; i < n && !found; i++) {
                        core.n = 0;
                        found = zed_refutes(s->zed, proxies.d, proxies.n, m[i].apart, &core);
                        *cl = m[i].l;
                        *cr = m[i].r;
                }
        if (found)
                *why = e->why;
        for (size_t i = 0; found && i < core.n; i++)
                *why = dep_union(s, *why, st->facts.d[core.d[i]].why);
        vec_free(&proxies);
        vec_free(&core);
        vec_free(&apart);
        return found;
}

/* The equation in two, at boundaries that are merged. */
static void cut(struct search *s, const struct state *st, size_t i, uint32_t cl, uint32_t cr, struct split *out)
{
        const struct eqn *e = &st->eqs.d[i];
        struct branch b = {.drop_eq = (int)i + 1};

        branch_eq(&b, word_slice(s, e->l, 0, cl), word_slice(s, e->r, 0, cr));
        branch_eq(&b, word_slice(s, e->l, cl, e->l->n - cl), word_slice(s, e->r, cr, e->r->n - cr));
        vec_push(&out->way, b);
}

static void consider(struct search *s, const struct state *st, size_t i, bool back, struct choice *best)
{
        const struct eqn *e = &st->eqs.d[i];
        struct choice c = {.eq = i, .back = back};

        for (int swap = 0; swap < 2; swap++) {
                const struct word *x = swap ? e->r : e->l, *w = swap ? e->l : e->r;
                uint32_t v, k;

                if (!SYM_IS_VAR(at(x, 0, back)))
                        continue;
                v = (uint32_t)SYM_VAR(at(x, 0, back));
                k = find(w, v, back);
                c.swap = swap;
                c.offset = k;
                if (k < w->n && k <= run(w, back) && !s->opt->no_overlap) {
                        /* X .. = c1 .. ck X ..: X overlaps itself with a known period */
                        c.kind = CHOICE_PERIOD;
                        c.cost = 4 + k;
                } else if (!SYM_IS_VAR(at(w, 0, back))) {
                        uint32_t n = run(w, back);

                        c.kind = CHOICE_RUN;
                        c.cost = 2 + (n > 6 ? 3 : n / 2) + (k < w->n ? 20 : 0);
                } else {
                        bool overlap = k < w->n || find(x, (uint32_t)SYM_VAR(at(w, 0, back)), back) < x->n;

                        c.kind = overlap ? CHOICE_OVERLAP : CHOICE_PAIR;
                        c.cost = overlap ? 30 : 5;
                        if (state_length(s, v) == state_length(s, (uint32_t)SYM_VAR(at(w, 0, back))))
                                c.cost--;
                }
                /* ties fall by the seed */
                if (c.cost < best->cost || (c.cost == best->cost && s->opt->seed >> (i + swap) % 31 & 1))
                        *best = c;
        }
}

/* Does the branch v := by make the arrangement overlap (paper, section 4.1)? An overlap shows in the rest of the
 * equation as a second occurrence of v; only then the labels are looked at. */
static bool overlaps(struct search *s, const struct state *st, const struct eqn *e, bool back, uint32_t v,
                     const struct word *other, const struct word *by)
{
        bool r = word_has(other, v) && label_overlaps(s, st, &e->whole, back, v, by);

        if (r && s->opt->labels) {
                fputs("overlap: ", stderr);
                label_print_arrangement(stderr, s, st, &e->whole, v, by);
        }
        return r;
}

/* Fronts X and c1 .. cm: X ends before, with, or after some boundary of the constant. */
static void split_run(struct search *s, struct state *st, const struct choice *c, struct split *out)
{
        const struct eqn *e = &st->eqs.d[c->eq];
        const struct word *x = c->swap ? e->r : e->l, *w = c->swap ? e->l : e->r;
        const struct word *xv = head(s, x, 1, c->back);
        uint32_t v = (uint32_t)SYM_VAR(xv->s[0]), m = run(w, c->back);
        tid len = s->vars.d[v].len;
        int64_t k = s->opt->no_length ? 0 : state_length(s, v);

        if (k >= m) { /* all of the constant is in X */
                uint32_t z = search_fresh(s);
                const struct word *by = glue(s, head(s, w, m, c->back), word_var(s, z), c->back);
                struct branch b = {.overlap = overlaps(s, st, e, c->back, v, w, by)}, less = {};

                branch_eq(&b, xv, by);
                branch_fact(&less, lower_le(s->lower, len, term_num(s->b, m - 1)));
                vec_push(&out->way, b);
                vec_push(&out->way, less);
        } else {
                uint32_t z = search_fresh(s);
                const struct word *by = glue(s, head(s, w, (uint32_t)k + 1, c->back), word_var(s, z), c->back);
                struct branch same = {}, more = {.overlap = overlaps(s, st, e, c->back, v, w, by)}, less = {};

                branch_eq(&same, xv, head(s, w, (uint32_t)k, c->back));
                branch_eq(&more, xv, by);
                branch_fact(&less, lower_le(s->lower, len, term_num(s->b, k - 1)));
                vec_push(&out->way, same);
                vec_push(&out->way, more);
                if (k)
                        vec_push(&out->way, less);
        }
}

/* Fronts X and Y, two variables. */
static void split_pair(struct search *s, struct state *st, const struct choice *c, struct split *out)
{
        const struct eqn *e = &st->eqs.d[c->eq];
        const struct word *xv = head(s, e->l, 1, c->back), *yv = head(s, e->r, 1, c->back);
        uint32_t x = (uint32_t)SYM_VAR(xv->s[0]), y = (uint32_t)SYM_VAR(yv->s[0]), z = search_fresh(s);
        const struct word *by_y = glue(s, yv, word_var(s, z), c->back), *by_x = glue(s, xv, word_var(s, z), c->back);
        struct branch same = {}, longer = {}, shorter = {};
        int64_t nx = state_length(s, x), ny = state_length(s, y);
        tid some = lower_le(s->lower, term_num(s->b, 1), s->vars.d[z].len);

        branch_eq(&same, xv, yv);
        branch_eq(&longer, xv, by_y);
        branch_fact(&longer, some);
        longer.overlap = overlaps(s, st, e, c->back, x, e->r, by_y);
        branch_eq(&shorter, yv, by_x);
        branch_fact(&shorter, some);
        shorter.overlap = overlaps(s, st, e, c->back, y, e->l, by_x);
        if (s->opt->no_length || nx == ny) {
                vec_push(&out->way, same);
                vec_push(&out->way, longer);
                vec_push(&out->way, shorter);
        } else {
                vec_push(&out->way, nx > ny ? longer : shorter);
                vec_push(&out->way, same);
                vec_push(&out->way, nx > ny ? shorter : longer);
        }
}

/* X a = w X b with a constant w: X is a prefix of w w w .., so X = w^k u for a proper prefix u of w = u v,
 * and a = v u b. (From the back, mirrored.) This decides the overlap: no arrangement is pruned. */
static void split_period(struct search *s, struct state *st, const struct choice *c, struct split *out)
{
        const struct eqn *e = &st->eqs.d[c->eq];
        const struct word *x = c->swap ? e->r : e->l, *y = c->swap ? e->l : e->r;
        const struct word *xv = head(s, x, 1, c->back), *w = head(s, y, c->offset, c->back);
        const struct word *a = rest(s, x, 1, c->back), *b = rest(s, y, c->offset + 1, c->back);
        int64_t n = state_length(s, (uint32_t)SYM_VAR(xv->s[0]));
        uint32_t first = s->opt->no_length ? 0 : (uint32_t)(n % w->n);
        struct re_bank *re = &s->auts->re;
        rid word = re_word(re, (const uint32_t *)w->s, w->n);

        s->stats->periods++;
        if (s->opt->labels) {
                uint32_t z = search_fresh(s);

                (void)overlaps(s, st, e, c->back, (uint32_t)SYM_VAR(xv->s[0]), y, glue(s, w, word_var(s, z), c->back));
        }
        for (uint32_t i = 0; i < w->n; i++) {
                uint32_t k = (first + i) % w->n;
                const struct word *u = head(s, w, k, c->back), *v = rest(s, w, k, c->back);
                rid end = re_word(re, (const uint32_t *)u->s, u->n), lang;
                struct branch way = {.drop_eq = (int)c->eq + 1};
                struct aut *aut;

                lang = c->back ? re_concat(re, end, re_star(re, word)) : re_concat(re, re_star(re, word), end);
                aut = aut_from_re(s->auts, lang);
                if (!aut) {
                        out->incomplete = true;
                        continue;
                }
                branch_mem(&way, xv, aut);
                branch_eq(&way, a, glue(s, glue(s, v, u, c->back), b, c->back));
                vec_push(&out->way, way);
        }
}

bool arrange_split(struct search *s, struct state *st, struct split *out)
{
        struct choice best = {.cost = UINT32_MAX};
        const struct eqn *e;
        size_t n = 0;

        if (!st->eqs.n)
                return false;
        for (size_t i = 0; i < st->eqs.n; i++) {
                uint32_t cl, cr;

                if (!s->opt->no_length && st->eqs.d[i].l->n + st->eqs.d[i].r->n < 60 &&
                    find_cut(st->eqs.d[i].l, st->eqs.d[i].r, &cl, &cr)) {
                        cut(s, st, i, cl, cr, out);
                        out->why = st->eqs.d[i].why;
                        return true;
                }
                consider(s, st, i, false, &best);
                consider(s, st, i, true, &best);
        }
        for (size_t i = 0; i < st->eqs.n && !s->opt->no_length; i++) {
                uint32_t cl, cr;

                if (st->eqs.d[i].l->n + st->eqs.d[i].r->n < 60 && find_entailed_cut(s, st, &st->eqs.d[i], &cl, &cr, &out->why)) {
                        cut(s, st, i, cl, cr, out);
                        return true;
                }
        }
        e = &st->eqs.d[best.eq];
        out->why = e->why;
        switch (best.kind) {
        case CHOICE_PERIOD:
                split_period(s, st, &best, out);
                break;
        case CHOICE_RUN:
                split_run(s, st, &best, out);
                break;
        default:
                split_pair(s, st, &best, out);
        }
        if (s->opt->no_overlap)
                return true;
        /* Prune what unfolds overlapping variables for ever (paper, section 4.1): then no `unsat` from here.
         */
        for (size_t i = 0; i < out->way.n; i++) {
                if (out->way.d[i].overlap && st->overlaps >= s->max_overlaps) {
                        s->stats->pruned++;
                        s->limited = true;
                        out->incomplete = true;
                        continue;
                }
                out->way.d[n++] = out->way.d[i];
        }
        out->way.n = n;
        return true;
}
