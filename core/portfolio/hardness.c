#include "core/portfolio/hardness.h"

#include <math.h>

#include "core/portfolio/normal.h"

/* Priors. None depends on the unit of time; they were chosen on synthetic tables and resampled ones (docs/portfolios.md). */
#define LOCATION_PART   .02 /* of the limit: where an arm's location is expected */
#define LOCATION_SPREAD 1.5
#define NOISE           1.0
#define NOISE_POOL      3 /* runs that NOISE weighs in the spread of all arms, */
#define NOISE_ARM       5 /* and that one weighs in an arm's own */
#define NOISE_LEAST     .15
#define NEVER           .25
#define NEVER_RUNS      2
#define NEVER_MOST      .95
#define VARIANCE        1.0
#define LEVEL_MOST      6.0

void hardness_init(struct hardness *h, size_t arms, double limit)
{
        normal_prepare();
        *h = (struct hardness){.arms = arms, .limit = limit, .variance = VARIANCE};
        h->location = allocate(arms, sizeof(*h->location));
        h->spread = allocate(arms, sizeof(*h->spread));
        h->predictive = allocate(arms, sizeof(*h->predictive));
        h->never = allocate(arms, sizeof(*h->never));
        for (size_t a = 0; a < arms; a++) {
                h->location[a] = log(limit * LOCATION_PART);
                h->spread[a] = NOISE;
                h->predictive[a] = sqrt(NOISE * NOISE + LOCATION_SPREAD * LOCATION_SPREAD);
                h->never[a] = NEVER;
        }
}

void hardness_done(struct hardness *h)
{
        free(h->location);
        free(h->spread);
        free(h->predictive);
        free(h->never);
}

double hardness_level(size_t g)
{
        return LEVEL_MOST * (2.0 * (double)g / (HARDNESS_LEVELS - 1) - 1);
}

static double still(const struct hardness *h, size_t arm, double log_seconds, double location, double spread)
{
        return h->never[arm] + (1 - h->never[arm]) * normal_tail((log_seconds - location) / spread);
}

double hardness_survival(const struct hardness *h, size_t arm, double log_seconds, double offset, double level)
{
        return still(h, arm, log_seconds, h->location[arm] + offset + level, h->predictive[arm]);
}

/* A run of no time has no logarithm. */
static double log_time(const struct hardness *h, const struct attempt *a)
{
        return log(fmax(a->seconds, h->limit * 1e-6));
}

/* The small constants: one strange run must not decide everything. */
static double likelihood(const struct hardness *h, size_t arm, const struct attempt *a, double log_seconds, double location)
{
        if (a->ending == ENDING_SOLVED)
                return (1 - h->never[arm]) * normal_density((log_seconds - location) / h->spread[arm]) /
                               h->spread[arm] +
                       1e-6;
        return still(h, arm, log_seconds, location, h->spread[arm]) + 1e-9;
}

static void make_sum_one(double chance[HARDNESS_LEVELS])
{
        double sum = 0;

        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                sum += chance[g];
        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                chance[g] /= sum;
}

/* The chances of each level. */
static void find_levels(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset, double ret[HARDNESS_LEVELS])
{
        double deviation = sqrt(h->variance);

        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                ret[g] = normal_density((hardness_level(g) - mean) / deviation);
        make_sum_one(ret);
        for (size_t a = 0; a < h->arms; a++) {
                double log_seconds;

                if (attempts[a].ending == ENDING_NONE)
                        continue;
                log_seconds = log_time(h, &attempts[a]);
                for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                        ret[g] *= likelihood(h, a, &attempts[a], log_seconds,
                                             h->location[a] + (offset ? offset[a] : 0) + hardness_level(g));
                make_sum_one(ret); /* for each arm: the product over many would be too small */
        }
}

