/* False alarms and power of the judge (core/study/judge/judge.h), beside the rules of others, on the same made-up times.
 *
 *     bench_judge [--rounds N] [--first S] [--scene K] [--threads T]     the table (meson test --benchmark judge)
 *     bench_judge --record            measures repeated times on this machine and prints the model that fits them
 *
 * A comparison is of 100 cases under 60 seeds. A time is a base, the seed's draw (log-normal; the same for both versions, or each its own), log-normal
 * noise, outliers upward, and a drift that both share in part because they are run in turn. Comparisons S … S + N - 1 are made of these numbers.
 *
 * asv: medians 5 % apart, Mann-Whitney p < 0.002, by a fixed number of runs. Pinpoint: the smaller p of Mann-Whitney and Kolmogorov-Smirnov below 0.01
 * is a change; above its bound for the number of runs it is none; else twice as many runs, 10 to 40. Mariposa: a case is stable when significantly
 * more than 95 % of 60 runs are solved within ten times its base, unsolvable below 5 %; another class is a change. Top 20: the largest increases of
 * one run each. All have a seed for each run, as the judge has; none corrects for the number of cases. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "cache/base/random.h"
#include "core/study/base/stat.h"
#include "core/study/judge/judge.h"

#define CASES 100
#define MOST  JUDGE_PAIRS

/* -- scenes ------------------------------------------------------------------------------------------------------- */

struct noise {
        const char *name;
        double sigma;          /* of the logarithm of a time */
        double outliers, size; /* their share, and the mean of what they add to the logarithm */
        double drift, keeps;   /* deviation of the drift, and how much of it is left a run later */
};

/* The first one is what --record printed of CPU time (deviation 0.1145, outliers 0.023 of 0.409, correlation 0.29) on two cores with a load of 34;
 * the others are machines to think of. */
static const struct noise busy = {"busy", 0.0965, 0.023, 0.41, 0.062, 0.9}, one = {"1 %", 0.01, 0.02, 0.1, 0.005, 0.9},
                          three = {"3 %", 0.03, 0.02, 0.1, 0.01, 0.9}, five = {"5 %", 0.05, 0.05, 0.3, 0.01, 0.9},
                          plain = {"5 %, no outliers", 0.05, 0, 0, 0, 0};

enum draws {
        DRAWS_NONE,
        DRAWS_SHARED, /* the same at the same seed */
        DRAWS_OWN,
};
struct scene {
        const char *name;
        const struct noise *noise;
        enum draws draws;
        double sigma; /* over seeds */
        size_t cases, planted;
        double ratio;
        bool all_measures;
        double limit; /* of its base; 0: none */
};
static const struct scene scenes[] = {
        {"chaos alone, all measures", &plain, DRAWS_OWN, 1, CASES, 0, 1, true},
        {"chaos alone, the same draws", &plain, DRAWS_SHARED, 1, CASES, 0, 1, true},
        {"chaos alone, a seventh times out", &plain, DRAWS_OWN, 1, CASES, 0, 1, false, 3},
        {"all 10 % slower, the same draws", &plain, DRAWS_SHARED, 1, CASES, CASES, 1.1, false},
        {"all 20 % slower, own draws", &plain, DRAWS_OWN, 1, CASES, CASES, 1.2, false},
        {"all 10 % slower, own draws", &plain, DRAWS_OWN, 1, CASES, CASES, 1.1, false},
        {"one of 100 by 4 ×, own draws", &plain, DRAWS_OWN, 1, CASES, 1, 4, false},
        {"ten cases, chaos alone", &plain, DRAWS_OWN, 1, 10, 0, 1, false},
        {"three of ten by 10 ×, own draws", &plain, DRAWS_OWN, 1, 10, 3, 10, false},
        {"noise of 1 %", &one, DRAWS_NONE, 0, CASES, 0, 1, false},
        {"noise of 1 %, five slower", &one, DRAWS_NONE, 0, CASES, 5, 1.05, false},
        {"noise of 1 %, five slower", &one, DRAWS_NONE, 0, CASES, 5, 1.1, false},
        {"noise of 3 %", &three, DRAWS_NONE, 0, CASES, 0, 1, false},
        {"noise of 3 %, five slower", &three, DRAWS_NONE, 0, CASES, 5, 1.05, false},
        {"noise of 3 %, five slower", &three, DRAWS_NONE, 0, CASES, 5, 1.1, false},
        {"noise of 5 %, 5 % outliers", &five, DRAWS_NONE, 0, CASES, 0, 1, false},
        {"noise of 5 %, five slower", &five, DRAWS_NONE, 0, CASES, 5, 1.1, false},
        {"noise of 5 %, five slower", &five, DRAWS_NONE, 0, CASES, 5, 1.3, false},
        {"busy machine", &busy, DRAWS_NONE, 0, CASES, 0, 1, false},
        {"busy machine, five slower", &busy, DRAWS_NONE, 0, CASES, 5, 1.1, false},
        {"busy machine, five slower", &busy, DRAWS_NONE, 0, CASES, 5, 1.3, false},
        {"busy machine, half are slower", &busy, DRAWS_NONE, 0, CASES, 50, 1.1, false},
};

