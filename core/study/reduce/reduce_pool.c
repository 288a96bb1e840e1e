/* The workers take the texts in order, until one is interesting. It stops the tests of texts behind it; those before it go on, as one of them may be
 * the first. */
#include "core/study/reduce/reduce_pool.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#define READY_LOOK_NS (20 * NSEC_PER_MSEC)  /* when a worker that could not work is asked again */
#define IDLE_LOOK_NS  (100 * NSEC_PER_MSEC) /* and one that has nothing to do */

struct pool_worker {
        struct reduce_pool *pool;
        unsigned number;
        pthread_t thread;
        bool has_thread;
        int stop;  /* eventfd: readable when its text is of no interest any more */
        size_t at; /* the text it works on; SIZE_MAX: none */
};

struct reduce_pool {
        reduce_worker_test test;
        reduce_worker_ready ready;
        void *user;
        int cancel_fd, done; /* done: eventfd, written when a worker becomes idle */
        unsigned n_workers;
        pthread_mutex_t lock;
        pthread_cond_t work;
        /* under lock */
        struct pool_worker *workers; /* owned */
        const struct slice *texts;
        enum reduce_answer *answers;
        size_t n, next, first; /* first: of the interesting ones; n: none yet */
        unsigned n_busy;
        int error;
        bool is_closing;
        char *why; /* owned: the sentence of the error */
};

static void clear_event(int fd)
{
        eventfd_t count;

        eventfd_read(fd, &count); /* fails if there is no event */
}

/* Under the lock: ends what stands behind the first interesting text; after an error, everything. */
static void stop_others(struct reduce_pool *p)
{
        for (unsigned i = 0; i < p->n_workers; i++)
                if (p->workers[i].at != SIZE_MAX && (p->error < 0 || p->workers[i].at > p->first))
                        eventfd_write(p->workers[i].stop, 1);
}

static bool has_work(const struct reduce_pool *p)
{
        return p->error == 0 && p->next < p->n && p->next < p->first;
}

/* Under the lock. */
static void note_error(struct reduce_pool *p, int r)
{
        if (p->error == 0) {
                p->error = r;
                free(p->why);
                p->why = copy_string(error_message(r));
        }
        stop_others(p);
        eventfd_write(p->done, 1);
}

/* Under the lock. -ECANCELED of a text behind the first interesting one is stop_others()' doing, and no error. */
static void note_answer(struct reduce_pool *p, size_t at, int r)
{
        if (r < 0 && (r != -ECANCELED || at <= p->first))
                note_error(p, r);
        if (r < 0)
                return;
        p->answers[at] = r == 1 ? REDUCE_INTERESTING : REDUCE_BORING;
        if (r == 1 && at < p->first) {
                p->first = at;
                stop_others(p);
        }
}

/* Under the lock, which is dropped meanwhile. False: the pool is closing. */
static bool await_work(struct pool_worker *worker)
{
        struct reduce_pool *p = worker->pool;

        while (!p->is_closing) {
                bool is_wanted = has_work(p);
                int r = 1;

                if (p->ready && worker->number > 0) {
                        pthread_mutex_unlock(&p->lock);
                        r = p->ready(p->user, worker->number, is_wanted);
                        pthread_mutex_lock(&p->lock);
                }
                if (r < 0)
                        note_error(p, r);
                else if (r == 1 && has_work(p))
                        return !p->is_closing;
                if (p->is_closing || has_work(p) != is_wanted)
                        continue;
                condition_wait(&p->work, &p->lock, now_ns() + (is_wanted ? READY_LOOK_NS : IDLE_LOOK_NS));
        }
        return false;
}

static void *work(void *user)
{
        struct pool_worker *worker = user;
        struct reduce_pool *p = worker->pool;

        pthread_mutex_lock(&p->lock);
        while (await_work(worker)) {
                struct slice text;
                int r;

                clear_event(worker->stop);
                worker->at = p->next++;
                text = p->texts[worker->at];
                p->n_busy++;
                pthread_mutex_unlock(&p->lock);
                r = p->test(p->user, worker->number, text, worker->stop);
                pthread_mutex_lock(&p->lock);
                note_answer(p, worker->at, r);
                worker->at = SIZE_MAX;
                p->n_busy--;
                eventfd_write(p->done, 1);
        }
        pthread_mutex_unlock(&p->lock);
        return NULL;
}

int reduce_pool_try(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        struct reduce_pool *p = user;
        bool is_over;
        int r;

        pthread_mutex_lock(&p->lock);
        p->texts = texts;
        p->answers = ret;
        p->n = p->first = n;
        p->next = 0;
        p->error = 0;
        pthread_cond_broadcast(&p->work);
        is_over = n == 0;
        while (!is_over) {
                struct pollfd fds[] = {{.fd = p->done, .events = POLLIN}, {.fd = p->cancel_fd, .events = POLLIN}};
                nfds_t n_fds = p->error == 0 && p->cancel_fd >= 0 ? 2 : 1;

                pthread_mutex_unlock(&p->lock);
                poll(fds, n_fds, -1);
                clear_event(p->done);
                pthread_mutex_lock(&p->lock);
                if (p->error == 0 && p->cancel_fd >= 0 && fds[1].revents != 0)
                        note_error(p, -ECANCELED);
                is_over = p->n_busy == 0 && !has_work(p);
        }
        r = p->error;
        p->n = p->next = 0;
        if (r < 0 && p->why)
                errorf(r, "%s", p->why);
        free(p->why);
        p->why = NULL;
        pthread_mutex_unlock(&p->lock);
        return r;
}

struct reduce_pool *reduce_pool_close(struct reduce_pool *p)
{
        if (!p)
                return NULL;
        pthread_mutex_lock(&p->lock);
        p->is_closing = true;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (unsigned i = 0; i < p->n_workers; i++) {
                if (p->workers[i].has_thread)
                        pthread_join(p->workers[i].thread, NULL);
                closep(&p->workers[i].stop);
        }
        free(p->workers);
        closep(&p->done);
        pthread_mutex_destroy(&p->lock);
        pthread_cond_destroy(&p->work);
        free(p);
        return NULL;
}

static int make_event(int *ret)
{
        *ret = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        return *ret < 0 ? errorf(-errno, "cannot make an event descriptor: %s", strerror(errno)) : 0;
}

int reduce_pool_open(unsigned n_workers, reduce_worker_test test, reduce_worker_ready ready, void *user, int cancel_fd,
                     struct reduce_pool **ret)
{
        cleanup(reduce_pool_closep) struct reduce_pool *p = allocate(1, sizeof(*p));
        int r;

        *p = (struct reduce_pool){.test = test, .ready = ready, .user = user, .cancel_fd = cancel_fd, .n_workers = n_workers};
        p->workers = allocate(n_workers, sizeof(*p->workers));
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->work, NULL);
        for (unsigned i = 0; i < n_workers; i++)
                p->workers[i] = (struct pool_worker){.pool = p, .number = i, .stop = -1, .at = SIZE_MAX};
        r = make_event(&p->done);
        for (unsigned i = 0; r == 0 && i < n_workers; i++) {
                struct pool_worker *worker = &p->workers[i];

                r = make_event(&worker->stop) ?: thread_start(&worker->thread, work, worker);
                worker->has_thread = r == 0;
        }
        if (r == 0)
                *ret = steal_pointer(p);
        return r;
}
