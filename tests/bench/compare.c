/* False alarms and power of comparisons (core/study/compare/comparison.h), beside the rules of asv and Pinpoint, on the same made-up times.
 *
 *     bench_compare [--rounds N]        the table (meson test --benchmark compare)
 *     bench_compare --record            measures repeated times on this machine and prints the model that fits them
 *
 * A comparison is of 100 cases. Its times: a base, log-normal noise, outliers upward, and a drift that both versions share in part because they are
 * run in turn. The seeds are 1 … N. asv: medians 5 % apart, Mann-Whitney p < 0.002, by a fixed number of interleaved runs. Pinpoint: the smaller p of
 * Mann-Whitney and Kolmogorov-Smirnov below 0.01 is a change; above its bound for the number of runs it is none; else twice as many runs, 10 to 40.
 * Neither corrects for the number of cases. */
#include <getopt.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "cache/base/random.h"
#include "core/study/compare/comparison.h"
#include "core/study/base/stat.h"

#define CASES 100
#define MOST  60 /* runs of a version on a case */

struct noise {
        const char *name;
        double sigma;          /* of the logarithm of a time */
        double outliers, size; /* their share, and the mean of what they add to the logarithm */
        double drift, keeps;   /* deviation of the drift, and how much of it is left a run later */
};

/* The first one is what --record printed of CPU time (deviation 0.1145, outliers 0.023 of 0.409, correlation 0.29) on two cores with a load of 34;
 * the others are machines to think of. */
static const struct noise noises[] = {
        {"recorded at a load of 34", 0.0965, 0.023, 0.41, 0.062, 0.9},
        {"quiet, 1 %", 0.01, 0.02, 0.1, 0.005, 0.9},
        {"3 %", 0.03, 0.02, 0.1, 0.01, 0.9},
        {"5 %, with 5 % outliers", 0.05, 0.05, 0.3, 0.01, 0.9},
};

struct series {
        double seconds[2][MOST]; /* in turn: [0][0], [1][0], [0][1], … */
};

static void make_series(struct random *r, const struct noise *n, double ratio, struct series *ret)
{
        double base = 0.05 * exp(2 * fabs(random_normal(r))), drift = n->drift * random_normal(r);

        for (int i = 0; i < MOST; i++)
                for (int side = 0; side < 2; side++) {
                        double log_time = n->sigma * random_normal(r) + drift;

                        if (random_uniform(r) < n->outliers)
                                log_time += n->size * random_exponential(r);
                        ret->seconds[side][i] = base * (side ? ratio : 1) * exp(log_time);
                        drift = n->keeps * drift + n->drift * sqrt(1 - n->keeps * n->keeps) * random_normal(r);
                }
}

struct score {
        double comparisons, alarmed; /* with any change reported that is none */
        double planted, found, wrong_way;
        double runs, cases;
};

static void count_case(struct score *s, double ratio, int direction, bool *alarmed)
{
        if (ratio == 1) {
                *alarmed |= direction != 0;
        } else {
                s->planted++;
                s->found += direction > 0;
                s->wrong_way += direction < 0;
        }
        s->cases++;
}

/* -- the rules ---------------------------------------------------------------------------------------------------- */

/* `planted` of the cases have the ratio; the others are the same. */
static double ratio_of(size_t i, size_t planted, double ratio)
{
        return i < planted ? ratio : 1;
}

static void judge_solverfs(const struct series *series, size_t planted, double ratio, struct score *s)
{
        static struct comparison_pair pairs[CASES][COMPARISON_PAIRS];
        struct comparison_case cases[CASES];
        struct comparison_judgement judgements[CASES];
        bool alarmed = false, again = true;

        for (size_t i = 0; i < CASES; i++) {
                cases[i] = (struct comparison_case){.pairs = pairs[i]};
                for (size_t k = 0; k < COMPARISON_PAIRS; k++)
                        pairs[i][k] = (struct comparison_pair){{series[i].seconds[0][k], series[i].seconds[1][k]}};
                for (int side = 0; side < 2; side++)
                        cases[i].run[side] = (struct comparison_run){.is_known = true,
                                                                     .verdict = VERDICT_SAT,
                                                                     .seconds = series[i].seconds[side][0],
                                                                     .limit = 1e9,
                                                                     .effort = NAN};
        }
        while (again) {
                again = false;
                if (comparison_judge(cases, CASES, COMPARISON_PAIRS, false, judgements) < 0)
                        abort();
                for (size_t i = 0; i < CASES; i++) {
                        again |= judgements[i].wanted > cases[i].n_pairs;
                        cases[i].n_pairs = MAX(cases[i].n_pairs, judgements[i].wanted);
                }
        }
        for (size_t i = 0; i < CASES; i++) {
                enum comparison_change c = judgements[i].change;

                count_case(s, ratio_of(i, planted, ratio),
                           c == COMPARISON_SLOWER   ? 1
                           : c == COMPARISON_FASTER ? -1
                                                    : 0,
                           &alarmed);
                s->runs += 2 * (double)cases[i].n_pairs;
        }
        s->comparisons++;
        s->alarmed += alarmed;
}

