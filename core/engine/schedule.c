/* Decides which job runs next, and on which core.
 *
 * One thread decides, a thread per running job computes. A slot is a core of the machine: a lock that all processes, stores and users share
 * (core/run/slot.h), and that a crash frees. Runs own slots and builds borrow them, so neither waits for the other. A claim is a lock named by the
 * query's key: its holder computes the value; others wait until it is free, and find the value in the store. An engine that waits for a slot sets a
 * mark (slot_mark()), and others leave slots alone when it is not their turn.
 *
 * Nothing can wait for locks of other processes and for our own condition together. So the locks are looked at every few milliseconds, while a job
 * could gain from it. */
#include "core/engine/engine_internal.h"

#include <sys/eventfd.h>

#include "cache/base/fault.h"
#include "cache/base/guard.h"
#include "cache/base/lock.h"

#define LEFT_NS         (250 * NSEC_PER_MSEC)
#define SLOT_LOOK_NS    (SLOT_LOOK_MS * NSEC_PER_MSEC) /* for a slot that another process holds */
#define CLAIM_LOOK_NS   (10 * NSEC_PER_MSEC) /* for a claim that another process holds, at first */
#define CLAIM_LOOK_MOST (250 * NSEC_PER_MSEC)
#define PUBLISH_NS      (300 * NSEC_PER_MSEC)

/* -- slots -- */

/* -EAGAIN if it is taken. */
static int slot_take(struct engine *e, unsigned slot, enum slot_use use, uint64_t *slots, cpu_set_t *cpus)
{
        const bool is_build = use == SLOT_BUILD || use == SLOT_GUEST;
        int *lock = &e->slots[is_build][slot], r;

        if (*lock >= 0 || e->n_owned[is_build] == e->counters.slots)
                return -EAGAIN;
        r = slot_try(e->slots_dir, e->cpus[slot], use, lock);
        if (r < 0)
                return r;
        e->n_owned[is_build]++;
        *slots |= UINT64_C(1) << slot;
        CPU_SET((size_t)e->cpus[slot], cpus);
        return 0;
}

static int *job_lock(const struct job *j, unsigned slot)
{
        return &j->engine->slots[j->resource == RESOURCE_BUILD][slot];
}

static void slot_give_back(struct job *j, unsigned slot)
{
        struct engine *e = j->engine;
        const bool is_build = j->resource == RESOURCE_BUILD;

        closep(job_lock(j, slot));
        e->n_owned[is_build]--;
        if (!is_build && j->stage == STAGE_RUNNING) /* else another process has its claim, and the slot was not used */
                e->last_left = now_ns();
}

/* True if others who wait for a core count us among those who have one. */
static bool has_core(const struct engine *e)
{
        return e->n_owned[false] > 0 || now_ns() - e->last_left < SLOT_PASS_NS;
}

static void slots_release(struct job *j)
{
        for (unsigned i = 0; i < j->engine->n_slots; i++)
                if (j->slots >> i & 1)
                        slot_give_back(j, i);
        j->slots = 0;
        CPU_ZERO(&j->cpus);
        if (j->remote_slot)
                j->remote->give_back(j->remote, steal_pointer(j->remote_slot));
}

/* Up to a quarter of our cores and at least four. If other processes' builds have all cores, a guest's: our only build does not wait. */
static int slots_take_for_build(struct job *j)
{
        struct engine *e = j->engine;
        const enum slot_use last = e->running[RESOURCE_BUILD] == 0 ? SLOT_GUEST : SLOT_BUILD;
        int r = -EAGAIN;

        for (enum slot_use use = SLOT_BUILD; use <= last && !j->slots; use++)
                for (unsigned i = 0; i < e->n_slots && job_n_slots(j) < MAX(4u, e->counters.slots / 4) && (r == 0 || r == -EAGAIN); i++)
                        r = slot_take(e, i, use, &j->slots, &j->cpus);
        return j->slots ? 0 : r;
}

