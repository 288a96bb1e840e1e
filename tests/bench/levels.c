/* Levels along a history (judge_levels()): false steps and steps found, beside asv's and Otava's rules, on the same made-up series.
 *
 *     bench_levels [--rounds N] [--first S] [--ours]         the table (meson test --benchmark levels); only the row of the judge
 *
 * Of a line of builds each has values under some seeds. A draw of a seed stays for an epoch of builds, until somebody changes the search. asv and Otava are
 * given the median of each build. asv: the piecewise constant with the least of 4 ln(n) / n times its pieces and the logarithm of the sum of what it leaves,
 * successive rests decorrelated; steps of 5 % count. Otava: the best cut by the energy statistic, while Student's t says p < 0.01, then cuts above 0.001 go,
 * the weakest first (without its window: no series here is long). */
#include <getopt.h>
#include <math.h>

#include "cache/base/random.h"
#include "core/study/base/stat.h"
#include "core/study/judge/judge.h"

#define BUILDS 200
#define SEEDS  10
#define NEAR   1 /* builds beside its place a step counts as found */

struct scene {
        const char *name;
        size_t builds, seeds;
        double noise, outliers; /* deviation of the logarithm; share of values that are three times as large */
        double chaos;           /* deviation over seeds */
        size_t epoch;           /* builds */
        size_t n_steps;
        struct {
                size_t at;
                double ratio;
        } steps[8];
};
static const struct scene scenes[] = {
        {"noise of 5 %, one run", 100, 1, 0.05, 0, 0, 1, 0, {{0}}},
        {"six builds, one run", 6, 1, 0.05, 0, 0, 1, 0, {{0}}},
        {"noise of 5 %, 5 % outliers, one run", 100, 1, 0.05, 0.05, 0, 1, 0, {{0}}},
        {"six builds, five seeds", 6, 5, 0.05, 0, 0.5, 1, 0, {{0}}},
        {"chaos, own draws, ten seeds", 40, 10, 0.05, 0, 1, 1, 0, {{0}}},
        {"chaos, epochs of ten builds, ten seeds", 40, 10, 0.05, 0, 1, 10, 0, {{0}}},
        {"chaos, epochs of ten builds, five seeds", 40, 5, 0.05, 0, 1, 10, 0, {{0}}},
        {"chaos, epochs of 25, ten seeds", 200, 10, 0.05, 0, 1, 25, 0, {{0}}},
        {"one run, steps of 20 %, 2 ×, back", 100, 1, 0.05, 0.02, 0, 1, 3, {{30, 1.2}, {55, 2}, {80, 0.45}}},
        {"six levels of Kissat, five seeds", 6, 5, 0.05, 0, 0.2, 1, 5, {{1, 5.5}, {2, 0.028}, {3, 63}, {4, 0.6}, {5, 2}}},
        {"the same, more chaos, ten seeds", 6, 10, 0.05, 0, 0.5, 1, 5, {{1, 5.5}, {2, 0.028}, {3, 63}, {4, 0.6}, {5, 2}}},
        {"4 × and back, epochs of ten, ten seeds", 40, 10, 0.05, 0, 0.5, 10, 2, {{10, 4}, {30, 0.25}}},
        {"4 × at any build, same draws, ten seeds", 40, 10, 0.05, 0, 1, 40, 1, {{17, 4}}},
        {"all seeds 20 % slower, same draws", 40, 5, 0.05, 0, 1, 40, 1, {{20, 1.2}}},
};

struct series {
        double values[BUILDS][SEEDS], median[BUILDS]; /* median: logarithms */
};

static void make_series(struct random *r, const struct scene *scene, struct series *ret)
{
        double draws[SEEDS], level = log(0.13);

        for (size_t b = 0; b < scene->builds; b++) {
                for (size_t k = 0; k < scene->n_steps; k++)
                        level += scene->steps[k].at == b ? log(scene->steps[k].ratio) : 0;
                for (size_t s = 0; s < scene->seeds; s++) {
                        if (b % scene->epoch == 0)
                                draws[s] = scene->chaos * random_normal(r);
                        ret->values[b][s] = exp(level + draws[s] + scene->noise * random_normal(r));
                        if (random_uniform(r) < scene->outliers)
                                ret->values[b][s] *= 3;
                }
                ret->median[b] = log(stat_median(ret->values[b], scene->seeds));
        }
}

