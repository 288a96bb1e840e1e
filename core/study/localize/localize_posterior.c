/* From runs to levels: the likelihood of each level at a place, the posterior along the line (forward-backward), the noise of all cases. */
#include "core/study/localize/localize_internal.h"
#include "core/study/base/stat.h"

#include <pthread.h>

/* -- levels ------------------------------------------------------------------------------------------------------- */

/* An outcome's position from fast (0) to slow (1), by effort if that tells the ends apart; a timeout is infinite. */
static double position_of(const struct thresholds *t, const struct localize_outcome *outcome)
{
        if (!isnan(outcome->effort) && !isnan(t->effort_fast))
                return (outcome->effort - t->effort_fast) / (t->effort_slow - t->effort_fast);
        if (outcome->answer == LOCALIZE_TIMEOUT)
                return INFINITY;
        return isinf(t->slow) ? 0 : (outcome->value - t->fast) / (t->slow - t->fast);
}

enum level level_of(const struct thresholds *thresholds, const struct localize_outcome *outcome)
{
        double position;

        if (outcome->answer == LOCALIZE_BROKEN)
                return LEVEL_BROKEN;
        position = position_of(thresholds, outcome);
        return position < thresholds->low_cut ? LEVEL_FAST : position > thresholds->high_cut ? LEVEL_SLOW : LEVEL_BETWEEN;
}

/* -- runs in doubt -- */

/* A level whose likelihood of a run is this many times less than another's counts as impossible. */
#define BEYOND_DOUBT 1e4
/* A run can be between fast and slow if this many deviations are between the two. */
#define DEVIATIONS_BETWEEN 8
/* A level is a range of positions, since small steps are no change of level. This share of its runs is at the end itself. */
#define AT_THE_END 0.8

/* A normal distribution whose top is the stretch from `low` to `high`. */
static double flat_density(double x, double low, double high, double spread)
{
        double outside = fmax(fmax(low - x, x - high), 0) / spread;

        return exp(-outside * outside / 2) / (spread * sqrt(2 * M_PI) + fmax(high - low, 0));
}

/* The density of the run at each level. Chaotic solvers show both ends at any commit, one more often than the other. */
static void densities(const struct thresholds *t, const struct localize_outcome *o, double ret[N_LEVELS])
{
        bool by_effort = !isnan(o->effort) && !isnan(t->effort_fast), is_timeout = o->answer == LOCALIZE_TIMEOUT && !by_effort;
        double from = fmax(by_effort ? t->effort_fast : t->fast, 1e-6), to = by_effort ? t->effort_slow : t->slow;
        double value = log(fmax(by_effort ? o->effort : o->value, 1e-6)), fast = log(from), slow = log(to);
        double low = log(from + t->low_cut * (to - from)), high = log(from + t->high_cut * (to - from));

        memset(ret, 0, N_LEVELS * sizeof(*ret));
        if (o->answer == LOCALIZE_BROKEN) {
                ret[LEVEL_BROKEN] = 1;
        } else if (is_timeout) {
                ret[LEVEL_FAST] = t->timeouts[0];
                ret[LEVEL_SLOW] = t->timeouts[1];
                ret[LEVEL_BETWEEN] = sqrt(t->timeouts[0] * t->timeouts[1]);
        } else if (isinf(to)) {
                ret[LEVEL_FAST] = 1;
        } else {
                ret[LEVEL_FAST] = (1 - t->timeouts[0]) * (AT_THE_END * flat_density(value, fast, fast, t->spread) +
                                                          (1 - AT_THE_END) * flat_density(value, fast, low, t->spread));
                ret[LEVEL_SLOW] = (1 - t->timeouts[1]) * (AT_THE_END * flat_density(value, slow, slow, t->spread) +
                                                          (1 - AT_THE_END) * flat_density(value, fmin(high, slow), slow, t->spread));
                if (log(to / from) > DEVIATIONS_BETWEEN * t->spread)
                        ret[LEVEL_BETWEEN] = flat_density(value, low, high, t->spread);
        }
}

/* The middle of the widest gap between the values in [low, high], so that no cut divides values that are close together. */
static double cut_between(const double *sorted, size_t n, double low, double high)
{
        double last = low, widest = 0, cut = (low + high) / 2;

        for (size_t i = 0; i <= n; i++) {
                double next = i < n ? fmin(fmax(sorted[i], low), high) : high;

                if (next - last > widest) {
                        widest = next - last;
                        cut = (next + last) / 2;
                }
                last = next;
        }
        return cut;
}

