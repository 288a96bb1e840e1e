/* The search for inputs: each worker is a thread, which takes inputs and tries them, and the campaign's own thread watches the time. */
#include "core/study/campaign/campaign_internal.h"

#include "cache/base/fault.h"

#define LOOK_NS   (200 * NSEC_PER_MSEC)         /* between two checks of the time and the cancel descriptor */
#define TELL_NS   NSEC_PER_SEC                  /* between two calls of the caller's watch->status() */
#define RECORD_NS (10 * NSEC_PER_SEC)           /* between two records of the status */

/* 0: *ret is an input, first those left by an interrupted session; 1: no more inputs. Under the lock. */
static int next_input(struct campaign *c, struct strategy_input *ret)
{
        for (;;) {
                int r, k;

                if (c->is_over || (c->is_exhausted && c->n_left == 0)) /* not asked again: a replay asks as often as was recorded */
                        return 1;
                if (c->n_left > 0) {
                        *ret = c->left[--c->n_left];
                        return 0;
                }
                r = c->type->next(c, ret);
                if (r == -ENOSPC) {
                        if (!c->is_exhausted)
                                campaign_say(c, "%s", error_message(r));
                        c->is_exhausted = true;
                        return 1;
                }
                if (r < 0 && r != -EAGAIN)
                        return r;
                /* a wait is recorded, too (id 0): a replay must ask the type as often */
                k = campaign_note(c, &(struct campaign_record){.event = EVENT_NEXT, .id = r == 0 ? ret->id : 0});
                if (k < 0 || r == 0)
                        return k;
                pthread_cond_wait(&c->changed, &c->lock);
        }
}

/* Between two inputs: the first worker leaves its core while findings are localized or reduced; the others go on. */
static int make_room_if_first(struct campaign_worker *worker)
{
        struct campaign *c = worker->campaign;
        bool is_over, has_left = false;

        pthread_mutex_lock(&c->lock);
        if (worker->is_first && c->turns.is_taken && !c->is_over) {
                pthread_mutex_unlock(&c->lock);
                lease_leave(&worker->lease);
                has_left = true;
                pthread_mutex_lock(&c->lock);
                c->turns.has_room = true;
                pthread_cond_broadcast(&c->changed);
                while (c->turns.is_taken && !c->is_over)
                        pthread_cond_wait(&c->changed, &c->lock);
        }
        if (worker->is_first)
                c->turns.has_room = false; /* the core is the worker's again */
        is_over = c->is_over;
        pthread_mutex_unlock(&c->lock);
        return has_left && !is_over ? lease_take(&worker->lease) : 0;
}

static int work(struct campaign_worker *worker)
{
        struct campaign *c = worker->campaign;
        int r = lease_take(&worker->lease);

        while (r == 0) {
                struct strategy_input input;

                r = make_room_if_first(worker);
                pthread_mutex_lock(&c->lock);
                if (r == 0)
                        r = next_input(c, &input);
                pthread_mutex_unlock(&c->lock);
                if (r != 0)
                        break;
                r = c->type->try(worker, &input);
                pthread_mutex_lock(&c->lock);
                c->n_tried += worker->is_first;
                pthread_cond_broadcast(&c->changed);
                pthread_mutex_unlock(&c->lock);
                if (r == 0)
                        r = fault_at("campaign.input") ?: lease_yield(&worker->lease);
        }
        return r;
}

/* Notes the error that ended the search. Under the lock, by the thread that has its sentence. */
static void note_error(struct campaign *c, int r)
{
        free(c->why);
        c->error = r;
        c->why = copy_string(error_message(r));
}

static void *worker_thread(void *user)
{
        struct campaign *c = user;
        struct campaign_worker worker = campaign_worker(c);
        int r;

        pthread_mutex_lock(&c->lock);
        worker.is_first = c->n_begun++ == 0;
        pthread_mutex_unlock(&c->lock);
        r = work(&worker);
        lease_leave(&worker.lease);
        pthread_mutex_lock(&c->lock);
        if (r < 0 && c->error == 0 && !(r == -ECANCELED && c->is_over))
                note_error(c, r);
        c->is_over |= r < 0;
        c->turns.has_room |= worker.is_first;
        c->n_ended++;
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

/* Waits a moment, then checks whether the search is over. Under the lock. */
static void check_over(struct campaign *c)
{
        uint64_t most = c->settings->most_finds;

        condition_wait(&c->changed, &c->lock, now_ns() + LOOK_NS);
        if (campaign_now(c) >= c->settings->seconds || fd_is_readable(c->cancel_fd) ||
            (most > 0 && campaign_count_findings(&c->status) - c->found_before >= most))
                c->is_over = true;
        if (!c->is_over && solver_is_gone(c->workspace, c->solver)) {
                c->is_over = true;
                note_error(c, errorf(-ESTALE, "the solver %s was removed", c->solver->recipe->name));
        }
        c->status.worked = campaign_now(c);
        pthread_cond_broadcast(&c->changed);
}

/* Waits until the workers have ended: ends the search when its time is over, and records the status now and then. */
static int await_workers(struct campaign *c, unsigned n)
{
        uint64_t told = now_ns(), recorded = told;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (c->n_ended < n) {
                struct campaign_status s;

                check_over(c);
                s = c->status;
                pthread_mutex_unlock(&c->lock);
                if (now_ns() - told >= TELL_NS && c->watch && c->watch->status) {
                        c->watch->status(c->watch->user, &s);
                        told = now_ns();
                }
                if (r == 0 && now_ns() - recorded >= RECORD_NS) {
                        r = campaign_record_status(c, CAMPAIGN_RUNNING);
                        recorded = now_ns();
                }
                pthread_mutex_lock(&c->lock);
                c->is_over |= r < 0;
        }
        c->is_over = true; /* also if there are no more inputs: the localizer and the reducer wait for it */
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
        return r;
}

int campaign_search(struct campaign *c)
{
        unsigned n = campaign_count_workers(c), started = 0;
        cleanup_free pthread_t *threads = allocate(n, sizeof(*threads));
        int r = 0, k;

        while (started < n && (r = thread_start(&threads[started], worker_thread, c)) == 0)
                started++;
        if (r < 0)
                campaign_end(c);
        k = await_workers(c, started);
        for (unsigned i = 0; i < started; i++)
                pthread_join(threads[i], NULL);
        return r < 0 ? r : k;
}
