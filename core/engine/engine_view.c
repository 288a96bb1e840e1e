/* The work of engines, shown to people. Each engine keeps engines/<pid>.json up to date, a few times a second while anything changes, and holds a
 * lock on engines/<pid> while it lives. So every process on the store can show every engine's jobs, and recognizes the files of dead engines. */
#include "core/engine/engine_internal.h"

#include "cache/base/json.h"
#include "cache/base/lock.h"
#include "core/run/leftovers.h"

struct shown {
        struct job *job; /* a ref */
        struct job_view view;
        char phase[2 * PHASE_SIZE]; /* the owners of the cores may make it long */
};

static void view_fill(struct shown *s, struct job *j, uint64_t now)
{
        uint64_t running = j->started ? now - j->started : 0, least, most;
        struct wait *w = TAILQ_FIRST(&j->waits);

        job_ref(j);
        s->job = j;
        memcpy(s->phase, j->phase, sizeof(j->phase));
        s->view = (struct job_view){
                .id = j->id,
                .pid = getpid(),
                .query = j->query->type->name,
                .state = j->started ? JOB_RUNNING : JOB_QUEUED,
                .priority = j->priority,
                .phase = s->phase,
                .done = j->done,
                .total = j->total,
                .age_ns = now - j->asked,
                .running_ns = running,
                .remaining_ns = running && j->cost.mean_ns > running ? j->cost.mean_ns - running : 0,
                .waiters = j->n_tickets,
        };
        if (j->fanout && fanout_estimate(j->fanout, &least, &most))
                s->view.remaining_ns = (least + most) / 2;
        if (j->stage == STAGE_NEED && w && w->ticket && w->ticket->job)
                snprintf(s->phase, sizeof(s->phase), "waits for %s %llu", w->ticket->job->query->type->name,
                         (unsigned long long)w->ticket->job->id);
        else if (j->stage == STAGE_NEED)
                snprintf(s->phase, sizeof(s->phase), "waits for what it needs");
        else if (j->stage == STAGE_WAITS && !j->phase[0])
                snprintf(s->phase, sizeof(s->phase), "waits for what it asked");
        else if (j->stage == STAGE_QUEUED && *schedule_refusal(j))
                snprintf(s->phase, sizeof(s->phase), "%s", schedule_refusal(j));
        else if (schedule_stands_still(j))
                snprintf(s->phase, sizeof(s->phase), "%s; stands still, as runs have its cores", j->phase);
        else if (j->stage == STAGE_CLAIMED)
                snprintf(s->phase, sizeof(s->phase), "another process is at it");
}

static void view_each(struct engine *e, void (*fn)(void *user, const struct job_view *j), void *user)
{
        cleanup_free struct shown *list = NULL;
        uint64_t now;
        size_t n = 0;
        struct job *j;

        pthread_mutex_lock(&e->lock);
        now = now_ns(); /* no job of the list is younger */
        list = allocate(e->n_jobs, sizeof(*list));
        TAILQ_FOREACH (j, &e->all, all_link)
                view_fill(&list[n++], j, now);
        pthread_mutex_unlock(&e->lock);
        for (size_t i = 0; i < n; i++) { /* descriptions take no lock */
                cleanup_buffer struct buffer what = {0};

                list[i].job->query->type->describe(list[i].job->query, &what);
                list[i].view.what = what.data ?: "";
                fn(user, &list[i].view);
        }
        pthread_mutex_lock(&e->lock);
        for (size_t i = 0; i < n; i++)
                job_unref(list[i].job);
        pthread_mutex_unlock(&e->lock);
}

/* -- to and from JSON -- */

/* A look at jobs, or at remote slots. */
struct looking {
        void (*job)(void *user, const struct job_view *j);
        void (*remote)(void *user, const struct remote_view *v);
        void *user;
        int but; /* a process left out; 0: none */
};

struct publishing {
        FILE *to;
        uint64_t now; /* durations are as of then; a reader adds the time since */
        bool more; /* not the first object */
        bool failed;
};

/* Writes one object at a time, as thousands may wait. Takes over the object; NULL, left out: a string of it is not UTF-8. */
static void publish_json(struct publishing *p, json_t *o)
{
        if (!o)
                return;
        if (p->more)
                fputc(',', p->to);
        p->more = true;
        p->failed |= json_dumpf(o, p->to, JSON_COMPACT) < 0;
        json_decref(o);
}