struct series {
        double base;
        double seconds[2][MOST]; /* in turn: [0][0], [1][0], [0][1], … */
};

static void make_series(struct random *r, const struct scene *scene, double ratio, struct series *ret)
{
        const struct noise *n = scene->noise;
        double drift = n->drift * random_normal(r);

        ret->base = 0.05 * exp(2 * fabs(random_normal(r)));
        for (int i = 0; i < MOST; i++) {
                double draw = scene->draws != DRAWS_NONE ? scene->sigma * random_normal(r) : 0;

                for (int side = 0; side < 2; side++) {
                        double log_time = n->sigma * random_normal(r) + drift + draw;

                        if (scene->draws == DRAWS_OWN)
                                draw = scene->sigma * random_normal(r);
                        if (n->outliers > 0 && random_uniform(r) < n->outliers)
                                log_time += -n->size * log(1 - random_uniform(r));
                        ret->seconds[side][i] = ret->base * (side ? ratio : 1) * exp(log_time);
                        drift = n->keeps * drift + n->drift * sqrt(1 - n->keeps * n->keeps) * random_normal(r);
                }
        }
}

/* `planted` of the cases have the ratio; the others are the same. */
static double ratio_of(const struct scene *scene, size_t i)
{
        return i < scene->planted ? scene->ratio : 1;
}

struct score {
        double comparisons, alarmed; /* with any change reported that is none */
        double planted, found, set_found;
        double runs, cases;
        double seconds; /* of CPU, of the rule itself */
};

static void count_case(struct score *s, double ratio, int direction, bool *alarmed)
{
        if (ratio == 1) {
                *alarmed |= direction != 0;
        } else {
                s->planted++;
                s->found += direction > 0;
                *alarmed |= direction < 0;
        }
        s->cases++;
}

/* -- the judge ---------------------------------------------------------------------------------------------------- */

static struct judge_run run_of(double seconds, double limit)
{
        bool solved = limit == 0 || seconds < limit;

        return (struct judge_run){.is_known = true,
                                  .verdict = solved ? VERDICT_SAT : VERDICT_TIMEOUT,
                                  .limit = limit > 0 ? limit : 1e9,
                                  .seconds = solved ? seconds : limit,
                                  .cpu_seconds = NAN,
                                  .memory = NAN,
                                  .effort = NAN};
}

/* CPU time goes with the time; memory and effort are draws of their own. */
static void add_measures(struct random *r, const struct scene *scene, struct judge_pair *p)
{
        double shared[2] = {random_normal(r), random_normal(r)};

        for (int side = 0; side < 2; side++) {
                bool own = scene->draws == DRAWS_OWN && side == 1;

                p->run[side].cpu_seconds = p->run[side].seconds * exp(0.02 * random_normal(r));
                p->run[side].memory = round(1e4 * exp(scene->sigma * (own ? random_normal(r) : shared[0]))) * 4096;
                p->run[side].effort = round(1e5 * exp(scene->sigma * (own ? random_normal(r) : shared[1])));
        }
}

static bool is_change(enum judge_change c)
{
        return judge_is_regression(c) || judge_is_improvement(c);
}

/* Any change of anything that is none: of a case, the set or a family, by any measure. */
static bool is_alarmed(const struct scene *scene, const struct judgement *j)
{
        bool alarmed = false;

        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++) {
                alarmed |= scene->planted == 0 && is_change(j->set.by[m].change);
                for (size_t k = 0; k < j->options.n_families; k++)
                        alarmed |= scene->planted == 0 && is_change(j->families[k].by[m].change);
                for (size_t i = 0; i < j->n; i++)
                        alarmed |= m != JUDGE_TIME && ratio_of(scene, i) == 1 && is_change(j->cases[i].by[m].change);
        }
        return alarmed;
}