void thresholds_cut(struct test *t)
{
        cleanup_free double *x = allocate(t->n_facts, sizeof(*x));
        size_t n = 0;

        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].outcome.answer != LOCALIZE_BROKEN)
                        x[n++] = position_of(&t->thresholds, &t->facts[i].outcome);
        stat_sort(x, n);
        t->thresholds.low_cut = cut_between(x, n, 1.0 / 3 - 0.2, 1.0 / 3 + 0.2);
        t->thresholds.high_cut = cut_between(x, n, 2.0 / 3 - 0.13, 2.0 / 3 + 0.26);
}

/* -- the chain ---------------------------------------------------------------------------------------------------- */

const struct noise noise_grid[N_NOISE] = {
        {0.0005, 0.0005}, {0.002, 0.002}, {0.005, 0.005}, {0.01, 0.01}, {0.03, 0.03},  {0.06, 0.06},  {0.1, 0.1},   {0.15, 0.15},
        {0.2, 0.2},       {0.25, 0.25},   {0.3, 0.3},     {0.36, 0.36}, {0.45, 0.45},  {0.001, 0.1},  {0.1, 0.001}, {0.001, 0.3},
        {0.3, 0.001},     {0.001, 0.5},   {0.5, 0.001},   {0.1, 0.3},   {0.3, 0.1},    {0.1, 0.5},    {0.5, 0.1},
};
/* Before anything is known: in most cases a run hardly ever shows another level than the true one, in some it often does. */
static const double noise_before[N_NOISE] = {0.15, 0.13, 0.11, 0.11, 0.1,  0.09, 0.07, 0.05, 0.04, 0.03, 0.02, 0.008,
                                      0.002, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.005, 0.005};

static const double first_level[N_LEVELS] = {0.7, 0.1, 0.18, 0.02};
/* The probability that a change goes to a level, and that a run in error shows it: mostly one of the two ends. moves_to() leaves out the level itself. */
static const double change_weight[N_LEVELS] = {0.4, 0.15, 0.4, 0.05};
static const double error_weight[N_LEVELS] = {0.45, 0.08, 0.45, 0.02};

static double moves_to(const double weight[N_LEVELS], int from, int to)
{
        return weight[to] / (1 - weight[from]);
}

/* The probability that a run at a level shows another. */
static double shows(const struct noise *n, int level, int shown)
{
        double noise = level == LEVEL_FAST ? n->fast : level == LEVEL_SLOW ? n->slow : grid_mean(n);

        return shown == level ? 1 - noise : noise * moves_to(error_weight, level, shown);
}

/* -- sightings -- */

/* Logarithms of shows(): most runs show one level beyond doubt. */
static double log_shows[N_NOISE][N_LEVELS][N_LEVELS];

static void fill_log_shows(void)
{
        for (int k = 0; k < N_NOISE; k++)
                for (int level = 0; level < N_LEVELS; level++)
                        for (int shown = 0; shown < N_LEVELS; shown++)
                                log_shows[k][level][shown] = log(shows(&noise_grid[k], level, shown));
}

static double log_shows_any(const struct noise *n, int level, const double dense[N_LEVELS])
{
        double sum = 0;

        for (int shown = 0; shown < N_LEVELS; shown++)
                sum += shows(n, level, shown) * dense[shown];
        return log(sum);
}

static void sighting_add(struct sighting *s, const struct thresholds *t, const struct localize_outcome *o)
{
        double dense[N_LEVELS], most = 0;
        int only = -1; /* the only level it may have shown; N_LEVELS: there are several */

        densities(t, o, dense);
        for (int k = 0; k < N_LEVELS; k++)
                most = fmax(most, dense[k]);
        if (most == 0) /* the densities underflow, so far from both ends */
                dense[level_of(t, o)] = most = 1;
        for (int k = 0; k < N_LEVELS; k++) {
                dense[k] = dense[k] * BEYOND_DOUBT <= most ? 0 : dense[k] / most;
                only = dense[k] == 0 ? only : only < 0 ? k : N_LEVELS;
        }
        s->n++;
        for (int k = 0; k < N_NOISE; k++)
                for (int level = 0; level < N_LEVELS; level++)
                        s->shows[k][level] += only < N_LEVELS ? log_shows[k][level][only] : log_shows_any(&noise_grid[k], level, dense);
}

static int compare_sightings(const void *a, const void *b)
{
        const struct sighting *x = a, *y = b;

        return ORDER(x->place, y->place);
}

