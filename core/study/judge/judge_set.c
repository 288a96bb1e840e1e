/* The judgement of a set and of its families: what is so of all cases together. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

/* Chaotic cases of a small set would run to the last look for a change that nobody asks ten formulas for. */
/* A look is reached when all but these pairs are there: of some cases there may be none. */
#define REACHED 0.9

/* -- means over cases --------------------------------------------------------------------------------------------- */

struct cluster {             /* the pairs of one case */
        double mean, square; /* square: sum of those of the differences from the mean */
        size_t n;
};

static struct cluster cluster_of(const double *x, size_t n)
{
        struct cluster c = {.n = n};

        for (size_t i = 0; i < n; i++)
                c.mean += x[i] / (double)n;
        for (size_t i = 0; i < n; i++)
                c.square += (x[i] - c.mean) * (x[i] - c.mean);
        return c;
}

/* The mean of the means, each case with the same weight. */
struct spread {
        double mean;
        double seeds,
                seeds_df; /* standard error over other seeds of these cases, and its degrees of freedom; 0: nothing is known of it */
        double cases;     /* over other cases; infinite: of one case */
        bool is_even;     /* the means do not differ by more than their seeds explain */
};

/* Variance of single pairs over all cases, for those that have one pair only; NaN: none has more. */
static double pooled_variance(const struct cluster *c, size_t n)
{
        double square = 0, df = 0;

        for (size_t i = 0; i < n; i++) {
                square += c[i].square;
                df += (double)c[i].n - 1;
        }
        return df > 0 ? square / df : NAN;
}

/* Satterthwaite's (1946) degrees of freedom of a sum of variances. */
static void error_over_seeds(const struct cluster *c, size_t n, struct spread *ret)
{
        double pooled = pooled_variance(c, n), sum = 0, squares = 0;

        ret->seeds = INFINITY;
        if (isnan(pooled))
                return;
        for (size_t i = 0; i < n; i++) {
                double size = (double)c[i].n, variance = (size > 1 ? c[i].square / (size - 1) : pooled) / size;

                sum += variance;
                squares += variance * variance / fmax(size - 1, 1);
        }
        ret->seeds = sqrt(sum) / (double)n;
        ret->seeds_df = squares > 0 ? sum * sum / squares : 1;
}

static struct spread spread_of(const struct cluster *c, size_t n)
{
        struct spread ret = {.cases = INFINITY, .is_even = true};
        double pooled = pooled_variance(c, n), between = 0, weighted = 0, weights = 0, weighted_between = 0;

        for (size_t i = 0; i < n; i++) {
                ret.mean += c[i].mean / (double)n;
                weighted += c[i].mean * (double)c[i].n;
                weights += (double)c[i].n;
        }
        error_over_seeds(c, n, &ret);
        if (n < 2)
                return ret;
        for (size_t i = 0; i < n; i++) {
                double apart = c[i].mean - weighted / weights;

                between += (c[i].mean - ret.mean) * (c[i].mean - ret.mean) / (double)(n - 1);
                weighted_between += (double)c[i].n * apart * apart / (double)(n - 1);
        }
        ret.cases = sqrt(between / (double)n);
        ret.is_even = !isnan(pooled) && weighted_between <= pooled * (1 + 3 * sqrt(2 / (double)(n - 1)));
        return ret;
}

static struct judge_interval interval(double mean, double error, double df)
{
        double half = df > 0 ? stat_t_quantile(0.5 + JUDGE_CONFIDENCE / 2, df) * error : INFINITY;

        return isfinite(error) && isfinite(half) ? (struct judge_interval){mean - half, mean + half}
                                                 : (struct judge_interval){-INFINITY, INFINITY};
}

static struct judge_mean mean_of(const struct spread *s, size_t n)
{
        if (n == 0)
                return (struct judge_mean){NAN, {NAN, NAN}, {NAN, NAN}};
        return (struct judge_mean){s->mean, interval(s->mean, s->seeds, s->seeds_df), interval(s->mean, s->cases, (double)n - 1)};
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
        struct cluster *room;   /* [n] */
        double *before, *after; /* [all pairs] */
        bool found;
};

/* The pairs of a series at a look: those that `upto` counts. */
static size_t pairs_upto(const struct series *s, size_t look)
{
        return look < N_LOOKS && s->known >= judge_looks[look] ? s->upto[look] : s->n;
}

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
        double d[JUDGE_PAIRS];
        size_t n = 0, clusters = 0;

        for (size_t i = 0; i < g->n; i++) {
                const struct series *s = g->list[i];
                size_t pairs = pairs_upto(s, look);

                for (size_t k = 0; k < pairs; k++) {
                        g->before[n] = s->before[k];
                        g->after[n++] = s->after[k];
                        d[k] = s->after[k] - s->before[k];
                }
                if (pairs > 0)
                        g->room[clusters++] = cluster_of(d, pairs);
        }
        g->spread = spread_of(g->room, clusters);
        g->ret->cases = clusters;
        return n;
}

