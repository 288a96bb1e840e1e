/* The judgement of a set and of its families: of all cases together. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

/* A look is reached with this share of its pairs: some cases may have none. */
#define REACHED 0.9

/* -- means over cases --------------------------------------------------------------------------------------------- */

/* The mean of the cases' means, each case with the same weight. */
struct spread {
        double mean;
        double seeds, seeds_df; /* standard error over other seeds of these cases, infinite if not known; its degrees of freedom */
        double cases;           /* over other cases; infinite for one case */
        bool is_even;           /* the means do not differ by more than their seeds explain */
};

/* `pooled`: the variance of single pairs over all cases, used for cases with one pair; NaN: no case has more. The degrees of freedom of a sum of variances
 * are Satterthwaite's (1946). */
static void error_over_seeds(const struct moments *c, size_t n, double pooled, struct spread *ret)
{
        double sum = 0, squares = 0;

        ret->seeds = INFINITY;
        if (isnan(pooled))
                return;
        for (size_t i = 0; i < n; i++) {
                double variance = (c[i].n > 1 ? c[i].square / (c[i].n - 1) : pooled) / c[i].n;

                sum += variance;
                squares += variance * variance / fmax(c[i].n - 1, 1);
        }
        ret->seeds = sqrt(sum) / (double)n;
        ret->seeds_df = squares > 0 ? sum * sum / squares : 1;
}

/* c[i] is of the pairs of case i. */
static struct spread spread_of(const struct moments *c, size_t n)
{
        struct spread ret = {.cases = INFINITY, .is_even = true};
        double square = 0, df = 0, pooled, between = 0, weighted = 0, weighted_between = 0;

        for (size_t i = 0; i < n; i++) {
                ret.mean += c[i].mean / (double)n;
                weighted += c[i].mean * c[i].n;
                square += c[i].square;
                df += c[i].n - 1;
        }
        pooled = df > 0 ? square / df : NAN;
        error_over_seeds(c, n, pooled, &ret);
        if (n < 2)
                return ret;
        for (size_t i = 0; i < n; i++) {
                double apart = c[i].mean - weighted / (df + (double)n);

                between += (c[i].mean - ret.mean) * (c[i].mean - ret.mean) / (double)(n - 1);
                weighted_between += c[i].n * apart * apart / (double)(n - 1);
        }
        ret.cases = sqrt(between / (double)n);
        ret.is_even = !isnan(pooled) && weighted_between <= pooled * (1 + 3 * sqrt(2 / (double)(n - 1))); /* three deviations of that ratio by chance */
        return ret;
}

static struct judge_mean mean_of(const struct spread *s, size_t n)
{
        if (n == 0)
                return (struct judge_mean){NAN, {NAN, NAN}, {NAN, NAN}};
        return (struct judge_mean){s->mean, judge_t_interval(s->mean, s->seeds, s->seeds_df), judge_t_interval(s->mean, s->cases, (double)n - 1)};
}

/* The mean as it is reported: two cases prove nothing about others, their interval spans powers of ten. */
static struct judge_mean reported(const struct spread *s, size_t n)
{
        struct judge_mean ret = mean_of(s, n);

        if (n < 3)
                ret.cases = (struct judge_interval){NAN, NAN};
        return ret;
}

static struct judge_mean exp_of(struct judge_mean m)
{
        return (struct judge_mean){exp(m.mean), {exp(m.seeds.low), exp(m.seeds.high)}, {exp(m.cases.low), exp(m.cases.high)}};
}

/* -- one measure -------------------------------------------------------------------------------------------------- */

struct group { /* the set, or a family, by one measure */
        const struct series **list;
        size_t n;
        double floor;
        struct judge_set_shift *ret;
        size_t looked;          /* pairs of the last look that was reached */
        struct spread spread;   /* at that look; without one: of all pairs */
        struct moments *room;   /* [n] of the pairs of each case */
        double *before, *after; /* [all pairs] */
        bool agrees;            /* the interval of the mean excludes 0, on the side that the ranks show; a few outliers move the mean alone */
        bool found;
};

