/* Asking for one value; opening and closing an engine; what is shown of its queries. */
#include "core/engine/engine_internal.h"

#include "core/run/host.h"
#include "core/run/leftovers.h"

/* -- queries and values -- */

static void query_free(struct query *q)
{
        if (q->type->query_done)
                q->type->query_done(q);
        free(q);
}
DEFINE_REFS(query, query_free)

static void value_free(struct value *v)
{
        if (v->type->value_done)
                v->type->value_done(v);
        free(v);
}
DEFINE_REFS(value, value_free)

/* -- asking -- */

/* Lock held: 0 if one more job can begin. */
static int has_room(struct engine *e, bool inner)
{
        if (store_read_only(e->home.store)) {
                e->counters.refused++;
                return errorf(-EROFS, "this is not known yet, and the store %s is on a read-only disk: nothing can be computed",
                              e->home.dir);
        }
        if (e->n_jobs >= e->options.queue && !inner) { /* a job's own query is never refused, or the job might wait for ever */
                e->counters.refused++;
                return errorf(-EAGAIN, "the queue is full (%u jobs); wait, or raise solverfs.queue in the store's config",
                              e->options.queue);
        }
        return 0;
}

/* Lock not held; the error has both names. */
static int fail_cycle(struct job *asker, struct query *q)
{
        cleanup_buffer struct buffer who = {0}, what = {0};

        asker->query->type->describe(asker->query, &who);
        q->type->describe(q, &what);
        if (digest_equal(&asker->query->key, &q->key))
                return errorf(-EDEADLK, "'%s' asks for itself: it would wait for ever", who.data ?: "");
        return errorf(-EDEADLK, "'%s' asks for '%s', which waits for it already: both would wait for ever",
                      who.data ?: "", what.data ?: "");
}

int engine_ask(struct engine *e, struct query *q, enum priority p, bool again, answer_fn fn, void *user, struct ticket **ret)
{
        return engine_ask_for(e, NULL, q, p, again, fn, user, ret);
}

int engine_ask_for(struct engine *e, struct job *asker, struct query *q, enum priority p, bool again, answer_fn fn, void *user,
                   struct ticket **ret)
{
        cleanup_free struct ticket *t = allocate(1, sizeof(*t));
        struct job *j;
        int r = 0;

        *t = (struct ticket){.fn = fn, .user = user, .priority = p, .inner = asker};
        pthread_mutex_lock(&e->lock);
        e->counters.asked++;
        j = job_listed(e, &q->key, again);
        if (!j && !again) {
                cleanup(value_unrefp) struct value *v = NULL;

                pthread_mutex_unlock(&e->lock);
                r = q->type->find(q, &v);
                if (r == 0) {
                        __atomic_add_fetch(&e->counters.hits, 1, __ATOMIC_RELAXED);
                        fn(user, 0, v, NULL);
                }
                if (r != -ENOENT)
                        return r;
                r = 0;
                pthread_mutex_lock(&e->lock);
                j = job_listed(e, &q->key, again);
        }
        if (e->closing)
                r = errorf(-ECANCELED, "solverfs is being shut down");
        else if (j && asker && job_waits_for(j, asker)) {
                pthread_mutex_unlock(&e->lock);
                return fail_cycle(asker, q);
        } else if (j) {
                e->counters.joined++;
                *ret = t;
                ticket_add(j, t);
        } else if ((r = has_room(e, asker)) == 0) {
                j = job_new(e, q, again);
                job_list(j);
                *ret = t;
                ticket_add(j, t);
                job_advance(j);
        }
        pthread_mutex_unlock(&e->lock);
        if (r == 0)
                t = NULL; /* the job owns it, or its answer freed it */
        return r;
}

bool engine_leave(struct engine *e, struct ticket **t)
{
        struct ticket *left = NULL;

        pthread_mutex_lock(&e->lock);
        if (*t && (*t)->job) {
                left = steal_pointer(*t);
                ticket_remove(left, false);
        }
        pthread_mutex_unlock(&e->lock);
        free(left);
        return left;
}

/* -- life -- */

