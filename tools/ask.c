#include "ask.h"

#include "core/run/slot.h"

/* Asking for several items: their texts are printed in order, so one that is complete waits for those before it. */
struct state {
        const struct command_batch *a;
        struct buffer *texts; /* [n] the text to print, */
        bool *ready;          /* [n] whether it is complete, */
        size_t n_printed;     /* and how many are out */
};

static int make(void *user, size_t i, struct query **ret)
{
        struct state *s = user;

        return s->a->make(s->a->user, i, ret);
}

static void print_next(struct state *s)
{
        output_write(&s->texts[s->n_printed]);
        buffer_done(&s->texts[s->n_printed]);
        s->n_printed++;
}

static int answered(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct state *s = user;

        s->a->answered(s->a->user, i, r, v, reason, &s->texts[i]);
        s->ready[i] = true;
        while (s->n_printed < s->a->n && s->ready[s->n_printed])
                print_next(s);
        return output_broken() ? -EPIPE : 0;
}

/* The running jobs of this process. */
struct running_jobs {
        bool only_builds; /* counts and describes no others */
        int running;      /* jobs of any kind */
        int n;            /* jobs that count; the rest describes the first one */
        char what[256];
        uint64_t done, total;
};

static void add_job(void *user, const struct job_view *j)
{
        struct running_jobs *l = user;

        if (j->pid != getpid() || j->state != JOB_RUNNING)
                return;
        l->running++;
        if ((l->only_builds && strcmp(j->query, "build") != 0) || l->n++ > 0)
                return;
        l->done = j->done;
        l->total = j->total;
        snprintf(l->what, sizeof(l->what), "%s%s%s", j->what, j->phase && *j->phase ? ": " : "", j->phase ? j->phase : "");
}

#define WAITING 256 /* bytes of the text that says what is waited for */

static void take_wait_for_core(void *user, const struct job_view *j)
{
        char *what = user;

        if (j->pid == getpid() && j->state == JOB_QUEUED && !*what && strncmp(j->phase, "waits for a core", 16) == 0)
                snprintf(what, WAITING, "%s", j->phase);
}

static void take_wait_for_worker(void *user, const struct remote_view *v)
{
        if (v->pid == getpid() && v->queued > 0)
                snprintf(user, WAITING, "waits for a worker of %s to begin", v->name);
}

/* What is waited for while nothing runs. */
static const char *awaited(struct engine *e, char what[WAITING])
{
        struct engine_counters c;

        engine_counters(e, &c);
        *what = '\0';
        if (c.queued > 0)
                engine_each_remote(e, take_wait_for_worker, what);
        if (c.queued > 0 && !*what)
                engine_each_job(e, take_wait_for_core, what);
        return *what ? what : c.queued > 0 ? "waits for a core" : "waiting";
}

/* Shows progress in the words of the one job that runs (of several: "and 3 more"), or says what is waited for. */
static int show(void *user, const struct ask_progress *p)
{
        struct state *s = user;
        struct running_jobs l = {0};
        char what[400], waiting[WAITING];

        engine_each_job(common.engine, add_job, &l);
        if (l.running == 0)
                snprintf(what, sizeof(what), "%s: %s", s->a->title, awaited(common.engine, waiting));
        else if (l.running == 1)
                snprintf(what, sizeof(what), "%s", l.what);
        else
                snprintf(what, sizeof(what), "%s (and %d more)", l.what, l.running - 1);
        progress_show(what, s->a->n == 1 ? l.done : p->answered, s->a->n == 1 ? l.total : s->a->n,
                            p->estimated ? p->least_ns : 0, p->estimated ? p->most_ns : 0);
        if (s->a->meanwhile)
                s->a->meanwhile(s->a->user);
        return output_broken() ? -EPIPE : 0;
}

void ask_show(const struct ask_progress *p, const char *what, uint64_t total, uint64_t ahead)
{
        struct running_jobs l = {.only_builds = true};
        const char *more = "";
        char text[512], waiting[WAITING];
        bool is_estimated = p->estimated;

        engine_each_job(p->engine, add_job, &l);
        if (l.n > 0)
                more = l.what;
        else if (l.running == 0 && p->open > 0) {
                more = awaited(p->engine, waiting);
                is_estimated = false;
                ahead = 0;
        }
        snprintf(text, sizeof(text), "%s%s%s", what, *more ? "; " : "", more);
        progress_show(text, p->answered, total, ahead + (is_estimated ? p->least_ns : 0), is_estimated ? ahead + p->most_ns : 0);
}

int ask_round(struct batch *a, int (*progress)(void *user, const struct ask_progress *p))
{
        a->progress = progress;
        return ask_many(common.engine, a, PRIORITY_BATCH, common.signals);
}

int ask_end(int r, const char *kept)
{
        if (r != -ECANCELED || !command_interrupted())
                return r;
        note("stopping%s", kept);
        return -EINTR;
}

int command_ask_all(const struct command_batch *a)
{
        cleanup_buffer struct buffer heading = {0};
        cleanup_free struct buffer *texts = allocate(a->n + 1, sizeof(*texts));
        cleanup_free bool *ready = allocate(a->n + 1, sizeof(*ready));
        struct state s = {.a = a, .texts = texts, .ready = ready};
        const struct batch batch = {.n = a->n, .again = a->again, .make = make, .answered = answered, .progress = show, .user = &s};
        int r;

        command_engine();
        if (a->columns && !common.json)
                table_heading(&heading, a->columns);
        output_write(&heading);
        r = ask_end(ask_many(common.engine, &batch, a->n > 1 ? PRIORITY_BATCH : PRIORITY_PERSON, common.signals), "");
        while (s.n_printed < a->n) /* also print finished items that follow an interrupted one */
                print_next(&s);
        return r < 0 ? fail(r) : STATUS_OK;
}

void command_ask(const struct command_batch *a)
{
        command_ok(command_ask_all(a));
}

struct one {
        struct state state; /* first: show() takes it */
        struct query *query;
        struct value **ret;
};

static int make_one(void *user, size_t i, struct query **ret)
{
        *ret = query_ref(((struct one *)user)->query);
        return 0;
}

static int take_one(void *user, size_t i, int r, struct value *v, const char *reason)
{
        if (r < 0)
                return errorf(r, "%s", reason && *reason ? reason : strerror(-r));
        *((struct one *)user)->ret = value_ref(v);
        return 0;
}

int command_get(struct query *q, const char *title, bool again, struct value **ret)
{
        struct one o = {.state = {.a = &(struct command_batch){.n = 1, .title = title}}, .query = q, .ret = ret};
        const struct batch batch = {.n = 1, .again = again, .make = make_one, .answered = take_one, .progress = show, .user = &o};

        return ask_many(common.engine, &batch, PRIORITY_PERSON, common.signals);
}

int command_build(uint32_t commit, bool again, struct build_record **ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r = query_build(common.workspace, common.solver, commit, &q) ?: command_get(q, "build", again, &v);

        if (r == 0)
                *ret = build_record_ref(((struct build_value *)v)->record);
        return r;
}
