#include "core/portfolio/learner_internal.h"

#include <math.h>

const struct method learner_methods[] = {
        {"survival", &selector_survival},
        {"10nn", &selector_medley},
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
        *l = (struct learner){.settings = *settings, .selector = method->selector, .arms = arms, .features = features};
        random_seed(&l->random, settings->seed);
        l->score = allocate(arms, sizeof(*l->score));
        l->left_out = allocate(arms, sizeof(*l->left_out));
        l->attempts = allocate(arms, sizeof(*l->attempts));
        past_init(&l->past, arms, features);
        l->state = allocate(1, l->selector->size + 1);
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
        past_done(&l->past);
        free(l->score);
        free(l->left_out);
        free(l->attempts);
        free(l);
}

void learner_rank(struct learner *l, const double *score, uint32_t *ret)
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

size_t learner_next_untried(const struct learner *l, const uint32_t *order, const struct attempt *attempts, size_t at)
{
        while (at < l->arms && attempts[order[at]].ending != ENDING_NONE)
                at++;
        return at;
}

static void seed_query(struct learner *l, bool ends)
{
        random_seed_part(&l->random, l->settings.seed, 2 * (uint64_t)l->past.n + 1 + ends);
}

static void begin(struct learner *l, const double *features, const double *expected)
{
        past_begin(&l->past, features);
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
        return left > l->settings.limit * 1e-9 /* what is left may come from rounding */
               && l->selector->next(l, l->state, l->attempts, left, ret);
}

void learner_end(struct learner *l, const struct attempt *attempts)
{
        seed_query(l, true);
        if (l->selector->learn)
                l->selector->learn(l, l->state, attempts);
        past_end(&l->past, attempts);
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
