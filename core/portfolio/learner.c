#include "core/portfolio/learner_internal.h"

#include <math.h>

int learner_new(const struct learner_settings *settings, size_t arms, size_t features, struct learner **ret)
{
        struct learner *l;

        if (arms == 0)
                return errorf(-EINVAL, "a portfolio needs at least one arm");
        if (!(settings->limit > 0) || !isfinite(settings->limit))
                return errorf(-EINVAL, "the limit of a query must be a number of seconds greater than zero");
        *ret = l = allocate(1, sizeof(*l));
        *l = (struct learner){.settings = *settings, .arms = arms, .features = features};
        l->selector = settings->method ? settings->method->selector : &selector_survival;
        random_seed(&l->random, settings->seed);
        l->left_out = allocate(arms, sizeof(*l->left_out));
        l->attempts = allocate(arms, sizeof(*l->attempts));
        l->now = allocate(features, sizeof(*l->now));
        l->state = allocate(1, l->selector->size + 1); /* a selector may have no state */
        if (l->selector->init)
                l->selector->init(l, l->state);
        return 0;
}

void learner_free(struct learner *l)
{
        if (!l)
                return;
        if (l->selector->done)
                l->selector->done(l->state);
        free(l->state);
        free(l->seen);
        free(l->now);
        free(l->left_out);
        free(l->attempts);
        free(l);
}

/* Seeds the random numbers by the query's number, for choosing or (`ends`) for learning, so that a query that does not end leaves no trace. */
static void seed_query(struct learner *l, bool ends)
{
        random_seed_part(&l->random, l->settings.seed, 2 * (uint64_t)l->n + 1 + ends);
}

static void begin(struct learner *l, const double *features, const double *expected)
{
        for (size_t j = 0; j < l->features; j++)
                l->now[j] = isfinite(features[j]) ? features[j] : NAN;
        seed_query(l, false);
        if (expected && l->selector->expect)
                l->selector->expect(l, l->state, expected);
        else if (l->selector->begin)
                l->selector->begin(l, l->state);
}

void learner_begin(struct learner *l, const double *features)
{
        begin(l, features, NULL);
}

void learner_leave_out(struct learner *l, uint32_t arm, bool is_left_out)
{
        l->left_out[arm] = is_left_out;
}

bool learner_next(struct learner *l, const struct attempt *attempts, struct step *ret)
{
        double left = l->settings.limit;

        memcpy(l->attempts, attempts, l->arms * sizeof(*attempts));
        for (size_t a = 0; a < l->arms; a++) {
                left -= attempts[a].seconds;
                if (l->left_out[a])
                        l->attempts[a].ending = ENDING_FAILED;
        }
        return left > l->settings.limit * 1e-9 /* a smaller rest may come from rounding */
               && l->selector->next(l, l->state, l->attempts, left, ret);
}

void learner_end(struct learner *l, const struct attempt *attempts)
{
        seed_query(l, true);
        if (l->selector->learn)
                l->selector->learn(l, l->state, attempts);
        list_grow_sized(&l->seen, l->n, l->arms * sizeof(*l->seen));
        memcpy(&l->seen[l->n++ * l->arms], attempts, l->arms * sizeof(*attempts));
}

size_t learner_expected(const struct learner *l, double *ret)
{
        return l->selector->expected ? l->selector->expected(l, l->state, ret) : 0;
}

void learner_tell(struct learner *l, const double *features, const double *expected, const struct attempt *attempts)
{
        begin(l, features, expected);
        learner_end(l, attempts);
}