static void view_to_json(void *user, const struct job_view *v)
{
        struct publishing *p = user;

        publish_json(p, json_pack("{sI sI ss ss ss ss ss sI sI sI sI sI si}", "at", (json_int_t)p->now, "id", (json_int_t)v->id, "query", v->query,
                                  "what", v->what, "state", job_state_name(v->state), "priority",
                                  v->priority == PRIORITY_PERSON ? "person" : "batch", "phase", v->phase, "done", (json_int_t)v->done, "total",
                                  (json_int_t)v->total, "age", (json_int_t)v->age_ns, "running", (json_int_t)v->running_ns, "remaining",
                                  (json_int_t)v->remaining_ns, "waiters", (int)v->waiters));
}

static void view_from_json(json_t *o, int pid, const struct looking *l)
{
        struct job_view v = {.pid = pid, .query = "", .what = "", .phase = ""};
        const char *state = "", *priority = "";
        uint64_t now = now_ns(), since = now;

        json_unpack(o, "{sI sI ss ss ss ss ss sI sI sI sI sI si}", "at", &since, "id", &v.id, "query", &v.query, "what", &v.what, "state", &state,
                    "priority", &priority, "phase", &v.phase, "done", &v.done, "total", &v.total, "age", &v.age_ns, "running", &v.running_ns,
                    "remaining", &v.remaining_ns, "waiters", &v.waiters);
        since = since < now ? now - since : 0;
        v.state = strcmp(state, "running") == 0 ? JOB_RUNNING : JOB_QUEUED;
        v.priority = strcmp(priority, "person") == 0 ? PRIORITY_PERSON : PRIORITY_BATCH;
        v.age_ns += since;
        v.running_ns += v.running_ns > 0 ? since : 0;
        v.remaining_ns -= MIN(v.remaining_ns, since);
        l->job(l->user, &v);
}

/* -- remote slots; in the same file, as objects with another first key -- */

static void remote_look(void *user, struct engine_remote *a)
{
        const struct looking *l = user;

        a->look(a, l->remote, l->user);
}

void engine_each_remote(struct engine *e, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        if (e->home.each_remote)
                e->home.each_remote(e->home.user, remote_look, &(struct looking){.remote = fn, .user = user});
}

void remote_view_line(const struct remote_view *v, struct buffer *ret)
{
        buffer_addf(ret, "cluster %s: %u of %u worker%s, %u waiting to begin, %u of %u slots at work", v->name, v->present, v->wanted,
                    v->wanted == 1 ? "" : "s", v->queued, v->busy, v->slots);
        if (v->lost > 0)
                buffer_addf(ret, ", %u lost", v->lost);
        if (v->left_out > 0)
                buffer_addf(ret, ", %u left out", v->left_out);
        if (v->uneven[0]) {
                buffer_adds(ret, "; ");
                buffer_add_printable(ret, v->uneven);
        }
        if (v->why[0]) {
                buffer_adds(ret, "; last trouble: ");
                buffer_add_printable(ret, v->why);
        }
}

static void remote_to_json(void *user, const struct remote_view *v)
{
        publish_json(user, json_pack("{ss ss si si si si si si si sI ss ss}", "cluster", v->name, "machine", v->machine, "wanted", (int)v->wanted,
                                     "queued", (int)v->queued, "present", (int)v->present, "slots", (int)v->slots, "busy", (int)v->busy, "lost",
                                     (int)v->lost, "left-out", (int)v->left_out, "sent", (json_int_t)v->sent, "why", v->why, "uneven", v->uneven));
}

static void remote_from_json(json_t *o, int pid, const struct looking *l)
{
        struct remote_view v = {.pid = pid, .name = "", .machine = "", .why = "", .uneven = ""};

        json_unpack(o, "{ss ss si si si si si si si sI ss ss}", "cluster", &v.name, "machine", &v.machine, "wanted", &v.wanted, "queued", &v.queued,
                    "present", &v.present, "slots", &v.slots, "busy", &v.busy, "lost", &v.lost, "left-out", &v.left_out, "sent", &v.sent, "why", &v.why,
                    "uneven", &v.uneven);
        l->remote(l->user, &v);
}

/* -- publishing -- */

