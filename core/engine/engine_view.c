/* The work of engines, shown to people. Each engine keeps engines/<pid>.json up to date (a few times a second while anything changes) and
 * holds a lock on engines/<pid> while it lives, so that every process on the store can show every engine's jobs, and the files of
 * dead ones are recognized and taken away. */
#include "core/engine/engine_internal.h"


#include "cache/base/json.h"
#include "cache/base/lock.h"

struct shown {
        struct job *job; /* a ref */
        struct job_view view;
        char phase[2 * PHASE_SIZE]; /* who has the cores may be long */
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
        else if (j->stage == STAGE_ELSEWHERE)
                snprintf(s->phase, sizeof(s->phase), "another process is at it");
}

/* Copies under the lock, descriptions outside of it. */
static struct shown *view_take(struct engine *e, size_t *ret_n)
{
        struct shown *list;
        struct job *j;
        uint64_t now = now_ns();
        size_t n = 0;

        pthread_mutex_lock(&e->lock);
        list = allocate(e->n_jobs + 1, sizeof(*list));
        TAILQ_FOREACH (j, &e->all, all_link)
                if (list)
                        view_fill(&list[n++], j, now);
        pthread_mutex_unlock(&e->lock);
        *ret_n = n;
        return list;
}

static void view_give_back(struct engine *e, struct shown *list, size_t n)
{
        pthread_mutex_lock(&e->lock);
        for (size_t i = 0; i < n; i++)
                job_unref(list[i].job);
        pthread_mutex_unlock(&e->lock);
        free(list);
}

static int view_each(struct engine *e, void (*fn)(void *user, const struct job_view *j), void *user)
{
        size_t n;
        struct shown *list = view_take(e, &n);

        for (size_t i = 0; i < n; i++) {
                cleanup_buffer struct buffer what = {0};

                list[i].job->query->type->describe(list[i].job->query, &what);
                list[i].view.what = what.data ? what.data : "";
                fn(user, &list[i].view);
        }
        view_give_back(e, list, n);
        return 0;
}

/* -- to and from JSON -- */

struct publishing {
        FILE *to;
        uint64_t now; /* durations are as of then; a reader adds what has passed since */
        bool more; /* it is not the first */
        bool failed;
};

/* One after the other, and not as one big value: thousands may wait. */
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
        json_t *o = json_pack("{sI sI ss ss ss ss ss sI sI sI sI sI si}", "at", (json_int_t)p->now, "id", (json_int_t)v->id, "query",
                              v->query, "what", v->what, "state", job_state_name(v->state), "priority",
                              v->priority == PRIORITY_PERSON ? "person" : "batch", "phase", v->phase, "done", (json_int_t)v->done,
                              "total", (json_int_t)v->total, "age", (json_int_t)v->age_ns, "running", (json_int_t)v->running_ns,
                              "remaining", (json_int_t)v->remaining_ns, "waiters", (int)v->waiters);

        publish_json(p, o);
}

