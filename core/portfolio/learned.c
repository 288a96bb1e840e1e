#include "core/portfolio/learned.h"

#include <pthread.h>

#include "core/portfolio/portfolio_internal.h"

#define LEARNED_MOST 16 /* limit on kept learners: one for each core, of a portfolio or two */

struct pool {
        pthread_mutex_t lock;
        struct learned *latest; /* under lock; the others are linked by `older` */
};

static void learned_free(struct learned *l)
{
        if (l)
                learner_free(l->learner);
        free(l);
}

static void pool_free(void *kept)
{
        struct pool *pool = kept;
        struct learned *older;

        for (struct learned *l = pool->latest; l; l = older) {
                older = l->older;
                learned_free(l);
        }
        pthread_mutex_destroy(&pool->lock);
        free(pool);
}

static void *pool_new(void)
{
        struct pool *pool = allocate(1, sizeof(*pool));

        pthread_mutex_init(&pool->lock, NULL);
        return pool;
}

static struct pool *pool_of(struct workspace *w)
{
        return workspace_learned(w, pool_new, pool_free);
}

static struct learned *take_latest(struct pool *pool, const struct digest *epoch, size_t features)
{
        struct learned **at, *found;
        cleanup_unlock pthread_mutex_t *held = hold(&pool->lock);

        for (at = &pool->latest; *at; at = &(*at)->older)
                if (digest_equal(&(*at)->epoch, epoch) && (*at)->features == features)
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

static int make(const struct portfolio *p, size_t features, struct learned **ret)
{
        const struct learner_settings settings = {.limit = (double)p->wall_ns / NSEC_PER_SEC, .seed = p->seed};
        struct learned *l = allocate(1, sizeof(*l));
        int r = learner_new(&settings, p->n_arms, features, &l->learner);

        l->epoch = p->epoch;
        l->features = features;
        *ret = l;
        return r;
}

static int tell_all(struct workspace *w, const struct portfolio *p, struct learned *l)
{
        cleanup_trial_list struct trial_list trials = {0};
        cleanup_free struct attempt *attempts = allocate(p->n_arms, sizeof(*attempts));
        int r = trials_read(w, p, l->next, &trials);

        for (size_t i = 0; r == 0 && i < trials.n; i++) {
                const struct trial *t = trials.list[i];
                bool has_expected = t->n_expected > 0 && t->n_expected == learner_expected(l->learner, NULL);

                l->next = t->number + 1;
                if (t->n_features != l->features || t->n_arms != p->n_arms)
                        continue; /* a record of another version, with other features */
                for (size_t a = 0; a < p->n_arms; a++)
                        attempts[a] = t->runs[a].attempt;
                learner_tell(l->learner, t->features, has_expected ? t->expected : NULL, attempts);
        }
        return r;
}

int learned_take(struct workspace *w, const struct portfolio *p, size_t features, struct learned **ret)
{
        uint64_t taken_back = trials_taken_back(w, p); /* read before the trials, so that a trial taken back meanwhile is told at most once more */
        struct learned *l = take_latest(pool_of(w), &p->epoch, features);
        int r = 0;

        if (l && l->taken_back != taken_back) { /* it was told an answer that is taken back */
                learned_free(l);
                l = NULL;
        }
        if (!l)
                r = make(p, features, &l);
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
        struct pool *pool = pool_of(w);
        struct learned **at, *last;
        size_t n = 0;

        pthread_mutex_lock(&pool->lock);
        l->older = pool->latest;
        pool->latest = l;
        for (at = &pool->latest; *at && n < LEARNED_MOST; at = &(*at)->older)
                n++;
        last = *at;
        *at = NULL;
        pthread_mutex_unlock(&pool->lock);
        learned_free(last); /* at most one too many, as each call adds one */
}