/* Where the cases differ by more than their seeds explain, each is one throw: chaos that no seed was there for, or changes that are not of the whole. */
static int test_group(struct group *g, size_t look, double *ret)
{
        size_t n = gather(g, look);
        struct stat_test test;
        int r;

        if (!g->spread.is_even) {
                n = g->ret->cases;
                for (size_t i = 0; i < n; i++) {
                        g->before[i] = 0;
                        g->after[i] = g->room[i].mean;
                }
        }
        r = stat_signed_rank(g->after, g->before, n, &test);
        *ret = (g->spread.mean > 0) == (test.greater < test.less) ? test.p : 1;
        return r;
}

/* Times: in the middle the cases must differ by a millisecond, too. */
static double floor_of_group(const struct group *g, enum judge_measure m)
{
        double sum[2] = {0};

        for (size_t i = 0; i < g->n; i++) {
                sum[0] += log(g->list[i]->ret->median[0]);
                sum[1] += log(g->list[i]->ret->median[1]);
        }
        if (m != JUDGE_TIME && m != JUDGE_CPU_TIME)
                return log(JUDGE_FLOOR);
        return fmax(log(JUDGE_FLOOR), log1p(JUDGE_SECONDS / exp(fmin(sum[0], sum[1]) / (double)g->n)));
}

static int look_at_groups(struct group *groups, size_t n, enum judge_part part, size_t look, const struct measured *m)
{
        cleanup_free double *p = calloc(n + 1, sizeof(*p));
        double largest;
        int r = p ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r == 0; i++) {
                struct group *g = &groups[i];

                p[i] = 1;
                if (g->n < 2 || g->found || !is_reached(g, look))
                        continue;
                g->looked = judge_looks[look];
                r = test_group(g, look, &p[i]);
        }
        if (r == 0)
                r = stat_discoveries(p, n, judge_spending(part, look, m->is_asked, m->false_alarms), &largest);
        for (size_t i = 0; i < n && r == 0; i++)
                groups[i].found |= p[i] <= largest && fabs(groups[i].spread.mean) >= groups[i].floor;
        return r;
}