static bool is_reached(const struct group *g, size_t look)
{
        size_t pairs = 0;

        for (size_t i = 0; i < g->n; i++)
                pairs += MIN(g->list[i]->known, judge_looks[look]);
        return (double)pairs >= REACHED * (double)(g->n * judge_looks[look]);
}

/* Means and pairs as of a look (N_LOOKS: of all); returns how many pairs. */
static size_t gather(struct group *g, size_t look)
{
        size_t n = 0;

        g->ret->cases = 0;
        for (size_t i = 0; i < g->n; i++) {
                const struct series *s = g->list[i];
                size_t pairs = look < N_LOOKS && s->known >= judge_looks[look] ? s->upto[look] : s->n;
                struct moments m = {0};

                for (size_t k = 0; k < pairs; k++) {
                        g->before[n] = s->before[k];
                        g->after[n++] = s->after[k];
                        judge_add(&m, s->after[k] - s->before[k]);
                }
                if (pairs > 0)
                        g->room[g->ret->cases++] = m;
        }
        g->spread = spread_of(g->room, g->ret->cases);
        return n;
}

/* The interval of the mean. Without a common change of all cases it is that over cases. */
static struct judge_interval interval_of(const struct group *g)
{
        struct judge_mean mean = mean_of(&g->spread, g->ret->cases);

        return g->spread.is_even ? mean.seeds : mean.cases;
}

/* The p at a look. If the cases differ by more than their seeds explain, by chaos beyond the seeds or by changes of only some cases, each case is one
 * observation. */
static double test_group(struct group *g, size_t look)
{
        size_t n = gather(g, look);
        const struct judge_interval mean = interval_of(g);
        struct stat_test test;

        if (!g->spread.is_even) {
                n = g->ret->cases;
                for (size_t i = 0; i < n; i++) {
                        g->before[i] = 0;
                        g->after[i] = g->room[i].mean;
                }
        }
        stat_signed_rank(g->after, g->before, n, &test);
        g->agrees = test.greater < test.less ? mean.low > 0 : mean.high < 0;
        return test.p;
}

static void look_at_groups(struct group *groups, size_t n, enum judge_part part, size_t look, const struct measured *m)
{
        cleanup_free double *p = allocate(n + 1, sizeof(*p));
        double largest = -1;

        for (size_t i = 0; i < n; i++) {
                struct group *g = &groups[i];

                p[i] = 1;
                if (g->n < 2 || g->found || !is_reached(g, look))
                        continue;
                g->looked = judge_looks[look];
                p[i] = test_group(g, look);
                if (!g->agrees)
                        p[i] = 1;
        }
        stat_discoveries(p, n, judge_spending(part, look, m), &largest);
        for (size_t i = 0; i < n; i++)
                groups[i].found |= p[i] <= largest && fabs(groups[i].spread.mean) >= groups[i].floor;
}

/* True if the group as a whole is the same. If the cases differ from each other, that must be by little, too. */
static bool is_same(const struct group *g)
{
        const struct judge_interval i = interval_of(g);

        return i.low > -g->floor && i.high < g->floor;
}

static enum judge_change change_of(const struct group *g)
{
        if (g->n == 1 && g->list[0]->ret->change != JUDGE_DIFFERS)
                return g->list[0]->ret->change;
        if (g->found)
                return g->spread.mean > 0 ? JUDGE_MORE : JUDGE_LESS;
        return g->looked > 0 && is_same(g) ? JUDGE_SAME : JUDGE_UNDECIDED;
}

