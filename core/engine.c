#include "engine_internal.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "host.h"
#include "leftovers.h"

/* -- queries and values -- */

struct query *query_ref(struct query *q)
{
        __atomic_add_fetch(&q->refs, 1, __ATOMIC_RELAXED);
        return q;
}

struct query *query_unref(struct query *q)
{
        if (q && __atomic_sub_fetch(&q->refs, 1, __ATOMIC_ACQ_REL) == 0)
                q->type->free_query(q);
        return NULL;
}

struct value *value_ref(struct value *v)
{
        __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
        return v;
}

struct value *value_unref(struct value *v)
{
        if (v && __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) == 0)
                v->type->free_value(v);
        return NULL;
}

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

void queue_remove(struct queue *q, struct job *j)
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

static struct job *job_listed(struct engine *e, const struct digest *key, bool again)
{
        for (struct job *j = e->jobs[job_bucket(key)]; j; j = j->bucket_next)
                if (j->again == again && digest_equal(&j->query->key, key))
                        return j;
        return NULL;
}

static void job_list(struct job *j)
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

static struct job *job_new(struct engine *e, struct query *q, bool again)
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

static void failure_remember(struct engine *e, const struct digest *key, const char *reason)
{
        struct failure *f = &e->failures[e->next_failure++ % ENGINE_FAILURES];

        free(f->reason);
        *f = (struct failure){.key = *key, .reason = strdup(reason)};
}

static void failure_forget(struct engine *e, const struct digest *key)
{
        for (size_t i = 0; i < ENGINE_FAILURES; i++)
                if (e->failures[i].reason && digest_equal(&e->failures[i].key, key)) {
                        free(e->failures[i].reason);
                        e->failures[i] = (struct failure){0};
                }
}

/* -- tickets -- */

static void need_answered(void *user, int r, struct value *v, const char *reason);

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

static void ticket_add(struct job *j, struct ticket *t)
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

static void ticket_remove(struct ticket *t)
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

static void need_answered(void *user, int r, struct value *, const char *reason)
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
        }
        pthread_mutex_unlock(&e->lock);
        return r;
}

void job_advance(struct job *j)
{
        struct engine *e = j->engine;
        cleanup(query_unrefp) struct query *need = NULL;
        int r = 0;

        job_ref(j);
        pthread_mutex_unlock(&e->lock);
        if (j->query->type->need)
                r = j->query->type->need(e->workspace, j->query, &need);
        if (r == 0 && need)
                r = job_ask_need(j, need);
        pthread_mutex_lock(&e->lock);
        if (r < 0 && !j->cancelled)
                job_finish(j, r, NULL, error_message(r));
        else if (!need && !j->cancelled) {
                j->stage = STAGE_QUEUED;
                queue_add(&e->queues[j->query->type->resource][j->priority], j);
                engine_wake(e);
        }
        job_unref(j);
}

/* -- asking -- */

int engine_ask(struct engine *e, struct query *q, enum priority p, bool again, answer_fn fn, void *user, struct ticket **ret)
{
        cleanup_free struct ticket *t = calloc(1, sizeof(*t));
        struct job *j;

        if (!t)
                return -ENOMEM;
        *t = (struct ticket){.fn = fn, .user = user, .priority = p};
        pthread_mutex_lock(&e->lock);
        e->counters.asked++;
        j = job_listed(e, &q->key, again);
        if (!j && !again) {
                cleanup(value_unrefp) struct value *v = NULL;
                int r;

                pthread_mutex_unlock(&e->lock);
                r = q->type->find(e->workspace, q, &v);
                if (r == 0) {
                        __atomic_add_fetch(&e->counters.hits, 1, __ATOMIC_RELAXED);
                        fn(user, 0, v, NULL);
                        return 0;
                }
                if (r != -ENOENT)
                        return r;
                pthread_mutex_lock(&e->lock);
                j = job_listed(e, &q->key, again);
        }
        if (e->closing) {
                pthread_mutex_unlock(&e->lock);
                return errorf(-ECANCELED, "solverfs is being shut down");
        }
        if (j) {
                e->counters.joined++;
                *ret = t;
                ticket_add(j, steal_pointer(t));
                pthread_mutex_unlock(&e->lock);
                return 0;
        }
        if (store_read_only(workspace_store(e->workspace))) {
                e->counters.refused++;
                pthread_mutex_unlock(&e->lock);
                return errorf(-EROFS, "this is not known yet, and the store %s is on a read-only disk: nothing can be worked out",
                              workspace_dir(e->workspace));
        }
        if (e->n_jobs >= e->options.queue && fn != need_answered) { /* what a queued job needs is not one more */
                e->counters.refused++;
                pthread_mutex_unlock(&e->lock);
                return errorf(-EAGAIN, "the queue is full (%u jobs); wait, or raise solverfs.queue in the store's config",
                              e->options.queue);
        }
        j = job_new(e, q, again);
        if (!j) {
                pthread_mutex_unlock(&e->lock);
                return -ENOMEM;
        }
        job_list(j);
        *ret = t;
        ticket_add(j, steal_pointer(t));
        job_advance(j);
        pthread_mutex_unlock(&e->lock);
        return 0;
}

bool engine_leave(struct engine *e, struct ticket **t)
{
        struct ticket *left = NULL;

        pthread_mutex_lock(&e->lock);
        if (*t && (*t)->job) {
                left = steal_pointer(*t);
                ticket_remove(left);
        }
        pthread_mutex_unlock(&e->lock);
        free(left);
        return left;
}

/* -- asking and waiting -- */

struct waiting {
        pthread_mutex_t lock;
        int fd, r;
        bool answered;
        struct value *value;
        char reason[1024];
};

