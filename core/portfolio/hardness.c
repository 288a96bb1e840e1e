/* The normal distribution from tables; the chances of the levels from the attempts; the fit, a round of which is gather() and maximize(). */
#include "core/portfolio/hardness.h"

#include <math.h>
#include <pthread.h>

/* Priors. None depends on the unit of time; they were chosen on synthetic and resampled tables (docs/portfolios.md). */
#define LOCATION_PART   .02 /* of the limit: the expected location of an arm */
#define LOCATION_SPREAD 1.5 /* of the locations of arms */
#define NOISE           1.0 /* spread of an arm's runs */
#define NOISE_POOL      3   /* runs: the weight of NOISE in the spread of all arms' runs */
#define NOISE_ARM       5   /* runs: the weight of that spread in an arm's own */
#define NOISE_LEAST     .15
#define NEVER           .25 /* probability that an arm never solves a query */
#define NEVER_RUNS      2   /* runs: its weight */
#define NEVER_MOST      .95
#define VARIANCE        1.0 /* of the hardness around its prediction, until there are queries enough */
#define LEVEL_MOST      6.0 /* the grid goes from -6 to 6 */

/* -- the normal distribution --------------------------------------------------------------------------------------- */

/* Tables, as the model needs these values millions of times. Errors are below 1e-5, and below a thousandth of the value between -8 and 8; outside,
 * the value at the border is used. */
#define NORMAL_MOST  8
#define NORMAL_STEPS 128 /* per unit */
#define NORMAL_SIZE  (2 * NORMAL_MOST * NORMAL_STEPS + 2)
static double normal_density[NORMAL_SIZE],
        normal_tail[NORMAL_SIZE],              /* the probability of a value above u */
        normal_mean_above[NORMAL_SIZE],        /* the mean of the values above u: the inverse Mills ratio */
        normal_information_above[NORMAL_SIZE]; /* the information in "above u" about the value: 0 none, 1 all */

static void make_tables(void)
{
        for (int i = 0; i < NORMAL_SIZE; i++) {
                double u = (double)i / NORMAL_STEPS - NORMAL_MOST;

                normal_density[i] = exp(-.5 * u * u) / sqrt(2 * M_PI);
                normal_tail[i] = .5 * erfc(u * M_SQRT1_2);
                normal_mean_above[i] = normal_density[i] / normal_tail[i];
                normal_information_above[i] = fmax(0, normal_mean_above[i] * (normal_mean_above[i] - u));
        }
}

static double normal(const double table[NORMAL_SIZE], double u)
{
        double at = (fmin(fmax(u, -NORMAL_MOST), NORMAL_MOST) + NORMAL_MOST) * NORMAL_STEPS;
        int i = (int)at;

        return table[i] + (at - i) * (table[i + 1] - table[i]);
}

static double mean_above(double u)
{
        return u > NORMAL_MOST ? u + 1 / u : normal(normal_mean_above, u);
}

/* -- the model ----------------------------------------------------------------------------------------------------- */

void hardness_init(struct hardness *h, size_t arms, double limit)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, make_tables);
        *h = (struct hardness){.arms = arms, .limit = limit, .variance = VARIANCE};
        h->arm = allocate(arms, sizeof(*h->arm));
        for (size_t a = 0; a < arms; a++)
                h->arm[a] = (struct hardness_arm){.location = log(limit * LOCATION_PART),
                                                  .spread = NOISE,
                                                  .predictive = sqrt(NOISE * NOISE + LOCATION_SPREAD * LOCATION_SPREAD),
                                                  .never = NEVER};
}

void hardness_done(struct hardness *h)
{
        free(h->arm);
}

double hardness_level(size_t g)
{
        return LEVEL_MOST * (2.0 * (double)g / (HARDNESS_LEVELS - 1) - 1);
}

/* hardness_survival() for a location and a spread. */
static double survival(const struct hardness *h, size_t arm, double log_seconds, double location, double spread)
{
        return h->arm[arm].never + (1 - h->arm[arm].never) * normal(normal_tail, (log_seconds - location) / spread);
}

double hardness_survival(const struct hardness *h, size_t arm, double log_seconds, double offset, double level)
{
        return survival(h, arm, log_seconds, h->arm[arm].location + offset + level, h->arm[arm].predictive);
}

/* An arm that gave up tells nothing about its own time. But it had not solved the query by then, so find_levels() counts it like a stopped one. */
static bool attempt_tells_time(const struct attempt *a)
{
        return a->ending == ENDING_SOLVED || a->ending == ENDING_STOPPED;
}

/* At least a little: zero has no logarithm. */
static double log_time(const struct hardness *h, const struct attempt *a)
{
        return log(fmax(a->seconds, h->limit * 1e-6));
}

/* The small constants keep one strange run from deciding everything. */
static double likelihood(const struct hardness *h, size_t arm, const struct attempt *a, double log_seconds, double location)
{
        if (a->ending == ENDING_SOLVED)
                return (1 - h->arm[arm].never) * normal(normal_density, (log_seconds - location) / h->arm[arm].spread) /
                               h->arm[arm].spread +
                       1e-6;
        return survival(h, arm, log_seconds, location, h->arm[arm].spread) + 1e-9;
}

static void make_sum_one(double chance[HARDNESS_LEVELS])
{
        double sum = 0;

        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                sum += chance[g];
        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                chance[g] /= sum;
}