struct hardness_seen hardness_look(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset,
                                   double *residual, double *weight)
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

                residual[a] = weight[a] = 0;
                if (at->ending != ENDING_SOLVED && at->ending != ENDING_STOPPED)
                        continue;
                for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                        double u = (log_time(h, at) - h->location[a] - hardness_level(g)) / h->spread[a];

                        residual[a] += chance[g] * h->spread[a] * (at->ending == ENDING_SOLVED ? u : normal_mean_above(u));
                        weight[a] += chance[g] * (at->ending == ENDING_SOLVED ? 1 : normal_told_above(u));
                }
        }
        return seen;
}

/* The sums of one round for one arm: runs (a censored one counts for what it tells), their locations, squares of the noise, runs that would
 * have been solved, runs that never would. */
struct gathered {
        double runs, locations, squares, solvable, never;
};

static void gather(const struct hardness *h, size_t arm, const struct attempt *a, const double chance[HARDNESS_LEVELS],
                   struct gathered *to)
{
        double log_seconds = log_time(h, a), spread = h->spread[arm];

        for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                double level = hardness_level(g), location = h->location[arm] + level, u = (log_seconds - location) / spread;

                if (chance[g] < 1e-4)
                        continue;
                if (a->ending == ENDING_SOLVED) {
                        to->runs += chance[g];
                        to->locations += chance[g] * (log_seconds - level);
                        to->squares += chance[g] * u * u * spread * spread;
                        to->solvable += chance[g];
                } else {
                        double running = (1 - h->never[arm]) * normal_tail(u), solvable = running / (running + h->never[arm]),
                               told = normal_told_above(u), weight = chance[g] * solvable * told;

                        to->runs += weight;
                        to->locations += weight * (h->location[arm] + spread * normal_mean_above(u));
                        to->squares += weight * spread * spread * (1 + u * normal_mean_above(u));
                        to->solvable += weight;
                        to->never += chance[g] * (1 - solvable) * told;
                }
        }
}

static void maximize(struct hardness *h, const struct gathered *sums)
{
        double expected = log(h->limit * LOCATION_PART), runs = NOISE_POOL, squares = NOISE_POOL * NOISE * NOISE, pooled;

        for (size_t a = 0; a < h->arms; a++) {
                expected += h->location[a];
                runs += sums[a].runs;
                squares += sums[a].squares;
        }
        expected /= (double)h->arms + 1;
        pooled = squares / runs;
        for (size_t a = 0; a < h->arms; a++) {
                const struct gathered *s = &sums[a];
                double prior = h->spread[a] * h->spread[a] / (LOCATION_SPREAD * LOCATION_SPREAD), spread;

                h->location[a] = (s->locations + prior * expected) / (s->runs + prior);
                spread = fmax(NOISE_LEAST, sqrt((s->squares + NOISE_ARM * pooled) / (s->runs + NOISE_ARM)));
                prior = spread * spread / (LOCATION_SPREAD * LOCATION_SPREAD);
                h->spread[a] = spread;
                h->predictive[a] = spread * sqrt(1 + 1 / (s->runs + prior));
                h->never[a] = fmin(NEVER_MOST, (s->never + NEVER * NEVER_RUNS) / (s->never + s->solvable + NEVER_RUNS));
        }
}

void hardness_fit(struct hardness *h, const struct past *p, const double *predicted, unsigned rounds)
{
        cleanup_free struct gathered *sums = allocate(h->arms, sizeof(*sums));

        for (unsigned round = 0; round < rounds; round++) {
                memset(sums, 0, h->arms * sizeof(*sums));
                for (size_t i = 0; i < p->n; i++) {
                        const struct attempt *attempts = past_attempts(p, i);
                        double chance[HARDNESS_LEVELS];

                        find_levels(h, attempts, predicted[i], NULL, chance);
                        for (size_t a = 0; a < h->arms; a++)
                                if (attempts[a].ending == ENDING_SOLVED || attempts[a].ending == ENDING_STOPPED)
                                        gather(h, a, &attempts[a], chance, &sums[a]);
                }
                maximize(h, sums);
        }
}