static void waiting_answered(void *user, int r, struct value *v, const char *reason)
{
        struct waiting *w = user;

        pthread_mutex_lock(&w->lock);
        w->r = r;
        w->value = v ? value_ref(v) : NULL;
        snprintf(w->reason, sizeof(w->reason), "%s", reason ? reason : "");
        w->answered = true;
        eventfd_write(w->fd, 1); /* under the lock: the waiter may be gone right after it */
        pthread_mutex_unlock(&w->lock);
}

static void waiting_poll(int fd, int cancel_fd)
{
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};

        while (poll(fds, cancel_fd >= 0 ? 2 : 1, -1) < 0 && errno == EINTR)
                ;
}

int engine_get(struct engine *e, struct query *q, enum priority p, bool again, int cancel_fd, struct value **ret)
{
        struct waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};
        cleanup_close int fd = eventfd(0, EFD_CLOEXEC);
        struct ticket *t = NULL;
        bool left;
        int r;

        if (fd < 0)
                return errorf(-errno, "cannot wait: %s", strerror(errno));
        w.fd = fd;
        r = engine_ask(e, q, p, again, waiting_answered, &w, &t);
        if (r < 0)
                return r;
        waiting_poll(fd, cancel_fd);
        /* Under its lock waiting_answered() cannot end, and the ticket be freed, in between. */
        pthread_mutex_lock(&w.lock);
        left = !w.answered && engine_leave(e, &t);
        pthread_mutex_unlock(&w.lock);
        if (left)
                return errorf(-ECANCELED, "interrupted");
        waiting_poll(fd, -1); /* the answer is here or on its way */
        pthread_mutex_lock(&w.lock);
        pthread_mutex_unlock(&w.lock);
        if (w.r < 0)
                return errorf(w.r, "%s", w.reason);
        *ret = w.value;
        return 0;
}

/* -- life -- */

int engine_open(struct workspace *w, const struct engine_options *options, struct engine **ret)
{
        struct engine *e = calloc(1, sizeof(*e));
        int r;

        if (!e)
                return -ENOMEM;
        e->workspace = w;
        if (options)
                e->options = *options;
        if (e->options.queue == 0)
                e->options.queue = 65536;
        if (e->options.grace_ns == 0)
                e->options.grace_ns = 3 * NSEC_PER_SEC;
        e->n_slots = (unsigned)host_cores(e->cpus, ENGINE_SLOTS_MAX);
        if (e->options.cores > 0)
                e->n_slots = MIN(e->n_slots, e->options.cores);
        e->counters.slots = e->n_slots;
        e->urgent = e->alive = -1;
        pthread_mutex_init(&e->lock, NULL);
        r = view_open(e);
        if (r == 0) {
                if (!store_read_only(workspace_store(w)))
                        leftovers_sweep(workspace_dir(w));
                r = schedule_start(e);
        }
        if (r < 0) {
                view_close(e);
                free(e);
                return r;
        }
        *ret = e;
        return 0;
}

struct engine *engine_close(struct engine *e)
{
        if (!e)
                return NULL;
        schedule_stop(e);
        view_close(e);
        for (size_t i = 0; i < ENGINE_FAILURES; i++)
                free(e->failures[i].reason);
        pthread_mutex_destroy(&e->lock);
        free(e);
        return NULL;
}

/* -- looking -- */

const char *job_state_name(enum job_state s)
{
        static const char *const names[] = {"cold", "queued", "running", "ready", "failed"};

        return names[s];
}

enum job_state engine_peek(struct engine *e, struct query *q, uint64_t *ret_job, char **ret_reason)
{
        cleanup(value_unrefp) struct value *v = NULL;
        enum job_state state = JOB_COLD;
        struct job *j;

        *ret_job = 0;
        *ret_reason = NULL;
        pthread_mutex_lock(&e->lock);
        j = job_listed(e, &q->key, false);
        if (j) {
                state = j->stage == STAGE_RUNNING ? JOB_RUNNING : JOB_QUEUED;
                *ret_job = j->id;
        } else
                for (size_t i = 0; i < ENGINE_FAILURES; i++)
                        if (e->failures[i].reason && digest_equal(&e->failures[i].key, &q->key)) {
                                state = JOB_FAILED;
                                *ret_reason = strdup(e->failures[i].reason);
                                break;
                        }
        pthread_mutex_unlock(&e->lock);
        if (state != JOB_QUEUED && state != JOB_RUNNING && q->type->find(e->workspace, q, &v) == 0) {
                freep(ret_reason);
                *ret_reason = NULL;
                state = JOB_READY; /* another process may have managed what we failed at */
        }
        return state;
}

void engine_counters(struct engine *e, struct engine_counters *ret)
{
        pthread_mutex_lock(&e->lock);
        *ret = e->counters;
        for (unsigned i = 0; i < N_RESOURCES; i++) {
                ret->running += e->running[i];
                ret->queued += e->queues[i][0].n + e->queues[i][1].n;
        }
        ret->queued += e->elsewhere.n;
        pthread_mutex_unlock(&e->lock);
}

/* -- for compute() -- */

const cpu_set_t *job_cpus(struct job *j)
{
        return &j->cpus;
}

unsigned job_slot(struct job *j)
{
        return j->slots[0];
}

unsigned job_n_slots(struct job *j)
{
        return j->n_slots;
}

int job_cancel_fd(struct job *j)
{
        return j->cancel_fd;
}

bool job_again(struct job *j)
{
        return j->again;
}

const struct progress *job_progress(struct job *j)
{
        return &j->progress;
}
