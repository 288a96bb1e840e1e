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
void medley_order(struct learner *l, uint32_t *ret)
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

#define DELTA .05 /* how likely an arm may be to solve the query later */

/* The least t with P(t < u < T) <= DELTA, where u is a runtime and T the limit. The rate is the most likely one: runs that solved something
 * over the time of all runs, as the distribution has no memory. (The published code gives a stopped run its expected rest, which is the
 * same.) A first rate, at which the arms in sequence take T, weighs as one run. */
double exponential_share(const struct learner *l, double solved, double seconds)
{
        double limit = l->settings.limit, first_rate = (double)l->arms / limit, rate = (solved + 1) / (seconds + 1 / first_rate);

        return -log(DELTA + exp(-rate * limit)) / rate;
}

struct medley {
        struct sample {
                double solved, seconds;
        } *samples;      /* of each arm */
        uint32_t *order; /* of the present query, */
        size_t at;       /* and the place in it */
        bool has_order;
};

static void medley_init(struct learner *l, void *state)
{
        struct medley *m = state;

        m->samples = allocate(l->arms, sizeof(*m->samples));
        m->order = allocate(l->arms, sizeof(*m->order));
}

static void medley_done(void *state)
{
        struct medley *m = state;

        free(m->samples);
        free(m->order);
}

static void medley_begin(struct learner *l, void *state)
{
        struct medley *m = state;

        m->at = 0;
        m->has_order = false;
}

static bool medley_next(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret)
{
        struct medley *m = state;

        if (!m->has_order)
                medley_order(l, m->order);
        m->has_order = true;
        while ((m->at = learner_next_untried(l, m->order, attempts, m->at)) < l->arms) {
                uint32_t arm = m->order[m->at++];
                bool is_last = learner_next_untried(l, m->order, attempts, m->at) == l->arms;

                *ret = (struct step){arm, is_last ? left : fmin(left, exponential_share(l, m->samples[arm].solved, m->samples[arm].seconds))};
                if (ret->until > 0)
                        return true;
        }
        return false;
}

static void medley_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct medley *m = state;

        for (size_t a = 0; a < l->arms; a++) {
                struct sample *s = &m->samples[a];

                if (attempts[a].ending == ENDING_SOLVED || (attempt_ran(&attempts[a]) && s->solved > 0)) {
                        s->solved += attempts[a].ending == ENDING_SOLVED;
                        s->seconds += attempts[a].seconds;
                }
        }
}

const struct selector selector_medley = {
        .size = sizeof(struct medley),
        .init = medley_init,
        .done = medley_done,
        .begin = medley_begin,
        .next = medley_next,
        .learn = medley_learn,
};