/* For a run a core that no build has, else one that a build leaves to it (enum slot_use). -EAGAIN if no slot is free. */
static int slots_take(struct job *j)
{
        const enum slot_use last = j->priority == PRIORITY_PERSON ? SLOT_PERSON : SLOT_RUN;
        struct engine *e = j->engine;
        int r = -EAGAIN;

        if (j->resource == RESOURCE_BUILD)
                return slots_take_for_build(j);
        for (enum slot_use use = SLOT_SPARE; use <= last && r == -EAGAIN; use++)
                for (unsigned i = 0; i < e->n_slots && r == -EAGAIN; i++)
                        r = slot_take(e, i, use, &j->slots, &j->cpus);
        return r;
}

/* Writes the owner's note into its slots, and waits until builds have left them. Lock not held. */
static int slots_begin(struct job *j, uint64_t slots)
{
        const bool is_build = j->resource == RESOURCE_BUILD;
        cleanup_buffer struct buffer what = {0};
        int r = 0;

        if (slots)
                j->query->type->describe(j->query, &what);
        for (unsigned i = 0; i < j->engine->n_slots && r == 0; i++) {
                if (!(slots >> i & 1))
                        continue;
                if (!is_build || !core_is_locked(*job_lock(j, i), CORE_BUILD)) /* a guest leaves the host's note */
                        slot_note(*job_lock(j, i), is_build ? SLOT_BUILD : SLOT_RUN, j->cost.mean_ns, what.data ?: "");
                r = is_build ? 0 : slot_await(*job_lock(j, i), j->cancel_fd);
        }
        return r;
}

size_t job_loans(struct job *j, struct core_loan *ret)
{
        size_t n = 0;

        for (unsigned i = 0; i < j->engine->n_slots; i++)
                if (j->slots >> i & 1)
                        ret[n++] = (struct core_loan){.cpu = j->engine->cpus[i], .lock = *job_lock(j, i)};
        return n;
}

/* The number of our jobs of this rank that wait for a core. */
static size_t count_waiting(const struct engine *e, enum priority p)
{
        return e->queues[RESOURCE_CORE][p].n + e->n_back[p];
}

static bool person_waits(const struct engine *e)
{
        return count_waiting(e, PRIORITY_PERSON) > 0 || slot_is_marked(e->slots_dir, SLOT_PERSON_WAITS);
}

static bool somebody_waits(const struct engine *e)
{
        return count_waiting(e, PRIORITY_BATCH) > 0 || person_waits(e) || slot_is_marked(e->slots_dir, SLOT_BATCH_HAS_NONE);
}

/* True if another process has set the mark. */
static bool is_marked(const struct engine *e, enum slot_mark m)
{
        return e->marks[m] < 0 && slot_is_marked(e->slots_dir, m);
}

/* True if another process gets the next slot: it has a person's run and this is a batch's, or it has a run of this rank and no core at all, while we have
 * one. */
static bool is_others_turn(const struct job *j)
{
        const struct engine *e = j->engine;
        const bool is_person = j->priority == PRIORITY_PERSON;

        if (j->resource == RESOURCE_BUILD)
                return false;
        return (!is_person && is_marked(e, SLOT_PERSON_WAITS)) ||
               (has_core(e) && is_marked(e, is_person ? SLOT_PERSON_HAS_NONE : SLOT_BATCH_HAS_NONE));
}

/* True if a build waits for its turn on one of the job's slots. */
static bool is_turn_of_build(const struct job *j)
{
        for (unsigned i = 0; i < j->engine->n_slots; i++)
                if ((j->slots | j->added_slots) >> i & 1 && core_is_locked(j->engine->slots[false][i], CORE_TURN))
                        return true;
        return false;
}

int job_add_slot(struct job *j, unsigned *ret_slot, cpu_set_t *ret_cpus)
{
        struct engine *e = j->engine;
        int r = -EAGAIN;

        CPU_ZERO(ret_cpus);
        pthread_mutex_lock(&e->lock);
        for (unsigned i = 0; i < e->n_slots && r == -EAGAIN && !somebody_waits(e); i++) {
                r = slot_take(e, i, SLOT_SPARE, &j->added_slots, ret_cpus);
                *ret_slot = i;
        }
        pthread_mutex_unlock(&e->lock);
        return r < 0 ? r : slots_begin(j, UINT64_C(1) << *ret_slot);
}

/* Lock held. */
static void drop_slot(struct job *j, unsigned slot)
{
        slot_give_back(j, slot);
        j->added_slots &= ~(UINT64_C(1) << slot);
        engine_wake(j->engine);
}

