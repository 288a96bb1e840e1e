/* The default selector. For each arm it estimates how likely the present query is to be solved soon, given the time that every arm has already had.
 * It runs the arm with the highest chance per second, for the time that makes it so.
 *
 * Hazards. Time is cut into bins that grow geometrically. The hazard of a bin is the chance of being solved in it if not solved before. It is counted
 * among the nearest earlier queries, weighted by distance; a stopped run counts for the bins it lived through. (Beran, "Nonparametric regression with
 * randomly censored survival data", 1981; solved and given up are competing risks.) A neighbour on which an arm ended sooner than it has been running
 * now counts little, as it is of another kind. Where little was counted the model of hardness.h fills in, with the weight of PRIOR_RUNS runs.
 *
 * Schedule. For independent arms that can be paused, the expected time to the first success is least if the arm with the highest ratio of chance to
 * expected time, over its best horizon, always continues (Sevcik's rule for jobs of random length; Streeter and Golovin's greedy schedule for known
 * arms, 2008). After each turn the hazards are computed anew.
 *
 * Guard. The schedule is greedy and knows little at first: if every arm needs a large part of the limit, it divides the limit among all until none
 * has enough. So it is compared with its best arm. For each query each arm is also charged the cost it would have had alone: known as far as the arm
 * ran, and beyond that from the arm's own curve (Kaplan and Meier, 1958). While the schedule is behind by more than GUARD_SHARE and GUARD_LIMITS, or
 * nothing was solved yet, one arm gets the whole query, drawn by Thompson sampling from these costs: the fewer of its runs ended, the wider the draw.
 * An arm that has solved something also gets a whole query while it has had less than EXPLORE of all time. */
#include "core/portfolio/hardness.h"
#include "core/portfolio/learner_internal.h"
#include "core/portfolio/similar.h"

#include <math.h>

#define BINS           30
#define FIRST_BIN      (1 / 6000.0) /* of the limit: the end of the first bin */
#define NEAREST        200          /* number of neighbours */
#define BANDWIDTH      10           /* the tenth nearest has a quarter of the weight */
#define PRIOR_RUNS     1.0 /* the weight of the model beside counted runs */
#define FLAT_HAZARD    .03 /* without a model */
#define HARDNESS_PRIOR 2.0 /* queries of hardness 0 among the similar ones */
#define OFFSET_PRIOR   3.0 /* runs of no offset among the similar ones */
/* The weight of a neighbour, by the arm's result on it. */
#define DONE_SOONER .1 /* solved it sooner than it has been running now */
#define GAVE_UP     .3
#define NOT_KNOWN   .7 /* stopped before, or not run */
/* How far the schedule may be behind its best arm: a part of that arm's cost, plus so many limits. */
#define GUARD_SHARE  .05
#define GUARD_LIMITS 10
/* The expected cost of an arm that never ran, and the spread of its draw, in limits. */
#define ALONE        1.3
#define ALONE_SPREAD .3
#define EXPLORE      .02 /* the least share of all time for each arm that has solved anything */
#define SEARCH_HEAD  .1  /* of the limit: the schedule's part while nothing was solved yet */

struct curve { /* of one arm, weighted by similarity */
        double solved[BINS], failed[BINS], running[BINS];
};

/* One arm: the guard's counts, and the model for the present query. */
struct arm_state {
        struct curve all;   /* over all earlier queries, unweighted */
        struct charged {
                double alone, spent;  /* PAR-2 of the arm alone on all of them, as far as known; seconds that it had */
                size_t ended, solved; /* queries on which it ended; queries that it solved */
        } charged;
        struct curve near;                           /* over the similar queries */
        double unsolved[HARDNESS_LEVELS][BINS + 1]; /* hardness_survival() at the edges of the bins, for each level */
};

