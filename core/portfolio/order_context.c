/* Selectors that look at the features: nearest neighbours, and an upper confidence bound. */
#include "core/portfolio/learner_internal.h"

#include <math.h>

/* -- k nearest neighbours: MedleySolver, section 4.3 -------------------------------------------------------------- */

#define NEIGHBOURS    10
#define EXPLORE_DECAY .95

/* Unsolved queries are not in the data set: no arm is the best on them. */
static bool was_solved(const struct past *p, size_t i, uint32_t arm)
{
        for (size_t a = 0; a < p->arms; a++)
                if (past_attempts(p, i)[a].ending == ENDING_SOLVED)
                        return true;
        return false;
}

/* As in the published code: of the arms that solved the ten nearest queries, the one that was fastest on any of them is tried first. (Counting how many
 * each solved has the arm that comes first get all the tallies, and so come first for ever.) Arms without a neighbour come last, in random order;
 * the first queries are mostly tried in random order, as there is nothing near yet. */
static void nearest_ten_order(struct learner *l, void *state, uint32_t *ret)
{
        struct neighbour list[NEIGHBOURS];
        bool explore = random_uniform(&l->random) < pow(EXPLORE_DECAY, (double)l->past.n + 1);
        size_t n = explore ? 0 : past_nearest(&l->past, NEIGHBOURS, was_solved, 0, list);

        for (size_t a = 0; a < l->arms; a++) {
                l->score[a] = -INFINITY;
                for (size_t i = 0; i < n; i++) {
                        const struct attempt *seen = &past_attempts(&l->past, list[i].index)[a];

                        if (seen->ending == ENDING_SOLVED)
                                l->score[a] = fmax(l->score[a], -seen->seconds);
                }
        }
        learner_rank(l, l->score, ret);
}

const struct selector selector_10nn = {.order = nearest_ten_order};

static bool was_solved_by(const struct past *p, size_t i, uint32_t arm)
{
        return past_attempts(p, i)[arm].ending == ENDING_SOLVED;
}

/* The arm that solved the nearest neighbour, then the one of the nearest that another arm solved, and so on. */
static void nearest_one_order(struct learner *l, void *state, uint32_t *ret)
{
        for (uint32_t a = 0; a < l->arms; a++) {
                struct neighbour nearest;

                l->score[a] = past_nearest(&l->past, 1, was_solved_by, a, &nearest) > 0 ? -nearest.distance : -INFINITY;
        }
        learner_rank(l, l->score, ret);
}

const struct selector selector_1nn = {.order = nearest_one_order};

/* -- LinUCB: Li, Chu, Langford and Schapire, "A contextual-bandit approach to personalized news article recommendation", 2010,
 *    algorithm 1, with one model an arm ------------------------------------------------------------------------- */

#define LINUCB_ALPHA 1.0

struct linucb {
        size_t d;        /* features and a constant */
        double *inverse; /* of each arm's d × d matrix, kept by Sherman and Morrison's formula */
        double *gained;  /* each arm's d sums of rewards times features */
        double *x, *product;
};

static int linucb_init(struct learner *l, void *state)
{
        struct linucb *u = state;

        u->d = l->features + 1;
        u->inverse = calloc(l->arms * u->d * u->d, sizeof(*u->inverse));
        u->gained = calloc(l->arms * u->d, sizeof(*u->gained));
        u->x = calloc(u->d, sizeof(*u->x));
        u->product = calloc(u->d, sizeof(*u->product));
        if (!u->inverse || !u->gained || !u->x || !u->product)
                return -ENOMEM;
        for (size_t a = 0; a < l->arms; a++)
                for (size_t j = 0; j < u->d; j++)
                        u->inverse[(a * u->d + j) * u->d + j] = 1;
        return 0;
}

static void linucb_done(void *state)
{
        struct linucb *u = state;

        free(u->inverse);
        free(u->gained);
        free(u->x);
        free(u->product);
}

/* The arm's inverse times x; x times that. */
static double multiply(const struct linucb *u, size_t arm)
{
        double sum = 0;

        for (size_t i = 0; i < u->d; i++) {
                const double *row = &u->inverse[(arm * u->d + i) * u->d];

                u->product[i] = 0;
                for (size_t j = 0; j < u->d; j++)
                        u->product[i] += row[j] * u->x[j];
                sum += u->product[i] * u->x[i];
        }
        return sum;
}

/* Features are heavy-tailed; a linear model of them as they are is one of the few largest queries. */
static void linucb_look(const struct learner *l, struct linucb *u)
{
        u->x[0] = 1;
        for (size_t j = 0; j < l->features; j++)
                u->x[j + 1] = log1p(fmax(0, l->past.scaled[j]));
}

static void linucb_order(struct learner *l, void *state, uint32_t *ret)
{
        struct linucb *u = state;

        linucb_look(l, u);
        for (size_t a = 0; a < l->arms; a++) {
                double spread = multiply(u, a), mean = 0;

                for (size_t j = 0; j < u->d; j++)
                        mean += u->product[j] * u->gained[a * u->d + j];
                l->score[a] = mean + LINUCB_ALPHA * sqrt(fmax(0, spread));
        }
        learner_rank(l, l->score, ret);
}

static int linucb_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct linucb *u = state;

        linucb_look(l, u);
        for (size_t a = 0; a < l->arms; a++) {
                double *inverse = &u->inverse[a * u->d * u->d], spread;

                if (!attempt_ran(&attempts[a]))
                        continue;
                spread = multiply(u, a);
                for (size_t i = 0; i < u->d; i++)
                        for (size_t j = 0; j < u->d; j++)
                                inverse[i * u->d + j] -= u->product[i] * u->product[j] / (1 + spread);
                for (size_t j = 0; j < u->d; j++)
                        u->gained[a * u->d + j] += learner_reward(l, &attempts[a]) * u->x[j];
        }
        return 0;
}

const struct selector selector_linucb = {
        .size = sizeof(struct linucb),
        .init = linucb_init,
        .done = linucb_done,
        .order = linucb_order,
        .learn = linucb_learn,
};
