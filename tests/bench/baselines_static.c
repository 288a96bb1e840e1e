/* One schedule for every query, learned online: the baseline that anything cleverer has to beat.
 *
 * Streeter and Golovin, "An online algorithm for maximizing submodular functions", 2008: greedily the turn that covers most of the queries
 * not covered yet per second. An arm may come up again; it is then continued where it was stopped. Where it is not known whether an arm
 * would have solved a query (it was stopped, or not run), the arm's Kaplan-Meier curve says how likely that is. */
#include "tests/bench/baselines.h"

#include <math.h>

#define BINS         30
#define FIRST_BIN    (1 / 6000.0) /* of the limit */
#define PRIOR_HAZARD .03
#define PRIOR_RUNS   1.0

struct static_schedule {
        double edge[BINS + 1];
        struct step *steps;
        size_t n;
        size_t computed; /* queries it was computed from */
        double (*hazard)[BINS];
        double *uncovered; /* of each query seen, and of one that nothing is known of */
        int *at;           /* each arm's next bin */
};

static void static_init(struct learner *l, void *state)
{
        struct static_schedule *s = state;

        for (int b = 1; b <= BINS; b++)
                s->edge[b] = l->settings.limit * pow(FIRST_BIN, 1 - (double)(b - 1) / (BINS - 1));
        s->hazard = allocate(l->arms, sizeof(*s->hazard));
        s->at = allocate(l->arms, sizeof(*s->at));
}

static void static_done(void *state)
{
        struct static_schedule *s = state;

        free(s->steps);
        free(s->hazard);
        free(s->uncovered);
        free(s->at);
}

static int bin_of(const struct static_schedule *s, double seconds)
{
        int b = 0;

        while (b < BINS - 1 && s->edge[b + 1] < seconds * (1 - 1e-9))
                b++;
        return b;
}

/* The first bin of which nothing is known: behind what the arm lived through. */
static int first_unknown(const struct static_schedule *s, const struct attempt *a)
{
        int b = 0;

        if (a->ending != ENDING_STOPPED)
                return a->ending == ENDING_NONE ? 0 : BINS;
        while (b < BINS && s->edge[b + 1] <= a->seconds * (1 + 1e-9))
                b++;
        return b;
}

static void count_hazards(const struct learner *l, struct static_schedule *s)
{
        for (size_t a = 0; a < l->arms; a++) {
                double solved[BINS] = {0}, running[BINS] = {0};

                for (size_t i = 0; i < l->n; i++) {
                        const struct attempt *seen = &learner_seen(l, i)[a];
                        int end = seen->ending == ENDING_SOLVED ? bin_of(s, seen->seconds) + 1 : first_unknown(s, seen);

                        for (int b = 0; b < end; b++)
                                running[b]++;
                        if (seen->ending == ENDING_SOLVED)
                                solved[end - 1]++;
                }
                for (int b = 0; b < BINS; b++)
                        s->hazard[a][b] = (solved[b] + PRIOR_RUNS * PRIOR_HAZARD) / (running[b] + PRIOR_RUNS);
        }
}

/* Adds to ret[b] how likely it is that the arm solves query i in its bins up to b. */
static void add_chances(const struct learner *l, const struct static_schedule *s, size_t arm, size_t i, double weight,
                        double ret[BINS])
{
        static const struct attempt nothing = {ENDING_NONE, 0};
        const struct attempt *seen = i < l->n ? &learner_seen(l, i)[arm] : &nothing;
        double alive = 1;
        int b = s->at[arm];

        if (seen->ending == ENDING_SOLVED) {
                for (b = MAX(b, bin_of(s, seen->seconds)); b < BINS; b++)
                        ret[b] += weight;
                return;
        }
        for (b = MAX(b, first_unknown(s, seen)); b < BINS; b++) {
                alive *= 1 - s->hazard[arm][b];
                ret[b] += weight * (1 - alive);
        }
}

static double best_turn(const struct learner *l, const struct static_schedule *s, uint32_t *ret_arm, int *ret_end)
{
        double best = 0;

        for (uint32_t arm = 0; arm < l->arms; arm++) {
                double chance[BINS] = {0};

                for (size_t i = 0; i <= l->n; i++)
                        if (s->uncovered[i] > 0)
                                add_chances(l, s, arm, i, s->uncovered[i], chance);
                for (int b = s->at[arm]; b < BINS; b++) {
                        double ratio = chance[b] / (s->edge[b + 1] - s->edge[s->at[arm]]);

                        if (ratio > best) {
                                best = ratio;
                                *ret_arm = arm;
                                *ret_end = b + 1;
                        }
                }
        }
        return best;
}

static void compute(struct learner *l, struct static_schedule *s)
{
        double used = 0, *uncovered = allocate(l->n + 1, sizeof(*uncovered));

        free(s->uncovered);
        s->uncovered = uncovered;
        for (size_t i = 0; i <= l->n; i++)
                uncovered[i] = 1;
        memset(s->at, 0, l->arms * sizeof(*s->at));
        count_hazards(l, s);
        s->n = 0;
        while (used < l->settings.limit) {
                uint32_t arm = 0;
                int end = 0;

                if (best_turn(l, s, &arm, &end) <= 0)
                        break;
                list_grow(s->steps, s->n);
                s->steps[s->n++] = (struct step){arm, s->edge[end]};
                used += s->edge[end] - s->edge[s->at[arm]];
                for (size_t i = 0; i <= l->n; i++) {
                        double chance[BINS] = {0};

                        add_chances(l, s, arm, i, 1, chance);
                        uncovered[i] *= 1 - chance[end - 1];
                }
                s->at[arm] = end;
        }
        s->computed = l->n;
}

static void static_begin(struct learner *l, void *state)
{
        struct static_schedule *s = state;

        if (s->n == 0 || (double)l->n >= 1.1 * (double)s->computed + 1)
                compute(l, s);
}

/* Time that arms left over by giving up goes to the first that may still use it. */
static bool static_next(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret)
{
        const struct static_schedule *s = state;

        for (int extended = 0; extended < 2; extended++)
                for (size_t i = 0; i < s->n; i++) {
                        const struct attempt *a = &attempts[s->steps[i].arm];
                        double until = extended ? l->settings.limit : s->steps[i].until;

                        if (a->ending == ENDING_FAILED || a->seconds >= until * (1 - 1e-9))
                                continue;
                        *ret = (struct step){s->steps[i].arm, fmin(until, a->seconds + left)};
                        return true;
                }
        return false;
}

const struct selector selector_static = {
        .size = sizeof(struct static_schedule),
        .init = static_init,
        .done = static_done,
        .begin = static_begin,
        .next = static_next,
};