void job_drop_slot(struct job *j, unsigned slot)
{
        cleanup_unlock pthread_mutex_t *held = hold(&j->engine->lock);

        drop_slot(j, slot);
}

bool job_is_pressed(struct job *j)
{
        cleanup_unlock pthread_mutex_t *held = hold(&j->engine->lock);

        return somebody_waits(j->engine) || is_turn_of_build(j);
}

int job_give_way(struct job *j)
{
        struct engine *e = j->engine;
        int r = 0;

        pthread_mutex_lock(&e->lock);
        if (j->priority == PRIORITY_BATCH && (person_waits(e) || is_turn_of_build(j))) {
                slots_release(j);
                engine_wake(e);
        }
        while (!j->slots && r >= 0) {
                const enum priority p = j->priority; /* it rises when a person joins */

                e->n_back[p]++;
                pthread_mutex_unlock(&e->lock);
                r = pause_unless_cancelled(j->cancel_fd, SLOT_LOOK_MS) ?: 1;
                pthread_mutex_lock(&e->lock);
                e->n_back[p]--;
                engine_wake(e); /* for the marks, and for those who wait behind this job */
                if (r == 1 && !is_others_turn(j) && (p == PRIORITY_PERSON || count_waiting(e, PRIORITY_PERSON) == 0))
                        r = slots_take(j);
                r = r == 0 || r == -EAGAIN ? 1 : r;
        }
        pthread_mutex_unlock(&e->lock);
        if (r == 1)
                r = slots_begin(j, j->slots) ?: 1;
        return r;
}

/* -- claims -- */

/* -EAGAIN if it is taken. Nothing is computed by an engine that is not seen to live: its scratch folders would be swept. */
static int claim_take(struct job *j)
{
        return view_lock(j->engine) ?: lock_try(j->engine->claims_dir, digest_text(&j->query->key).s, LOCK_ALONE, &j->claim);
}

static void claim_release(struct job *j)
{
        if (j->claim >= 0)
                lock_release_unlink(j->engine->claims_dir, digest_text(&j->query->key).s, steal_fd(&j->claim));
}

/* -- running -- */

/* Makes a line of text: control bytes and invalid UTF-8 become '?'; a text that is too long ends after a word, with an ellipsis. */
static void phase_set(char ret[PHASE_SIZE], const char *what)
{
        static const char more[] = " …";
        size_t size = 0, word = 0, whole = 0; /* ends of the last word and character that leave room for the dots */

        for (size_t left = strlen(what), n; left > 0; what += n, left -= n) {
                bool valid = (n = utf8_length(what, left)) > 0 && (unsigned char)*what >= 0x20 && *what != 0x7f;

                n = MAX(n, (size_t)1);
                if (size + sizeof(more) <= PHASE_SIZE) {
                        whole = size;
                        word = *what == ' ' ? size : word;
                }
                if (size + (valid ? n : 1) >= PHASE_SIZE) {
                        size = word >= PHASE_SIZE / 2 ? word : whole;
                        memcpy(ret + size, more, sizeof(more) - 1);
                        size += sizeof(more) - 1;
                        break;
                }
                memcpy(ret + size, valid ? what : "?", valid ? n : 1);
                size += valid ? n : 1;
        }
        ret[size] = '\0';
}

static void job_tell(void *user, const char *what, uint64_t done, uint64_t total)
{
        struct job *j = user;
        cleanup_unlock pthread_mutex_t *held = hold(&j->engine->lock);

        phase_set(j->phase, what);
        j->done = done;
        j->total = total;
        if (!j->engine->dirty)
                engine_wake(j->engine); /* it may sleep until something happens, but other processes want to see this */
        j->engine->dirty = true;
}

static bool job_is_cancelled(void *user)
{
        struct job *j = user;
        cleanup_unlock pthread_mutex_t *held = hold(&j->engine->lock);

        return j->cancelled;
}

/* True if a need is missing again. A run may wait for hours: gc takes the program, or it is damaged. */
static bool job_lacks(struct job *j)
{
        cleanup(query_list_done) struct query_list needs = {0};

        return !j->needs_asked_again && j->query->type->need && j->query->type->need(j->query, &needs) == 0 && needs.n > 0;
}

