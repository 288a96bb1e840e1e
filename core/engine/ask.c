/* Asking for many. One consumer at a time, the asking thread or the job's step, takes the news, hands out answers and asks for more. Other threads
 * bring answers, and only add them to the list of news. */
#include "core/engine/ask.h"

#include <math.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "core/engine/engine_internal.h"

/* Open at a time, beside those that run elsewhere: keeps every core and every worker busy, and shows the engine which queries share a build. */
#define OPEN_THREAD   256
#define OPEN_JOB      64
#define ROUND         64 /* queries asked for between two looks at what has come */
#define PROGRESS_MS   200
#define LEAST_SAMPLES 3 /* computed answers before the others are estimated from them */

struct fanout {
        struct engine *engine;
        struct job *job; /* the asking job; NULL: a thread asks */
        struct batch a;
        enum priority priority; /* of a thread */
        int event;              /* of a thread: readable when there is news */
        struct wait_list own;   /* a thread's open waits, under engine->lock */

        struct wait_list news; /* answered, not yet taken; under engine->lock */

        /* The consumer's; others read these under engine->lock, and the noted ones are written under it. */
        size_t next, n_open, n_answered, n_computed; /* written under the lock */
        struct average cost; /* of computed answers; under the lock */
        bool full;             /* the engine's queue was full for `refused` */
        struct query *refused; /* a ref */
        bool over;
        int result;
        char *reason; /* owned */
};

struct fanout *fanout_free(struct fanout *f)
{
        struct wait *w;

        if (!f)
                return NULL;
        while ((w = TAILQ_FIRST(&f->news))) {
                TAILQ_REMOVE(&f->news, w, link);
                wait_free(w);
        }
        query_unref(f->refused);
        free(f->reason);
        closep(&f->event);
        free(f);
        return NULL;
}

static struct fanout *fanout_new(struct engine *e, struct job *j, const struct batch *a)
{
        struct fanout *f = allocate(1, sizeof(*f));

        f->engine = e;
        f->job = j;
        f->a = *a;
        f->event = -1;
        TAILQ_INIT(&f->own);
        TAILQ_INIT(&f->news);
        return f;
}

void fanout_news(struct wait *w)
{
        struct fanout *f = w->fanout;

        TAILQ_INSERT_TAIL(&f->news, w, link);
        if (!f->job)
                eventfd_write(f->event, 1);
        else if (f->job->stage == STAGE_WAITS)
                job_queue(f->job);
}

bool fanout_has_news(const struct fanout *f)
{
        return !TAILQ_EMPTY(&f->news);
}

int fanout_result(struct fanout *f)
{
        return f->result < 0 ? errorf(f->result, "%s", f->reason ? f->reason : strerror(-f->result)) : 0;
}

/* -- handing out -- */

static void end(struct fanout *f, int r, const char *reason)
{
        if (f->over)
                return;
        f->over = true;
        f->result = r;
        f->reason = r < 0 && reason ? copy_string(reason) : NULL;
}

static void hand_out(struct fanout *f, size_t i, int r, struct value *v, const char *reason)
{
        int enough;

        if (f->over)
                return;
        if (!f->a.answered) {
                if (r < 0)
                        end(f, r, reason);
                return;
        }
        enough = f->a.answered(f->a.user, i, r, v, r < 0 && !reason ? strerror(-r) : reason);
        if (enough)
                end(f, MIN(enough, 0), enough < 0 ? error_message(enough) : NULL);
}

static void take_answer(struct fanout *f, size_t i, int r, struct value *v, const char *reason)
{
        pthread_mutex_lock(&f->engine->lock);
        f->n_answered++;
        if (f->job) {
                f->job->done = f->n_answered;
                f->job->total = f->a.n;
                f->engine->dirty = true;
        }
        pthread_mutex_unlock(&f->engine->lock);
        hand_out(f, i, r, v, reason);
}