struct survival {
        double edge[BINS + 1], log_edge[BINS + 1];
        struct hardness hardness;
        struct similar similar;
        struct arm_state *arms;
        double cost; /* PAR-2 of all earlier queries */
        /* One for each earlier query. */
        double *predicted, *level;  /* hardness before and after its attempts */
        struct residual *residuals; /* × arms */
        unsigned char *bin;         /* × arms: where the attempt ended; BINS: not begun */
        size_t fitted;              /* queries at the last fit of the hardness */
        /* For the present query. */
        struct neighbour near[NEAREST];
        double base[NEAREST]; /* their weights by distance alone */
        size_t n_near;
        double mean, *offset; /* the expected hardness, and the expected offset of each arm */
        uint32_t *tie; /* the arms in random order: of equal ones the first is taken */
        size_t only; /* the arm that gets the whole query; arms: none */
        double head; /* the part of the limit that the schedule gets first even so */
};

static void survival_init(struct learner *l, void *state)
{
        struct survival *s = state;

        hardness_init(&s->hardness, l->arms, l->settings.limit);
        similar_init(&s->similar, l->features);
        for (int b = 1; b <= BINS; b++)
                s->edge[b] = l->settings.limit * pow(FIRST_BIN, 1 - (double)(b - 1) / (BINS - 1));
        for (int b = 0; b <= BINS; b++)
                s->log_edge[b] = log(s->edge[b]);
        s->arms = allocate(l->arms, sizeof(*s->arms));
        s->offset = allocate(l->arms, sizeof(*s->offset));
        s->tie = allocate(l->arms, sizeof(*s->tie));
}

static void survival_done(void *state)
{
        struct survival *s = state;

        hardness_done(&s->hardness);
        similar_done(&s->similar);
        free(s->arms);
        free(s->predicted);
        free(s->level);
        free(s->residuals);
        free(s->bin);
        free(s->offset);
        free(s->tie);
}

/* -- bins -------------------------------------------------------------------------------------------------------- */

/* The number of bins that are over after `seconds`. Turns end at edges, up to rounding. */
static int bins_over(const struct survival *s, double seconds)
{
        int b = 0;

        while (b < BINS && s->edge[b + 1] <= seconds * (1 + 1e-9))
                b++;
        return b;
}

/* The bin in which an attempt was solved or given up, or the last that it lived through; BINS if none. */
static unsigned char last_bin(const struct survival *s, const struct attempt *a)
{
        int over = bins_over(s, a->seconds);

        if (a->ending == ENDING_NONE || (a->ending == ENDING_STOPPED && over == 0))
                return BINS;
        if (a->ending == ENDING_STOPPED)
                return (unsigned char)(over - 1);
        return (unsigned char)MIN(over, BINS - 1);
}

static void count(struct curve *c, enum ending ending, unsigned char bin, double weight)
{
        if (bin == BINS)
                return;
        c->running[bin] += weight; /* only the last bin; sum_running() adds the earlier ones */
        if (ending == ENDING_SOLVED)
                c->solved[bin] += weight;
        else if (ending == ENDING_FAILED)
                c->failed[bin] += weight;
}

static void sum_running(struct curve *c)
{
        for (int b = BINS - 2; b >= 0; b--)
                c->running[b] += c->running[b + 1];
}

/* -- guard ------------------------------------------------------------------------------------------------------- */

#define KAPLAN_MEIER .05 /* runs; keeps bins that few runs have reached from deciding much */

/* PAR-2 of the arm alone. If it was stopped or not run, all its runs predict the rest. */
static double cost_alone(const struct learner *l, const struct survival *s, size_t arm, const struct attempt *a)
{
        const struct curve *all = &s->arms[arm].all;
        double limit = l->settings.limit, running = 1, failed = 0, sum = 0;

        if (a->ending == ENDING_SOLVED)
                return a->seconds;
        if (a->ending == ENDING_FAILED)
                return 2 * limit;
        for (int b = bins_over(s, a->seconds); b < BINS; b++) {
                double now = running / (all->running[b] + KAPLAN_MEIER);

                sum += now * all->solved[b] * (s->edge[b] + s->edge[b + 1]) / 2;
                failed += now * all->failed[b];
                running -= now * (all->solved[b] + all->failed[b]);
        }
        return sum + (running + failed) * 2 * limit;
}

