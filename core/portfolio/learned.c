#include "core/portfolio/learned.h"

#include <pthread.h>

#include "core/portfolio/portfolio_internal.h"

#define LEARNED_MOST 16 /* limit on kept learners: one for each core, of a portfolio or two */

/* The learners that no running case has now. */
struct learners {
        pthread_mutex_t lock;
        struct learned *latest; /* under lock; the others are linked by `older` */
};

static void learned_free(struct learned *l)
{
        if (l)
                learner_free(l->learner);
        free(l);
}

static void learners_free(void *kept)
{
        struct learners *learners = kept;
        struct learned *older;

        for (struct learned *l = learners->latest; l; l = older) {
                older = l->older;
                learned_free(l);
        }
        pthread_mutex_destroy(&learners->lock);
        free(learners);
}

static void *learners_new(void)
{
        struct learners *learners = allocate(1, sizeof(*learners));

        pthread_mutex_init(&learners->lock, NULL);
        return learners;
}

static struct learners *learners_of(struct workspace *w)
{
        return workspace_learned(w, learners_new, learners_free);
}

static struct learned *take_latest(struct learners *learners, const struct digest *epoch)
{
        struct learned **at, *found;
        cleanup_unlock pthread_mutex_t *held = hold(&learners->lock);

        for (at = &learners->latest; *at; at = &(*at)->older)
                if (digest_equal(&(*at)->epoch, epoch))
                        break;
        found = *at;
        if (found)
                *at = found->older;
        return found;
}

static int leave_out(struct workspace *w, const struct portfolio *p, struct learned *l)
{
        for (uint32_t a = 0; a < p->n_arms; a++) {
                int r = arm_was_wrong(w, p, a, NULL);

                if (r < 0 && r != -ENOENT)
                        return r;
                learner_leave_out(l->learner, a, r == 0);
        }
        return 0;
}

static int make(const struct portfolio *p, struct learned **ret)
{
        const struct learner_settings settings = {.limit = (double)p->wall_ns / NSEC_PER_SEC, .seed = p->seed};
        struct learned *l = allocate(1, sizeof(*l));
        int r = learner_new(&settings, p->n_arms, portfolio_n_features(), &l->learner);

        l->epoch = p->epoch;
        *ret = l;
        return r;
}

/* True if the trial's features are those of this version of solverfs. Older records have their number only. */
static bool has_these_features(const struct trial *t)
{
        return t->n_features == portfolio_n_features() && (t->features_id == 0 || t->features_id == portfolio_features_id());
}

/* Tells it the trials that it does not know. */
static int tell_all(struct workspace *w, const struct portfolio *p, struct learned *l)
{
        cleanup_trial_list struct trial_list trials = {0};
        cleanup_free struct attempt *attempts = allocate(p->n_arms, sizeof(*attempts));
        int r = trials_read(w, p, l->next, &trials);

        for (size_t i = 0; r == 0 && i < trials.n; i++) {
                const struct trial *t = trials.list[i];
                bool has_expected = t->n_expected > 0 && t->n_expected == learner_expected(l->learner, NULL);

                l->next = t->number + 1;
                if (!has_these_features(t) || t->n_arms != p->n_arms)
                        continue;
                for (size_t a = 0; a < p->n_arms; a++)
                        attempts[a] = t->runs[a].attempt;
                learner_tell(l->learner, t->features, has_expected ? t->expected : NULL, attempts);
        }
        return r;
}

int learned_take(struct workspace *w, const struct portfolio *p, struct learned **ret)
{
        uint64_t taken_back;
        struct learned *l;
        int r = trials_taken_back(w, p, &taken_back); /* before the trials, so that a trial taken back meanwhile is told at most once more */

        if (r < 0)
                return r;
        l = take_latest(learners_of(w), &p->epoch);
        if (l && l->taken_back != taken_back) { /* it was told an answer that is taken back */
                learned_free(l);
                l = NULL;
        }
        if (!l)
                r = make(p, &l);
        l->taken_back = taken_back;
        if (r == 0)
                r = tell_all(w, p, l) ?: leave_out(w, p, l);
        if (r < 0)
                learned_free(l);
        else
                *ret = l;
        return r;
}

void learned_give(struct workspace *w, struct learned *l)
{
        struct learners *learners = learners_of(w);
        struct learned **at, *last;
        size_t n = 0;

        pthread_mutex_lock(&learners->lock);
        l->older = learners->latest;
        learners->latest = l;
        for (at = &learners->latest; *at && n < LEARNED_MOST; at = &(*at)->older)
                n++;
        last = *at;
        *at = NULL;
        pthread_mutex_unlock(&learners->lock);
        learned_free(last); /* at most one too many, as each call adds one */
}