struct sighting *sightings_collect(const struct test *t, const struct line *line, size_t *ret_n)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        struct sighting *list = NULL;
        size_t n = 0, k;

        pthread_once(&once, fill_log_shows);
        for (size_t i = 0; i < t->n_facts; i++) {
                for (uint32_t at = line->place[t->facts[i].program]; at > 0; at = line->again[at - 1]) {
                        for (k = 0; k < n && list[k].place != at - 1; k++)
                                ;
                        if (k == n)
                                list_add(list, n, (struct sighting){.place = at - 1});
                        sighting_add(&list[k], &t->thresholds, &t->facts[i].outcome);
                }
        }
        sort_list(list, n, sizeof(*list), compare_sightings);
        *ret_n = n;
        return list;
}

/* -- forward and backward -- */

/* Likelihood of the runs of a sighting at each level, scaled so that the greatest is 1; returns the logarithm of the scale. */
static double likelihood(const struct sighting *s, int noise, double ret[N_LEVELS])
{
        double most = -INFINITY;

        for (int level = 0; level < N_LEVELS; level++)
                most = fmax(most, s->shows[noise][level]);
        for (int level = 0; level < N_LEVELS; level++)
                ret[level] = exp(s->shows[noise][level] - most);
        return most;
}

struct pass {
        double likelihood[N_LEVELS], forward[N_LEVELS], backward[N_LEVELS], scale;
};

/* The probability of a step of the chain; `stay`: of no change. */
static double step(double stay, int from, int to)
{
        return from == to ? stay : (1 - stay) * moves_to(change_weight, from, to);
}

/* For one noise of the grid. Returns the logarithm of the evidence. *unchanged: the share of it without any change. */
static double run_forward(const struct sighting *s, size_t n, double rate, int noise, struct pass *p, double *unchanged)
{
        double evidence = 0, same[N_LEVELS], total = 0;

        for (size_t i = 0; i < n; i++) {
                double stay = i > 0 ? exp(-rate * s[i - 1].prior) : 0, sum = 0;
                double scale = likelihood(&s[i], noise, p[i].likelihood);

                for (int to = 0; to < N_LEVELS; to++) {
                        double come = i == 0 ? first_level[to] : 0;

                        for (int from = 0; i > 0 && from < N_LEVELS; from++)
                                come += p[i - 1].forward[from] * step(stay, from, to);
                        p[i].forward[to] = come * p[i].likelihood[to];
                        same[to] = (i == 0 ? first_level[to] : same[to] * stay) * p[i].likelihood[to];
                        sum += p[i].forward[to];
                }
                for (int k = 0; k < N_LEVELS; k++) {
                        p[i].forward[k] /= sum;
                        same[k] /= sum;
                }
                p[i].scale = sum;
                evidence += log(sum) + scale;
        }
        for (int k = 0; k < N_LEVELS; k++)
                total += same[k]; /* scaled like forward, so it is a share of the evidence */
        *unchanged = n > 0 ? total : 1;
        return n > 0 ? evidence : 0;
}

static void run_backward(const struct sighting *s, size_t n, double rate, struct pass *p)
{
        for (size_t i = n; i-- > 0;) {
                double stay = exp(-rate * s[i].prior);

                for (int from = 0; from < N_LEVELS; from++) {
                        p[i].backward[from] = i + 1 == n;
                        for (int to = 0; i + 1 < n && to < N_LEVELS; to++)
                                p[i].backward[from] +=
                                        step(stay, from, to) * p[i + 1].likelihood[to] * p[i + 1].backward[to] / p[i + 1].scale;
                }
        }
}

double posterior(struct sighting *s, size_t n, double rate, const double noise[N_NOISE])
{
        cleanup_free struct pass *passes = allocate(n * N_NOISE, sizeof(*passes));
        double weight[N_NOISE], unchanged[N_NOISE], most = -INFINITY, total = 0, no_change = 0;

        if (n == 0)
                return 1;
        for (int k = 0; k < N_NOISE; k++) {
                weight[k] = log(noise[k]) + run_forward(s, n, rate, k, passes + k * n, &unchanged[k]);
                run_backward(s, n, rate, passes + k * n);
                most = fmax(most, weight[k]);
        }
        for (int k = 0; k < N_NOISE; k++)
                total += weight[k] = exp(weight[k] - most);
        for (size_t i = 0; i < n; i++) {
                s[i].change = 0;
                memset(s[i].level, 0, sizeof(s[i].level));
        }
        for (int k = 0; k < N_NOISE; k++) {
                double w = weight[k] / total;

                no_change += w * unchanged[k];
                for (size_t i = 0; i < n; i++) {
                        const struct pass *p = &passes[k * n + i];
                        double stay = exp(-rate * s[i].prior), kept = 0;

                        for (int level = 0; level < N_LEVELS; level++) {
                                s[i].level[level] += w * p->forward[level] * p->backward[level];
                                if (i + 1 < n)
                                        kept += p->forward[level] * stay * p[1].likelihood[level] * p[1].backward[level] /
                                                p[1].scale;
                        }
                        s[i].change += i + 1 < n ? w * fmax(0, 1 - kept) : 0;
                }
        }
        return no_change;
}