/* Adds a query's cost to the schedule's, and to each arm's alone. A run of .9 of the limit counts as ended. */
static void charge(const struct learner *l, struct survival *s, const struct attempt *attempts)
{
        double used = 0;
        bool is_solved = false;

        for (size_t a = 0; a < l->arms; a++) {
                const struct attempt *at = &attempts[a];
                struct charged *c = &s->arms[a].charged;

                c->alone += cost_alone(l, s, a, at);
                c->solved += at->ending == ENDING_SOLVED;
                c->ended += at->ending == ENDING_SOLVED || at->ending == ENDING_FAILED || at->seconds > .9 * l->settings.limit;
                c->spent += at->seconds;
                used += at->seconds;
                is_solved |= at->ending == ENDING_SOLVED;
        }
        s->cost += is_solved ? used : 2 * l->settings.limit;
}

/* The cost of the arm alone. Infinite until it has solved something. */
static double known_cost(struct learner *l, const struct survival *s, const struct charged *c)
{
        return c->solved > 0 ? c->alone : INFINITY;
}

/* The arm's mean cost, with ALONE as that of one more query, and a deviation drawn around it. */
static double drawn_cost(struct learner *l, const struct survival *s, const struct charged *c)
{
        double limit = l->settings.limit, n = (double)c->ended, mean = (c->alone / (double)l->n * n + ALONE * limit) / (n + 1);

        return mean + ALONE_SPREAD * limit / sqrt(n + 1) * random_normal(&l->random);
}

/* The arm's time, if it has solved something and got less than EXPLORE of all time. */
static double neglected_time(struct learner *l, const struct survival *s, const struct charged *c)
{
        return c->solved > 0 && c->spent < EXPLORE * s->cost ? c->spent : INFINITY;
}

/* The arm with the least value; the number of arms if all are infinite. */
static size_t find_least(struct learner *l, const struct survival *s, double (*of)(struct learner *l, const struct survival *s, const struct charged *c))
{
        double least = INFINITY;
        size_t ret = l->arms;

        for (size_t a = 0; a < l->arms; a++) {
                double x = of(l, s, &s->arms[a].charged);

                if (x < least && !l->left_out[a]) {
                        least = x;
                        ret = a;
                }
        }
        return ret;
}

/* The guard. While nothing was solved yet the schedule begins each query, up to `head`, and a drawn arm gets the rest. */
static void choose_only(struct learner *l, struct survival *s)
{
        size_t leader = find_least(l, s, known_cost);
        bool is_search = leader == l->arms,
             is_behind = !is_search && s->cost > (1 + GUARD_SHARE) * s->arms[leader].charged.alone + GUARD_LIMITS * l->settings.limit;

        s->only = l->arms;
        s->head = is_search ? SEARCH_HEAD : 0;
        if (l->n > 0 && !(l->settings.without & WITHOUT_GUARD))
                s->only = find_least(l, s, is_search || is_behind ? drawn_cost : neglected_time);
}

/* -- similar queries --------------------------------------------------------------------------------------------- */

static void find_similar(const struct learner *l, struct survival *s)
{
        double width;

        s->n_near = 0;
        if (l->settings.without & WITHOUT_FEATURES) { /* the latest */
                for (size_t i = l->n; i > 0 && s->n_near < NEAREST; i--) {
                        s->base[s->n_near] = 1;
                        s->near[s->n_near++] = (struct neighbour){i - 1, 0};
                }
                return;
        }
        s->n_near = similar_nearest(&s->similar, l->now, NEAREST, s->near);
        width = s->n_near > 0 ? fmax(1e-3, s->near[MIN((size_t)BANDWIDTH, s->n_near) - 1].distance) : 1;
        for (size_t i = 0; i < s->n_near; i++) {
                double d = s->near[i].distance / width;

                s->base[i] = 1 / ((1 + d * d) * (1 + d * d));
        }
}

