/* A waiter is in the list while it is parked. The engine's answer or the thread below takes it out, and replies: so each gets one reply. */
#include "fs/kernel/waiters.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/queue.h>

#include "cache/base/process.h"

#define LOOK_AGAIN_MS 250 /* at interrupted readers that keep waiting */

struct waiter {
        struct waiters *all;
        fuse_req_t req;
        struct parked parked;
        pid_t reader; /* its thread; 0: in a PID namespace that we do not see */
        _Atomic bool interrupted;
        bool released;                 /* ends with EINTR even if its reader was not interrupted; under all->lock */
        struct ticket *ticket;         /* under the engine's lock; see engine_leave() */
        LIST_ENTRY(waiter) others;     /* under all->lock */
};

struct waiters {
        struct engine *engine;
        parked_fn fn;
        void *user;
        int event; /* eventfd: a reader was interrupted, or the end */
        pthread_t thread;
        _Atomic bool ending, leaving; /* the thread shall end; all readers shall leave */

        pthread_mutex_t lock;
        LIST_HEAD(, waiter) list; /* parked; under lock */
        size_t replying;          /* waiters out of the list without a reply yet; under lock */
        pthread_cond_t gone;      /* no reader is parked any more */
};

/* Answers and frees a waiter that is out of the list: no other thread refers to it. */
static void waiter_reply(struct waiter *w, int r, struct value *v, const char *reason)
{
        struct waiters *all = w->all;
        cleanup_unlock pthread_mutex_t *held = NULL;

        fuse_req_interrupt_func(w->req, NULL, NULL);
        all->fn(all->user, w->req, &w->parked, r, v, reason);
        free(w);
        held = hold(&all->lock);
        all->replying--;
        if (LIST_EMPTY(&all->list) && all->replying == 0)
                pthread_cond_broadcast(&all->gone);
}

static void waiter_answered(void *user, int r, struct value *v, const char *reason)
{
        struct waiter *w = user;

        pthread_mutex_lock(&w->all->lock);
        LIST_REMOVE(w, others);
        w->all->replying++;
        pthread_mutex_unlock(&w->all->lock);
        waiter_reply(w, r, v, reason);
}

static void waiter_interrupted(fuse_req_t, void *user)
{
        struct waiter *w = user;

        w->interrupted = true;
        eventfd_write(w->all->event, 1);
}

void waiters_park(struct waiters *all, fuse_req_t req, const struct parked *p, struct query *q)
{
        struct waiter *w = allocate(1, sizeof(*w));
        int r;

        *w = (struct waiter){.all = all, .req = req, .parked = *p, .reader = fuse_req_ctx(req)->pid};
        pthread_mutex_lock(&all->lock);
        LIST_INSERT_HEAD(&all->list, w, others);
        pthread_mutex_unlock(&all->lock);
        fuse_req_interrupt_func(req, waiter_interrupted, w); /* before a worker can answer, and free, the request */
        if (all->leaving) {
                waiter_answered(w, -EINTR, NULL, NULL);
                return;
        }
        r = engine_ask(all->engine, q, PRIORITY_PERSON, COMPUTE_IF_UNKNOWN, waiter_answered, w, &w->ticket);
        if (r < 0)
                waiter_answered(w, r, NULL, error_message(r));
}

/* -- the thread for interrupted readers -- */

/* A set of signals in /proc/<thread>/status. */
static uint64_t signals_in(const char *status, const char *line)
{
        const char *at = strstr(status, line);

        return at ? strtoull(at + strlen(line), NULL, 16) : 0;
}

#define SIGNAL(s) (UINT64_C(1) << ((s)-1)) /* in a set of signals_in() */