/* True if its remote slot was lost or unusable: another one may do. */
static bool is_for_another(struct job *j, int r)
{
        if (j->resource != RESOURCE_REMOTE || j->cancelled)
                return false;
        return r == -ERESTART || (r == -EREMOTEIO && j->n_lost++ < ENGINE_LOST_MOST);
}

/* Begins the job again, as if just asked. Drops the lock; the job may be gone afterwards. */
static void job_begin_again(struct job *j)
{
        waits_leave(&j->waits);
        j->fanout = fanout_free(j->fanout);
        if (j->state && j->query->type->free_state)
                j->query->type->free_state(j->state);
        j->state = NULL;
        j->stage = STAGE_NEED;
        j->started = 0;
        j->phase[0] = '\0';
        j->done = j->total = 0;
        j->engine->dirty = true;
        job_advance(j);
}

#define STEP_WAITS 1

/* Calls step() until there is a value, or it must wait for an answer: STEP_WAITS. */
static int job_steps(struct job *j, struct value **ret)
{
        int r = 0;

        while (r == 0 && !*ret) {
                enum fanout_state state = j->fanout ? fanout_round(j->fanout) : FANOUT_OVER;

                if (job_is_cancelled(j))
                        return errorf(-ECANCELED, "cancelled");
                if (state == FANOUT_WAIT)
                        return STEP_WAITS;
                if (state == FANOUT_MORE)
                        continue;
                if (j->fanout) {
                        r = fanout_result(j->fanout);
                        pthread_mutex_lock(&j->engine->lock);
                        j->fanout = fanout_free(j->fanout);
                        pthread_mutex_unlock(&j->engine->lock);
                }
                if (r == 0)
                        r = j->query->type->step(j->query, j, &j->state, ret);
                if (r == 0 && !*ret && !j->fanout)
                        r = errorf(-EIO, "a step of a query '%s' neither asked for anything nor returned a value",
                                   j->query->type->name);
        }
        return r;
}

static int job_work(struct job *j, struct value **ret)
{
        int r = -ENOENT;

        error_clear();
        if (!j->again) /* another process may have stored it between the first look and our claim, or between two steps */
                r = j->query->type->find(j->query, ret);
        if (r != -ENOENT)
                return r;
        error_clear();
        r = fault_at("engine.compute");
        if (r < 0)
                return r;
        return j->query->type->step ? job_steps(j, ret) : j->query->type->compute(j->query, j, ret);
}

static void *job_thread(void *user)
{
        struct job *j = user;
        struct engine *e = j->engine;
        enum resource resource = j->resource;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_free char *reason = NULL;
        uint64_t began = now_ns();
        bool lacks = false;
        int r = slots_begin(j, j->slots) ?: job_work(j, &v);

        if (r != STEP_WAITS)
                fault_at("engine.answer");
        if (r < 0)
                reason = copy_string(error_message(r));
        if (r == -ENOENT)
                lacks = job_lacks(j);
        pthread_mutex_lock(&e->lock);
        claim_release(j); /* the value is in the store by now: a process that waits for the claim finds it */
        slots_release(j);
        for (unsigned i = 0; i < e->n_slots; i++)
                if (j->added_slots >> i & 1)
                        drop_slot(j, i);
        closep(&j->cancel_fd);
        e->running[resource]--;
        if (resource == RESOURCE_CORE || resource == RESOURCE_BUILD || resource == RESOURCE_REMOTE) {
                j->worked_ns += (double)(now_ns() - began);
                if (r == 0)
                        cost_note(j, (double)(now_ns() - began));
        }
        engine_wake(e);
        if (r == STEP_WAITS && j->cancelled) {
                job_finish(j, -ECANCELED, NULL, "nobody waits for it any more");
        } else if (r == STEP_WAITS && fanout_has_news(j->fanout)) {
                job_queue(j);
        } else if (r == STEP_WAITS) { /* between two steps it holds nothing */
                j->stage = STAGE_WAITS;
        } else if (is_for_another(j, r)) {
                log_info("%s: trying again", reason ? reason : strerror(-r));
                job_begin_again(j);
        } else if (lacks && !j->cancelled) {
                j->needs_asked_again = true;
                job_begin_again(j);
        } else {
                job_finish(j, r, v, reason);
        }
        e->n_workers--;
        pthread_cond_broadcast(&e->idle);
        pthread_mutex_unlock(&e->lock);
        return NULL;
}