/* Estimates the hardness of the query, and each arm's offset on it, from similar queries. */
static void predict(const struct learner *l, struct survival *s)
{
        double sum = 0, weights = HARDNESS_PRIOR;

        for (size_t i = 0; i < s->n_near; i++) {
                sum += s->base[i] * s->level[s->near[i].index];
                weights += s->base[i];
        }
        s->mean = sum / weights;
        for (size_t a = 0; a < l->arms; a++) {
                sum = 0;
                weights = OFFSET_PRIOR;
                for (size_t i = 0; i < s->n_near; i++) {
                        const struct residual *seen = &s->residuals[s->near[i].index * l->arms + a];

                        sum += s->base[i] * seen->weight * seen->apart;
                        weights += s->base[i] * seen->weight;
                }
                s->offset[a] = sum / weights;
        }
}

static void find_unsolved(const struct learner *l, struct survival *s)
{
        for (size_t a = 0; a < l->arms; a++)
                for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                        for (int b = 0; b <= BINS; b++)
                                s->arms[a].unsolved[g][b] = hardness_survival(&s->hardness, a, s->log_edge[b], s->offset[a], hardness_level(g));
}

static void survival_begin(struct learner *l, void *state)
{
        struct survival *s = state;

        find_similar(l, s);
        predict(l, s);
        find_unsolved(l, s);
        choose_only(l, s);
        for (uint32_t a = 0; a < l->arms; a++)
                s->tie[a] = a;
        random_shuffle(&l->random, s->tie, l->arms);
}

/* The mean of the hardness, and the arms' offsets. */
static size_t survival_expected(const struct learner *l, const void *state, double *ret)
{
        const struct survival *s = state;

        if (ret) {
                ret[0] = s->mean;
                memcpy(&ret[1], s->offset, l->arms * sizeof(*ret));
        }
        return 1 + l->arms;
}

static void survival_expect(struct learner *l, void *state, const double *expected)
{
        struct survival *s = state;

        s->mean = expected[0];
        memcpy(s->offset, &expected[1], l->arms * sizeof(*expected));
}

/* -- hazards ----------------------------------------------------------------------------------------------------- */

/* How well an earlier query agrees with the arms' attempts on the present one. */
static double likeness(const struct learner *l, const struct attempt *seen, const struct attempt *now)
{
        double ret = 1;

        for (size_t a = 0; a < l->arms; a++) {
                if (now[a].ending == ENDING_NONE || l->left_out[a])
                        continue;
                if (seen[a].ending == ENDING_NONE)
                        ret *= NOT_KNOWN;
                else if (now[a].ending == ENDING_FAILED)
                        ret *= seen[a].ending == ENDING_FAILED ? 1 : GAVE_UP;
                else if (seen[a].ending == ENDING_STOPPED)
                        ret *= seen[a].seconds < now[a].seconds * (1 - 1e-9) ? NOT_KNOWN : 1;
                else if (seen[a].seconds <= now[a].seconds)
                        ret *= seen[a].ending == ENDING_SOLVED ? DONE_SOONER : GAVE_UP;
        }
        return ret;
}

static void count_similar(const struct learner *l, struct survival *s, const struct attempt *now)
{
        for (size_t a = 0; a < l->arms; a++)
                s->arms[a].near = (struct curve){0};
        for (size_t i = 0; i < s->n_near; i++) {
                size_t index = s->near[i].index;
                const struct attempt *seen = learner_seen(l, index);
                double weight = s->base[i] * likeness(l, seen, now);

                for (size_t a = 0; a < l->arms; a++)
                        count(&s->arms[a].near, seen[a].ending, s->bin[index * l->arms + a], weight);
        }
        for (size_t a = 0; a < l->arms; a++)
                sum_running(&s->arms[a].near);
}

