/* Jobs: their queues, the tickets on them, what they need, and their end. */
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
        j->queue_previous = q->last;
        j->queue_next = NULL;
        if (q->last)
                q->last->queue_next = j;
        else
                q->first = j;
        q->last = j;
        q->n++;
}

static void queue_remove(struct queue *q, struct job *j)
{
        if (j->queue_previous)
                j->queue_previous->queue_next = j->queue_next;
        else
                q->first = j->queue_next;
        if (j->queue_next)
                j->queue_next->queue_previous = j->queue_previous;
        else
                q->last = j->queue_previous;
        j->queue_previous = j->queue_next = NULL;
        q->n--;
}

void job_dequeue(struct job *j)
{
        struct engine *e = j->engine;

        if (j->stage == STAGE_QUEUED)
                queue_remove(&e->queues[j->query->type->resource][j->priority], j);
        else if (j->stage == STAGE_ELSEWHERE)
                queue_remove(&e->elsewhere, j);
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
        for (struct job *j = e->jobs[job_bucket(key)]; j; j = j->bucket_next)
                if (j->again == again && digest_equal(&j->query->key, key))
                        return j;
        return NULL;
}

void job_list(struct job *j)
{
        struct engine *e = j->engine;
        struct job **bucket = &e->jobs[job_bucket(&j->query->key)];

        j->bucket_next = *bucket;
        *bucket = j;
        j->all_previous = e->all_last;
        if (e->all_last)
                e->all_last->all_next = j;
        else
                e->all_first = j;
        e->all_last = j;
        e->n_jobs++;
        j->listed = true;
}

/* From now on nobody joins it. */
static void job_unlist(struct job *j)
{
        struct engine *e = j->engine;
        struct job **p;

        if (!j->listed)
                return;
        for (p = &e->jobs[job_bucket(&j->query->key)]; *p != j; p = &(*p)->bucket_next)
                ;
        *p = j->bucket_next;
        if (j->all_previous)
                j->all_previous->all_next = j->all_next;
        else
                e->all_first = j->all_next;
        if (j->all_next)
                j->all_next->all_previous = j->all_previous;
        else
                e->all_last = j->all_previous;
        e->n_jobs--;
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
        assert(!j->tickets && !j->need && !j->listed);
        closep(&j->cancel_fd);
        query_unref(j->query);
        free(j);
}

struct job *job_new(struct engine *e, struct query *q, bool again)
{
        struct job *j = calloc(1, sizeof(*j));