/* Claim and slots are held. */
static void job_start(struct job *j)
{
        struct engine *e = j->engine;
        pthread_t thread;
        int r;

        job_dequeue(j);
        j->stage = STAGE_RUNNING;
        j->started = j->started ?: now_ns();
        j->progress = (struct progress){.tell = job_tell, .stop = job_is_cancelled, .user = j};
        j->cancel_fd = eventfd(0, EFD_CLOEXEC);
        e->running[j->resource]++;
        e->counters.started++;
        e->n_workers++;
        e->dirty = true;
        r = j->cancel_fd < 0 ? -errno : thread_start(&thread, job_thread, j);
        if (r == 0) {
                pthread_detach(thread);
        } else {
                claim_release(j);
                slots_release(j);
                e->running[j->resource]--;
                e->n_workers--;
                job_finish(j, r, NULL, "no thread or descriptor left to run it with");
        }
}

static void sooner(uint64_t *when, uint64_t t)
{
        if (*when == 0 || t < *when)
                *when = t;
}

/* Ends a job whose lock could not be taken though no other process has it: waiting would never end. Only a full disk is reported to the asker. Drops
 * the engine's lock for a moment. */
static void job_cannot_lock(struct job *j, int r)
{
        job_finish(j, r == -ENOSPC ? r : -EIO, NULL, error_message(r));
}

/* Any slots it needs are held: the job runs, waits for another's claim, or ends. */
static void job_claim(struct job *j, uint64_t *when)
{
        int r = claim_take(j);

        if (r == 0) {
                job_start(j);
                return;
        }
        slots_release(j);
        if (r != -EAGAIN) {
                job_cannot_lock(j, r);
                return;
        }
        job_dequeue(j);
        j->stage = STAGE_CLAIMED;
        j->engine->dirty = true;
        j->look_interval = CLAIM_LOOK_NS;
        j->next_look = now_ns() + j->look_interval;
        queue_add(&j->engine->claimed, j);
        sooner(when, j->next_look);
}

/* -- deciding; all with the lock held. `when` is the time of the next look if nothing wakes us before; 0: never -- */

/* True if another process has stored the value meanwhile. Drops the lock during the look; the job may be gone afterwards. */
static bool job_found(struct job *j)
{
        struct engine *e = j->engine;
        cleanup(value_unrefp) struct value *v = NULL;
        int r;

        if (j->again)
                return false;
        job_ref(j);
        pthread_mutex_unlock(&e->lock);
        r = j->query->type->find(j->query, &v);
        pthread_mutex_lock(&e->lock);
        if (r == 0 && (j->stage == STAGE_QUEUED || j->stage == STAGE_CLAIMED))
                job_finish(j, 0, v, NULL);
        job_unref(j);
        return r == 0;
}

/* Cancels jobs without a waiter for the grace period. */
static void look_abandoned(struct engine *e, uint64_t now, uint64_t *when)
{
        struct job *j;

        while ((j = TAILQ_FIRST(&e->abandoned)) && j->abandoned + e->options.grace_ns <= now)
                job_cancel(j);
        if (j)
                sooner(when, j->abandoned + e->options.grace_ns);
}

/* Ends the jobs of a removed solver. The config is read without the lock; it changes rarely, so each job is checked under it. */
static void look_gone(struct engine *e, uint64_t *changes, uint64_t now, uint64_t *looked, uint64_t *when)
{
        uint64_t seen;
        struct job *j;

        if (TAILQ_EMPTY(&e->all) || !e->home.changes)
                return;
        if (now - *looked >= 200 * NSEC_PER_MSEC) {
                *looked = now;
                pthread_mutex_unlock(&e->lock);
                seen = e->home.changes(e->home.user);
                pthread_mutex_lock(&e->lock);
                if (seen != *changes) {
                        *changes = seen;
                again:
                        TAILQ_FOREACH (j, &e->all, all_link)
                                if (!j->cancelled && j->query->type->gone && j->query->type->gone(j->query)) {
                                        j->gone = true;
                                        job_cancel(j);
                                        goto again; /* the lock was dropped: the list may have changed */
                                }
                }
        }
        sooner(when, *looked + 200 * NSEC_PER_MSEC);
}