/* The probability of each level of hardness, given that the stopped arms have not solved the query. */
static void weigh_levels(const struct learner *l, const struct survival *s, const struct attempt *now,
                         double ret[HARDNESS_LEVELS])
{
        double sum = 0;

        for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                double d = hardness_level(g) - s->mean;

                ret[g] = exp(-.5 * d * d / s->hardness.variance);
                for (size_t a = 0; a < l->arms; a++)
                        if (now[a].ending == ENDING_STOPPED)
                                ret[g] *= s->arms[a].unsolved[g][bins_over(s, now[a].seconds)] + 1e-9;
                sum += ret[g];
        }
        for (size_t g = 0; g < HARDNESS_LEVELS; g++)
                ret[g] /= sum;
}

/* The model's hazard of bin b, for an arm that has lived through the bins before `from`. */
static double model_hazard(const struct survival *s, size_t arm, int from, int b, const double levels[HARDNESS_LEVELS])
{
        double ending = 0, running = 1e-12;

        for (size_t g = 0; g < HARDNESS_LEVELS; g++) {
                const double *unsolved = s->arms[arm].unsolved[g];
                double chance = levels[g] / (unsolved[from] + 1e-12);

                ending += chance * (unsolved[b] - unsolved[b + 1]);
                running += chance * unsolved[b];
        }
        return ending / running;
}

struct hazards {
        double solved, failed;
};

/* The hazards of bin b for an arm that has lived through the bins before `from`: counted, with PRIOR_RUNS runs as the model expects. */
static struct hazards hazards_of(const struct learner *l, const struct survival *s, size_t arm, int from, int b, const double levels[HARDNESS_LEVELS])
{
        const struct curve *near = &s->arms[arm].near, *all = &s->arms[arm].all;
        double prior = l->settings.without & WITHOUT_HARDNESS ? FLAT_HAZARD : model_hazard(s, arm, from, b, levels),
               prior_failed = all->failed[b] / (all->running[b] + 1);

        if (l->settings.without & WITHOUT_CURVES)
                return (struct hazards){prior * (1 - prior_failed), prior_failed};
        return (struct hazards){(near->solved[b] + PRIOR_RUNS * prior) / (near->running[b] + PRIOR_RUNS),
                                (near->failed[b] + PRIOR_RUNS * prior_failed) / (near->running[b] + PRIOR_RUNS)};
}

/* -- schedule ---------------------------------------------------------------------------------------------------- */

/* The best ratio of chance to expected time of the arm's next turn, and the end of that turn. */
static double best_turn(const struct learner *l, const struct survival *s, size_t arm, double ran, double left,
                        const double levels[HARDNESS_LEVELS], double *ret_until)
{
        double running = 1, solved = 0, cost = 0, best = -1;
        int from = bins_over(s, ran);

        for (int b = from; b < BINS; b++) {
                struct hazards h = hazards_of(l, s, arm, from, b, levels);
                double begin = fmax(s->edge[b], ran), end = fmin(s->edge[b + 1], ran + left),
                       part = (end - begin) / (s->edge[b + 1] - begin), ratio;

                if (end <= begin)
                        break;
                solved += running * h.solved * part;
                cost += running * (1 - (h.solved + h.failed) / 2) * (end - begin);
                running *= fmax(0, 1 - h.solved - h.failed);
                ratio = solved / cost;
                if (ratio > best) {
                        best = ratio;
                        *ret_until = end;
                }
        }
        return best;
}

static bool may_run(const struct learner *l, const struct attempt *a)
{
        return a->ending == ENDING_NONE || (a->ending == ENDING_STOPPED && !(l->settings.without & WITHOUT_PAUSING));
}