int engine_open(const struct engine_home *home, const struct engine_options *options, struct engine **ret)
{
        struct engine *e = allocate(1, sizeof(*e));
        int r;

        e->home = *home;
        e->home.dir = copy_string(home->dir);
        if (options)
                e->options = *options;
        if (e->options.queue == 0)
                e->options.queue = 65536;
        e->n_slots = (unsigned)host_cores(e->cpus, ENGINE_SLOTS_MAX);
        e->counters.slots = e->options.cores > 0 ? MIN(e->n_slots, e->options.cores) : e->n_slots;
        e->alive = -1;
        memset(e->slots, -1, sizeof(e->slots));
        memset(e->marks, -1, sizeof(e->marks));
        TAILQ_INIT(&e->all);
        TAILQ_INIT(&e->abandoned);
        TAILQ_INIT(&e->claimed.jobs);
        for (unsigned i = 0; i < N_RESOURCES; i++)
                for (unsigned p = PRIORITY_PERSON; p <= PRIORITY_BATCH; p++)
                        TAILQ_INIT(&e->queues[i][p].jobs);
        pthread_mutex_init(&e->lock, NULL);
        r = view_open(e);
        if (r == 0) {
                if (!store_read_only(home->store))
                        leftovers_sweep(home->dir);
                r = schedule_start(e);
        }
        if (r == 0 && home->attach)
                home->attach(home->user, e);
        if (r < 0) {
                view_close(e);
                free((char *)e->home.dir);
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
        if (e->home.attach) /* first: a cluster then waits no longer for workers that do not end a run */
                e->home.attach(e->home.user, NULL);
        schedule_stop(e);
        view_close(e);
        for (size_t i = 0; i < ENGINE_FAILURES; i++)
                free(e->failures[i].reason);
        pthread_mutex_destroy(&e->lock);
        free((char *)e->home.dir);
        free(e);
        return NULL;
}

/* -- showing -- */

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
                state = j->started ? JOB_RUNNING : JOB_QUEUED;
                *ret_job = j->id;
                if (j->stage == STAGE_QUEUED && *schedule_refusal(j))
                        *ret_reason = copy_string(schedule_refusal(j));
        } else
                for (size_t i = 0; i < ENGINE_FAILURES; i++)
                        if (e->failures[i].reason && digest_equal(&e->failures[i].key, &q->key)) {
                                state = JOB_FAILED;
                                *ret_reason = copy_string(e->failures[i].reason);
                                break;
                        }
        pthread_mutex_unlock(&e->lock);
        if (state != JOB_QUEUED && state != JOB_RUNNING && q->type->find(q, &v) == 0) {
                free(steal_pointer(*ret_reason));
                state = JOB_READY; /* another process may have succeeded meanwhile */
        }
        return state;
}

void engine_counters(struct engine *e, struct engine_counters *ret)
{
        cleanup_unlock pthread_mutex_t *held = hold(&e->lock);

        *ret = e->counters;
        for (unsigned i = 0; i < N_RESOURCES; i++) {
                ret->running += e->running[i];
                ret->queued += e->queues[i][0].n + e->queues[i][1].n;
        }
        ret->queued += e->claimed.n;
}

/* -- for compute() -- */

const cpu_set_t *job_cpus(struct job *j)
{
        return &j->cpus;
}

unsigned job_slot(struct job *j)
{
        return j->slots ? (unsigned)__builtin_ctzll(j->slots) : 0;
}

void job_leave(struct job *j, void *what, void (*close)(void *what))
{
        struct engine *e = j->engine;
        struct left *all = e->left[job_slot(j)], last = {what, close, 0};

        pthread_mutex_lock(&e->lock);
        if (j->slots) {
                last = all[LEFT_MOST - 1];
                memmove(&all[1], all, (LEFT_MOST - 1) * sizeof(*all));
                all[0] = (struct left){what, close, now_ns()};
        }
        pthread_mutex_unlock(&e->lock);
        if (last.what)
                last.close(last.what);
}

void *job_take_left(struct job *j, bool (*fits)(void *what, const void *with), const void *with)
{
        struct engine *e = j->engine;
        struct left mine[LEFT_MOST] = {0}, *all = e->left[job_slot(j)];
        void *found = NULL;

        if (!j->slots)
                return NULL;
        pthread_mutex_lock(&e->lock);
        memcpy(mine, all, sizeof(mine));
        memset(all, 0, sizeof(mine));
        pthread_mutex_unlock(&e->lock);
        for (unsigned i = 0; i < LEFT_MOST && !found; i++)
                if (mine[i].what && fits(mine[i].what, with))
                        found = steal_pointer(mine[i].what);
        pthread_mutex_lock(&e->lock);
        memcpy(all, mine, sizeof(mine)); /* no other job has the slot */
        pthread_mutex_unlock(&e->lock);
        return found;
}

void *job_remote(struct job *j)
{
        return j->remote_slot;
}

void *job_take_remote(struct job *j)
{
        cleanup_unlock pthread_mutex_t *held = hold(&j->engine->lock);

        return steal_pointer(j->remote_slot);
}

unsigned job_n_slots(struct job *j)
{
        return (unsigned)__builtin_popcountll(j->slots);
}

int job_cancel_fd(struct job *j)
{
        return j->cancel_fd;
}

struct engine *job_engine(struct job *j)
{
        return j->engine;
}

bool job_again(struct job *j)
{
        return j->again;
}

const struct progress *job_progress(struct job *j)
{
        return &j->progress;
}