/* Retries claims that other processes hold. */
static void look_claimed(struct engine *e, uint64_t now, uint64_t *when)
{
        struct job *j;
        int r;

again:
        TAILQ_FOREACH (j, &e->claimed.jobs, queue_link) {
                if (j->next_look > now) {
                        sooner(when, j->next_look);
                        continue;
                }
                j->look_interval = MIN(j->look_interval * 2, CLAIM_LOOK_MOST);
                j->next_look = now + j->look_interval;
                sooner(when, j->next_look);
                r = claim_take(j);
                if (r == -EAGAIN)
                        continue;
                if (r < 0) {
                        job_cannot_lock(j, r);
                        goto again;
                }
                claim_release(j);
                if (!job_found(j) && j->stage == STAGE_CLAIMED) { /* the claim's owner died or gave up: our turn */
                        job_dequeue(j);
                        job_queue(j);
                }
                goto again;
        }
}

unsigned engine_width(const struct engine *e)
{
        return MAX(e->running[RESOURCE_REMOTE], e->counters.slots);
}

void engine_look_again(struct engine *e)
{
        cleanup_unlock pthread_mutex_t *held = hold(&e->lock);

        e->dirty = true;
        engine_wake(e);
}

/* A cluster without a free slot is not asked again in the same round. */
#define CLUSTERS_FULL 16

static bool is_full(struct engine_remote *const *full, size_t n, const struct engine_remote *a)
{
        for (size_t i = 0; i < n; i++)
                if (full[i] == a)
                        return true;
        return n == CLUSTERS_FULL;
}

/* The number of jobs in the queue for the same cluster. */
static size_t count_for(const struct queue *q, const struct engine_remote *a)
{
        size_t n = 0;
        uint64_t most;
        struct job *j;

        TAILQ_FOREACH (j, &q->jobs, queue_link)
                n += j->query->type->remote(j->query, &most) == a;
        return n;
}

/* Asks each job's cluster for a slot, in the order of their turn. */
static void look_remote(struct engine *e, uint64_t *when)
{
        struct engine_remote *full[CLUSTERS_FULL];
        size_t n_full = 0;

        for (unsigned p = PRIORITY_PERSON; p <= PRIORITY_BATCH; p++) {
                struct queue *queues = e->queues[RESOURCE_REMOTE];
                struct job *j;

        again:
                TAILQ_FOREACH (j, &queues[p].jobs, queue_link) {
                        uint64_t most = 0;
                        struct engine_remote *a = j->query->type->remote(j->query, &most);
                        int r;

                        if (is_full(full, n_full, a))
                                continue;
                        r = a->take(a, most, count_for(&queues[PRIORITY_PERSON], a) + count_for(&queues[PRIORITY_BATCH], a), &j->remote_slot);
                        if (r == -EAGAIN) {
                                full[n_full++] = a;
                                continue;
                        }
                        j->remote = a;
                        if (r == 0)
                                job_claim(j, when);
                        else
                                job_finish(j, r, NULL, error_message(r));
                        goto again; /* the queue may have changed */
                }
        }
}

static struct job *first_of(struct engine *e, enum resource r)
{
        struct job *j = TAILQ_FIRST(&e->queues[r][PRIORITY_PERSON].jobs);

        return j ? j : TAILQ_FIRST(&e->queues[r][PRIORITY_BATCH].jobs);
}

/* Tells other processes which of our jobs wait for a core. */
static void look_marks(struct engine *e)
{
        const bool persons = count_waiting(e, PRIORITY_PERSON) > 0, batches = count_waiting(e, PRIORITY_BATCH) > 0;
        const bool wanted[N_SLOT_MARKS] = {
                [SLOT_PERSON_WAITS] = persons,
                [SLOT_PERSON_HAS_NONE] = persons && !has_core(e),
                [SLOT_BATCH_HAS_NONE] = batches && !has_core(e),
        };

        for (unsigned i = 0; i < N_SLOT_MARKS; i++)
                if (!wanted[i])
                        closep(&e->marks[i]);
                else if (e->marks[i] < 0 && slot_mark(e->slots_dir, i, &e->marks[i]) < 0)
                        e->marks[i] = -1;
}

/* -- others have all cores -- */

