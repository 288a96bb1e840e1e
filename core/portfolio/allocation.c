/* How long an arm may run before the next one gets its turn: MedleySolver, section 5. */
#include "core/portfolio/learner_internal.h"

#include <math.h>

#define NEAREST 40

/* -- exponential distributions ----------------------------------------------------------------------------------- */

/* The least t with P(t < u < T) <= delta for an exponential runtime u of rate lambda. */
static double enough(const struct learner *l, double lambda)
{
        double T = l->settings.limit;

        return -log(l->settings.confidence + exp(-lambda * T)) / lambda;
}

/* The rate before anything was seen: the arms in sequence take T. */
static double first_rate(const struct learner *l)
{
        return (double)l->arms / l->settings.limit;
}

/* The maximum of the likelihood of runs of which some were stopped: those that solved something over the time of all, as the distribution has
 * no memory. (The published code gives a stopped run its expected rest, which comes to the same.) The first rate weighs as one run, and is an arm's until it has
 * solved something. */
static double rate_of(const struct learner *l, double solved, double seconds)
{
        return (solved + 1) / (seconds + 1 / first_rate(l));
}

struct samples {
        double *solved, *seconds; /* of each arm */
};

static int expo_init(struct learner *l, void *state)
{
        struct samples *s = state;

        s->solved = calloc(l->arms, sizeof(*s->solved));
        s->seconds = calloc(l->arms, sizeof(*s->seconds));
        return s->solved && s->seconds ? 0 : -ENOMEM;
}

static void expo_done(void *state)
{
        struct samples *s = state;

        free(s->solved);
        free(s->seconds);
}

static double expo_share(struct learner *l, void *state, uint32_t arm)
{
        const struct samples *s = state;

        return enough(l, rate_of(l, s->solved[arm], s->seconds[arm]));
}

static int expo_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct samples *s = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempts[a].ending == ENDING_SOLVED || (attempt_ran(&attempts[a]) && s->solved[a] > 0)) {
                        s->solved[a] += attempts[a].ending == ENDING_SOLVED;
                        s->seconds[a] += attempts[a].seconds;
                }
        return 0;
}

const struct allocation allocation_expo = {
        .size = sizeof(struct samples),
        .init = expo_init,
        .done = expo_done,
        .share = expo_share,
        .learn = expo_learn,
};

static bool was_run(const struct past *p, size_t i, uint32_t arm)
{
        return attempt_ran(&past_attempts(p, i)[arm]);
}

static double nearest_share(struct learner *l, void *state, uint32_t arm)
{
        struct neighbour list[NEAREST];
        size_t n = past_nearest(&l->past, NEAREST, was_run, arm, list);
        double solved = 0, seconds = 0;

        for (size_t i = 0; i < n; i++) {
                const struct attempt *seen = &past_attempts(&l->past, list[i].index)[arm];

                solved += seen->ending == ENDING_SOLVED;
                seconds += seen->seconds;
        }
        return enough(l, rate_of(l, solved, seconds));
}

const struct allocation allocation_nearest = {.share = nearest_share};

/* -- linear regression by stochastic gradient descent ------------------------------------------------------------- */

#define LINEAR_RATE  .01
#define LINEAR_DECAY 1e-4

struct linear {
        double *weights; /* arms × (features + 1), the constant last; of runtimes as parts of the limit */
        size_t *seen;    /* runs of each arm */
};

static int linear_init(struct learner *l, void *state)
{
        struct linear *m = state;

        m->weights = calloc(l->arms * (l->features + 1), sizeof(*m->weights));
        m->seen = calloc(l->arms, sizeof(*m->seen));
        return m->weights && m->seen ? 0 : -ENOMEM;
}

static void linear_done(void *state)
{
        struct linear *m = state;

        free(m->weights);
        free(m->seen);
}

static double linear_predict(const struct learner *l, const double *weights)
{
        double sum = weights[l->features];

        for (size_t j = 0; j < l->features; j++)
                sum += weights[j] * l->past.scaled[j];
        return sum;
}

static double linear_share(struct learner *l, void *state, uint32_t arm)
{
        const struct linear *m = state;

        if (m->seen[arm] == 0)
                return l->settings.limit;
        return linear_predict(l, &m->weights[arm * (l->features + 1)]) * l->settings.limit;
}

/* The time that a run counts for: a run that did not solve the query counts for the whole limit. If it counted for the time it got, arms that are
 * cut short would seem fast. */
static double sample_of(const struct learner *l, const struct attempt *a)
{
        return a->ending == ENDING_SOLVED ? a->seconds : l->settings.limit;
}

/* A step as long as the input allows: a query with a feature a hundred times the mean would throw a fixed one off. */
static int linear_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct linear *m = state;
        double norm = 1;

        for (size_t j = 0; j < l->features; j++)
                norm += l->past.scaled[j] * l->past.scaled[j];
        for (size_t a = 0; a < l->arms; a++) {
                double *w = &m->weights[a * (l->features + 1)], error;

                if (!attempt_ran(&attempts[a]))
                        continue;
                error = linear_predict(l, w) - sample_of(l, &attempts[a]) / l->settings.limit;
                for (size_t j = 0; j <= l->features; j++)
                        w[j] -= fmin(LINEAR_RATE, .5 / norm) *
                                (error * (j < l->features ? l->past.scaled[j] : 1) + LINEAR_DECAY * w[j]);
                m->seen[a]++;
        }
        return 0;
}

const struct allocation allocation_linear = {
        .size = sizeof(struct linear),
        .init = linear_init,
        .done = linear_done,
        .share = linear_share,
        .learn = linear_learn,
};

/* -- no model ---------------------------------------------------------------------------------------------------- */

static double constant_share(struct learner *l, void *state, uint32_t arm)
{
        return l->settings.limit / (double)l->arms;
}

const struct allocation allocation_constant = {.share = constant_share};

static double none_share(struct learner *l, void *state, uint32_t arm)
{
        return l->settings.limit;
}

const struct allocation allocation_none = {.share = none_share};