void view_publish(struct engine *e)
{
        cleanup_free char *path = format_string("%s/%d.json", e->engines_dir, (int)getpid());
        cleanup_free char *fresh = format_string("%s/%d.new", e->engines_dir, (int)getpid());
        struct publishing p = {.now = now_ns()};

        p.to = fopen(fresh, "we"); /* only shown: neither durable nor worth an error */
        if (!p.to)
                return;
        fputc('[', p.to);
        view_each(e, view_to_json, &p);
        engine_each_remote(e, remote_to_json, &p);
        fputc(']', p.to);
        p.failed |= ferror(p.to) != 0;
        if (fclose(p.to) != 0 || p.failed || rename(fresh, path) < 0)
                unlink(fresh);
}

static int make_folder(const struct engine *e, const char *name, char ret[PATH_SIZE])
{
        int r = path_join(ret, e->home.dir, name);

        return r == 0 && !store_read_only(e->home.store) ? make_dirs(ret, 0700) : r;
}

int view_lock(struct engine *e)
{
        char pid[16];

        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        return e->alive >= 0 ? 0 : lock_try(e->engines_dir, pid, LOCK_SHARED, &e->alive); /* shared: a process may have two engines */
}

int view_open(struct engine *e)
{
        char own[PATH_SIZE];
        int r = make_folder(e, "slots", own)
            ?: make_folder(e, "claims", e->claims_dir)
            ?: make_folder(e, "engines", e->engines_dir);

        if (r == 0)
                r = slot_folder(own, e->slots_dir, NULL); /* the machine's; without one, the store's own */
        if (r < 0 || store_read_only(e->home.store))
                return r; /* then nothing can be shown */
        r = leftovers_own(e->home.dir, &e->alive);
        if (lock_error_is_disk(r))
                return 0; /* it answers known values; view_lock() tries again before a new one is computed */
        return r < 0 ? errorf(r, "cannot lock %s/%d: %s", e->engines_dir, (int)getpid(), strerror(-r)) : 0;
}

void view_close(struct engine *e)
{
        cleanup_free char *pid = format_string("%d", (int)getpid()), *path = format_string("%s/%s.json", e->engines_dir, pid);

        if (e->alive < 0)
                return;
        unlink(path);
        lock_release_unlink(e->engines_dir, pid, steal_fd(&e->alive));
}

/* -- showing -- */

static void view_read(const char *dir, const char *pid, const struct looking *l)
{
        cleanup_free char *path = format_string("%s/%s.json", dir, pid);
        json_t *jobs, *job;
        size_t i;

        if (!lock_is_held(dir, pid))
                return; /* left by a kill -9: leftovers.h */
        jobs = json_load_file(path, 0, NULL);
        json_array_foreach (jobs, i, job) {
                bool is_remote = json_object_get(job, "cluster");

                if (is_remote && l->remote)
                        remote_from_json(job, atoi(pid), l);
                else if (!is_remote && l->job)
                        view_from_json(job, atoi(pid), l);
        }
        json_decref(jobs);
}

static int look_at_file(void *user, const char *dir, const char *name)
{
        const struct looking *l = user;
        char *end;
        long pid = strtol(name, &end, 10);
        cleanup_free char *digits = copy_prefix(name, (size_t)(end - name));

        if (pid > 0 && strcmp(end, ".json") == 0 && pid != l->but)
                view_read(dir, digits, l);
        return 0;
}

static int view_each_other(const char *store_dir, const struct looking *l)
{
        cleanup_free char *dir = format_string("%s/engines", store_dir);

        return folder_each(dir, look_at_file, (void *)l);
}

int engine_each_job(struct engine *e, void (*fn)(void *user, const struct job_view *j), void *user)
{
        view_each(e, fn, user);
        return view_each_other(e->home.dir, &(struct looking){.job = fn, .user = user, .but = getpid()});
}

int engine_each_job_of_store(const char *store_dir, void (*fn)(void *user, const struct job_view *j), void *user)
{
        return view_each_other(store_dir, &(struct looking){.job = fn, .user = user});
}

int engine_each_slot_of_store(const char *store_dir, void (*fn)(void *user, const struct slot_view *v), void *user)
{
        char own[PATH_SIZE], folder[PATH_SIZE];

        return path_join(own, store_dir, "slots") ?: slot_folder(own, folder, NULL) ?: slot_each(folder, fn, user);
}

int engine_each_remote_of_store(const char *store_dir, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        return view_each_other(store_dir, &(struct looking){.remote = fn, .user = user});
}