/* The pairs per case that the set's next look needs; 0: it is decided or hopeless, or all cases have so many. */
static size_t wanted_by(const struct group *g, const struct measured *m)
{
        size_t least = JUDGE_PAIRS, wanted;
        double seeds = g->spread.seeds, fixed = g->spread.cases * g->spread.cases - seeds * seeds;
        struct prospect p = {.part = PART_SET,
                             .of = m,
                             .pairs = g->looked,
                             .shift = g->spread.mean,
                             .error = seeds,
                             .floor = g->floor,
                             .share = 1};

        if (g->n < 2 || g->ret->change != JUDGE_UNDECIDED || m->most_pairs <= 1)
                return 0;
        for (size_t i = 0; i < g->n; i++)
                least = MIN(least, g->list[i]->known);
        p.fixed = g->spread.is_even ? 0 : sqrt(fmax(fixed, 0));
        wanted = g->looked > 0 && judge_is_hopeless(&p) ? 0 : judge_next_pairs(g->looked, m->most_wanted);
        return wanted > least ? wanted : 0;
}

/* -- all of them -------------------------------------------------------------------------------------------------- */

/* Adds the series of a family (n_families: of all) and sets their floor: for times, the geometric mean of the cases must differ by a millisecond, too. */
static void add_members(struct group *g, const struct measured *m, size_t family, size_t n_families)
{
        double sum[2] = {0};

        for (size_t i = 0; i < m->n; i++) {
                if (family < n_families && m->list[i].family != family)
                        continue;
                g->list[g->n++] = &m->list[i];
                sum[0] += log(m->list[i].ret->median[0]);
                sum[1] += log(m->list[i].ret->median[1]);
        }
        g->floor = judge_floor(m->measure, exp(fmin(sum[0], sum[1]) / (double)g->n));
}

/* The result before any test: unknown, or the same if the group has a case with one program on both sides, which leaves nothing to test. */
static void set_untested(const struct judge_case *cases, const struct judgement *j, struct judge_set_shift *ret, size_t family)
{
        *ret = (struct judge_set_shift){.ratio = mean_of(NULL, 0), .p = NAN};
        for (size_t i = 0; i < j->n; i++) {
                if (!cases[i].is_same_program || (family < j->options.n_families && cases[i].family != family))
                        continue;
                ret->change = JUDGE_SAME;
                ret->ratio = (struct judge_mean){1, {1, 1}, {1, 1}};
        }
}

/* The groups are the families, and then the set. They are looked at one after the other, and share the room for all pairs. */
void judge_sets(struct measured *m, const struct judge_case *cases, struct judgement *j)
{
        size_t n_families = j->options.n_families, pairs = 0, taken = 0;
        cleanup_free struct group *groups = allocate(n_families + 1, sizeof(*groups));
        cleanup_free const struct series **members = allocate(2 * m->n + 1, sizeof(*members));
        cleanup_free struct moments *room = allocate(m->n + 1, sizeof(*room));
        cleanup_free double *values = NULL;

        for (size_t i = 0; i < m->n; i++)
                pairs += m->list[i].n;
        values = allocate(2 * pairs + 1, sizeof(*values));
        for (size_t k = 0; k <= n_families; k++) {
                groups[k] = (struct group){.list = members + taken,
                                           .ret = &(k < n_families ? &j->families[k] : &j->set)->by[m->measure],
                                           .room = room,
                                           .before = values,
                                           .after = values + pairs};
                add_members(&groups[k], m, k, n_families);
                taken += groups[k].n;
                set_untested(cases, j, groups[k].ret, k);
        }
        for (size_t k = 0; k < N_LOOKS; k++) {
                look_at_groups(&groups[n_families], 1, PART_SET, k, m);
                look_at_groups(groups, n_families, PART_FAMILIES, k, m);
        }
        for (size_t k = 0; k <= n_families; k++) {
                struct group *g = &groups[k];
                double p;

                if (g->n == 0)
                        continue;
                g->ret->change = change_of(g);
                if (k == n_families && m->is_asked)
                        j->set.wanted = wanted_by(g, m);
                p = test_group(g, N_LOOKS); /* the shift shown is that of all pairs */
                g->ret->p = g->n == 1 ? g->list[0]->ret->p : p;
                g->ret->is_even = g->spread.is_even;
                g->ret->ratio = exp_of(reported(&g->spread, g->ret->cases));
        }
}

