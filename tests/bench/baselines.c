#include "tests/bench/baselines.h"

#include <math.h>

void baseline_done(void *state)
{
        free(*(void **)state);
}

/* -- the queries seen: their features, of which those that baselines look at are divided by their running means ---------- */

struct neighbour {
        size_t index;
        double distance;
};

static struct seen {
        size_t features;
        double *values; /* of each query seen; NaN: not known */
        double *sum;    /* of each feature's known values */
        size_t *known;
        double *inverse; /* of each feature's mean over the queries seen and the present one; 0: the feature does not count */
} no_queries;
static _Thread_local struct seen *seen = &no_queries; /* of the learner that is asked */

static void seen_begin(struct seen *s, const struct learner *l)
{
        seen = s;
        for (size_t j = 0; j < s->features; j++) {
                bool now = !isnan(l->now[j]);
                double n = (double)(s->known[j] + now), mean = n > 0 ? (s->sum[j] + (now ? l->now[j] : 0)) / n : 0;

                s->inverse[j] = !now || mean == 0 ? 0 : 1 / mean;
        }
}

static void seen_end(struct seen *s, const struct learner *l)
{
        list_grow_sized(&s->values, l->n, (s->features + 1) * sizeof(*s->values));
        memcpy(&s->values[l->n * s->features], l->now, s->features * sizeof(*l->now));
        for (size_t j = 0; j < s->features; j++)
                if (!isnan(l->now[j])) {
                        s->sum[j] += l->now[j];
                        s->known[j]++;
                }
}

/* The `most` nearest of those that `counts` accepts, nearest first. Returns how many there are. */
static size_t nearest(const struct learner *l, size_t most, bool (*counts)(const struct learner *l, size_t i, uint32_t arm), uint32_t arm,
                      struct neighbour *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++) {
                const double *other = &seen->values[i * seen->features];
                double sum = 0;
                size_t at;

                if (!counts(l, i, arm))
                        continue;
                for (size_t j = 0; j < seen->features; j++)
                        if (seen->inverse[j] != 0 && !isnan(other[j])) {
                                double d = (other[j] - l->now[j]) * seen->inverse[j];

                                sum += d * d;
                        }
                if (n == most && sqrt(sum) >= ret[n - 1].distance)
                        continue;
                for (at = n < most ? n++ : n - 1; at > 0 && sqrt(sum) < ret[at - 1].distance; at--)
                        ret[at] = ret[at - 1];
                ret[at] = (struct neighbour){i, sqrt(sum)};
        }
        return n;
}

double baseline_scaled(const struct learner *l, size_t feature)
{
        return seen->inverse[feature] == 0 ? 1 : l->now[feature] * seen->inverse[feature];
}

void baseline_rank(struct learner *l, const double *score, uint32_t *ret)
{
        for (uint32_t a = 0; a < l->arms; a++)
                ret[a] = a;
        random_shuffle(&l->random, ret, l->arms);
        for (size_t i = 1; i < l->arms; i++) { /* insertion: it keeps the order of equals, and arms are few */
                uint32_t arm = ret[i];
                size_t at = i;

                for (; at > 0 && score[arm] > score[ret[at - 1]]; at--)
                        ret[at] = ret[at - 1];
                ret[at] = arm;
        }
}

/* The first place from `at` on of an arm that has not run; l->arms: none. */
static size_t next_untried(const struct learner *l, const uint32_t *order, const struct attempt *attempts, size_t at)
{
        while (at < l->arms && attempts[order[at]].ending != ENDING_NONE)
                at++;
        return at;
}

void baseline_inputs(const struct learner *l, double *ret)
{
        ret[0] = 1;
        for (size_t j = 0; j < l->features; j++)
                ret[j + 1] = log1p(fmax(0, baseline_scaled(l, j)));
}

static double reward(const struct attempt *a)
{
        return a->ending == ENDING_SOLVED;
}

/* -- Thompson sampling: MedleySolver, section 4.1 ---------------------------------------------------------------- */

struct tallies {
        double *gained; /* rewards of each arm, and behind them: */
        double *runs;
};

static void tallies_init(struct learner *l, void *state)
{
        struct tallies *t = state;

        t->gained = allocate(2 * l->arms, sizeof(*t->gained));
        t->runs = t->gained + l->arms;
}

static void tallies_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct tallies *t = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempt_ran(&attempts[a])) {
                        t->gained[a] += reward(&attempts[a]);
                        t->runs[a]++;
                }
}