static bool take_news(struct fanout *f)
{
        struct engine *e = f->engine;
        struct wait_list news = TAILQ_HEAD_INITIALIZER(news);
        struct wait *w;

        pthread_mutex_lock(&e->lock);
        TAILQ_CONCAT(&news, &f->news, link);
        if (!TAILQ_EMPTY(&news))
                f->full = false;
        TAILQ_FOREACH (w, &news, link) {
                f->n_open--;
                f->n_computed += w->was_computed;
                if (w->was_computed)
                        average_add(&f->cost, w->worked_ns);
                if (f->job)
                        f->job->worked_ns += w->worked_ns;
        }
        pthread_mutex_unlock(&e->lock);
        if (TAILQ_EMPTY(&news))
                return false;
        TAILQ_FOREACH (w, &news, link)
                take_answer(f, w->i, w->r, w->value, w->reason);
        pthread_mutex_lock(&e->lock);
        while ((w = TAILQ_FIRST(&news))) {
                TAILQ_REMOVE(&news, w, link);
                wait_free(w);
        }
        pthread_mutex_unlock(&e->lock);
        return true;
}

/* -- asking -- */

static bool can_ask(const struct fanout *f)
{
        cleanup_unlock pthread_mutex_t *held = hold(&f->engine->lock);
        const size_t most = f->a.open ?: (f->job ? OPEN_JOB : OPEN_THREAD) + (size_t)f->engine->running[RESOURCE_REMOTE];

        return !f->over && !f->full && f->next < f->a.n && f->n_open < most;
}

static void count_asked(struct fanout *f, bool open)
{
        cleanup_unlock pthread_mutex_t *held = hold(&f->engine->lock);

        f->next++;
        f->n_open += open;
}

static int ask_for(struct fanout *f, size_t i, struct query *q)
{
        struct wait *w = allocate(1, sizeof(*w));
        enum priority p = f->priority;

        *w = (struct wait){.engine = f->engine, .job = f->job, .fanout = f, .open = f->job ? &f->job->waits : &f->own, .i = i};
        if (f->job) {
                pthread_mutex_lock(&f->engine->lock);
                p = f->job->priority;
                pthread_mutex_unlock(&f->engine->lock);
        }
        return wait_ask(w, q, p, f->a.again);
}

static void ask_next(struct fanout *f)
{
        cleanup(query_unrefp) struct query *q = steal_pointer(f->refused);
        size_t i = f->next;
        int r = q ? 0 : f->a.make(f->a.user, i, &q);

        if (r == 0) {
                r = ask_for(f, i, q);
                if (r == 0) {
                        count_asked(f, true);
                        return;
                }
                if (r == -EAGAIN && f->n_open > 0) {
                        f->full = true; /* asked again when one of ours is done */
                        f->refused = steal_pointer(q);
                        return;
                }
        }
        count_asked(f, false);
        take_answer(f, i, r, NULL, error_message(r));
}

enum fanout_state fanout_round(struct fanout *f)
{
        bool news = take_news(f);

        for (unsigned i = 0; i < ROUND && can_ask(f); i++)
                ask_next(f);
        if (!f->over && f->n_open == 0 && f->next == f->a.n)
                end(f, 0, NULL);
        if (f->over) {
                pthread_mutex_lock(&f->engine->lock);
                waits_leave(f->job ? &f->job->waits : &f->own);
                pthread_mutex_unlock(&f->engine->lock);
                return FANOUT_OVER;
        }
        return news || can_ask(f) ? FANOUT_MORE : FANOUT_WAIT;
}

/* -- progress -- */

