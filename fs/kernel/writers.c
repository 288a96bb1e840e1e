#include "fs/kernel/writers.h"

#include "cache/base/util.h"

struct writers {
        size_t n_threads;

        pthread_mutex_t lock;
        pthread_cond_t come, done; /* a chore, or the end; the last of all chores */
        /* under lock */
        struct chore *first, **end; /* chores that no thread has begun */
        size_t n_busy;
        bool ending;

        pthread_t threads[];
};

static void *writers_thread(void *user)
{
        struct writers *w = user;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        for (;;) {
                struct chore *c = w->first;

                if (!c && w->ending)
                        return NULL;
                if (!c) {
                        pthread_cond_wait(&w->come, &w->lock);
                        continue;
                }
                w->first = c->next;
                if (!w->first)
                        w->end = &w->first;
                w->n_busy++;
                pthread_mutex_unlock(&w->lock);
                c->fn(c);
                pthread_mutex_lock(&w->lock);
                w->n_busy--;
                if (!w->first && w->n_busy == 0)
                        pthread_cond_broadcast(&w->done);
        }
}

void writers_do(struct writers *w, struct chore *c)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        c->next = NULL;
        *w->end = c;
        w->end = &c->next;
        pthread_cond_signal(&w->come);
}

void writers_drain(struct writers *w)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        while (w->first || w->n_busy > 0)
                pthread_cond_wait(&w->done, &w->lock);
}

int writers_new(unsigned n_threads, struct writers **ret)
{
        struct writers *w = allocate(1, sizeof(*w) + n_threads * sizeof(w->threads[0]));
        int r = 0;

        w->end = &w->first;
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->come, NULL);
        pthread_cond_init(&w->done, NULL);
        for (; r == 0 && w->n_threads < n_threads; w->n_threads += r == 0)
                r = thread_start(&w->threads[w->n_threads], writers_thread, w);
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
        pthread_cond_destroy(&w->done);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
}