static void judge_solverfs(const struct scene *scene, const struct series *series, struct random *r, struct score *s)
{
        struct judge_pair(*pairs)[MOST] = calloc(CASES, sizeof(*pairs));
        struct judge_case cases[CASES];
        struct judge_options options = {.measure = JUDGE_TIME, .most_pairs = MOST, .most_wanted = judge_usual_pairs(scene->cases), .n_families = 4};
        struct judgement j = {0};
        bool alarmed, again = true;

        if (!pairs)
                abort();
        for (size_t i = 0; i < scene->cases; i++) {
                cases[i] = (struct judge_case){.pairs = pairs[i], .n_pairs = 1, .family = i % 4};
                for (size_t k = 0; k < MOST; k++) {
                        for (int side = 0; side < 2; side++)
                                pairs[i][k].run[side] = run_of(series[i].seconds[side][k], scene->limit * series[i].base);
                        if (scene->all_measures)
                                add_measures(r, scene, &pairs[i][k]);
                }
        }
        while (again) {
                again = false;
                judgement_done(&j);
                judge(cases, scene->cases, &options, &j);
                for (size_t i = 0; i < scene->cases; i++) {
                        again |= j.cases[i].wanted > cases[i].n_pairs;
                        cases[i].n_pairs = MAX(cases[i].n_pairs, j.cases[i].wanted);
                }
        }
        alarmed = is_alarmed(scene, &j);
        for (size_t i = 0; i < scene->cases; i++) {
                enum judge_change c = j.cases[i].change;

                count_case(s, ratio_of(scene, i), judge_is_regression(c) ? 1 : judge_is_improvement(c) ? -1 : 0, &alarmed);
                s->runs += 2 * (double)cases[i].n_pairs;
        }
        s->set_found += scene->ratio > 1 && j.set.by[j.options.measure].change == JUDGE_MORE;
        s->comparisons++;
        s->alarmed += alarmed;
        judgement_done(&j);
        free(pairs);
}

/* -- the others --------------------------------------------------------------------------------------------------- */

static int asv_rule(const struct series *x, size_t n, double floor)
{
        struct stat_test test;
        double ratio = stat_median(x->seconds[1], n) / stat_median(x->seconds[0], n);

        stat_mann_whitney(x->seconds[1], n, x->seconds[0], n, &test);
        if (test.p >= 0.002 || (ratio < floor && ratio > 1 / floor))
                return 0;
        return ratio > 1 ? 1 : -1;
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

                stat_mann_whitney(x->seconds[1], n, x->seconds[0], n, &test);
                p = fmin(test.p, kolmogorov_smirnov(x->seconds[0], x->seconds[1], n));
                if (p < 0.01)
                        return stat_median(x->seconds[1], n) > stat_median(x->seconds[0], n) ? 1 : -1;
                if (p >= attempts[i].same)
                        return 0;
        }
        return 0;
}

/* Its class: 1 stable, 0 unstable, -1 unsolvable. */
static int mariposa_class(const struct series *x, int side)
{
        double solved = 0, error;

        for (size_t i = 0; i < MOST; i++)
                solved += x->seconds[side][i] <= 10 * x->base;
        solved /= MOST;
        error = 1.645 * sqrt(solved * (1 - solved) / MOST);
        return solved - error >= 0.95 ? 1 : solved + error <= 0.05 ? -1 : 0;
}

static int mariposa_rule(const struct series *x)
{
        int before = mariposa_class(x, 0), after = mariposa_class(x, 1);

        return (before > after) - (before < after);
}

/* Is it among the twenty largest increases of the first run? */
static int top_rule(const struct series *series, size_t n, size_t i)
{
        double ratio = series[i].seconds[1][0] / series[i].seconds[0][0];
        size_t above = 0;

        for (size_t k = 0; k < n; k++)
                above += series[k].seconds[1][0] / series[k].seconds[0][0] > ratio;
        return above < 20 && ratio > 1;
}

enum rule {
        RULE_SOLVERFS,
        RULE_ASV_10,
        RULE_ASV_20,
        RULE_PINPOINT,
        RULE_MARIPOSA,
        RULE_TOP,
        N_RULES
};
static const char *const rule_names[] = {"solverfs", "asv, 10 runs", "asv, 20 runs", "Pinpoint", "Mariposa", "top 20"};

static int direction_of(enum rule rule, const struct series *series, size_t n, size_t i, size_t *ret_runs)
{
        *ret_runs = rule == RULE_ASV_10 ? 10 : rule == RULE_MARIPOSA ? MOST : rule == RULE_TOP ? 1 : 20;
        if (rule == RULE_PINPOINT)
                return pinpoint_rule(&series[i], ret_runs);
        if (rule == RULE_MARIPOSA)
                return mariposa_rule(&series[i]);
        return rule == RULE_TOP ? top_rule(series, n, i) : asv_rule(&series[i], *ret_runs, 1.05);
}