/* The prior is uniform: alpha = beta = 1. */
static void thompson_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        const struct tallies *t = state;

        for (size_t a = 0; a < l->arms; a++)
                score[a] = random_beta(&l->random, 1 + t->gained[a], 1 + t->runs[a] - t->gained[a]);
        baseline_rank(l, score, ret);
}

static const struct orderer orderer_thompson = {
        .size = sizeof(struct tallies),
        .init = tallies_init,
        .done = baseline_done,
        .order = thompson_order,
        .learn = tallies_learn,
};

/* -- epsilon-greedy ---------------------------------------------------------------------------------------------- */

#define EPSILON .1

/* An arm that never ran counts as one that always gains: each is tried. */
static void epsilon_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        const struct tallies *t = state;
        bool explore = random_uniform(&l->random) < EPSILON;

        for (size_t a = 0; a < l->arms; a++)
                score[a] = explore ? 0 : t->runs[a] > 0 ? t->gained[a] / t->runs[a] : 1;
        baseline_rank(l, score, ret);
}

static const struct orderer orderer_epsilon = {
        .size = sizeof(struct tallies),
        .init = tallies_init,
        .done = baseline_done,
        .order = epsilon_order,
        .learn = tallies_learn,
};

/* -- Exp3: Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", 2002 ------------ */

#define EXP3_GAMMA .1

struct exp3 {
        double *log_weight; /* of each arm, and behind them: */
        double *chance;     /* of being drawn first, for the present query */
};

static void exp3_init(struct learner *l, void *state)
{
        struct exp3 *e = state;

        e->log_weight = allocate(2 * l->arms, sizeof(*e->log_weight));
        e->chance = e->log_weight + l->arms;
}

static void exp3_begin(struct learner *l, void *state)
{
        struct exp3 *e = state;
        double most = e->log_weight[0], sum = 0;

        for (size_t a = 1; a < l->arms; a++)
                most = fmax(most, e->log_weight[a]);
        for (size_t a = 0; a < l->arms; a++)
                sum += exp(e->log_weight[a] - most);
        for (size_t a = 0; a < l->arms; a++)
                e->chance[a] = (1 - EXP3_GAMMA) * exp(e->log_weight[a] - most) / sum + EXP3_GAMMA / (double)l->arms;
}

/* The order is drawn one by one without putting back: the least of exponential variables, each divided by its arm's chance. */
static void exp3_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        const struct exp3 *e = state;

        for (size_t a = 0; a < l->arms; a++)
                score[a] = log(1 - random_uniform(&l->random)) / e->chance[a];
        baseline_rank(l, score, ret);
}

static void exp3_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct exp3 *e = state;

        for (size_t a = 0; a < l->arms; a++)
                if (attempt_ran(&attempts[a]))
                        e->log_weight[a] += EXP3_GAMMA * reward(&attempts[a]) / e->chance[a] / (double)l->arms;
}

static const struct orderer orderer_exp3 = {
        .size = sizeof(struct exp3),
        .init = exp3_init,
        .done = baseline_done,
        .begin = exp3_begin,
        .order = exp3_order,
        .learn = exp3_learn,
};

/* -- random, and as listed --------------------------------------------------------------------------------------- */

static void random_order(struct learner *l, void *state, uint32_t *ret)
{
        random_shuffle(&l->random, ret, l->arms);
}

static void fixed_order(struct learner *l, void *state, uint32_t *ret)
{
}

static const struct orderer orderer_random = {.order = random_order}, orderer_fixed = {.order = fixed_order};

/* -- the nearest neighbour: MedleySolver, section 4.3 ------------------------------------------------------------ */

static bool was_solved_by(const struct learner *l, size_t i, uint32_t arm)
{
        return learner_seen(l, i)[arm].ending == ENDING_SOLVED;
}

/* The arm that solved the nearest neighbour, then the one of the nearest that another arm solved, and so on. */
static void nearest_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        for (uint32_t a = 0; a < l->arms; a++) {
                struct neighbour one;

                score[a] = nearest(l, 1, was_solved_by, a, &one) > 0 ? -one.distance : -INFINITY;
        }
        baseline_rank(l, score, ret);
}

static const struct orderer orderer_1nn = {.order = nearest_order};

#define NEIGHBOURS    10
#define EXPLORE_DECAY .95

/* Unsolved queries are not in the data set: no arm is the best on them. */
static bool was_solved(const struct learner *l, size_t i, uint32_t arm)
{
        for (size_t a = 0; a < l->arms; a++)
                if (learner_seen(l, i)[a].ending == ENDING_SOLVED)
                        return true;
        return false;
}

/* As in the published code: the arm with the fastest answer on any of the ten nearest queries is tried first. (A count of how many each solved
 * would favour the arm that comes first, as it gets all the runs.) Arms without an answer there come last, in random order. The first queries
 * are mostly tried in random order. */
