#include "core/portfolio/learner_internal.h"

#include <math.h>

const struct method learner_methods[] = {
        {"survival", "schedule", &selector_survival, NULL},
        {"10nn", "expo", &selector_10nn, &allocation_expo},
        {0},
};

int learner_method(const char *name, const struct method **ret)
{
        cleanup_buffer struct buffer list = {0};

        for (const struct method *m = learner_methods; m->name; m++) {
                if (strcmp(m->name, name) == 0) {
                        *ret = m;
                        return 0;
                }
                buffer_addf(&list, "%s%s", m == learner_methods ? "" : ", ", m->name);
        }
        return errorf(-EINVAL, "no selector '%s'; there are %s", name, list.data);
}

int learner_new(const struct learner_settings *settings, size_t arms, size_t features, struct learner **ret)
{
        const struct method *method = settings->method ? settings->method : learner_methods;
        struct learner *l;

        if (arms == 0)
                return errorf(-EINVAL, "a portfolio needs at least one arm");
        if (!(settings->limit > 0) || !isfinite(settings->limit))
                return errorf(-EINVAL, "the limit of a query must be a number of seconds greater than zero");
        *ret = l = allocate(1, sizeof(*l));
        *l = (struct learner){.settings = *settings, .selector = method->selector, .allocation = method->allocation, .arms = arms, .features = features};
        random_seed(&l->random, settings->seed);
        l->order = allocate(arms, sizeof(*l->order));
        l->score = allocate(arms, sizeof(*l->score));
        l->left_out = allocate(arms, sizeof(*l->left_out));
        l->attempts = allocate(arms, sizeof(*l->attempts));
        past_init(&l->past, arms, features);
        l->selecting = allocate(1, l->selector->size + 1);
        if (l->selector->init)
                l->selector->init(l, l->selecting);
        l->allocating = allocate(1, l->allocation ? l->allocation->size + 1 : 1);
        if (l->allocation && l->allocation->init)
                l->allocation->init(l, l->allocating);
        return 0;
}

void learner_free(struct learner *l)
{
        if (!l)
                return;
        if (l->selector->done)
                l->selector->done(l->selecting);
        if (l->allocation && l->allocation->done)
                l->allocation->done(l->allocating);
        free(l->selecting);
        free(l->allocating);
        past_done(&l->past);
        free(l->order);
        free(l->score);
        free(l->left_out);
        free(l->attempts);
        free(l);
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

static void begin(struct learner *l, const double *features, const double *expected)
{
        past_begin(&l->past, features);
        seed_query(l, false);
        l->at = 0;
        if (expected && l->selector->expect)
                l->selector->expect(l, l->selecting, expected);
        else if (l->selector->begin)
                l->selector->begin(l, l->selecting);
}

void learner_begin(struct learner *l, const double *features)
{
        begin(l, features, NULL);
        for (uint32_t a = 0; a < l->arms; a++)
                l->order[a] = a;
        if (l->allocation)
                l->selector->order(l, l->selecting, l->order);
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
        double left = l->settings.limit;

        memcpy(l->attempts, attempts, l->arms * sizeof(*attempts));
        for (size_t a = 0; a < l->arms; a++) {
                left -= attempts[a].seconds;
                if (l->left_out[a])
                        l->attempts[a].ending = ENDING_FAILED;
        }
        if (left <= l->settings.limit * 1e-9) /* what is left may come from rounding */
                return false;
        if (!l->allocation)
                return l->selector->next(l, l->selecting, l->attempts, ret);
        while ((l->at = next_in_order(l, l->attempts, l->at)) < l->arms) {
                uint32_t arm = l->order[l->at++];
                bool is_last = next_in_order(l, l->attempts, l->at) == l->arms;

                *ret = (struct step){arm, is_last ? left : fmin(left, l->allocation->share(l, l->allocating, arm))};
                if (ret->until > 0)
                        return true;
        }
        return false;
}

void learner_end(struct learner *l, const struct attempt *attempts)
{
        seed_query(l, true);
        if (l->selector->learn)
                l->selector->learn(l, l->selecting, attempts);
        if (l->allocation && l->allocation->learn)
                l->allocation->learn(l, l->allocating, attempts);
        past_end(&l->past, attempts);
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

void learner_tell(struct learner *l, const double *features, const double *expected, const struct attempt *attempts)
{
        begin(l, features, expected);
        learner_end(l, attempts);
}
