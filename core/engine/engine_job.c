/* Jobs: their queues, tickets, waits and end. */
#include "core/engine/engine_internal.h"

#include <sys/eventfd.h>

void engine_wake(struct engine *e)
{
        e->attention = true;
        pthread_cond_signal(&e->changed);
}

/* -- queues -- */

void queue_add(struct queue *q, struct job *j)
{
        assert(!j->queue);
        TAILQ_INSERT_TAIL(&q->jobs, j, queue_link);
        q->n++;
        j->queue = q;
}

void job_dequeue(struct job *j)
{
        if (!j->queue)
                return;
        TAILQ_REMOVE(&j->queue->jobs, j, queue_link);
        j->queue->n--;
        j->queue = NULL;
}

void job_queue(struct job *j)
{
        j->stage = STAGE_QUEUED;
        queue_add(&j->engine->queues[j->resource][j->priority], j);
        engine_wake(j->engine);
}

/* -- jobs -- */

static unsigned job_bucket(const struct digest *key)
{
        unsigned n;

        memcpy(&n, key->bytes, sizeof(n));
        return n & (ENGINE_BUCKETS - 1);
}

struct job *job_listed(struct engine *e, const struct digest *key, bool again)
{
        struct job *j;

        LIST_FOREACH (j, &e->jobs[job_bucket(key)], bucket_link)
                if (j->again == again && digest_equal(&j->query->key, key))
                        return j;
        return NULL;
}

void job_list(struct job *j)
{
        struct engine *e = j->engine;

        LIST_INSERT_HEAD(&e->jobs[job_bucket(&j->query->key)], j, bucket_link);
        TAILQ_INSERT_TAIL(&e->all, j, all_link);
        e->n_jobs++;
        j->listed = true;
}

/* From here on no ticket can join it. */
static void job_unlist(struct job *j)
{
        if (!j->listed)
                return;
        LIST_REMOVE(j, bucket_link);
        TAILQ_REMOVE(&j->engine->all, j, all_link);
        j->engine->n_jobs--;
        j->listed = false;
}

void job_ref(struct job *j)
{
        j->refs++;
}

void job_unref(struct job *j)
{
        if (--j->refs > 0)
                return;
        assert(TAILQ_EMPTY(&j->tickets) && TAILQ_EMPTY(&j->waits) && !j->listed && !j->queue && !j->fanout);
        closep(&j->cancel_fd);
        if (j->state && j->query->type->free_state)
                j->query->type->free_state(j->state);
        query_unref(j->query);
        free(j);
}

struct job *job_new(struct engine *e, struct query *q, bool again)
{
        struct job *j = allocate(1, sizeof(*j));

        j->engine = e;
        j->query = query_ref(q);
        j->resource = q->type->resource_of ? q->type->resource_of(q) : q->type->resource;
        j->again = again;
        j->refs = 1;
        j->claim = j->cancel_fd = -1;
        j->priority = PRIORITY_BATCH;
        j->stage = STAGE_NEED;
        j->asked = now_ns();
        j->id = ++e->next_id;
        TAILQ_INIT(&j->tickets);
        TAILQ_INIT(&j->waits);
        return j;
}

static void failure_forget(struct engine *e, const struct digest *key)
{
        for (size_t i = 0; i < ENGINE_FAILURES; i++)
                if (e->failures[i].reason && digest_equal(&e->failures[i].key, key)) {
                        free(e->failures[i].reason);
                        e->failures[i] = (struct failure){0};
                }
}

/* -- the graph "waits for" -- */

static bool reaches(struct job *j, const struct job *other, uint64_t mark)
{
        struct wait *w;

        if (j == other)
                return true;
        if (j->mark == mark)
                return false;
        j->mark = mark;
        TAILQ_FOREACH (w, &j->waits, link)
                if (w->ticket && w->ticket->job && reaches(w->ticket->job, other, mark))
                        return true;
        return false;
}

bool job_waits_for(struct job *j, const struct job *other)
{
        return reaches(j, other, ++j->engine->next_mark);
}

/* When a person joins a batch's job, the job and all that it waits for move up. */
static void job_raise(struct job *j, enum priority p)
{
        struct wait *w;

        if (p >= j->priority)
                return;
        j->priority = p;
        if (j->stage == STAGE_QUEUED) {
                job_dequeue(j);
                job_queue(j);
        }
        TAILQ_FOREACH (w, &j->waits, link)
                if (w->ticket && w->ticket->job)
                        job_raise(w->ticket->job, p);
}

/* -- tickets -- */

static void job_unabandon(struct job *j)
{
        if (!j->abandoned)
                return;
        j->abandoned = 0;
        TAILQ_REMOVE(&j->engine->abandoned, j, abandoned_link);
}

void ticket_add(struct job *j, struct ticket *t)
{
        struct engine *e = j->engine;

        t->job = j;
        TAILQ_INSERT_TAIL(&j->tickets, t, link);
        j->n_tickets++;
        e->counters.waiters += !t->inner;
        job_unabandon(j);
        job_raise(j, t->priority);
        e->dirty = true;
        engine_wake(e);
}