static void nearest_ten_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        struct neighbour list[NEIGHBOURS];
        bool explore = random_uniform(&l->random) < pow(EXPLORE_DECAY, (double)l->n + 1);
        size_t n = explore ? 0 : nearest(l, NEIGHBOURS, was_solved, 0, list);

        for (size_t a = 0; a < l->arms; a++) {
                score[a] = -INFINITY;
                for (size_t i = 0; i < n; i++) {
                        const struct attempt *run = &learner_seen(l, list[i].index)[a];

                        if (run->ending == ENDING_SOLVED)
                                score[a] = fmax(score[a], -run->seconds);
                }
        }
        baseline_rank(l, score, ret);
}

static const struct orderer orderer_10nn = {.order = nearest_ten_order}; /* what did best in that paper, with expo */

/* -- LinUCB: Li, Chu, Langford and Schapire, "A contextual-bandit approach to personalized news article recommendation", 2010,
 *    algorithm 1, with one model an arm ------------------------------------------------------------------------- */

#define LINUCB_ALPHA 1.0

struct linucb {
        double *inverse; /* of each arm's d × d matrix, kept by Sherman and Morrison's formula; and behind them: */
        double *gained;  /* each arm's d sums of rewards times features */
        double *x, *product;
        size_t d; /* features and a constant */
};

static void linucb_init(struct learner *l, void *state)
{
        struct linucb *u = state;
        const size_t d = u->d = l->features + 1;

        u->inverse = allocate((l->arms * (d + 1) + 2) * d, sizeof(*u->inverse));
        u->gained = u->inverse + l->arms * d * d;
        u->x = u->gained + l->arms * d;
        u->product = u->x + d;
        for (size_t a = 0; a < l->arms; a++)
                for (size_t j = 0; j < d; j++)
                        u->inverse[(a * d + j) * d + j] = 1;
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

static void linucb_order(struct learner *l, void *state, uint32_t *ret)
{
        cleanup_free double *score = allocate(l->arms, sizeof(*score));
        struct linucb *u = state;

        baseline_inputs(l, u->x);
        for (size_t a = 0; a < l->arms; a++) {
                double spread = multiply(u, a), mean = 0;

                for (size_t j = 0; j < u->d; j++)
                        mean += u->product[j] * u->gained[a * u->d + j];
                score[a] = mean + LINUCB_ALPHA * sqrt(fmax(0, spread));
        }
        baseline_rank(l, score, ret);
}

static void linucb_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct linucb *u = state;

        baseline_inputs(l, u->x);
        for (size_t a = 0; a < l->arms; a++) {
                double *inverse = &u->inverse[a * u->d * u->d], spread;

                if (!attempt_ran(&attempts[a]))
                        continue;
                spread = multiply(u, a);
                for (size_t i = 0; i < u->d; i++)
                        for (size_t j = 0; j < u->d; j++)
                                inverse[i * u->d + j] -= u->product[i] * u->product[j] / (1 + spread);
                for (size_t j = 0; j < u->d; j++)
                        u->gained[a * u->d + j] += reward(&attempts[a]) * u->x[j];
        }
}

static const struct orderer orderer_linucb = {
        .size = sizeof(struct linucb),
        .init = linucb_init,
        .done = baseline_done,
        .order = linucb_order,
        .learn = linucb_learn,
};

/* -- allocations: exponential distributions (MedleySolver, section 5) ------------------------------------------------- */

#define DELTA .05 /* how likely an arm may be to solve the query later */

/* The least t with P(t < u < T) <= DELTA, where u is a runtime and T the limit. The rate is the most likely one: runs that solved something
 * over the time of all runs, as the distribution has no memory. (The published code gives a stopped run its expected rest, which is the
 * same.) A first rate, at which the arms in sequence take T, weighs as one run. */
static double exponential_share(const struct learner *l, double solved, double seconds)
{
        double limit = l->settings.limit, first_rate = (double)l->arms / limit, rate = (solved + 1) / (seconds + 1 / first_rate);

        return -log(DELTA + exp(-rate * limit)) / rate;
}

struct samples {
        double *solved; /* of each arm, and behind them: */
        double *seconds;
};

