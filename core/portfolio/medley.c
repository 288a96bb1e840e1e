/* The method of MedleySolver (Pimpalkhare, Mora, Polgreen, Seshia, SAT 2021) that did best in that paper: nearest neighbours give the order
 * (section 4.3), exponential distributions the time of each arm (section 5). */
#include "core/portfolio/learner_internal.h"

#include <math.h>

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

/* As in the published code: the arm with the fastest answer on any of the ten nearest queries is tried first. (A count of how many each solved
 * would favour the arm that comes first, as it gets all the runs.) Arms without an answer there come last, in random order. The first queries
 * are mostly tried in random order. */
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

/* -- how long ---------------------------------------------------------------------------------------------------- */

#define DELTA .05 /* how likely an arm may be to solve the query later */

/* The least t with P(t < u < T) <= DELTA, where u is a runtime and T the limit. The rate is the most likely one: runs that solved something
 * over the time of all runs, as the distribution has no memory. (The published code gives a stopped run its expected rest, which is the
 * same.) A first rate, at which the arms in sequence take T, weighs as one run. */
double exponential_share(const struct learner *l, double solved, double seconds)
{
        double limit = l->settings.limit, first_rate = (double)l->arms / limit, rate = (solved + 1) / (seconds + 1 / first_rate);

        return -log(DELTA + exp(-rate * limit)) / rate;
}

struct samples {
        double *solved, *seconds; /* of each arm */
};

static void expo_init(struct learner *l, void *state)
{
        struct samples *s = state;

        s->solved = allocate(l->arms, sizeof(*s->solved));
        s->seconds = allocate(l->arms, sizeof(*s->seconds));
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

        return exponential_share(l, s->solved[arm], s->seconds[arm]);
}

static void expo_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct samples *s = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempts[a].ending == ENDING_SOLVED || (attempt_ran(&attempts[a]) && s->solved[a] > 0)) {
                        s->solved[a] += attempts[a].ending == ENDING_SOLVED;
                        s->seconds[a] += attempts[a].seconds;
                }
}

const struct allocation allocation_expo = {
        .size = sizeof(struct samples),
        .init = expo_init,
        .done = expo_done,
        .share = expo_share,
        .learn = expo_learn,
};