bool fanout_estimate(struct fanout *f, uint64_t *ret_least, uint64_t *ret_most)
{
        struct engine *e = f->engine;
        struct load l = load_begin(e);
        uint64_t now = now_ns();
        double least, most, spread;
        struct wait *w;

        TAILQ_FOREACH (w, f->job ? &f->job->waits : &f->own, link)
                if (w->ticket && w->ticket->job)
                        load_add(&l, w->ticket->job, now);
        if (l.n_unknown > 0)
                return false;
        least = most = l.mean_ns;
        if (f->next < f->a.n) { /* least: as many of the rest are stored as so far; most: none is */
                double n = (double)(f->a.n - f->next), variance;

                if (f->cost.n < LEAST_SAMPLES)
                        return false;
                variance = f->cost.m2 / (f->cost.n - 1);
                least += n * f->cost.mean * f->cost.n / fmax((double)f->n_answered, f->cost.n); /* taken one by one */
                most += n * f->cost.mean;
                l.variance += n * variance + n * n * variance / f->cost.n;
        }
        spread = 2 * sqrt(l.variance);
        least = (least - spread) / engine_width(e);
        most = MAX((most + spread) / engine_width(e), l.longest_ns);
        *ret_least = least > 0 ? (uint64_t)least : 0;
        *ret_most = (uint64_t)most;
        return true;
}

static void tell(struct fanout *f)
{
        struct ask_progress p = {
                .engine = f->engine, .n = f->a.n, .answered = f->n_answered, .computed = f->n_computed, .open = f->n_open};
        int r;

        pthread_mutex_lock(&f->engine->lock);
        p.estimated = fanout_estimate(f, &p.least_ns, &p.most_ns);
        pthread_mutex_unlock(&f->engine->lock);
        r = f->a.progress(f->a.user, &p);
        if (r < 0)
                end(f, r, error_message(r));
}

/* -- for a thread -- */

int ask_many(struct engine *e, const struct batch *a, enum priority p, int cancel_fd)
{
        struct fanout *f = fanout_new(e, NULL, a);
        enum fanout_state state = FANOUT_MORE;
        uint64_t told = now_ns();
        int r;

        f->priority = p;
        f->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (f->event < 0) {
                r = errorf(-errno, "cannot wait: %s", strerror(errno));
                fanout_free(f);
                return r;
        }
        while (state != FANOUT_OVER) {
                if (fd_is_readable(cancel_fd)) {
                        pthread_mutex_lock(&e->lock);
                        waits_leave(&f->own);
                        pthread_mutex_unlock(&e->lock);
                        take_news(f);
                        end(f, -ECANCELED, "interrupted");
                        break;
                }
                state = fanout_round(f);
                if (state == FANOUT_WAIT) {
                        struct pollfd fds[] = {{.fd = f->event, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
                        eventfd_t n;

                        if (poll(fds, 2, a->progress ? PROGRESS_MS : -1) > 0 && fds[0].revents)
                                eventfd_read(f->event, &n);
                }
                if (state != FANOUT_OVER && f->a.progress && now_ns() - told >= PROGRESS_MS * NSEC_PER_MSEC) {
                        tell(f);
                        told = now_ns();
                }
        }
        pthread_mutex_lock(&e->lock);
        r = fanout_result(f);
        fanout_free(f);
        pthread_mutex_unlock(&e->lock);
        return r;
}

/* -- for one query -- */

struct single {
        struct query *query;
        struct value **ret;
};

static int make_single(void *user, size_t, struct query **ret)
{
        *ret = query_ref(((struct single *)user)->query);
        return 0;
}

static int single_answered(void *user, size_t, int r, struct value *v, const char *reason)
{
        if (r < 0)
                return errorf(r, "%s", reason);
        *((struct single *)user)->ret = value_ref(v);
        return 0;
}

int engine_get(struct engine *e, struct query *q, enum priority p, bool again, int cancel_fd, struct value **ret)
{
        struct single s = {.query = q, .ret = ret};
        int r;

        *ret = NULL;
        r = ask_many(e, &(struct batch){.n = 1, .again = again, .make = make_single, .answered = single_answered, .user = &s}, p, cancel_fd);
        if (r < 0) /* interrupted as the answer came */
                *ret = value_unref(*ret);
        return r;
}

/* -- for a job -- */

int job_ask_many(struct job *j, const struct batch *a)
{
        struct fanout *f;

        assert(!j->fanout && j->query->type->step);
        f = fanout_new(j->engine, j, a);
        pthread_mutex_lock(&j->engine->lock);
        j->fanout = f;
        pthread_mutex_unlock(&j->engine->lock);
        return 0;
}
