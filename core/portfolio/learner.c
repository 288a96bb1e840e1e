#include "core/portfolio/learner_internal.h"

#include <math.h>

const struct choice learner_selectors[] = {
        {"survival", "survival curves of similar queries, greedily (the default)"},
        {"static", "one schedule for all queries, learned online"},
        {"10nn", "the fastest of the arms that solved the 10 nearest queries"},
        {"1nn", "the arm that solved the nearest query, then the next nearest"},
        {"thompson", "Thompson sampling with Beta priors"},
        {"epsilon", "epsilon-greedy, a tenth of the orders at random"},
        {"linucb", "upper confidence bounds of a linear model of the reward"},
        {"exp3", "exponential weights for adversarial bandits"},
        {"neural", "a classifier with one hidden layer"},
        {"random", "a random order"},
        {"fixed", "the arms as they are listed"},
        {0},
};
static const struct selector *const selectors[] = {
        &selector_survival, &selector_static, &selector_10nn,   &selector_1nn,    &selector_thompson, &selector_epsilon,
        &selector_linucb,   &selector_exp3,   &selector_neural, &selector_random, &selector_fixed,
};

const struct choice learner_allocations[] = {
        {"schedule", "what survival and static plan: arms are stopped and continued"},
        {"expo", "until success is improbable under an exponential distribution"},
        {"nearest", "the same, fitted to the 40 nearest queries"},
        {"linear", "a linear model of the runtime"},
        {"constant", "the limit divided by the number of arms"},
        {"none", "all of the limit for the first arm"},
        {0},
};
static const struct allocation *const allocations[] = {
        NULL, &allocation_expo, &allocation_nearest, &allocation_linear, &allocation_constant, &allocation_none,
};

static int find(const struct choice *choices, const char *name)
{
        for (int i = 0; choices[i].name; i++)
                if (strcmp(choices[i].name, name) == 0)
                        return i;
        return -1;
}

bool learner_suits(const char *selector, const char *allocation)
{
        int s = find(learner_selectors, selector), a = find(learner_allocations, allocation);

        return s >= 0 && a >= 0 && (allocations[a] || selectors[s]->next);
}

static int refuse_name(const char *what, const char *name, const struct choice *choices)
{
        cleanup_buffer struct buffer list = {0};

        for (const struct choice *c = choices; c->name; c++)
                buffer_addf(&list, "%s%s", c == choices ? "" : ", ", c->name);
        return buffer_error(&list) < 0 ? -ENOMEM : errorf(-EINVAL, "no %s '%s'; there are %s", what, name, list.data);
}

static int choose(struct learner *l, const struct learner_settings *s)
{
        const char *selector = s->selector ? s->selector : learner_selectors[0].name, *allocation = s->allocation;
        int i = find(learner_selectors, selector), j;

        if (i < 0)
                return refuse_name("selector", selector, learner_selectors);
        if (!allocation)
                allocation = learner_allocations[selectors[i]->next ? 0 : 1].name;
        j = find(learner_allocations, allocation);
        if (j < 0)
                return refuse_name("allocation", allocation, learner_allocations);
        l->selector = selectors[i];
        l->allocation = allocations[j];
        if (!l->allocation && !l->selector->next)
                return errorf(-EINVAL, "the selector %s has no schedule of its own; choose an allocation for it", selector);
        return 0;
}

static int make_states(struct learner *l)
{
        int r;

        l->selecting = calloc(1, l->selector->size + 1);
        if (!l->selecting)
                return -ENOMEM;
        r = l->selector->init ? l->selector->init(l, l->selecting) : 0;
        if (r < 0 || !l->allocation)
                return r;
        l->allocating = calloc(1, l->allocation->size + 1);
        if (!l->allocating)
                return -ENOMEM;
        return l->allocation->init ? l->allocation->init(l, l->allocating) : 0;
}

int learner_new(const struct learner_settings *settings, size_t arms, size_t features, struct learner **ret)
{
        cleanup_learner struct learner *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        if (arms == 0)
                return errorf(-EINVAL, "a portfolio needs at least one arm");
        if (!(settings->limit > 0) || !isfinite(settings->limit))
                return errorf(-EINVAL, "the limit of a query must be a number of seconds greater than zero");
        if (settings->confidence != 0 && !(settings->confidence > 0 && settings->confidence < 1))
                return errorf(-EINVAL, "the confidence must lie between 0 and 1, and is %g", settings->confidence);
        l->settings = *settings;
        if (l->settings.confidence == 0)
                l->settings.confidence = .05;
        l->arms = arms;
        l->features = features;
        random_seed(&l->random, settings->seed);
        l->order = calloc(arms, sizeof(*l->order));
        l->shares = calloc(arms, sizeof(*l->shares));
        l->score = calloc(arms, sizeof(*l->score));
        l->fixed = calloc(arms, sizeof(*l->fixed));
        l->left_out = calloc(arms, sizeof(*l->left_out));
        l->attempts = calloc(arms, sizeof(*l->attempts));
        if (!l->order || !l->shares || !l->score || !l->fixed || !l->left_out || !l->attempts)
                return -ENOMEM;
        for (size_t i = 0; i < arms; i++)
                l->fixed[i] = (uint32_t)i;
        r = choose(l, settings);
        if (r == 0)
                r = past_init(&l->past, arms, features);
        if (r == 0)
                r = make_states(l);
        l->settings.selector = l->settings.allocation = NULL; /* the caller's texts; not needed any more */
        if (r < 0)
                return r;
        *ret = steal_pointer(l);
        return 0;
}

