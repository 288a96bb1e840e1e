/* A worker's requests, a thread each, and its runs. */
#include <sys/eventfd.h>

#include "cache/base/guard.h"
#include "core/remote/worker_internal.h"
#include "core/run/slot.h"

/* -- requests -- */

void worker_request_free(struct request *q)
{
        message_done(q->type, &q->run);
        closep(&q->cancel_fd);
        free(q);
}

void worker_runs_cancel(struct worker *w, uint64_t id)
{
        struct request *q;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        TAILQ_FOREACH (q, &w->requests, link)
                if (q->id == id || id == 0)
                        eventfd_write(q->cancel_fd, 1);
}

/* -- kept runners -- */

static void kept_free(struct kept_runner *k)
{
        if (!k)
                return;
        runner_close(k->runner);
        for (size_t i = 0; i < k->n_files; i++)
                close(k->files[i]);
        free(k);
}

static struct kept_runner *kept_take(struct worker *w, int cpu)
{
        struct kept_runner *found;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        SLIST_FOREACH (found, &w->kept, link)
                if (found->cpu == cpu)
                        break;
        if (found)
                SLIST_REMOVE(&w->kept, found, kept_runner, link);
        return found;
}

/* The digest of what a runner depends on: the request without its input. */
static struct digest runner_key(const struct remote_run *run)
{
        cleanup_buffer struct buffer b = {0};
        struct remote_run key = *run;
        struct digest ret;

        key.input = (struct remote_file){0};
        message_write(PACKET_RUN, &key, &b);
        digest_of(b.data, b.size, &ret);
        return ret;
}

/* -- files -- */

static int no_content(void *, const struct digest *, struct blob *)
{
        return -ENOENT;
}

int worker_hold(struct worker *w, const struct remote_file *f, int *ret_fd, char path[PATH_SIZE])
{
        return program_folder_get(&w->folder, &f->id, f->size, no_content, NULL, ret_fd, path);
}

int worker_look_for(struct worker *w, const struct remote_file *f, struct digest_list *wanted, int *ret_fd)
{
        char path[PATH_SIZE];
        int r = worker_hold(w, f, ret_fd, path);

        if (r == -ENOENT)
                digest_list_add(wanted, f->id.bytes);
        return r == -ENOENT ? 0 : r;
}

int worker_ask(struct worker *w, uint64_t id, const struct digest_list *wanted)
{
        return wanted->n == 0 ? 0 : worker_send_message(w, PACKET_WANT, id, (struct digest_list *)wanted) ?: 1;
}

static int ask_for_missing(struct worker *w, const struct request *q)
{
        cleanup_digests struct digest_list wanted = {0};
        const struct remote_run *run = &q->run;
        int r = 0;

        for (size_t i = 0; r == 0 && i <= run->n_programs; i++) {
                cleanup_close int fd = -1;

                r = worker_look_for(w, i < run->n_programs ? &run->programs[i] : &run->input, &wanted, &fd);
        }
        return r < 0 ? r : worker_ask(w, q->id, &wanted);
}

/* -- one run -- */

static int open_runner(struct worker *w, const struct request *q, const struct slot *slot, struct kept_runner *k)
{
        const struct remote_run *run = &q->run;
        struct run_program programs[RECIPE_OUTPUTS_MAX];
        char paths[RECIPE_OUTPUTS_MAX][PATH_SIZE];
        struct recipe **list = NULL;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < run->n_programs; i++) {
                r = worker_hold(w, &run->programs[i], &k->files[i], paths[i]);
                k->n_files += r == 0;
                programs[i] = (struct run_program){.path = paths[i], .name = run->programs[i].name};
        }
        if (r == 0)
                r = recipe_parse(run->recipe, "the head's recipe", run->recipe_name, &list, &n);
        if (r < 0)
                return r;
        k->runner = runner_open(&(struct runner_options){.recipe = list[0],
                                                         .programs = programs,
                                                         .n_programs = run->n_programs,
                                                         .limits = run->limits,
                                                         .scratch = run->scratch,
                                                         .has_seed = run->has_seed,
                                                         .seed = run->seed,
                                                         .scratch_parent = w->scratch,
                                                         .sandbox = run->sandbox,
                                                         .cpus = &slot->cpus,
                                                         .slot = (unsigned)slot->cpu});
        recipe_list_free(list, n);
        return 0;
}

/* The core's kept runner if it is of the run's key, else a new one in its place. It is the caller's. */
static int need_runner(struct worker *w, const struct request *q, const struct slot *slot, struct kept_runner **ret)
{
        struct kept_runner *k = kept_take(w, slot->cpu);
        const struct digest key = runner_key(&q->run);
        int r;

        if (k && digest_equal(&k->key, &key)) {
                *ret = k;
                return 0;
        }
        kept_free(k);
        k = allocate(1, sizeof(*k));
        k->key = key;
        k->cpu = slot->cpu;
        r = open_runner(w, q, slot, k);
        if (r < 0)
                kept_free(k);
        else
                *ret = k;
        return r;
}

