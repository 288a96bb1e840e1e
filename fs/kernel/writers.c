#include "fs/kernel/writers.h"

#include "cache/base/util.h"

struct writers {
        size_t n_threads;

        pthread_mutex_t lock;
        pthread_cond_t come; /* there is a chore, or the end has come */
        /* under lock */
        STAILQ_HEAD(, chore) chores; /* that no thread has begun */
        bool ending;

        pthread_t threads[];
};

static void *writers_thread(void *user)
{
        struct writers *w = user;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        for (;;) {
                struct chore *c = STAILQ_FIRST(&w->chores);

                if (!c && w->ending)
                        return NULL;
                if (!c) {
                        pthread_cond_wait(&w->come, &w->lock);
                        continue;
                }
                STAILQ_REMOVE_HEAD(&w->chores, next);
                pthread_mutex_unlock(&w->lock);
                c->fn(c);
                pthread_mutex_lock(&w->lock);
        }
}

void writers_do(struct writers *w, struct chore *c)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        STAILQ_INSERT_TAIL(&w->chores, c, next);
        pthread_cond_signal(&w->come);
}

int writers_new(unsigned n_threads, struct writers **ret)
{
        struct writers *w = allocate(1, sizeof(*w) + n_threads * sizeof(w->threads[0]));
        int r = 0;

        STAILQ_INIT(&w->chores);
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->come, NULL);
        while (r == 0 && w->n_threads < n_threads) {
                r = thread_start(&w->threads[w->n_threads], writers_thread, w);
                w->n_threads += r == 0;
        }
        if (r < 0) {
                writers_free(w);
                return r;
        }
        *ret = w;
        return 0;
}

struct writers *writers_free(struct writers *w)
{
        if (!w)
                return NULL;
        pthread_mutex_lock(&w->lock);
        w->ending = true;
        pthread_cond_broadcast(&w->come);
        pthread_mutex_unlock(&w->lock);
        for (size_t i = 0; i < w->n_threads; i++)
                pthread_join(w->threads[i], NULL);
        pthread_cond_destroy(&w->come);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
}