static int asv_rule(const struct series *x, size_t n, double floor)
{
        struct stat_test test;
        double ratio = stat_median(x->seconds[1], n) / stat_median(x->seconds[0], n);

        if (stat_mann_whitney(x->seconds[1], n, x->seconds[0], n, &test) < 0)
                abort();
        if (test.p >= 0.002 || (ratio < floor && ratio > 1 / floor))
                return 0;
        return ratio > 1 ? 1 : -1;
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* P of Kolmogorov and Smirnov's two-sided test of two samples of n: by the paths of a lattice that stay below the distance (Hodges, 1958). */
static double kolmogorov_smirnov(const double *x, const double *y, size_t n)
{
        double a[MOST], b[MOST], paths[MOST + 1] = {0};
        size_t i = 0, k = 0, distance = 0;

        memcpy(a, x, n * sizeof(*a));
        memcpy(b, y, n * sizeof(*b));
        sort_list(a, n, sizeof(*a), compare_doubles);
        sort_list(b, n, sizeof(*b), compare_doubles);
        while (i < n && k < n) {
                if (a[i] <= b[k])
                        i++;
                else
                        k++;
                distance = MAX(distance, i > k ? i - k : k - i);
        }
        for (i = 0; i <= n; i++) /* shares of the paths to (i, k) that never are `distance` off the diagonal */
                for (k = 0; k <= n; k++) {
                        double from_left = i > 0 ? paths[k] : 0, from_below = k > 0 ? paths[k - 1] : 0;

                        if ((i > k ? i - k : k - i) >= distance)
                                paths[k] = 0;
                        else if (i == 0 && k == 0)
                                paths[k] = 1;
                        else
                                paths[k] = from_left * (double)i / (double)(i + k) + from_below * (double)k / (double)(i + k);
                }
        return distance == 0 ? 1 : 1 - paths[n];
}

/* Its bounds above which two samples are the same, for differences of one interquartile range, at 10 and 20 runs; from 30 on there is no between. */
static int pinpoint_rule(const struct series *x, size_t *ret_n)
{
        static const struct {
                size_t n;
                double same;
        } attempts[] = {{10, 0.5708}, {20, 0.0811}, {40, 0.01}};

        for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
                size_t n = *ret_n = attempts[i].n;
                struct stat_test test;
                double p;

                if (stat_mann_whitney(x->seconds[1], n, x->seconds[0], n, &test) < 0)
                        abort();
                p = fmin(test.p, kolmogorov_smirnov(x->seconds[0], x->seconds[1], n));
                if (p < 0.01)
                        return stat_median(x->seconds[1], n) > stat_median(x->seconds[0], n) ? 1 : -1;
                if (p >= attempts[i].same)
                        return 0;
        }
        return 0;
}

enum rule {
        RULE_SOLVERFS,
        RULE_ASV_10,
        RULE_ASV_20,
        RULE_PINPOINT,
        N_RULES
};
static const char *const rule_names[] = {"solverfs", "asv, 10 runs", "asv, 20 runs", "Pinpoint"};