int worker_send_output(struct worker *w, uint64_t id, unsigned stream, const struct blob *bytes)
{
        int r = 0;

        for (size_t at = 0; r == 0 && at < bytes->size; at += REMOTE_PART) {
                cleanup_buffer struct buffer body = {0};
                struct slice part = SLICE((const char *)bytes->data + at, MIN(bytes->size - at, (size_t)REMOTE_PART));

                r = remote_part_write(NULL, stream, at, part, &body)
                    ?: worker_send(w, PACKET_OUTPUT, id, SLICE(body.data, body.size));
        }
        return r;
}

static int send_result(struct worker *w, uint64_t id, struct execute_result *x)
{
        return worker_send_output(w, id, 0, &x->out)
            ?: worker_send_output(w, id, 1, &x->err)
            ?: worker_send_message(w, PACKET_RESULT, id, x);
}

static int run_on(struct worker *w, struct request *q, const struct slot *slot)
{
        struct run_result result = {0};
        struct kept_runner *k = NULL;
        cleanup_close int input = -1;
        char path[PATH_SIZE];
        int r = need_runner(w, q, slot, &k)
            ?: worker_hold(w, &q->run.input, &input, path)
            ?: runner_run(k->runner, &(struct run_input){.path = path}, q->cancel_fd, &result)
            ?: send_result(w, q->id, &result.run);

        if (k && r == 0) {
                pthread_mutex_lock(&w->lock);
                SLIST_INSERT_HEAD(&w->kept, k, link);
                pthread_mutex_unlock(&w->lock);
        } else {
                kept_free(k);
        }
        run_result_done(&result);
        return r;
}

static void serve(struct worker *w, struct request *q)
{
        struct slot slot = {.lock = -1};
        int r;

        if (q->type == PACKET_BUILD) {
                r = worker_build(w, q);
        } else if (q->type == PACKET_FETCH) {
                r = worker_fetch(w, q);
        } else if ((r = ask_for_missing(w, q)) == 0) {
                r = slot_lease(w->options->folder, "a run for another machine", UINT64_MAX, q->cancel_fd, &slot)
                    ?: worker_send_message(w, PACKET_PROGRESS, q->id, &(struct remote_progress){.what = (char *)"runs"})
                    ?: run_on(w, q, &slot);
                slot_release(&slot);
                if (r == -ENOENT) /* another worker with this folder may have deleted a file meanwhile */
                        r = ask_for_missing(w, q) ?: r;
        }
        if (r < 0)
                worker_send_failure(w, q->id, r);
}

/* -- threads: one for each request, which waits for its slot -- */

static void *request_thread(void *user)
{
        struct request *q = user;
        struct worker *w = q->worker;

        serve(w, q);
        pthread_mutex_lock(&w->lock);
        TAILQ_REMOVE(&w->requests, q, link);
        worker_request_free(q);
        w->n_requests--;
        pthread_cond_signal(&w->ended);
        pthread_mutex_unlock(&w->lock);
        return NULL;
}

static int start_thread(struct request *q)
{
        pthread_t thread;
        int r = thread_start(&thread, request_thread, q);

        return r < 0 ? r : -pthread_detach(thread);
}

int worker_runs_add(struct worker *w, struct request *q)
{
        int r = 0;

        q->worker = w;
        q->cancel_fd = eventfd(0, EFD_CLOEXEC);
        if (q->cancel_fd < 0)
                r = errorf(-errno, "no descriptor is left: %s", strerror(errno));
        pthread_mutex_lock(&w->lock);
        if (r == 0 && w->n_requests >= WORKER_REQUESTS)
                r = errorf(-EBUSY, "%zu requests wait here already", w->n_requests);
        if (r == 0)
                r = start_thread(q);
        if (r == 0) {
                TAILQ_INSERT_TAIL(&w->requests, q, link);
                w->n_requests++;
        } else {
                worker_request_free(q);
        }
        pthread_mutex_unlock(&w->lock);
        return r;
}

void worker_runs_stop(struct worker *w)
{
        struct kept_runner *k;

        worker_runs_cancel(w, 0);
        pthread_mutex_lock(&w->lock);
        while (w->n_requests > 0)
                pthread_cond_wait(&w->ended, &w->lock);
        pthread_mutex_unlock(&w->lock);
        while ((k = SLIST_FIRST(&w->kept))) {
                SLIST_REMOVE_HEAD(&w->kept, link);
                kept_free(k);
        }
}