static bool survival_next(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret)
{
        struct survival *s = state;
        double levels[HARDNESS_LEVELS], best = -1;
        bool has_only = s->only < l->arms && left <= (1 - s->head) * l->settings.limit && may_run(l, &attempts[s->only]);

        count_similar(l, s, attempts);
        weigh_levels(l, s, attempts, levels);
        for (size_t i = 0; i < l->arms; i++) {
                uint32_t arm = s->tie[i];
                double until = 0, ratio;

                if (!may_run(l, &attempts[arm]) || (has_only && arm != s->only))
                        continue;
                ratio = best_turn(l, s, arm, attempts[arm].seconds, left, levels, &until);
                if (ratio > best) {
                        best = ratio;
                        *ret = (struct step){arm, until};
                }
        }
        if (s->only < l->arms && !has_only && s->head > 0 && may_run(l, &attempts[s->only])) /* the turn ends with the schedule's part */
                ret->until = fmin(ret->until, attempts[ret->arm].seconds + left - (1 - s->head) * l->settings.limit + 1e-6);
        return best >= 0;
}

/* -- learning ---------------------------------------------------------------------------------------------------- */

static void add_curves(const struct learner *l, struct survival *s, const struct attempt *attempts)
{
        for (size_t a = 0; a < l->arms; a++) {
                struct curve *all = &s->arms[a].all;
                unsigned char bin = last_bin(s, &attempts[a]);

                s->bin[l->n * l->arms + a] = bin;
                if (bin == BINS)
                        continue;
                for (int b = 0; b <= bin; b++)
                        all->running[b]++;
                all->failed[bin] += attempts[a].ending == ENDING_FAILED;
                all->solved[bin] += attempts[a].ending == ENDING_SOLVED;
        }
}

/* Compares the final hardness with its prediction: the reliability of predictions. */
static void add_hardness(const struct learner *l, struct survival *s, const struct attempt *attempts)
{
        size_t i = l->n;
        struct hardness_seen seen = hardness_after(&s->hardness, attempts, s->mean, s->offset, &s->residuals[i * l->arms]);
        double miss = seen.mean - s->mean, n = fmin((double)i + 6, 200); /* the first variance counts as 5 queries */

        s->predicted[i] = s->mean;
        s->level[i] = seen.mean;
        s->hardness.variance =
                fmax(HARDNESS_VARIANCE_LEAST, s->hardness.variance + (miss * miss + seen.variance - s->hardness.variance) / n);
}

/* Fits over all earlier queries. Repeated when their number has grown by a tenth. */
static void refit(const struct learner *l, struct survival *s)
{
        if ((double)l->n < 1.1 * (double)s->fitted + 1)
                return;
        s->fitted = l->n;
        hardness_fit(&s->hardness, l->seen, l->n, s->predicted, 3);
        for (size_t i = 0; i < l->n; i++)
                s->level[i] = hardness_after(&s->hardness, learner_seen(l, i), s->predicted[i], NULL, &s->residuals[i * l->arms]).mean;
        s->cost = 0;
        for (size_t a = 0; a < l->arms; a++)
                s->arms[a].charged = (struct charged){0};
        for (size_t i = 0; i < l->n; i++)
                charge(l, s, learner_seen(l, i));
}

static void survival_learn(struct learner *l, void *state, const struct attempt *attempts)
{
        struct survival *s = state;

        list_grow(s->predicted, l->n);
        list_grow(s->level, l->n);
        list_grow_sized(&s->residuals, l->n, l->arms * sizeof(*s->residuals));
        list_grow_sized(&s->bin, l->n, l->arms * sizeof(*s->bin));
        similar_add(&s->similar, l->now);
        refit(l, s);
        add_curves(l, s, attempts);
        add_hardness(l, s, attempts);
        charge(l, s, attempts);
}

const struct selector selector_survival = {
        .size = sizeof(struct survival),
        .init = survival_init,
        .done = survival_done,
        .begin = survival_begin,
        .expected = survival_expected,
        .expect = survival_expect,
        .learn = survival_learn,
        .next = survival_next,
};