/* -- priors ------------------------------------------------------------------------------------------------------- */

/* The weight of a culprit at a place where no other case has one, against the culprits of all others. */
#define CONCENTRATION 3.0

double *prior_below(const struct localize *l, const struct test *t, const struct line *line)
{
        double *below = allocate(line->n, sizeof(*below)), total = 0;

        for (size_t x = 1; x < line->n; x++)
                below[x] = CONCENTRATION / (double)(line->n - 1) + l->density[line->at[x]];
        for (size_t i = 0; i < t->n_gaps; i++) { /* the case's own share of the density */
                const struct gap *g = &t->gaps[i];

                for (size_t x = g->a + 1; x <= g->b; x++)
                        for (uint32_t at = line->place[g->line->at[x]]; at > 0; at = line->again[at - 1])
                                if (at > 1)
                                        below[at - 1] -= 1 / (double)(g->b - g->a);
        }
        for (size_t x = 1; x < line->n; x++)
                below[x] = total += fmax(below[x], 1e-9);
        for (size_t x = 1; x < line->n; x++)
                below[x] /= total;
        return below;
}

/* The probability of a case's facts for each noise of the grid, relative to the greatest. */
static void noise_evidence(const struct localize *l, const struct test *t, double ret[N_NOISE])
{
        size_t n;
        cleanup_free struct sighting *s = sightings_collect(t, t->line, &n);
        cleanup_free struct pass *passes = allocate(n, sizeof(*passes));
        cleanup_free double *below = prior_below(l, t, t->line);
        double most = -INFINITY, unchanged;

        for (size_t k = 0; k + 1 < n; k++)
                s[k].prior = below[s[k + 1].place] - below[s[k].place];
        for (int k = 0; k < N_NOISE; k++)
                most = fmax(most, ret[k] = run_forward(s, n, 1, k, passes, &unchanged));
        for (int k = 0; k < N_NOISE; k++)
                ret[k] = exp(ret[k] - most);
}

/* A case's share of each noise, under a prior that may be of any scale. `ret` may be that prior. */
static void noise_share(const double prior[N_NOISE], const double evidence[N_NOISE], double ret[N_NOISE])
{
        double total = 0;

        for (int k = 0; k < N_NOISE; k++)
                total += ret[k] = prior[k] * (evidence ? evidence[k] : 1);
        for (int k = 0; k < N_NOISE; k++)
                ret[k] /= total;
}

/* Expectation maximization of the distribution of noise over cases; what is known beforehand weighs as much as two of them. The facts of one
 * case say little, so it converges slowly; but an iteration costs a few numbers a case. */
void noise_estimate(struct localize *l)
{
        cleanup_free double(*evidence)[N_NOISE] = allocate(l->n_tests, sizeof(*evidence));
        double sum[N_NOISE], next[N_NOISE];

        for (size_t i = 0; i < l->n_tests; i++)
                noise_evidence(l, &l->tests[i], evidence[i]);
        memcpy(sum, noise_before, sizeof(sum));
        for (int iteration = 0; iteration < 300; iteration++) {
                for (int k = 0; k < N_NOISE; k++)
                        next[k] = 2 * noise_before[k];
                for (size_t i = 0; i < l->n_tests; i++) {
                        noise_share(sum, evidence[i], l->tests[i].noise);
                        for (int k = 0; k < N_NOISE; k++)
                                next[k] += l->tests[i].noise[k];
                }
                memcpy(sum, next, sizeof(sum));
        }
        for (size_t i = 0; i < l->n_tests; i++) {
                struct test *t = &l->tests[i];

                for (int k = 0; k < N_NOISE; k++) /* without its own */
                        t->noise_prior[k] = fmax(sum[k] - t->noise[k], 1e-12);
                noise_share(t->noise_prior, NULL, t->noise_prior);
                noise_share(t->noise_prior, evidence[i], t->noise);
        }
}