static void judge(enum rule rule, const struct series *series, size_t planted, double ratio, struct score *s)
{
        bool alarmed = false;

        if (rule == RULE_SOLVERFS) {
                judge_solverfs(series, planted, ratio, s);
                return;
        }
        for (size_t i = 0; i < CASES; i++) {
                size_t n = rule == RULE_ASV_10 ? 10 : 20;
                int direction = rule == RULE_PINPOINT ? pinpoint_rule(&series[i], &n) : asv_rule(&series[i], n, 1.05);

                count_case(s, ratio_of(i, planted, ratio), direction, &alarmed);
                s->runs += 2 * (double)n;
        }
        s->comparisons++;
        s->alarmed += alarmed;
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

static void measure(const struct noise *noise, size_t planted, double ratio, unsigned rounds)
{
        struct score scores[N_RULES] = {0};
        static struct series series[CASES];

        for (unsigned seed = 1; seed <= rounds; seed++) {
                struct random r;

                random_seed(&r, seed);
                for (size_t i = 0; i < CASES; i++)
                        make_series(&r, noise, ratio_of(i, planted, ratio), &series[i]);
                for (enum rule rule = 0; rule < N_RULES; rule++)
                        judge(rule, series, planted, ratio, &scores[rule]);
        }
        for (enum rule rule = 0; rule < N_RULES; rule++) {
                const struct score *s = &scores[rule];
                char found[32] = "";

                if (s->planted > 0)
                        snprintf(found, sizeof(found), "%.1f %%", 100 * s->found / s->planted);
                printf("| %s | %s | %zu × +%.0f %% | %.1f %% | %s | %.1f |\n", rule == 0 ? noise->name : "", rule_names[rule],
                       planted, 100 * (ratio - 1), 100 * s->alarmed / s->comparisons, found, s->runs / s->cases);
        }
        fflush(stdout);
}

static void table(unsigned rounds)
{
        static const struct {
                size_t planted;
                double ratio;
        } scenes[] = {{0, 1}, {5, 1.05}, {5, 1.1}, {5, 1.3}, {50, 1.1}};

        printf("| noise | rule | planted | comparisons with a false alarm | found | runs a case |\n|---|---|---|---|---|---|\n");
        for (size_t k = 0; k < ARRAY_SIZE(noises); k++)
                for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
                        measure(&noises[k], scenes[i].planted, scenes[i].ratio,
                                scenes[i].planted == 0 ? rounds : MAX(rounds / 5, 1));
}

/* -- recording ---------------------------------------------------------------------------------------------------- */

#define SERIES 8
#define RUNS   60

/* A process that spins through so many steps: its seconds by the clock, and on the processor. */
static void spin(unsigned steps, double *ret_wall, double *ret_cpu)
{
        struct timespec from, to;
        struct rusage usage;
        pid_t pid;

        clock_gettime(CLOCK_MONOTONIC, &from);
        pid = fork();
        if (pid == 0) {
                for (volatile unsigned i = 0; i < steps; i++)
                        ;
                _exit(0);
        }
        if (pid < 0 || wait4(pid, NULL, 0, &usage) < 0)
                abort();
        clock_gettime(CLOCK_MONOTONIC, &to);
        *ret_wall = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
        *ret_cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void fit(const char *what, double x[SERIES][RUNS])
{
        double logs[SERIES * RUNS], deviations[SERIES * RUNS], sigma, outliers = 0, size = 0, product = 0, square = 0;
        size_t n = 0;

        for (size_t s = 0; s < SERIES; s++) {
                double median = stat_median(x[s], RUNS);

                for (size_t i = 0; i < RUNS; i++, n++) {
                        logs[n] = log(x[s][i] / median);
                        deviations[n] = fabs(logs[n]);
                }
        }
        sigma = 1.4826 * stat_median(deviations, n);
        for (size_t i = 0; i < n; i++)
                if (logs[i] > 3 * sigma) {
                        outliers++;
                        size += logs[i];
                }
        for (size_t i = 0; i < n; i++) {
                double a = fmin(logs[i], 3 * sigma), b = i % RUNS ? fmin(logs[i - 1], 3 * sigma) : 0;

                square += a * a;
                product += a * b;
        }
        printf("%s, %d series of %d runs: deviation of log time %.4f, outliers %.3f, which add %.3f on average, correlation of "
               "neighbours %.2f\n",
               what, SERIES, RUNS, sigma, outliers / (double)n, outliers > 0 ? size / outliers : 0, product / square);
}

static void record(void)
{
        static double wall[SERIES][RUNS], cpu[SERIES][RUNS];

        for (size_t i = 0; i < RUNS; i++)
                for (size_t s = 0; s < SERIES; s++)
                        spin(8000000u << (s / 2), &wall[s][i], &cpu[s][i]);
        fit("wall clock", wall);
        fit("CPU time", cpu);
}

int main(int argc, char **argv)
{
        static const struct option options[] = {
                {"rounds", required_argument, NULL, 'r'}, {"record", no_argument, NULL, 'R'}, {0}};
        unsigned rounds = 500;

        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                if (c == 'R') {
                        record();
                        return 0;
                }
                if (c != 'r')
                        return 2;
                rounds = (unsigned)strtoul(optarg, NULL, 10);
        }
        table(rounds);
        return 0;
}
