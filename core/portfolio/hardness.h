/* A model of runtimes that needs few runs, as all arms share the hardness of a query.
 *
 * The logarithm of arm a's runtime on query i is m_a + z_i + e: the location of the arm, the hardness of the query, and noise with the arm's own
 * spread. With its own probability the arm never solves the query. Expectation maximization fits the model to all attempts, with each query's
 * hardness on a grid. So censored runs count with the information they have, and an arm that only gets queries at which others failed is not blamed
 * for that: the choice of attempts depends only on observed data (Little and Rubin, "Statistical Analysis with Missing Data": ignorable selection).
 * Priors keep the model stable where there is little data.
 *
 * Times are in seconds, locations and hardness in natural logarithms of seconds. */
#pragma once

#include "core/portfolio/learner.h"

#define HARDNESS_LEVELS         15
#define HARDNESS_VARIANCE_LEAST .09 /* lower bound of struct hardness.variance */

struct hardness {
        size_t arms;
        double limit; /* seconds, for all arms of a query together */
        struct hardness_arm {
                double location;   /* m_a */
                double spread;     /* of the noise */
                double predictive; /* spread of noise and location together: larger with fewer runs */
                double never;      /* probability that the arm never solves a query */
        } *arm;                    /* [arms] */
        double variance;           /* of the hardness around its prediction from similar queries */
};

void hardness_init(struct hardness *h, size_t arms, double limit);
void hardness_done(struct hardness *h);

double hardness_level(size_t g); /* the hardness at point g < HARDNESS_LEVELS of the grid */
/* The chance that the arm has not solved a query of hardness `level` after exp(log_seconds) seconds. `offset` is added to the arm's location. */
double hardness_survival(const struct hardness *h, size_t arm, double log_seconds, double offset, double level);

struct hardness_seen { /* a query's hardness, given the attempts on it */
        double mean, variance;
};
struct residual { /* of an arm on a query; both 0 if the arm did not run or gave up */
        double apart;  /* expected distance of the logarithm of its time from location + hardness */
        double weight; /* how informative that is: 0 not at all, 1 as a run that solved the query */
};
/* Returns the hardness of a query after its attempts, and each arm's residual. `mean` is the hardness predicted from similar queries. offset[a] is
 * added to the location of arm a for this query (NULL: 0); residuals are measured without it. */
struct hardness_seen hardness_after(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset,
                                   struct residual *residuals);
/* Improves the fit in `rounds` rounds over n queries. seen[]: for each query the attempts of all arms. predicted[]: each query's `mean`, as above. */
void hardness_fit(struct hardness *h, const struct attempt *seen, size_t n, const double *predicted, unsigned rounds);