/* The probability of each level: the normal distribution around `mean`, times the likelihood of each attempt. */
static void find_levels(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset, double ret[HARDNESS_LEVELS])
{
        double deviation = sqrt(h->variance);

        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                ret[g] = normal(normal_density, (hardness_level(g) - mean) / deviation);
        make_sum_one(ret);
        for (size_t a = 0; a < h->arms; a++) {
                double log_seconds;

                if (attempts[a].ending == ENDING_NONE)
                        continue;
                log_seconds = log_time(h, &attempts[a]);
                for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                        ret[g] *= likelihood(h, a, &attempts[a], log_seconds,
                                             h->arm[a].location + (offset ? offset[a] : 0) + hardness_level(g));
                make_sum_one(ret); /* after each arm: the product over many would be too small */
        }
}

struct hardness_seen hardness_after(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset,
                                   struct residual *residuals)
{
        double chance[HARDNESS_LEVELS], squares = 0;
        struct hardness_seen seen = {0};

        find_levels(h, attempts, mean, offset, chance);
        for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                seen.mean += chance[g] * hardness_level(g);
                squares += chance[g] * hardness_level(g) * hardness_level(g);
        }
        seen.variance = fmax(0, squares - seen.mean * seen.mean);
        for (size_t a = 0; a < h->arms; a++) {
                const struct attempt *at = &attempts[a];
                const struct hardness_arm *arm = &h->arm[a];

                residuals[a] = (struct residual){0};
                for (size_t g = 0; attempt_tells_time(at) && g < HARDNESS_LEVELS; g++) {
                        double u = (log_time(h, at) - arm->location - hardness_level(g)) / arm->spread;
                        bool is_solved = at->ending == ENDING_SOLVED;

                        residuals[a].apart += chance[g] * arm->spread * (is_solved ? u : mean_above(u));
                        residuals[a].weight += chance[g] * (is_solved ? 1 : normal(normal_information_above, u));
                }
        }
        return seen;
}

/* The sums of one round over the runs of one arm. A stopped run counts by the information in its time. */
struct gathered {
        double runs;            /* weights */
        double locations;       /* weight × (logarithm of the time - hardness) */
        double squares;         /* weight × square of the noise */
        double solvable, never; /* weights of runs that solve the query in the end; of those that never do */
};

/* Expectation: adds an attempt at each level, by the level's chance. A stopped run has the time that is expected of it. */
static void gather(const struct hardness *h, size_t arm, const struct attempt *a, const double chance[HARDNESS_LEVELS], struct gathered *to)
{
        const struct hardness_arm *of = &h->arm[arm];
        double log_seconds = log_time(h, a), spread = of->spread;

        for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                double level = hardness_level(g), u = (log_seconds - (of->location + level)) / spread;

                if (chance[g] < 1e-4)
                        continue;
                if (a->ending == ENDING_SOLVED) {
                        to->runs += chance[g];
                        to->locations += chance[g] * (log_seconds - level);
                        to->squares += chance[g] * u * u * spread * spread;
                        to->solvable += chance[g];
                } else {
                        double running = (1 - of->never) * normal(normal_tail, u), solvable = running / (running + of->never),
                               information = normal(normal_information_above, u), weight = chance[g] * solvable * information;

                        to->runs += weight;
                        to->locations += weight * (of->location + spread * mean_above(u));
                        to->squares += weight * spread * spread * (1 + u * mean_above(u));
                        to->solvable += weight;
                        to->never += chance[g] * (1 - solvable) * information;
                }
        }
}

/* Maximization, with priors: an arm's location tends to the mean location of all arms, its spread to that of all runs, `never` to NEVER. */
static void maximize(struct hardness *h, const struct gathered *sums)
{
        double expected = log(h->limit * LOCATION_PART), runs = NOISE_POOL, squares = NOISE_POOL * NOISE * NOISE, pooled;

        for (size_t a = 0; a < h->arms; a++) {
                expected += h->arm[a].location;
                runs += sums[a].runs;
                squares += sums[a].squares;
        }
        expected /= (double)h->arms + 1;
        pooled = squares / runs;
        for (size_t a = 0; a < h->arms; a++) {
                const struct gathered *s = &sums[a];
                struct hardness_arm *arm = &h->arm[a];
                double prior = arm->spread * arm->spread / (LOCATION_SPREAD * LOCATION_SPREAD);

                arm->location = (s->locations + prior * expected) / (s->runs + prior);
                arm->spread = fmax(NOISE_LEAST, sqrt((s->squares + NOISE_ARM * pooled) / (s->runs + NOISE_ARM)));
                prior = arm->spread * arm->spread / (LOCATION_SPREAD * LOCATION_SPREAD);
                arm->predictive = arm->spread * sqrt(1 + 1 / (s->runs + prior));
                arm->never = fmin(NEVER_MOST, (s->never + NEVER * NEVER_RUNS) / (s->never + s->solvable + NEVER_RUNS));
        }
}

void hardness_fit(struct hardness *h, const struct attempt *seen, size_t n, const double *predicted, unsigned rounds)
{
        cleanup_free struct gathered *sums = allocate(h->arms, sizeof(*sums));

        for (unsigned round = 0; round < rounds; round++) {
                memset(sums, 0, h->arms * sizeof(*sums));
                for (size_t i = 0; i < n; i++) {
                        const struct attempt *attempts = &seen[i * h->arms];
                        double chance[HARDNESS_LEVELS];

                        find_levels(h, attempts, predicted[i], NULL, chance);
                        for (size_t a = 0; a < h->arms; a++)
                                if (attempt_tells_time(&attempts[a]))
                                        gather(h, a, &attempts[a], chance, &sums[a]);
                }
                maximize(h, sums);
        }
}