bool schedule_stands_still(const struct job *j)
{
        bool stands = j->resource == RESOURCE_BUILD && j->slots != 0;

        for (unsigned i = 0; i < j->engine->n_slots && stands; i++)
                stands = !(j->slots >> i & 1) || core_is_locked(*job_lock(j, i), CORE_RUN);
        return stands;
}

const char *schedule_refusal(const struct job *j)
{
        return j->resource == RESOURCE_CORE ? j->engine->refusal.who : "";
}

/* Notes since when, and by whom, all cores are taken. Ends the jobs that wait no longer for one (gives_up). */
static void look_refused(struct engine *e, bool is_refused, uint64_t now)
{
        struct refusal *f = &e->refusal;
        cleanup_buffer struct buffer who = {0};
        struct job *j;

        if (!is_refused || has_core(e)) { /* with a core, the rest only wait for their turn */
                *f = (struct refusal){0};
                return;
        }
        f->since = f->since ?: now;
        if (f->looked == 0 || now - f->looked >= NSEC_PER_SEC) {
                pthread_mutex_unlock(&e->lock); /* names of users may come from another machine */
                slot_waits_line(e->slots_dir, &who);
                pthread_mutex_lock(&e->lock);
                snprintf(f->who, sizeof(f->who), "%s", who.data ?: "");
                f->looked = now;
                e->dirty = true;
        }
        while (e->options.gives_up && now - f->since >= e->options.wait_ns && (j = first_of(e, RESOURCE_CORE)))
                job_finish(j, -EAGAIN, NULL, f->who);
}

/* True if a job that gave way, of this rank or a higher one, gets the next slot. It takes it by itself. */
static bool is_turn_of_begun(const struct job *j)
{
        const unsigned *n = j->engine->n_back;

        return j->resource == RESOURCE_CORE && (n[PRIORITY_PERSON] > 0 || (j->priority == PRIORITY_BATCH && n[PRIORITY_BATCH] > 0));
}

static void look_slots(struct engine *e, enum resource resource, uint64_t now, uint64_t *when)
{
        const unsigned *n_owned = &e->n_owned[resource == RESOURCE_BUILD];
        bool is_refused = false;
        struct job *j;

        while (!is_refused && (j = first_of(e, resource)) && *n_owned < e->counters.slots) { /* otherwise a worker's end wakes us */
                int r = is_others_turn(j) || is_turn_of_begun(j) ? -EAGAIN : slots_take(j);

                if (r == -EAGAIN)
                        is_refused = true;
                else if (r < 0)
                        job_cannot_lock(j, r);
                else
                        job_claim(j, when);
                look_marks(e);
        }
        if (is_refused)
                sooner(when, now + SLOT_LOOK_NS);
        if (resource == RESOURCE_CORE)
                look_refused(e, is_refused, now);
        look_marks(e);
}

/* Starts jobs that need no slot, up to `most` at a time. */
static void look_slotless(struct engine *e, enum resource r, unsigned most, uint64_t *when)
{
        struct job *j;

        while (e->running[r] < most && (j = first_of(e, r)))
                job_claim(j, when);
}

/* Another process may have computed values that our queue waits for: when the store changed, looks for those at its front. */
static void look_store(struct engine *e, uint64_t *generation, uint64_t now, uint64_t *looked, uint64_t *when)
{
        static const enum resource slots[] = {RESOURCE_CORE, RESOURCE_BUILD, RESOURCE_REMOTE};
        struct job *jobs[64]; /* references to the first ones, in order of their turn */
        uint64_t g;
        size_t n = 0;

        if (!first_of(e, RESOURCE_CORE) && !first_of(e, RESOURCE_BUILD) && !first_of(e, RESOURCE_REMOTE))
                return;
        if (now - *looked < 100 * NSEC_PER_MSEC) {
                sooner(when, *looked + 100 * NSEC_PER_MSEC);
                return;
        }
        *looked = now;
        sooner(when, now + 100 * NSEC_PER_MSEC);
        g = store_generation(e->home.store);
        if (g == *generation)
                return;
        *generation = g;
        for (unsigned p = PRIORITY_PERSON; p <= PRIORITY_BATCH; p++)
                for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
                        for (struct job *j = TAILQ_FIRST(&e->queues[slots[i]][p].jobs); j && n < ARRAY_SIZE(jobs); j = TAILQ_NEXT(j, queue_link)) {
                                job_ref(j);
                                jobs[n++] = j;
                        }
        for (size_t i = 0; i < n; i++) {
                if (jobs[i]->stage == STAGE_QUEUED)
                        job_found(jobs[i]);
                job_unref(jobs[i]);
        }
}

