#include "core/study/reduce/reduce_pool.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#define READY_LOOK_NS (20 * NSEC_PER_MSEC)  /* when a seat that could not work is asked again */
#define IDLE_LOOK_NS  (100 * NSEC_PER_MSEC) /* and one that has nothing to do */

struct pool_seat {
        struct reduce_pool *pool;
        unsigned number;
        pthread_t thread;
        bool has_thread;
        int stop;  /* eventfd: readable when its text is of no interest any more */
        size_t at; /* the text it works on; SIZE_MAX: none */
};

struct reduce_pool {
        reduce_seat_test test;
        reduce_seat_ready ready;
        void *user;
        int cancel_fd, done; /* done: eventfd, written when a seat becomes idle */
        unsigned n_seats;
        pthread_mutex_t lock;
        pthread_cond_t work;
        /* under lock */
        struct pool_seat *seats; /* owned */
        const struct slice *texts;
        enum reduce_answer *answers;
        size_t n, next, first; /* first: of the interesting ones; n: none yet */
        unsigned n_busy;
        int error;
        bool is_closing;
        char *why; /* owned: the sentence of the error */
};

static void hush(int fd)
{
        eventfd_t count;

        eventfd_read(fd, &count); /* which may be empty */
}

/* Under the lock: ends what stands behind the first interesting text; after an error, everything. */
static void stop_others(struct reduce_pool *p)
{
        for (unsigned i = 0; i < p->n_seats; i++)
                if (p->seats[i].at != SIZE_MAX && (p->error < 0 || p->seats[i].at > p->first))
                        eventfd_write(p->seats[i].stop, 1);
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
                p->why = strdup(error_message(r));
        }
        stop_others(p);
        eventfd_write(p->done, 1);
}

static void note_answer(struct reduce_pool *p, size_t at, int r)
{
        if (r == -ECANCELED && at > p->first)
                return;
        if (r < 0) {
                note_error(p, r);
                return;
        }
        p->answers[at] = r == 1 ? REDUCE_INTERESTING : REDUCE_BORING;
        if (r == 1 && at < p->first) {
                p->first = at;
                stop_others(p);
        }
}

static void pause_seat(struct reduce_pool *p, uint64_t ns)
{
        uint64_t until = now_ns() + ns;
        struct timespec t = {.tv_sec = (time_t)(until / NSEC_PER_SEC), .tv_nsec = (long)(until % NSEC_PER_SEC)};

        pthread_cond_timedwait(&p->work, &p->lock, &t);
}

/* Under the lock, which is dropped meanwhile. False: the pool is closing. */
static bool await_work(struct pool_seat *seat)
{
        struct reduce_pool *p = seat->pool;

        while (!p->is_closing) {
                bool is_wanted = has_work(p);
                int r;

                if (!p->ready || seat->number == 0) {
                        if (is_wanted)
                                return true;
                        pthread_cond_wait(&p->work, &p->lock);
                        continue;
                }
                pthread_mutex_unlock(&p->lock);
                r = p->ready(p->user, seat->number, is_wanted);
                pthread_mutex_lock(&p->lock);
                if (r < 0)
                        note_error(p, r);
                else if (r == 1 && has_work(p))
                        return !p->is_closing;
                if (!p->is_closing && has_work(p) == is_wanted)
                        pause_seat(p, is_wanted ? READY_LOOK_NS : IDLE_LOOK_NS);
        }
        return false;
}

static void *work(void *user)
{
        struct pool_seat *seat = user;
        struct reduce_pool *p = seat->pool;

        pthread_mutex_lock(&p->lock);
        while (await_work(seat)) {
                struct slice text;
                int r;

                hush(seat->stop);
                seat->at = p->next++;
                text = p->texts[seat->at];
                p->n_busy++;
                pthread_mutex_unlock(&p->lock);
                r = p->test(p->user, seat->number, text, seat->stop);
                pthread_mutex_lock(&p->lock);
                note_answer(p, seat->at, r);
                seat->at = SIZE_MAX;
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
                hush(p->done);
                pthread_mutex_lock(&p->lock);
                if (p->error == 0 && p->cancel_fd >= 0 && fds[1].revents != 0) {
                        p->error = -ECANCELED;
                        stop_others(p);
                }
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
        for (unsigned i = 0; p->seats && i < p->n_seats; i++) {
                if (p->seats[i].has_thread)
                        pthread_join(p->seats[i].thread, NULL);
                if (p->seats[i].stop >= 0)
                        close(p->seats[i].stop);
        }
        free(p->seats);
        if (p->done >= 0)
                close(p->done);
        pthread_mutex_destroy(&p->lock);
        pthread_cond_destroy(&p->work);
        free(p);
        return NULL;
}

int reduce_pool_open(unsigned n_seats, reduce_seat_test test, reduce_seat_ready ready, void *user, int cancel_fd,
                     struct reduce_pool **ret)
{
        cleanup(reduce_pool_closep) struct reduce_pool *p = calloc(1, sizeof(*p));
        pthread_condattr_t monotonic;

        if (!p)
                return -ENOMEM;
        p->test = test;
        p->ready = ready;
        p->user = user;
        p->cancel_fd = cancel_fd;
        pthread_mutex_init(&p->lock, NULL);
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&p->work, &monotonic);
        pthread_condattr_destroy(&monotonic);
        p->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        p->seats = calloc(n_seats, sizeof(*p->seats));
        if (!p->seats)
                return -ENOMEM;
        if (p->done < 0)
                return errorf(-errno, "cannot make an event descriptor: %s", strerror(errno));
        p->n_seats = n_seats;
        for (unsigned i = 0; i < n_seats; i++)
                p->seats[i] = (struct pool_seat){.pool = p, .number = i, .stop = -1, .at = SIZE_MAX};
        for (unsigned i = 0; i < n_seats; i++) {
                struct pool_seat *seat = &p->seats[i];
                int k;

                seat->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
                if (seat->stop < 0)
                        return errorf(-errno, "cannot make an event descriptor: %s", strerror(errno));
                k = pthread_create(&seat->thread, NULL, work, seat);
                if (k != 0)
                        return errorf(-k, "cannot start a thread: %s", strerror(k));
                seat->has_thread = true;
        }
        *ret = steal_pointer(p);
        return 0;
}