void learner_free(struct learner *l)
{
        if (!l)
                return;
        if (l->selecting && l->selector->done)
                l->selector->done(l->selecting);
        if (l->allocating && l->allocation->done)
                l->allocation->done(l->allocating);
        free(l->selecting);
        free(l->allocating);
        past_done(&l->past);
        free(l->order);
        free(l->shares);
        free(l->score);
        free(l->fixed);
        free(l->left_out);
        free(l->attempts);
        free(l);
}

int learner_fix(struct learner *l, const uint32_t *arms, size_t n)
{
        size_t at = 0;

        for (size_t i = 0; i < n; i++) {
                if (arms[i] >= l->arms)
                        return errorf(-EINVAL, "no arm of that number: %u", arms[i]);
                for (size_t j = 0; j < i; j++)
                        if (arms[j] == arms[i])
                                return errorf(-EINVAL, "an arm stands twice in the order");
        }
        memcpy(l->fixed, arms, n * sizeof(*arms));
        at = n;
        for (uint32_t a = 0; a < l->arms; a++) {
                bool named = false;

                for (size_t i = 0; i < n; i++)
                        named |= arms[i] == a;
                if (!named)
                        l->fixed[at++] = a;
        }
        return 0;
}

double learner_reward(const struct learner *l, const struct attempt *a)
{
        if (a->ending != ENDING_SOLVED)
                return 0;
        return l->settings.reward == REWARD_BINARY ? 1 : pow(fmax(0, 1 - a->seconds / l->settings.limit), 4);
}

void learner_rank(struct learner *l, const double *score, uint32_t *order)
{
        random_shuffle(&l->random, order, l->arms);
        for (size_t i = 1; i < l->arms; i++) { /* insertion: it keeps the order of equals, and arms are few */
                uint32_t arm = order[i];
                size_t at = i;

                for (; at > 0 && score[arm] > score[order[at - 1]]; at--)
                        order[at] = order[at - 1];
                order[at] = arm;
        }
}

static void seed_query(struct learner *l, bool ends)
{
        random_seed_part(&l->random, l->settings.seed, 2 * (uint64_t)l->past.n + 1 + ends);
}

static int begin(struct learner *l, const double *features, const double *expected)
{
        int r = past_begin(&l->past, features);

        if (r < 0)
                return r;
        seed_query(l, false);
        l->at = 0;
        if (expected && l->selector->expect) {
                l->selector->expect(l, l->selecting, expected);
                return 0;
        }
        return l->selector->begin ? l->selector->begin(l, l->selecting) : 0;
}

int learner_begin(struct learner *l, const double *features)
{
        int r = begin(l, features, NULL);

        if (r < 0 || !l->allocation)
                return r;
        for (uint32_t a = 0; a < l->arms; a++)
                l->order[a] = a;
        l->selector->order(l, l->selecting, l->order);
        for (uint32_t a = 0; a < l->arms; a++)
                l->shares[a] = fmin(fmax(l->allocation->share(l, l->allocating, a), 0), l->settings.limit);
        return 0;
}

/* The time that a query may still cost. A rest below rounding counts as none. */
static double time_left(const struct learner *l, const struct attempt *attempts)
{
        double left = l->settings.limit;

        for (size_t a = 0; a < l->arms; a++)
                left -= attempts[a].seconds;
        return left > l->settings.limit * 1e-9 ? left : 0;
}

void learner_leave_out(struct learner *l, uint32_t arm, bool is_left_out)
{
        l->left_out[arm] = is_left_out;
}

/* The order's next arm that has not run; l->arms: none. */
static size_t next_in_order(const struct learner *l, const struct attempt *attempts, size_t at)
{
        while (at < l->arms && attempts[l->order[at]].ending != ENDING_NONE)
                at++;
        return at;
}

bool learner_next(struct learner *l, const struct attempt *attempts, struct step *ret)
{
        double left = time_left(l, attempts);

        if (left == 0)
                return false;
        memcpy(l->attempts, attempts, l->arms * sizeof(*attempts));
        for (size_t a = 0; a < l->arms; a++)
                if (l->left_out[a])
                        l->attempts[a].ending = ENDING_FAILED;
        if (!l->allocation)
                return l->selector->next(l, l->selecting, l->attempts, ret);
        while ((l->at = next_in_order(l, l->attempts, l->at)) < l->arms) {
                uint32_t arm = l->order[l->at++];
                bool is_last = next_in_order(l, l->attempts, l->at) == l->arms;

                *ret = (struct step){arm, is_last ? left : fmin(left, l->shares[arm])};
                if (ret->until > 0)
                        return true;
        }
        return false;
}

int learner_end(struct learner *l, const struct attempt *attempts)
{
        int r;

        seed_query(l, true);
        r = l->selector->learn ? l->selector->learn(l, l->selecting, attempts) : 0;
        if (r == 0 && l->allocation && l->allocation->learn)
                r = l->allocation->learn(l, l->allocating, attempts);
        if (r == 0)
                past_end(&l->past, attempts);
        return r;
}

size_t learner_expectations(const struct learner *l)
{
        return l->selector->expectations ? l->selector->expectations(l) : 0;
}

void learner_expected(const struct learner *l, double *ret)
{
        if (l->selector->expected)
                l->selector->expected(l, l->selecting, ret);
}

int learner_tell(struct learner *l, const double *features, const double *expected, const struct attempt *attempts)
{
        int r = begin(l, features, expected);

        return r < 0 ? r : learner_end(l, attempts);
}
