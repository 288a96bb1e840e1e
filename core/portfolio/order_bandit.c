/* Selectors that look at no feature: bandits, and what they are compared to. */
#include "core/portfolio/learner_internal.h"

#include <math.h>

/* -- Thompson sampling: MedleySolver, section 4.1 ---------------------------------------------------------------- */

struct tallies {
        double *gained; /* rewards of each arm */
        double *runs;
};

static int tallies_init(struct learner *l, void *state)
{
        struct tallies *t = state;

        t->gained = calloc(l->arms, sizeof(*t->gained));
        t->runs = calloc(l->arms, sizeof(*t->runs));
        return t->gained && t->runs ? 0 : -ENOMEM;
}

static void tallies_done(void *state)
{
        struct tallies *t = state;

        free(t->gained);
        free(t->runs);
}

static int tallies_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct tallies *t = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempt_ran(&attempts[a])) {
                        t->gained[a] += learner_reward(l, &attempts[a]);
                        t->runs[a]++;
                }
        return 0;
}

/* The prior is uniform: alpha = beta = 1. */
static void thompson_order(struct learner *l, void *state, uint32_t *ret)
{
        const struct tallies *t = state;
        double *score = l->score;

        for (size_t a = 0; a < l->arms; a++)
                score[a] = random_beta(&l->random, 1 + t->gained[a], 1 + t->runs[a] - t->gained[a]);
        learner_rank(l, score, ret);
}

const struct selector selector_thompson = {
        .size = sizeof(struct tallies),
        .init = tallies_init,
        .done = tallies_done,
        .order = thompson_order,
        .learn = tallies_learn,
};

/* -- epsilon-greedy ---------------------------------------------------------------------------------------------- */

#define EPSILON .1

/* An arm that never ran counts as one that always gains: each is tried. */
static void epsilon_order(struct learner *l, void *state, uint32_t *ret)
{
        const struct tallies *t = state;
        double *score = l->score;
        bool explore = random_uniform(&l->random) < EPSILON;

        for (size_t a = 0; a < l->arms; a++)
                score[a] = explore ? 0 : t->runs[a] > 0 ? t->gained[a] / t->runs[a] : 1;
        learner_rank(l, score, ret);
}

const struct selector selector_epsilon = {
        .size = sizeof(struct tallies),
        .init = tallies_init,
        .done = tallies_done,
        .order = epsilon_order,
        .learn = tallies_learn,
};

/* -- Exp3: Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", 2002 ------------ */

#define EXP3_GAMMA .1

struct exp3 {
        double *log_weight;
        double *chance; /* of being drawn first, for the present query */
};

static int exp3_init(struct learner *l, void *state)
{
        struct exp3 *e = state;

        e->log_weight = calloc(l->arms, sizeof(*e->log_weight));
        e->chance = calloc(l->arms, sizeof(*e->chance));
        return e->log_weight && e->chance ? 0 : -ENOMEM;
}

static void exp3_done(void *state)
{
        struct exp3 *e = state;

        free(e->log_weight);
        free(e->chance);
}

static int exp3_begin(struct learner *l, void *state)
{
        struct exp3 *e = state;
        double most = e->log_weight[0], sum = 0;

        for (size_t a = 1; a < l->arms; a++)
                most = fmax(most, e->log_weight[a]);
        for (size_t a = 0; a < l->arms; a++)
                sum += exp(e->log_weight[a] - most);
        for (size_t a = 0; a < l->arms; a++)
                e->chance[a] = (1 - EXP3_GAMMA) * exp(e->log_weight[a] - most) / sum + EXP3_GAMMA / (double)l->arms;
        return 0;
}

/* The order is drawn one by one without putting back: the least of exponential variables, each divided by its arm's chance. */
static void exp3_order(struct learner *l, void *state, uint32_t *ret)
{
        const struct exp3 *e = state;

        for (size_t a = 0; a < l->arms; a++)
                l->score[a] = -random_exponential(&l->random) / e->chance[a];
        learner_rank(l, l->score, ret);
}

static int exp3_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct exp3 *e = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempt_ran(&attempts[a]))
                        e->log_weight[a] += EXP3_GAMMA * learner_reward(l, &attempts[a]) / e->chance[a] / (double)l->arms;
        return 0;
}

const struct selector selector_exp3 = {
        .size = sizeof(struct exp3),
        .init = exp3_init,
        .done = exp3_done,
        .begin = exp3_begin,
        .order = exp3_order,
        .learn = exp3_learn,
};

/* -- random and fixed -------------------------------------------------------------------------------------------- */

static void random_order(struct learner *l, void *state, uint32_t *ret)
{
        random_shuffle(&l->random, ret, l->arms);
}

const struct selector selector_random = {.order = random_order};

static void fixed_order(struct learner *l, void *state, uint32_t *ret)
{
        memcpy(ret, l->fixed, l->arms * sizeof(*ret));
}

const struct selector selector_fixed = {.order = fixed_order};