static uint64_t number_of(const json_t *o, const char *key)
{
        return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void view_from_json(const json_t *o, int pid, void (*fn)(void *user, const struct job_view *j), void *user)
{
        uint64_t now = now_ns(), at = number_of(o, "at"), since = at < now ? now - at : 0;
        uint64_t running = number_of(o, "running"), remaining = number_of(o, "remaining");

        fn(user, &(struct job_view){
                         .id = number_of(o, "id"),
                         .pid = pid,
                         .query = json_text(o, "query", ""),
                         .what = json_text(o, "what", ""),
                         .state = strcmp(json_text(o, "state", ""), "running") == 0 ? JOB_RUNNING : JOB_QUEUED,
                         .priority = strcmp(json_text(o, "priority", ""), "person") == 0 ? PRIORITY_PERSON : PRIORITY_BATCH,
                         .phase = json_text(o, "phase", ""),
                         .done = number_of(o, "done"),
                         .total = number_of(o, "total"),
                         .age_ns = number_of(o, "age") + since,
                         .running_ns = running > 0 ? running + since : 0,
                         .remaining_ns = remaining > since ? remaining - since : 0,
                         .waiters = (unsigned)number_of(o, "waiters"),
                 });
}

/* -- slots elsewhere; in the same file, as objects with another first key -- */

struct away_look {
        void (*fn)(void *user, const struct away_view *v);
        void *user;
};

static void away_show(void *user, const struct away_view *v)
{
        const struct away_look *l = user;
        struct away_view own = *v;

        own.pid = getpid();
        l->fn(l->user, &own);
}

static void away_look(void *user, struct engine_away *a)
{
        a->look(a, away_show, user);
}

int engine_each_away(struct engine *e, void (*fn)(void *user, const struct away_view *v), void *user)
{
        if (e->place.each_away)
                e->place.each_away(e->place.user, away_look, &(struct away_look){.fn = fn, .user = user});
        return 0;
}

void away_view_line(const struct away_view *v, struct buffer *ret)
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

static void away_to_json(void *user, const struct away_view *v)
{
        struct publishing *p = user;
        json_t *o = json_pack("{ss ss si si si si si si si sI ss ss}", "cluster", v->name, "machine", v->machine, "wanted", (int)v->wanted, "queued",
                              (int)v->queued, "present", (int)v->present, "slots", (int)v->slots, "busy", (int)v->busy, "lost", (int)v->lost,
                              "left-out", (int)v->left_out, "sent", (json_int_t)v->sent, "why", v->why,
                              "uneven", v->uneven);

        publish_json(p, o);
}

static void away_from_json(const json_t *o, int pid, const struct away_look *l)
{
        l->fn(l->user, &(struct away_view){
                               .pid = pid,
                               .name = json_text(o, "cluster", ""),
                               .machine = json_text(o, "machine", ""),
                               .wanted = (unsigned)number_of(o, "wanted"),
                               .queued = (unsigned)number_of(o, "queued"),
                               .present = (unsigned)number_of(o, "present"),
                               .slots = (unsigned)number_of(o, "slots"),
                               .busy = (unsigned)number_of(o, "busy"),
                               .lost = (unsigned)number_of(o, "lost"),
                               .left_out = (unsigned)number_of(o, "left-out"),
                               .sent = number_of(o, "sent"),
                               .why = json_text(o, "why", ""),
                               .uneven = json_text(o, "uneven", ""),
                       });
}

/* -- publishing -- */

void view_publish(struct engine *e)
{
        char path[PATH_SIZE], fresh[PATH_SIZE];
        struct publishing p = {.now = now_ns()};

        if (snprintf(path, sizeof(path), "%s/%d.json", e->engines_dir, (int)getpid()) >= (int)sizeof(path) ||
            snprintf(fresh, sizeof(fresh), "%s/%d.new", e->engines_dir, (int)getpid()) >= (int)sizeof(fresh))
                return;
        p.to = fopen(fresh, "we"); /* for people's eyes only: neither durable nor worth failing for */
        if (!p.to)
                return;
        fputc('[', p.to);
        p.failed = view_each(e, view_to_json, &p) < 0 || p.failed;
        engine_each_away(e, away_to_json, &p);
        fputc(']', p.to);
        p.failed |= ferror(p.to) != 0;
        if (fclose(p.to) != 0 || p.failed || rename(fresh, path) < 0)
                unlink(fresh);
}

/* The machine's. A store's own are for when the machine has no place for any. */
static int find_slots(struct engine *e)
{
        char own[PATH_SIZE];

        memcpy(own, e->slots_dir, sizeof(own));
        return slot_folder(own, e->slots_dir, NULL);
}

int view_open(struct engine *e)
{
        static const struct {
                const char *name;
                size_t offset;
        } dirs[] = {{"slots", offsetof(struct engine, slots_dir)},
                    {"claims", offsetof(struct engine, claims_dir)},
                    {"engines", offsetof(struct engine, engines_dir)}};
        char pid[16];
        int r;

        for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
                char *path = (char *)e + dirs[i].offset;

                r = path_join(path, e->place.dir, dirs[i].name);
                if (r == 0 && !store_read_only(e->place.store))
                        r = make_dirs(path, 0700);
                if (r < 0)
                        return r;
        }
        r = find_slots(e);
        if (r < 0 || store_read_only(e->place.store))
                return r; /* there will be nothing to show */
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        /* shared: a process may have two engines; wait: for who sweeps what the last process of that number left */
        r = lock_wait(e->engines_dir, pid, true, &e->alive);
        return r < 0 ? errorf(r, "cannot lock %s/%s: %s", e->engines_dir, pid, strerror(-r)) : 0;
}

