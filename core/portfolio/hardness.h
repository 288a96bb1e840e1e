/* A model of runtimes that needs few of them, as all arms share how hard a query is.
 *
 * The logarithm of arm a's runtime on query i is m_a + z_i + e: the location of the arm, the hardness of the query, and noise with a spread of
 * the arm's own. With a probability of its own the arm never solves the query. Expectation and maximization fits the model to all attempts, with
 * each query's hardness on a grid. So censored runs count for what they say, and an arm that only gets what others failed at is not blamed for
 * it: which attempts were made depends only on what was seen (Little and Rubin, "Statistical Analysis with Missing Data": ignorable
 * selection). Priors hold the model where there is little data.
 *
 * Times are in seconds, locations and hardness in natural logarithms of seconds. */
#pragma once

#include "core/portfolio/learner.h"

#define HARDNESS_LEVELS         15
#define HARDNESS_VARIANCE_LEAST .09 /* of a prediction */

struct hardness {
        size_t arms;
        double limit;
        struct hardness_arm {
                double location;   /* m_a */
                double spread;     /* of the noise */
                double predictive; /* spread of noise and location together: the fewer runs, the larger */
                double never;      /* probability that the arm never solves a query */
        } *of;                     /* of each arm */
        double variance;           /* of the hardness around its prediction by similar queries */
};

void hardness_init(struct hardness *h, size_t arms, double limit);
void hardness_done(struct hardness *h);

double hardness_level(size_t g); /* of the grid */
/* The chance that the arm still runs after exp(log_seconds) seconds on a query of that level. */
double hardness_survival(const struct hardness *h, size_t arm, double log_seconds, double offset, double level);

/* The hardness of a query after its attempts; and for each arm how far it was from the model (0: it did not run) and how much that tells, from
 * 0 to 1. `mean`: predicted by similar queries; `offset`: added to each arm's location for this query (NULL: nothing). */
struct hardness_seen {
        double mean, variance;
};
struct residual {
        double apart, weight;
};
struct hardness_seen hardness_look(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset,
                                   struct residual *residuals);
/* Fits to the attempts on n queries, one of each arm, from where the last fit ended. `predicted`: each query's mean before its attempts. */
void hardness_fit(struct hardness *h, const struct attempt *seen, size_t n, const double *predicted, unsigned rounds);