/* -- rules: the first builds after the steps ----------------------------------------------------------------------- */

static size_t steps_of_judge(const struct scene *scene, const struct series *x, size_t *ret)
{
        struct judge_build builds[BUILDS];
        cleanup_judge_levels struct judge_levels levels = {0};

        for (size_t b = 0; b < scene->builds; b++)
                builds[b] = (struct judge_build){x->values[b], scene->seeds};
        judge_levels(builds, scene->builds, 0, &levels);
        for (size_t i = 1; i < levels.n; i++)
                ret[i - 1] = levels.list[i].from;
        return levels.n - 1;
}

/* What a level at the median leaves of [from, to). */
static double rest(const double *x, size_t from, size_t to)
{
        double median = stat_median(x + from, to - from), sum = 0;

        for (size_t i = from; i < to; i++)
                sum += fabs(x[i] - median);
        return sum;
}

/* Rests less `rho` times the one before. */
static double decorrelated(const double *x, size_t n, const size_t *cuts, size_t n_cuts, double rho)
{
        double sum = 0, last = 0;

        for (size_t k = 0; k <= n_cuts; k++) {
                size_t from = k > 0 ? cuts[k - 1] : 0, to = k < n_cuts ? cuts[k] : n;
                double median = stat_median(x + from, to - from);

                for (size_t i = from; i < to; i++) {
                        sum += fabs(x[i] - median - rho * last);
                        last = x[i] - median;
                }
        }
        return sum;
}

#define PIECES 10

static size_t steps_of_asv(const struct scene *scene, const struct series *series, size_t *ret)
{
        static _Thread_local double rests[BUILDS][BUILDS + 1], least[PIECES + 1][BUILDS + 1];
        static _Thread_local size_t cut[PIECES + 1][BUILDS + 1];
        const double *x = series->median;
        size_t n = scene->builds, found = 0;
        double best = INFINITY;

        for (size_t a = 0; a < n; a++)
                for (size_t b = a + 1; b <= n; b++)
                        rests[a][b] = rest(x, a, b);
        for (size_t k = 1; k <= MIN(PIECES, n); k++) {
                size_t cuts[PIECES];
                double sum = INFINITY;

                for (size_t b = k; b <= n; b++) {
                        least[k][b] = k == 1 ? rests[0][b] : INFINITY;
                        for (size_t a = k - 1; k > 1 && a < b; a++)
                                if (least[k - 1][a] + rests[a][b] < least[k][b]) {
                                        least[k][b] = least[k - 1][a] + rests[a][b];
                                        cut[k][b] = a;
                                }
                }
                for (size_t i = k, b = n; i > 1; i--)
                        cuts[i - 2] = b = cut[i][b];
                for (double rho = -0.9; rho < 0.95; rho += 0.1)
                        sum = fmin(sum, decorrelated(x, n, cuts, k - 1, rho));
                if (4 * log((double)n) / (double)n * (double)k + log(sum + 1e-9) < best) {
                        best = 4 * log((double)n) / (double)n * (double)k + log(sum + 1e-9);
                        found = k - 1;
                        memcpy(ret, cuts, found * sizeof(*ret));
                }
        }
        return found;
}

static double student_p(const double *x, size_t from, size_t at, size_t to)
{
        double mean[2] = {0}, square = 0, n[2] = {(double)(at - from), (double)(to - at)}, df = n[0] + n[1] - 2;

        for (size_t i = from; i < to; i++)
                mean[i >= at] += x[i] / n[i >= at];
        for (size_t i = from; i < to; i++)
                square += (x[i] - mean[i >= at]) * (x[i] - mean[i >= at]);
        return df < 1 || !(square > 0) ? 1 : stat_t_p((mean[1] - mean[0]) / sqrt(square / df * (1 / n[0] + 1 / n[1])), df);
}

static double energy(const double *x, size_t from, size_t at, size_t to)
{
        double sums[3] = {0}, n = (double)(at - from), m = (double)(to - at);

        for (size_t i = from; i < to; i++)
                for (size_t k = from; k < i; k++)
                        sums[i < at ? 0 : k >= at ? 1 : 2] += fabs(x[i] - x[k]);
        return (2 * sums[2] / (n * m) - (n > 1 ? 2 * sums[0] / (n * (n - 1)) : 0) - (m > 1 ? 2 * sums[1] / (m * (m - 1)) : 0)) *
               n * m / (n + m);
}