static void job_abandon(struct job *j, bool at_once)
{
        struct engine *e = j->engine;

        if (at_once) {
                j->abandoned = 1; /* long ago */
                TAILQ_INSERT_HEAD(&e->abandoned, j, abandoned_link);
        } else {
                j->abandoned = now_ns();
                TAILQ_INSERT_TAIL(&e->abandoned, j, abandoned_link);
        }
        engine_wake(e); /* so that it waits for the end of the grace period */
}

void ticket_remove(struct ticket *t, bool at_once)
{
        struct job *j = t->job;

        TAILQ_REMOVE(&j->tickets, t, link);
        t->job = NULL;
        j->engine->counters.waiters -= !t->inner;
        if (--j->n_tickets == 0 && !j->cancelled)
                job_abandon(j, at_once);
        j->engine->dirty = true;
}

/* -- the end -- */

static void count_end(struct job *j, int r, const char *reason)
{
        struct engine *e = j->engine;

        if (r == -ECANCELED)
                e->counters.cancelled++;
        else if (r < 0) {
                struct failure *f = &e->failures[e->next_failure++ % ENGINE_FAILURES];

                e->counters.failed++;
                failure_forget(e, &j->query->key); /* the last sentence counts */
                free(f->reason);
                *f = (struct failure){.key = j->query->key, .reason = copy_string(reason)};
        } else {
                e->counters.finished++;
                failure_forget(e, &j->query->key);
        }
}

void job_finish(struct job *j, int r, struct value *v, const char *reason)
{
        struct engine *e = j->engine;
        struct ticket_list tickets = TAILQ_HEAD_INITIALIZER(tickets);
        struct ticket *t;
        char text[1024]; /* the callbacks may overwrite `reason`, when it is this thread's errorf() text */

        if (r == -ECANCELED && j->gone) {
                r = -ENOENT;
                reason = "its solver was removed";
        }
        if (r < 0) {
                snprintf(text, sizeof(text), "%s", reason ? reason : strerror(-r));
                reason = text;
        }
        job_unlist(j);
        job_dequeue(j);
        job_unabandon(j);
        waits_leave(&j->waits);
        j->fanout = fanout_free(j->fanout); /* its news hold the job */
        j->stage = STAGE_OVER;
        count_end(j, r, reason);
        TAILQ_CONCAT(&tickets, &j->tickets, link);
        TAILQ_FOREACH (t, &tickets, link) {
                t->job = NULL;
                e->counters.waiters -= !t->inner;
        }
        if (!TAILQ_EMPTY(&tickets)) /* once for all waiters */
                TAILQ_FIRST(&tickets)->worked_ns = j->worked_ns;
        j->n_tickets = 0;
        e->dirty = true;
        pthread_mutex_unlock(&e->lock);
        while ((t = TAILQ_FIRST(&tickets))) {
                TAILQ_REMOVE(&tickets, t, link);
                t->fn(t->user, r, v, r < 0 ? reason : NULL);
                free(t);
        }
        pthread_mutex_lock(&e->lock);
        job_unref(j);
}

void job_cancel(struct job *j)
{
        struct engine *e = j->engine;

        assert(!j->cancelled);
        j->cancelled = true;
        job_unabandon(j);
        if (j->stage == STAGE_RUNNING) {
                job_unlist(j); /* its worker finishes it; another asker gets a new job, which waits for this one's claim */
                if (j->cancel_fd >= 0)
                        eventfd_write(j->cancel_fd, 1);
                return;
        }
        job_finish(j, -ECANCELED, NULL, e->closing ? "solverfs is being shut down" : "nobody waits for it any more");
}

/* -- waiting -- */

void wait_free(struct wait *w)
{
        value_unref(w->value);
        free(w->reason);
        if (w->job)
                job_unref(w->job);
        free(w);
}

void waits_leave(struct wait_list *open)
{
        struct wait *w;

        while ((w = TAILQ_FIRST(open))) {
                struct ticket *t = w->ticket;

                TAILQ_REMOVE(open, w, link);
                w->left = true;
                if (!t || !t->job)
                        continue; /* being asked for or answered: wait_ask() or wait_answered() frees it */
                ticket_remove(t, true);
                free(t);
                w->ticket = NULL;
                if (w->users == 0)
                        wait_free(w);
        }
}

/* Handles the answer to a need. May drop the lock. */
static void need_answered(struct wait *w)
{
        struct job *j = w->job;

        if (j->stage != STAGE_NEED)
                return;
        j->worked_ns += w->worked_ns;
        if (w->r < 0)
                job_finish(j, w->r, NULL, w->reason);
        else if (--j->n_needs == 0)
                job_advance(j);
}