/* As a whole: where the cases differ they must do so by little, too. */
static bool is_same(const struct group *g)
{
        struct judge_mean mean = mean_of(&g->spread, g->ret->cases);
        struct judge_interval i = g->spread.is_even ? mean.seeds : mean.cases;

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

static size_t wanted_by(const struct group *g, const struct measured *m)
{
        size_t least = JUDGE_PAIRS, wanted;
        double seeds = g->spread.seeds, fixed = g->spread.cases * g->spread.cases - seeds * seeds;
        struct prospect p = {.part = PART_SET,
                             .false_alarms = m->false_alarms,
                             .pairs = g->looked,
                             .most = m->most_wanted,
                             .shift = g->spread.mean,
                             .error = seeds,
                             .floor = g->floor,
                             .share = 1};

        if (g->n < 2 || g->ret->change != JUDGE_UNDECIDED || m->most_pairs <= 1)
                return 0;
        for (size_t i = 0; i < g->n; i++)
                least = MIN(least, g->list[i]->known);
        p.fixed = g->spread.is_even ? 0 : sqrt(fmax(fixed, 0));
        wanted = g->looked > 0 && judge_is_hopeless(&p) ? 0 : judge_next_look(g->looked, p.most);
        return wanted > least ? wanted : 0;
}

/* The shift that is shown is of all pairs. */
static int conclude(struct group *g, const struct measured *m, size_t *ret_wanted)
{
        double p;
        int r;

        g->ret->change = change_of(g);
        *ret_wanted = wanted_by(g, m);
        r = test_group(g, N_LOOKS, &p);
        g->ret->p = g->n == 1 ? g->list[0]->ret->p : p;
        g->ret->is_even = g->spread.is_even;
        g->ret->ratio = exp_of(mean_of(&g->spread, g->ret->cases));
        return r;
}

/* -- all of them -------------------------------------------------------------------------------------------------- */

/* Each has room for all pairs, one after the other. */
struct groups {
        struct group *list; /* the families, and then the set */
        size_t n_families;
        const struct series **members; /* [2 n] by family, and then all */
        struct cluster *clusters;
        double *values;
};

static void groups_done(struct groups *g)
{
        free(g->list);
        free((void *)g->members);
        free(g->clusters);
        free(g->values);
}

static int prepare(const struct measured *m, struct judgement *j, struct groups *ret)
{
        size_t n_families = j->options.n_families, pairs = 0, taken = 0;

        for (size_t i = 0; i < m->n; i++)
                pairs += m->list[i].n;
        *ret = (struct groups){.list = calloc(n_families + 1, sizeof(*ret->list)),
                               .n_families = n_families,
                               .members = calloc(2 * m->n + 1, sizeof(*ret->members)),
                               .clusters = calloc(m->n + 1, sizeof(*ret->clusters)),
                               .values = calloc(2 * pairs + 1, sizeof(*ret->values))};
        if (!ret->list || !ret->members || !ret->clusters || !ret->values)
                return -ENOMEM;
        for (size_t k = 0; k <= n_families; k++) {
                struct group *g = &ret->list[k];

                *g = (struct group){.list = ret->members + taken,
                                    .ret = &(k < n_families ? &j->families[k] : &j->set)->by[m->measure],
                                    .room = ret->clusters,
                                    .before = ret->values,
                                    .after = ret->values + pairs};
                for (size_t i = 0; i < m->n; i++)
                        if (k == n_families || m->list[i].family == k)
                                g->list[g->n++] = &m->list[i];
                g->floor = floor_of_group(g, m->measure);
                taken += g->n;
        }
        return 0;
}

/* Cases with the same program on both sides leave nothing to test. */
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

int judge_sets(struct measured *m, const struct judge_case *cases, struct judgement *j)
{
        cleanup(groups_done) struct groups g = {0};
        struct group *set;
        size_t unused;
        int r = prepare(m, j, &g);

        if (r < 0)
                return r;
        set = &g.list[g.n_families];
        for (size_t k = 0; k <= g.n_families; k++)
                set_untested(cases, j, g.list[k].ret, k);
        for (size_t k = 0; k < N_LOOKS && r == 0; k++) {
                r = look_at_groups(set, 1, PART_SET, k, m);
                if (r == 0)
                        r = look_at_groups(g.list, g.n_families, PART_FAMILIES, k, m);
        }
        for (size_t k = 0; k <= g.n_families && r == 0; k++) {
                if (g.list[k].n > 0)
                        r = conclude(&g.list[k], m, k == g.n_families && m->is_asked ? &j->set.wanted : &unused);
        }
        return r;
}

/* -- counts ------------------------------------------------------------------------------------------------------- */

/* Seconds of a pair's run; what is not solved counts twice the limit, or what it took where there is none. */
static double par2_of(const struct judge_pair *p, int side)
{
        double limit = judge_limit(p);

        return !judge_is_solved(p, side) && limit > 0 ? 2 * limit : p->run[side].seconds;
}

static void count_side(const struct judge_case *c, const struct judged_case *judged, int side, size_t pairs, struct judged_set *s)
{
        bool wrong = false;

        for (size_t i = 0; i < pairs; i++) {
                wrong |= c->pairs[i].run[side].is_known && c->pairs[i].run[side].is_wrong;
                s->disturbed[side] += c->pairs[i].run[side].is_known && c->pairs[i].run[side].disturbed;
        }
        s->wrong[side] += wrong;
        if (!wrong)
                s->verdicts[side][c->pairs[0].run[side].verdict]++;
        s->solved[side] += judge_is_solved(&c->pairs[0], side);
        s->solved_mean[side] += (double)judged->solved[side] / (double)judged->pairs;
        s->flips[side] += judged->flips[side];
}

static struct cluster count_par2(const struct judge_case *c, size_t pairs, struct judged_set *s)
{
        double seconds[2] = {0}, d[JUDGE_PAIRS];
        size_t n = 0;

        for (size_t i = 0; i < pairs; i++) {
                double before = par2_of(&c->pairs[i], 0), after = par2_of(&c->pairs[i], 1);

                if (!judge_pair_is_known(&c->pairs[i]))
                        continue;
                seconds[0] += before;
                seconds[1] += after;
                d[n++] = after - before;
        }
        s->par2[0] += seconds[0] / (double)n;
        s->par2[1] += seconds[1] / (double)n;
        return cluster_of(d, n);
}

/* Of family `of`; n_families: of all. */
static void count_set(const struct judge_case *cases, const struct judgement *j, size_t of, struct cluster *room,
                      struct judged_set *s)
{
        struct spread spread;

        for (size_t i = 0; i < j->n; i++) {
                const struct judge_case *c = &cases[i];
                const struct judged_case *judged = &j->cases[i];
                size_t pairs = judge_pairs_of(c, &j->options);

                if (of < j->options.n_families && c->family != of)
                        continue;
                s->cases++;
                s->changes[judged->change]++;
                s->regressions += judge_is_regression(judged->change);
                s->improvements += judge_is_improvement(judged->change);
                for (int side = 0; side < 2 && c->n_pairs > 0; side++)
                        s->known[side] += c->pairs[0].run[side].is_known;
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
        s->par2_difference = mean_of(&spread, s->compared);
        s->flips_p = stat_sign_test(s->flips[0], s->flips[1]);
}

int judge_count_sets(const struct judge_case *cases, struct judgement *j)
{
        cleanup_free struct cluster *room = calloc(j->n + 1, sizeof(*room));

        if (!room)
                return -ENOMEM;
        for (size_t k = 0; k < j->options.n_families; k++)
                count_set(cases, j, k, room, &j->families[k]);
        count_set(cases, j, j->options.n_families, room, &j->set);
        return 0;
}
