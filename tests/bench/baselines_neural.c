/* A small classifier: features, one hidden layer of tanh, a softmax over the arms. It learns by stochastic gradient descent which arm
 * solved a query; the arms are tried by descending probability. A stand-in for the neural bandit of MedleySolver, section 6.3. */
#include "tests/bench/baselines.h"

#include <math.h>

#define HIDDEN 16
#define RATE   .05
#define DECAY  1e-4 /* of the weights, each step */
#define REPLAY 8    /* earlier queries gone over again behind each new one */

struct neural {
        double *first;  /* HIDDEN × d, and behind them: */
        double *second; /* arms × (HIDDEN + 1) */
        double *chance; /* of each arm */
        double *x;
        size_t d;       /* features and a constant */
        double *inputs; /* of the queries learned from: d each */
        uint32_t *labels;
        size_t n;
        double hidden[HIDDEN + 1];
};

static void neural_init(struct learner *l, void *state)
{
        struct neural *m = state;

        m->d = l->features + 1;
        m->first = allocate((HIDDEN + 1) * m->d + l->arms * (HIDDEN + 2), sizeof(*m->first));
        m->second = m->first + HIDDEN * m->d;
        m->chance = m->second + l->arms * (HIDDEN + 1);
        m->x = m->chance + l->arms;
        for (size_t i = 0; i < HIDDEN * m->d; i++)
                m->first[i] = random_normal(&l->random) / sqrt((double)m->d);
}

static void neural_done(void *state)
{
        struct neural *m = state;

        free(m->first);
        free(m->inputs);
        free(m->labels);
}

static void forward(const struct learner *l, struct neural *m, const double *x)
{
        double sum = 0, most = -INFINITY;

        m->hidden[HIDDEN] = 1;
        for (size_t h = 0; h < HIDDEN; h++) {
                m->hidden[h] = 0;
                for (size_t j = 0; j < m->d; j++)
                        m->hidden[h] += m->first[h * m->d + j] * x[j];
                m->hidden[h] = tanh(m->hidden[h]);
        }
        for (size_t a = 0; a < l->arms; a++) {
                m->chance[a] = 0;
                for (size_t h = 0; h <= HIDDEN; h++)
                        m->chance[a] += m->second[a * (HIDDEN + 1) + h] * m->hidden[h];
                most = fmax(most, m->chance[a]);
        }
        for (size_t a = 0; a < l->arms; a++)
                sum += m->chance[a] = exp(m->chance[a] - most);
        for (size_t a = 0; a < l->arms; a++)
                m->chance[a] /= sum;
}

static void descend(const struct learner *l, struct neural *m, const double *x, uint32_t label)
{
        double back[HIDDEN] = {0};

        forward(l, m, x);
        for (size_t a = 0; a < l->arms; a++) {
                double *w = &m->second[a * (HIDDEN + 1)], error = m->chance[a] - (a == label);

                for (size_t h = 0; h < HIDDEN; h++)
                        back[h] += error * w[h];
                for (size_t h = 0; h <= HIDDEN; h++)
                        w[h] -= RATE * (error * m->hidden[h] + DECAY * w[h]);
        }
        for (size_t h = 0; h < HIDDEN; h++) {
                double error = back[h] * (1 - m->hidden[h] * m->hidden[h]);

                for (size_t j = 0; j < m->d; j++)
                        m->first[h * m->d + j] -= RATE * (error * x[j] + DECAY * m->first[h * m->d + j]);
        }
}

static void neural_order(struct learner *l, void *state, uint32_t *ret)
{
        struct neural *m = state;

        baseline_inputs(l, m->x);
        forward(l, m, m->x);
        baseline_rank(l, m->chance, ret);
}

static void add_example(struct neural *m, uint32_t label)
{
        list_grow_sized(&m->inputs, m->n, m->d * sizeof(*m->inputs));
        list_grow(m->labels, m->n);
        memcpy(&m->inputs[m->n * m->d], m->x, m->d * sizeof(*m->x));
        m->labels[m->n++] = label;
}

static void neural_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct neural *m = state;

        baseline_inputs(l, m->x);
        for (uint32_t a = 0; a < l->arms; a++)
                if (attempts[a].ending == ENDING_SOLVED) {
                        add_example(m, a);
                        descend(l, m, m->x, a);
                        for (int i = 0; i < REPLAY; i++) {
                                size_t again = random_below(&l->random, m->n);

                                descend(l, m, &m->inputs[again * m->d], m->labels[again]);
                        }
                }
}

const struct orderer orderer_neural = {
        .size = sizeof(struct neural),
        .init = neural_init,
        .done = neural_done,
        .order = neural_order,
        .learn = neural_learn,
};