void view_close(struct engine *e)
{
        char path[PATH_SIZE], pid[16];

        if (e->alive < 0)
                return;
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        if (snprintf(path, sizeof(path), "%s/%s.json", e->engines_dir, pid) < (int)sizeof(path))
                unlink(path);
        lock_release_unlink(e->engines_dir, pid, steal_fd(&e->alive));
}

/* -- looking -- */

/* Looks at jobs, or at slots elsewhere. */
struct looking {
        void (*job)(void *user, const struct job_view *j);
        void (*away)(void *user, const struct away_view *v);
        void *user;
};

static void view_read(const char *dir, const char *pid, const struct looking *l)
{
        char path[PATH_SIZE];
        json_t *jobs, *job;
        size_t i;

        if (snprintf(path, sizeof(path), "%s/%s.json", dir, pid) >= (int)sizeof(path))
                return;
        if (!lock_is_held(dir, pid)) { /* left by a kill -9 */
                unlink(path);
                return;
        }
        jobs = json_load_file(path, 0, NULL);
        json_array_foreach (jobs, i, job) {
                bool is_away = json_object_get(job, "cluster");

                if (is_away && l->away)
                        away_from_json(job, atoi(pid), &(struct away_look){.fn = l->away, .user = l->user});
                else if (!is_away && l->job)
                        view_from_json(job, atoi(pid), l->job, l->user);
        }
        json_decref(jobs);
}

static int view_each_other(const char *store_dir, int but, const struct looking *l)
{
        char dir[PATH_SIZE];
        struct dirent *d;
        cleanup_dir DIR *folder = NULL;
        int r = path_join(dir, store_dir, "engines");

        if (r < 0)
                return r;
        folder = opendir(dir);
        if (!folder)
                return errno == ENOENT ? 0 : -errno;
        while ((d = readdir(folder))) {
                char *end;
                long pid = strtol(d->d_name, &end, 10);

                if (pid > 0 && strcmp(end, ".json") == 0 && pid != but) {
                        *end = '\0';
                        view_read(dir, d->d_name, l);
                }
        }
        return 0;
}

int engine_each_job(struct engine *e, void (*fn)(void *user, const struct job_view *j), void *user)
{
        int r = view_each(e, fn, user);

        return r < 0 ? r : view_each_other(e->place.dir, getpid(), &(struct looking){.job = fn, .user = user});
}

int engine_each_job_of_store(const char *store_dir, void (*fn)(void *user, const struct job_view *j), void *user)
{
        return view_each_other(store_dir, 0, &(struct looking){.job = fn, .user = user});
}

int engine_each_slot_of_store(const char *store_dir, void (*fn)(void *user, const struct slot_view *v), void *user)
{
        char own[PATH_SIZE], folder[PATH_SIZE];
        int r = path_join(own, store_dir, "slots");

        if (r == 0)
                r = slot_folder(own, folder, NULL);
        return r == 0 ? slot_each(folder, fn, user) : r;
}

int engine_each_away_of_store(const char *store_dir, void (*fn)(void *user, const struct away_view *v), void *user)
{
        return view_each_other(store_dir, 0, &(struct looking){.away = fn, .user = user});
}