struct closing {
        struct engine *engine;
        struct left left;
};

static void *close_thread(void *user)
{
        cleanup_free struct closing *c = user;
        struct engine *e = c->engine;

        c->left.close(c->left.what);
        pthread_mutex_lock(&e->lock);
        e->n_workers--;
        pthread_cond_broadcast(&e->idle);
        pthread_mutex_unlock(&e->lock);
        return NULL;
}

/* Closes what jobs have left and no job has taken. A sandbox may hang, so each is closed by a thread of its own. */
static void look_left(struct engine *e, uint64_t now, uint64_t *when)
{
        for (unsigned i = 0; i < e->n_slots * LEFT_MOST; i++) {
                struct left *l = &e->left[i / LEFT_MOST][i % LEFT_MOST];

                if (!l->what)
                        continue;
                if (!e->closing && now < l->since + LEFT_NS) {
                        sooner(when, l->since + LEFT_NS);
                        continue;
                }
                struct closing *c = allocate(1, sizeof(*c));
                pthread_t thread;

                *c = (struct closing){e, *l};
                l->what = NULL;
                e->n_workers++;
                if (!e->closing && pthread_create(&thread, NULL, close_thread, c) == 0) {
                        pthread_detach(thread);
                        continue;
                }
                pthread_mutex_unlock(&e->lock);
                close_thread(c);
                pthread_mutex_lock(&e->lock);
                e->attention = true;
        }
}

static void *schedule_thread(void *user)
{
        struct engine *e = user;
        uint64_t generation = 0, looked = 0, changes = 0, config_looked = 0;
        struct job *j;

        pthread_mutex_lock(&e->lock);
        while (!e->closing) {
                uint64_t now = now_ns(), when = 0, pause = MAX(PUBLISH_NS, 20 * e->publish_cost);

                e->attention = false;
                look_abandoned(e, now, &when);
                look_gone(e, &changes, now, &config_looked, &when);
                look_claimed(e, now, &when);
                look_slotless(e, RESOURCE_DISK, ENGINE_DISK, &when);
                look_slotless(e, RESOURCE_STEP, ENGINE_STEPS, &when);
                look_slots(e, RESOURCE_CORE, now, &when);
                look_slots(e, RESOURCE_BUILD, now, &when);
                look_remote(e, &when);
                look_store(e, &generation, now, &looked, &when);
                look_left(e, now, &when);
                if (e->dirty && now - e->published >= pause) {
                        e->dirty = false;
                        pthread_mutex_unlock(&e->lock);
                        view_publish(e);
                        pthread_mutex_lock(&e->lock);
                        e->published = now_ns();
                        e->publish_cost = e->published - now;
                        e->attention = true;
                }
                if (e->dirty)
                        sooner(&when, e->published + pause);
                if (e->attention) /* something happened while the lock was dropped */
                        continue;
                if (when == 0)
                        pthread_cond_wait(&e->changed, &e->lock);
                else
                        condition_wait(&e->changed, &e->lock, when);
        }
        while ((j = TAILQ_FIRST(&e->all)))
                job_cancel(j);
        while (e->n_workers > 0)
                pthread_cond_wait(&e->idle, &e->lock);
        look_left(e, 0, NULL);
        pthread_mutex_unlock(&e->lock);
        return NULL;
}

int schedule_start(struct engine *e)
{
        sigset_t before;
        int r;

        pthread_cond_init(&e->changed, NULL);
        pthread_cond_init(&e->idle, NULL);
        guard_block_signals(&before); /* signals are for the process's first thread; ours inherit this mask */
        r = thread_start(&e->scheduler, schedule_thread, e);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r;
}

void schedule_stop(struct engine *e)
{
        pthread_mutex_lock(&e->lock);
        e->closing = true;
        engine_wake(e);
        pthread_mutex_unlock(&e->lock);
        pthread_join(e->scheduler, NULL);
        for (unsigned i = 0; i < N_SLOT_MARKS; i++)
                closep(&e->marks[i]);
        pthread_cond_destroy(&e->changed);
        pthread_cond_destroy(&e->idle);
}
