/* A model of runtimes that needs few of them: how hard a query is, is common to all arms.
 *
 * The logarithm of arm a's runtime on query i is m_a + z_i + e: the arm's location, the query's hardness, and noise of the arm's own
 * spread; with a probability of its own the arm never solves it. The model is fitted by expectation and maximization over all attempts,
 * with each query's hardness on a grid, so that censored runs count for what they say and an arm that is only run when others have failed
 * is not blamed for the hardness of what it gets: which attempts were made depends on what was seen, never on what was not (Little and
 * Rubin, "Statistical Analysis with Missing Data": ignorable selection). Priors hold it where there is little data.
 *
 * Times are in seconds, locations and hardness in natural logarithms of them. */
#pragma once

#include "core/portfolio/past.h"

#define HARDNESS_LEVELS         15
#define HARDNESS_VARIANCE_LEAST .09 /* hardness is never predicted better than that */

struct hardness {
        size_t arms;
        double limit;
        double *location; /* m_a */
        double *spread;   /* of the noise */
        double *predictive; /* spread with what is uncertain about the location: the less an arm was run, the more it may surprise */
        double *never;      /* probability that the arm never solves a query */
        double variance;    /* of the hardness around what similar queries predict */
};

int hardness_init(struct hardness *h, size_t arms, double limit);
void hardness_done(struct hardness *h);

double hardness_level(size_t g); /* of the grid */
/* The chance that the arm is still at it at that level after exp(log_seconds) seconds. */
double hardness_survival(const struct hardness *h, size_t arm, double log_seconds, double offset, double level);

/* A query as the model sees it afterwards: its hardness, and for each arm how far it was from the model (0 where it did not run) and how
 * much that tells, from 0 to 1. `mean` is what similar queries predict, `attempts` what happened, `offset` what is added to each arm's location for
 * this query (NULL: nothing). */
struct hardness_seen {
        double mean, variance;
};
struct hardness_seen hardness_look(const struct hardness *h, const struct attempt *attempts, double mean, const double *offset,
                                   double *residual, double *weight);
/* Fits to the attempts seen, from where the last fit ended; `predicted`: the mean each query's hardness had beforehand. */
void hardness_fit(struct hardness *h, const struct past *p, const double *predicted, unsigned rounds);