static size_t cut_by_energy(const double *x, size_t from, size_t to, size_t *ret, size_t n)
{
        size_t best = 0;
        double most = -INFINITY;

        for (size_t at = from + 2; at + 2 <= to; at++) {
                double e = energy(x, from, at, to);

                if (e > most) {
                        most = e;
                        best = at;
                }
        }
        if (best == 0 || student_p(x, from, best, to) >= 0.01)
                return n;
        n = cut_by_energy(x, from, best, ret, n);
        ret[n++] = best;
        return cut_by_energy(x, best, to, ret, n);
}

static size_t steps_of_otava(const struct scene *scene, const struct series *series, size_t *ret)
{
        size_t n = cut_by_energy(series->median, 0, scene->builds, ret, 0);

        for (;;) {
                size_t weakest = 0;
                double most = -1;

                for (size_t i = 0; i < n; i++) {
                        double p =
                                student_p(series->median, i > 0 ? ret[i - 1] : 0, ret[i], i + 1 < n ? ret[i + 1] : scene->builds);

                        if (p > most) {
                                most = p;
                                weakest = i;
                        }
                }
                if (most <= 0.001)
                        return n;
                memmove(ret + weakest, ret + weakest + 1, (n - weakest - 1) * sizeof(*ret));
                n--;
        }
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

struct rule {
        const char *name;
        size_t (*steps)(const struct scene *scene, const struct series *x, size_t *ret);
};
static const struct rule rules[] = {{"solverfs", steps_of_judge}, {"asv", steps_of_asv}, {"Otava", steps_of_otava}};

static void measure(const struct scene *scene, unsigned first, unsigned rounds, size_t n_rules)
{
        double alarmed[ARRAY_SIZE(rules)] = {0}, found[ARRAY_SIZE(rules)] = {0}, all[ARRAY_SIZE(rules)] = {0};
        static struct series series;

        for (unsigned seed = first; seed < first + rounds; seed++) {
                struct random r;

                random_seed(&r, seed);
                make_series(&r, scene, &series);
                for (size_t k = 0; k < n_rules; k++) {
                        size_t at[BUILDS], n = rules[k].steps(scene, &series, at), hits = 0, misses = n;

                        for (size_t i = 0; i < scene->n_steps; i++) {
                                bool hit = false;

                                for (size_t s = 0; s < n; s++)
                                        hit |= at[s] + NEAR >= scene->steps[i].at && at[s] <= scene->steps[i].at + NEAR;
                                hits += hit;
                        }
                        misses -= MIN(misses, hits);
                        alarmed[k] += misses > 0;
                        found[k] += (double)hits;
                        all[k] += hits == scene->n_steps && misses == 0;
                }
        }
        for (size_t k = 0; k < n_rules; k++) {
                char text[64] = "";

                if (scene->n_steps > 0)
                        snprintf(text, sizeof(text), "%.1f %% | %.1f %%", 100 * found[k] / ((double)scene->n_steps * rounds),
                                 100 * all[k] / rounds);
                printf("| %s | %s | %.1f %% | %s |\n", k == 0 ? scene->name : "", rules[k].name, 100 * alarmed[k] / rounds,
                       scene->n_steps > 0 ? text : " | ");
        }
        fflush(stdout);
}

int main(int argc, char **argv)
{
        static const struct option options[] = {{"rounds", required_argument, NULL, 'r'},
                                                {"first", required_argument, NULL, 'f'},
                                                {"ours", no_argument, NULL, 'o'},
                                                {0}};
        size_t n_rules = ARRAY_SIZE(rules);
        unsigned rounds = 200, first = 1;

        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                if (c == '?')
                        return 2;
                if (c == 'o')
                        n_rules = 1;
                else
                        *(c == 'r' ? &rounds : &first) = (unsigned)strtoul(optarg, NULL, 10);
        }
        printf("| series | rule | with a step that is none | steps found | all and no other |\n|---|---|---|---|---|\n");
        for (size_t k = 0; k < ARRAY_SIZE(scenes); k++)
                measure(&scenes[k], first, rounds, n_rules);
        return 0;
}