/* True if a signal will end the reader or its open. Signals that dump core do not appear as SIGKILL beforehand. */
static bool reader_is_ending(pid_t reader)
{
        const uint64_t ending = SIGNAL(SIGKILL) | SIGNAL(SIGINT) | SIGNAL(SIGTERM) | SIGNAL(SIGHUP) | SIGNAL(SIGQUIT);
        const uint64_t dumping = SIGNAL(SIGABRT) | SIGNAL(SIGBUS) | SIGNAL(SIGFPE) | SIGNAL(SIGILL) | SIGNAL(SIGSEGV) | SIGNAL(SIGSYS) |
                                 SIGNAL(SIGTRAP) | SIGNAL(SIGXCPU) | SIGNAL(SIGXFSZ);
        uint64_t due;
        char text[8192];

        if (reader <= 0 || process_text(reader, "status", text, sizeof(text)) < 0)
                return true; /* gone, or in a namespace we cannot look into */
        due = (signals_in(text, "\nSigPnd:") | signals_in(text, "\nShdPnd:")) & ~signals_in(text, "\nSigBlk:");
        return (due & ending) != 0 || (due & dumping & ~signals_in(text, "\nSigCgt:")) != 0;
}

/* Takes one ending reader out of the list and the engine; NULL: there is none. *ret_waiting: other interrupted readers keep waiting. */
static struct waiter *waiters_take_ending(struct waiters *all, bool *ret_waiting)
{
        cleanup_unlock pthread_mutex_t *held = hold(&all->lock);
        struct waiter *w;

        *ret_waiting = false;
        LIST_FOREACH (w, &all->list, others) {
                bool leaves = all->leaving || w->released;

                if (!w->interrupted && !leaves)
                        continue;
                *ret_waiting = true;
                if ((!leaves && !reader_is_ending(w->reader)) || !engine_leave(all->engine, &w->ticket))
                        continue; /* it keeps waiting; or it is just being answered, or its query is not asked yet: next time */
                LIST_REMOVE(w, others);
                all->replying++;
                return w;
        }
        return NULL;
}

static void *waiters_thread(void *user)
{
        struct waiters *all = user;
        bool waiting = false;

        while (!all->ending) {
                struct pollfd fd = {.fd = all->event, .events = POLLIN};
                struct waiter *w;
                eventfd_t n;

                if (poll(&fd, 1, waiting ? LOOK_AGAIN_MS : -1) > 0)
                        eventfd_read(all->event, &n);
                while ((w = waiters_take_ending(all, &waiting)))
                        waiter_reply(w, -EINTR, NULL, NULL);
        }
        return NULL;
}

void waiters_interrupt(struct waiters *all)
{
        all->leaving = true;
        eventfd_write(all->event, 1);
}

void waiters_release(struct waiters *all)
{
        struct waiter *w;

        pthread_mutex_lock(&all->lock);
        LIST_FOREACH (w, &all->list, others)
                w->released = true;
        pthread_mutex_unlock(&all->lock);
        eventfd_write(all->event, 1);
}

void waiters_drain(struct waiters *all)
{
        cleanup_unlock pthread_mutex_t *held = NULL;

        waiters_interrupt(all);
        held = hold(&all->lock);
        while (!LIST_EMPTY(&all->list) || all->replying > 0)
                pthread_cond_wait(&all->gone, &all->lock);
}

int waiters_new(struct engine *e, parked_fn fn, void *user, struct waiters **ret)
{
        struct waiters *all = allocate(1, sizeof(*all));
        int r;

        all->engine = e;
        all->fn = fn;
        all->user = user;
        pthread_mutex_init(&all->lock, NULL);
        pthread_cond_init(&all->gone, NULL);
        all->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        r = all->event < 0 ? -errno : thread_start(&all->thread, waiters_thread, all);
        if (r < 0) {
                closep(&all->event);
                free(all);
                return r;
        }
        *ret = all;
        return 0;
}

struct waiters *waiters_free(struct waiters *all)
{
        if (!all)
                return NULL;
        assert(LIST_EMPTY(&all->list));
        all->ending = true;
        eventfd_write(all->event, 1);
        pthread_join(all->thread, NULL);
        close(all->event);
        pthread_cond_destroy(&all->gone);
        pthread_mutex_destroy(&all->lock);
        free(all);
        return NULL;
}