static void wait_answered(void *user, int r, struct value *v, const char *reason)
{
        struct wait *w = user;
        struct engine *e = w->engine;

        if (w->fanout && v)
                w->value = value_ref(v);
        w->reason = reason ? copy_string(reason) : NULL;
        pthread_mutex_lock(&e->lock);
        w->r = r;
        w->was_computed = w->ticket;
        w->worked_ns = w->ticket ? w->ticket->worked_ns : 0;
        w->ticket = NULL;
        w->answered = true;
        w->users++; /* the lock may be dropped, and the asker be through before us */
        if (!w->left) {
                TAILQ_REMOVE(w->open, w, link);
                if (w->fanout) {
                        w->users--;
                        fanout_news(w);
                        w = NULL; /* the fan-out owns it from here on */
                } else
                        need_answered(w);
        }
        if (w && --w->users == 0)
                wait_free(w);
        pthread_mutex_unlock(&e->lock);
}

int wait_ask(struct wait *w, struct query *q, enum priority p, bool again)
{
        struct engine *e = w->engine;
        int r;

        pthread_mutex_lock(&e->lock);
        if (w->job && w->job->stage == STAGE_OVER) { /* it has left its waits already */
                pthread_mutex_unlock(&e->lock);
                free(w);
                return -ECANCELED;
        }
        w->users++;
        if (w->job)
                job_ref(w->job);
        TAILQ_INSERT_TAIL(w->open, w, link);
        pthread_mutex_unlock(&e->lock);
        r = engine_ask_for(e, w->job, q, p, again, wait_answered, w, &w->ticket);
        pthread_mutex_lock(&e->lock);
        w->users--;
        if (r < 0) {
                if (!w->left)
                        TAILQ_REMOVE(w->open, w, link);
                wait_free(w);
        } else if (w->answered) {
                if (w->users == 0 && (w->left || !w->fanout)) /* else the news hold it, or who handles the answer */
                        wait_free(w);
        } else if (w->left) { /* the job ended during the asking */
                struct ticket *t = w->ticket;

                if (t && t->job) {
                        ticket_remove(t, true);
                        free(t);
                        w->ticket = NULL;
                }
                if (!w->ticket)
                        wait_free(w); /* else it is being answered */
        } else if (w->job && w->ticket->job)
                job_raise(w->ticket->job, w->job->priority); /* a person may have joined while we asked as a batch */
        pthread_mutex_unlock(&e->lock);
        return r;
}

/* -- needs -- */

int query_list_add(struct query_list *n, struct query *q)
{
        list_add(n->list, n->n, q);
        return 0;
}

void query_list_done(struct query_list *n)
{
        for (size_t i = 0; i < n->n; i++)
                query_unref(n->list[i]);
        free(n->list);
}

/* Asks for missing needs. Lock not held; the job may have ended meanwhile. */
static int job_ask_needs(struct job *j, const struct query_list *needs)
{
        int r = 0;

        for (size_t i = 0; i < needs->n && r == 0; i++) {
                struct wait *w = allocate(1, sizeof(*w));
                enum priority p;

                *w = (struct wait){.engine = j->engine, .job = j, .open = &j->waits};
                pthread_mutex_lock(&j->engine->lock);
                p = j->priority;
                j->n_needs++;
                pthread_mutex_unlock(&j->engine->lock);
                r = wait_ask(w, needs->list[i], p, false);
        }
        return r;
}

/* Estimates the job's cost once, before it waits for anything. Lock not held. */
static void job_estimate(struct job *j)
{
        struct cost cost = {0};

        if (!j->query->type->estimate || !j->query->type->estimate(j->query, &cost))
                return;
        pthread_mutex_lock(&j->engine->lock);
        j->cost = cost;
        pthread_mutex_unlock(&j->engine->lock);
}

void job_advance(struct job *j)
{
        struct engine *e = j->engine;
        bool waiting = false;

        job_ref(j);
        while (j->stage == STAGE_NEED && !waiting) {
                cleanup(query_list_done) struct query_list needs = {0};
                cleanup(value_unrefp) struct value *v = NULL;
                bool look = j->had_needs && !j->again; /* its needs may already have produced the value */
                int r;

                j->n_needs = 1; /* ours: it stays above 0 until all are asked for */
                pthread_mutex_unlock(&e->lock);
                if (!j->cost.mean_ns)
                        job_estimate(j);
                r = j->query->type->need ? j->query->type->need(j->query, &needs) : 0;
                if (r == 0)
                        r = job_ask_needs(j, &needs);
                if (r == 0 && needs.n == 0 && look)
                        j->query->type->find(j->query, &v);
                pthread_mutex_lock(&e->lock);
                if (j->stage != STAGE_NEED)
                        break;
                j->had_needs |= needs.n > 0;
                if (r < 0)
                        job_finish(j, r, NULL, error_message(r));
                else if (v)
                        job_finish(j, 0, v, NULL);
                else if (needs.n == 0)
                        job_queue(j);
                else
                        waiting = --j->n_needs > 0;
        }
        job_unref(j);
}