static void expo_init(struct learner *l, void *state)
{
        struct samples *s = state;

        s->solved = allocate(2 * l->arms, sizeof(*s->solved));
        s->seconds = s->solved + l->arms;
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

static const struct allocation allocation_expo = {
        .size = sizeof(struct samples),
        .init = expo_init,
        .done = baseline_done,
        .share = expo_share,
        .learn = expo_learn,
};

/* -- the same of the nearest queries -------------------------------------------------------------------------------- */

#define NEAREST 40

static bool was_run(const struct learner *l, size_t i, uint32_t arm)
{
        return attempt_ran(&learner_seen(l, i)[arm]);
}

static double nearest_share(struct learner *l, void *state, uint32_t arm)
{
        struct neighbour list[NEAREST];
        size_t n = nearest(l, NEAREST, was_run, arm, list);
        double solved = 0, seconds = 0;

        for (size_t i = 0; i < n; i++) {
                const struct attempt *run = &learner_seen(l, list[i].index)[arm];

                solved += run->ending == ENDING_SOLVED;
                seconds += run->seconds;
        }
        return exponential_share(l, solved, seconds);
}

static const struct allocation allocation_nearest = {.share = nearest_share};

/* -- linear regression by stochastic gradient descent (the same) --------------------------------------------------- */

#define LINEAR_RATE  .01
#define LINEAR_DECAY 1e-4

struct linear {
        double *weights; /* arms × (features + 1), the constant last; of runtimes as parts of the limit; and behind them: */
        double *seen;    /* runs of each arm */
};

static void linear_init(struct learner *l, void *state)
{
        struct linear *m = state;

        m->weights = allocate(l->arms * (l->features + 2), sizeof(*m->weights));
        m->seen = m->weights + l->arms * (l->features + 1);
}

static double linear_predict(const struct learner *l, const double *weights)
{
        double sum = weights[l->features];

        for (size_t j = 0; j < l->features; j++)
                sum += weights[j] * baseline_scaled(l, j);
        return sum;
}

static double linear_share(struct learner *l, void *state, uint32_t arm)
{
        const struct linear *m = state;

        if (m->seen[arm] == 0)
                return l->settings.limit;
        return linear_predict(l, &m->weights[arm * (l->features + 1)]) * l->settings.limit;
}

/* A run that did not solve the query counts for the whole limit: if it counted for the time it got, arms that are cut short would seem fast. A step is as
 * long as the input allows: a query with a feature a hundred times the mean would throw a fixed one off. */
static void linear_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct linear *m = state;
        double norm = 1;

        for (size_t j = 0; j < l->features; j++)
                norm += baseline_scaled(l, j) * baseline_scaled(l, j);
        for (size_t a = 0; a < l->arms; a++) {
                double *w = &m->weights[a * (l->features + 1)], error;

                if (!attempt_ran(&attempts[a]))
                        continue;
                error = linear_predict(l, w) -
                        (attempts[a].ending == ENDING_SOLVED ? attempts[a].seconds : l->settings.limit) / l->settings.limit;
                for (size_t j = 0; j <= l->features; j++)
                        w[j] -= fmin(LINEAR_RATE, .5 / norm) * (error * (j < l->features ? baseline_scaled(l, j) : 1) + LINEAR_DECAY * w[j]);
                m->seen[a]++;
        }
}

static const struct allocation allocation_linear = {
        .size = sizeof(struct linear),
        .init = linear_init,
        .done = baseline_done,
        .share = linear_share,
        .learn = linear_learn,
};

/* -- no model ---------------------------------------------------------------------------------------------------- */

static double constant_share(struct learner *l, void *state, uint32_t arm)
{
        return l->settings.limit / (double)l->arms;
}

static double none_share(struct learner *l, void *state, uint32_t arm)
{
        return l->settings.limit;
}

static const struct allocation allocation_constant = {.share = constant_share}, allocation_none = {.share = none_share};

/* -- one method of the two ----------------------------------------------------------------------------------------- */

struct parts {
        const struct orderer *orderer;
        const struct allocation *allocation;
        const char *allocation_name;
};

struct composed {
        const struct parts *parts;
        struct seen seen;
        void *ordering, *allocating; /* their states */
        uint32_t *order;             /* of the present query, */
        size_t at;                   /* and the place in it */
        bool has_order;
};

static void composed_init(struct learner *l, void *state)
{
        struct composed *c = state;
        const struct parts *p = c->parts = l->settings.method->parameters;

        c->seen = (struct seen){.features = l->features,
                                .sum = allocate(l->features, sizeof(double)),
                                .known = allocate(l->features, sizeof(size_t)),
                                .inverse = allocate(l->features, sizeof(double))};
        c->ordering = allocate(1, p->orderer->size + 1);
        if (p->orderer->init)
                p->orderer->init(l, c->ordering);
        c->allocating = allocate(1, p->allocation->size + 1);
        if (p->allocation->init)
                p->allocation->init(l, c->allocating);
        c->order = allocate(l->arms, sizeof(*c->order));
}