        if (!j)
                return NULL;
        j->engine = e;
        j->query = query_ref(q);
        j->again = again;
        j->refs = 1;
        j->claim = j->cancel_fd = -1;
        j->priority = PRIORITY_BATCH;
        j->stage = STAGE_NEED;
        j->asked = now_ns();
        j->id = ++e->next_id;
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

static void failure_remember(struct engine *e, const struct digest *key, const char *reason)
{
        struct failure *f;

        failure_forget(e, key); /* of several sentences the last is meant */
        f = &e->failures[e->next_failure++ % ENGINE_FAILURES];
        free(f->reason);
        *f = (struct failure){.key = *key, .reason = strdup(reason)};
}

/* -- tickets -- */

/* Somebody outside, not a job that needs another. */
static bool ticket_is_waiter(const struct ticket *t)
{
        return t->fn != need_answered;
}

/* A person joins a batch's job: it moves up, and what it waits for with it. */
static void job_raise(struct job *j, enum priority p)
{
        if (p >= j->priority)
                return;
        if (j->stage == STAGE_QUEUED)
                job_dequeue(j);
        j->priority = p;
        if (j->stage == STAGE_QUEUED)
                queue_add(&j->engine->queues[j->query->type->resource][p], j);
        if (j->need && j->need->job)
                job_raise(j->need->job, p);
}

void ticket_add(struct job *j, struct ticket *t)
{
        struct engine *e = j->engine;

        t->job = j;
        t->previous = j->last_ticket;
        if (j->last_ticket)
                j->last_ticket->next = t;
        else
                j->tickets = t;
        j->last_ticket = t;
        j->n_tickets++;
        e->counters.waiters += ticket_is_waiter(t);
        if (j->abandoned) {
                j->abandoned = 0;
                e->n_abandoned--;
        }
        if (t->priority < j->priority)
                job_raise(j, t->priority);
        e->dirty = true;
        engine_wake(e);
}

void ticket_remove(struct ticket *t)
{
        struct job *j = t->job;
        struct engine *e = j->engine;

        if (t->previous)
                t->previous->next = t->next;
        else
                j->tickets = t->next;
        if (t->next)
                t->next->previous = t->previous;
        else
                j->last_ticket = t->previous;
        t->job = NULL;
        e->counters.waiters -= ticket_is_waiter(t);
        if (--j->n_tickets == 0) {
                j->abandoned = now_ns();
                e->n_abandoned++;
                engine_wake(e); /* it now waits for the end of the grace period */
        }
        e->dirty = true;
}

void job_finish(struct job *j, int r, struct value *v, const char *reason)
{
        struct engine *e = j->engine;
        struct ticket *tickets = j->tickets, *next;
        char text[1024]; /* `reason` may be this thread's errorf() text, which the callbacks overwrite */

        if (r == -ECANCELED && j->gone) {
                r = -ENOENT;
                reason = "its solver was removed";
        }
        if (r < 0) {
                snprintf(text, sizeof(text), "%s", reason ? reason : strerror(-r));
                reason = text;
        }
        job_unlist(j);
        j->stage = STAGE_OVER;
        if (j->abandoned) {
                j->abandoned = 0;
                e->n_abandoned--;
        }
        if (r == -ECANCELED)
                e->counters.cancelled++;
        else if (r < 0) {
                e->counters.failed++;
                failure_remember(e, &j->query->key, reason);
        } else {
                e->counters.finished++;
                failure_forget(e, &j->query->key);
        }
        for (struct ticket *t = tickets; t; t = t->next) {
                t->job = NULL;
                e->counters.waiters -= ticket_is_waiter(t);
        }
        j->tickets = j->last_ticket = NULL;
        j->n_tickets = 0;
        e->dirty = true;
        pthread_mutex_unlock(&e->lock);
        for (; tickets; tickets = next) {
                next = tickets->next;
                tickets->fn(tickets->user, r, v, r < 0 ? reason : NULL);
                free(tickets);
        }
        pthread_mutex_lock(&e->lock);
        job_unref(j);
}

void job_cancel(struct job *j)
{
        struct engine *e = j->engine;

        assert(!j->cancelled);
        j->cancelled = true;
        if (j->stage == STAGE_RUNNING) {
                job_unlist(j); /* its worker finishes it; who asks meanwhile gets a new job, which waits for this one's claim */
                if (j->cancel_fd >= 0)
                        eventfd_write(j->cancel_fd, 1);
                return;
        }
        job_dequeue(j);
        if (j->need) { /* what we waited for may have other waiters */
                struct ticket *need = steal_pointer(j->need);

                if (need->job) {
                        ticket_remove(need);
                        free(need);
                        job_unref(j);
                } /* else it is being answered: need_answered() sees that we are cancelled */
        }
        job_finish(j, -ECANCELED, NULL, e->closing ? "solverfs is being shut down" : "nobody waits for it any more");
}

/* -- needs -- */

int query_list_add(struct query_list *n, struct query *q)
{
        if (list_grow(n->list, n->n) < 0) {
                query_unref(q);
                return -ENOMEM;
        }
        n->list[n->n++] = q;
        return 0;
}

void query_list_done(struct query_list *n)
{
        for (size_t i = 0; i < n->n; i++)
                query_unref(n->list[i]);
        free(n->list);
}

void need_answered(void *user, int r, struct value *, const char *reason)
{
        struct job *j = user;
        struct engine *e = j->engine;

        pthread_mutex_lock(&e->lock);
        j->need = NULL;
        if (!j->cancelled) {
                if (r < 0)
                        job_finish(j, r, NULL, reason);
                else
                        job_advance(j);
        }
        job_unref(j);
        pthread_mutex_unlock(&e->lock);
}

/* Asks for what j needs. The ticket is in j->need before it can be answered (engine_ask() sees to that). */
static int job_ask_need(struct job *j, struct query *need)
{
        struct engine *e = j->engine;
        int r;

        pthread_mutex_lock(&e->lock);
        job_ref(j); /* need_answered() gives it back */
        pthread_mutex_unlock(&e->lock);
        r = engine_ask(e, need, __atomic_load_n(&j->priority, __ATOMIC_RELAXED), false, need_answered, j, &j->need);
        pthread_mutex_lock(&e->lock);
        if (r < 0)
                job_unref(j);
        else if (j->cancelled && j->need) { /* while we asked: job_cancel() saw no ticket to take back */
                struct ticket *t = steal_pointer(j->need);

                if (t->job) {
                        ticket_remove(t);
                        free(t);
                        job_unref(j);
                }
        } else if (j->need && j->need->job)
                job_raise(j->need->job, j->priority); /* a person may have joined j while we asked for it as a batch's */
        pthread_mutex_unlock(&e->lock);
        return r;
}

void job_advance(struct job *j)
{
        struct engine *e = j->engine;
        cleanup(query_list_done) struct query_list needs = {0};
        int r = 0;

        job_ref(j);
        pthread_mutex_unlock(&e->lock);
        if (j->query->type->need)
                r = j->query->type->need(j->query, &needs);
        if (r == 0 && needs.n > 0)
                r = job_ask_need(j, needs.list[0]);
        pthread_mutex_lock(&e->lock);
        if (r < 0 && !j->cancelled)
                job_finish(j, r, NULL, error_message(r));
        else if (needs.n == 0 && !j->cancelled) {
                j->stage = STAGE_QUEUED;
                queue_add(&e->queues[j->query->type->resource][j->priority], j);
                engine_wake(e);
        }
        job_unref(j);
}