/* -- counts ------------------------------------------------------------------------------------------------------- */

/* Seconds of a pair's run. A run that is not solved counts twice the limit, or without a limit what it took. */
static double par2_of(const struct judge_pair *p, int side)
{
        double limit = judge_unsolved(p);

        return !judge_is_solved(p, side) && limit > 0 ? 2 * limit : p->run[side].seconds;
}

static bool is_wrong(const struct judge_case *c, int side, size_t pairs)
{
        for (size_t i = 0; i < pairs; i++)
                if (c->pairs[i].run[side].is_known && c->pairs[i].run[side].is_wrong)
                        return true;
        return false;
}

static void count_side(const struct judge_case *c, const struct judged_case *judged, int side, size_t pairs, struct judged_set *s)
{
        for (size_t i = 0; i < pairs; i++)
                s->disturbed[side] += c->pairs[i].run[side].is_known && c->pairs[i].run[side].disturbed;
        if (!is_wrong(c, side, pairs))
                s->verdicts[side][judge_verdict(&c->pairs[0], side)]++;
        s->solved[side] += judge_is_solved(&c->pairs[0], side);
        s->solved_mean[side] += (double)judged->solved[side] / (double)judged->pairs;
        s->flips[side] += judged->flips[side];
        s->flipped[side] += judged->flips[side] > judged->flips[!side];
}

/* Adds a case's PAR-2 to the set's; returns the differences of its pairs. */
static struct moments count_par2(const struct judge_case *c, size_t pairs, struct judged_set *s)
{
        struct moments before = {0}, after = {0}, difference = {0};

        for (size_t i = 0; i < pairs; i++) {
                double x = par2_of(&c->pairs[i], 0), y = par2_of(&c->pairs[i], 1);

                if (!judge_pair_is_known(&c->pairs[i]))
                        continue;
                judge_add(&before, x);
                judge_add(&after, y);
                judge_add(&difference, y - x);
        }
        s->par2[0] += before.mean;
        s->par2[1] += after.mean;
        return difference;
}

/* Counts the cases of a family (n_families: of all). */
static void count_set(const struct judge_case *cases, const struct judgement *j, size_t family, struct moments *room, struct judged_set *s)
{
        struct spread spread;

        for (size_t i = 0; i < j->n; i++) {
                const struct judge_case *c = &cases[i];
                const struct judged_case *judged = &j->cases[i];
                size_t pairs = judge_pairs_of(c, &j->options);

                if (family < j->options.n_families && c->family != family)
                        continue;
                s->cases++;
                s->changes[judged->change]++;
                s->regressions += judge_is_regression(judged->change);
                s->improvements += judge_is_improvement(judged->change);
                for (int side = 0; side < 2 && c->n_pairs > 0; side++) {
                        s->known[side] += c->pairs[0].run[side].is_known;
                        s->wrong[side] += is_wrong(c, side, pairs);
                }
                if (!judge_is_compared(c))
                        continue;
                count_side(c, judged, 0, pairs, s);
                count_side(c, judged, 1, pairs, s);
                room[s->compared++] = count_par2(c, pairs, s);
                s->pairs += judged->pairs;
        }
        spread = spread_of(room, s->compared);
        s->par2[0] /= (double)s->compared;
        s->par2[1] /= (double)s->compared;
        s->par2_difference = reported(&spread, s->compared);
        s->flips_p = stat_sign_test(s->flipped[0], s->flipped[1]);
}

void judge_count_sets(const struct judge_case *cases, struct judgement *j)
{
        cleanup_free struct moments *room = allocate(j->n + 1, sizeof(*room));

        for (size_t k = 0; k < j->options.n_families; k++)
                count_set(cases, j, k, room, &j->families[k]);
        count_set(cases, j, j->options.n_families, room, &j->set);
}