static void composed_done(void *state)
{
        struct composed *c = state;

        if (c->parts->orderer->done)
                c->parts->orderer->done(c->ordering);
        if (c->parts->allocation->done)
                c->parts->allocation->done(c->allocating);
        free(c->seen.values);
        free(c->seen.sum);
        free(c->seen.known);
        free(c->seen.inverse);
        free(c->ordering);
        free(c->allocating);
        free(c->order);
}

static void composed_begin(struct learner *l, void *state)
{
        struct composed *c = state;

        c->at = 0;
        c->has_order = false;
        seen_begin(&c->seen, l);
        if (c->parts->orderer->begin)
                c->parts->orderer->begin(l, c->ordering);
}

static bool composed_next(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret)
{
        struct composed *c = state;

        seen = &c->seen;
        for (uint32_t a = 0; a < l->arms && !c->has_order; a++)
                c->order[a] = a;
        if (!c->has_order)
                c->parts->orderer->order(l, c->ordering, c->order);
        c->has_order = true;
        while ((c->at = next_untried(l, c->order, attempts, c->at)) < l->arms) {
                uint32_t arm = c->order[c->at++];
                bool is_last = next_untried(l, c->order, attempts, c->at) == l->arms;

                *ret = (struct step){arm, is_last ? left : fmin(left, c->parts->allocation->share(l, c->allocating, arm))};
                if (ret->until > 0)
                        return true;
        }
        return false;
}

static void composed_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct composed *c = state;

        seen = &c->seen;
        if (c->parts->orderer->learn)
                c->parts->orderer->learn(l, c->ordering, attempts);
        if (c->parts->allocation->learn)
                c->parts->allocation->learn(l, c->allocating, attempts);
        seen_end(seen, l);
}

static const struct selector selector_composed = {
        .size = sizeof(struct composed),
        .init = composed_init,
        .done = composed_done,
        .begin = composed_begin,
        .next = composed_next,
        .learn = composed_learn,
};

/* -- all of them ------------------------------------------------------------------------------------------------- */

#define N_SELECTORS   11
#define N_ALLOCATIONS 6
const struct baseline_selector baseline_selectors[N_SELECTORS + 1] = {
        {"survival", NULL, &selector_survival, "schedule"},  /* the default */
        {"static", NULL, &selector_static, "schedule"},      /* one schedule for all queries, learned online */
        {"10nn", &orderer_10nn},       /* MedleySolver: the fastest of the arms that solved the 10 nearest queries */
        {"1nn", &orderer_1nn},                               /* the arm that solved the nearest query, then the next nearest */
        {"thompson", &orderer_thompson},
        {"epsilon", &orderer_epsilon}, /* a tenth of the orders at random */
        {"linucb", &orderer_linucb},
        {"exp3", &orderer_exp3},
        {"neural", &orderer_neural}, /* a classifier with one hidden layer */
        {"random", &orderer_random},
        {"fixed", &orderer_fixed}, /* the arms as they are listed */
};
const struct baseline_allocation baseline_allocations[N_ALLOCATIONS + 1] = {
        {"schedule", NULL},                 /* what survival and static plan: arms are stopped and continued */
        {"expo", &allocation_expo},         /* until success is improbable under an exponential distribution */
        {"nearest", &allocation_nearest},   /* the same, fitted to the 40 nearest queries */
        {"linear", &allocation_linear},     /* a linear model of the runtime */
        {"constant", &allocation_constant}, /* the limit divided by the number of arms */
        {"none", &allocation_none},         /* all of the limit for the first arm */
};
static struct parts parts[N_SELECTORS][N_ALLOCATIONS];

bool baseline_method(const char *selector, const char *allocation, struct method *ret)
{
        for (size_t i = 0; i < N_SELECTORS; i++)
                for (size_t k = 0; k < N_ALLOCATIONS; k++) {
                        const struct baseline_selector *s = &baseline_selectors[i];
                        const struct baseline_allocation *a = &baseline_allocations[k];
                        bool is_own = s->with && strcmp(s->with, a->name) == 0;

                        if (strcmp(s->name, selector) != 0 || (allocation && strcmp(a->name, allocation) != 0) || (!is_own && !(s->orderer && a->allocation)))
                                continue;
                        parts[i][k] = (struct parts){s->orderer, a->allocation, a->name};
                        *ret = (struct method){s->name, is_own ? s->selector : &selector_composed, &parts[i][k]};
                        return true;
                }
        return false;
}

const char *baseline_allocation_of(const struct method *m)
{
        return ((const struct parts *)m->parameters)->allocation_name;
}