static double cpu_seconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void judge_by(enum rule rule, const struct scene *scene, const struct series *series, struct random *r, struct score *s)
{
        double began = cpu_seconds();
        bool alarmed = false;

        if (rule == RULE_SOLVERFS) {
                judge_solverfs(scene, series, r, s);
                s->seconds += cpu_seconds() - began;
                return;
        }
        for (size_t i = 0; i < scene->cases; i++) {
                size_t n;
                int direction = direction_of(rule, series, scene->cases, i, &n);

                count_case(s, ratio_of(scene, i), direction, &alarmed);
                s->runs += 2 * (double)n;
        }
        s->comparisons++;
        s->alarmed += alarmed;
        s->seconds += cpu_seconds() - began;
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

struct share { /* of a scene's comparisons, for one thread */
        const struct scene *scene;
        unsigned first, rounds, step;
        struct score scores[N_RULES];
};

static void *compare_share(void *user)
{
        struct share *share = user;
        struct series *series = calloc(CASES, sizeof(*series));

        if (!series)
                abort();
        for (unsigned seed = share->first; seed < share->rounds; seed += share->step) {
                struct random r;

                random_seed(&r, seed);
                for (size_t i = 0; i < share->scene->cases; i++)
                        make_series(&r, share->scene, ratio_of(share->scene, i), &series[i]);
                for (enum rule rule = 0; rule < N_RULES; rule++)
                        judge_by(rule, share->scene, series, &r, &share->scores[rule]);
        }
        free(series);
        return NULL;
}

static void add_score(struct score *to, const struct score *s)
{
        to->comparisons += s->comparisons;
        to->alarmed += s->alarmed;
        to->planted += s->planted;
        to->found += s->found;
        to->set_found += s->set_found;
        to->runs += s->runs;
        to->cases += s->cases;
        to->seconds += s->seconds;
}

static void print_row(const struct scene *scene, enum rule rule, const struct score *s)
{
        char found[32] = "", set[32] = "", what[32] = "";

        if (s->planted > 0)
                snprintf(found, sizeof(found), "%.1f %%", 100 * s->found / s->planted);
        if (scene->planted > 0)
                snprintf(what, sizeof(what), "%zu × +%.0f %%", scene->planted, 100 * (scene->ratio - 1));
        if (scene->planted > 0 && rule == RULE_SOLVERFS)
                snprintf(set, sizeof(set), "%.1f %%", 100 * s->set_found / s->comparisons);
        printf("| %s | %s | %s | %.0f of %.0f | %s | %s | %.1f | %.2f |\n", rule == 0 ? scene->name : "", what, rule_names[rule],
               s->alarmed, s->comparisons, found, set, s->runs / s->cases, 1e3 * s->seconds / s->comparisons);
}

static void measure(const struct scene *scene, unsigned first, unsigned rounds, unsigned n_threads)
{
        struct share shares[16] = {0};
        struct score scores[N_RULES] = {0};
        pthread_t threads[16];
        uint64_t began = now_ns();

        for (unsigned t = 0; t < n_threads; t++) {
                shares[t] = (struct share){.scene = scene, .first = first + t, .rounds = first + rounds, .step = n_threads};
                if (pthread_create(&threads[t], NULL, compare_share, &shares[t]) != 0)
                        abort();
        }
        for (unsigned t = 0; t < n_threads; t++) {
                pthread_join(threads[t], NULL);
                for (enum rule rule = 0; rule < N_RULES; rule++)
                        add_score(&scores[rule], &shares[t].scores[rule]);
        }
        for (enum rule rule = 0; rule < N_RULES; rule++)
                print_row(scene, rule, &scores[rule]);
        fprintf(stderr, "%s: %.1f s\n", scene->name, (double)(now_ns() - began) / 1e9);
        fflush(stdout);
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
                {"rounds", required_argument, NULL, 'r'}, {"first", required_argument, NULL, 'f'},
                {"scene", required_argument, NULL, 's'},  {"threads", required_argument, NULL, 't'},
                {"record", no_argument, NULL, 'R'},       {0}};
        unsigned rounds = 200, first = 1, threads = 2;
        size_t scene = SIZE_MAX;

        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                if (c == '?')
                        return 2;
                if (c == 'R') {
                        record();
                        return 0;
                }
                if (c == 's')
                        scene = strtoul(optarg, NULL, 10);
                else
                        *(c == 'r' ? &rounds : c == 'f' ? &first : &threads) = (unsigned)strtoul(optarg, NULL, 10);
        }
        threads = MAX(1, MIN(threads, 16));
        printf("| scene | planted | rule | comparisons with a false alarm | found | of the set | runs a case | ms a comparison "
               "|\n"
               "|---|---|---|---|---|---|---|---|\n");
        for (size_t k = 0; k < ARRAY_SIZE(scenes); k++)
                if (scene == SIZE_MAX || scene == k)
                        measure(&scenes[k], first, rounds, threads);
        return 0;
}
