#include "core/query/disturbed.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "core/query/run_query.h"
#include "core/run/host.h"

#define PREFIX    "disturbed/"
#define ROW_SIZE  (sizeof(PREFIX) + 33)
#define LOOK_MS   2000 /* between two looks at whether anything waits */
#define LISTEN_MS 300  /* for how long the machine is listened to */

/* -- notes ------------------------------------------------------------------------------------------------------- */

static void row_of(struct slice fact_key, char ret[ROW_SIZE])
{
        char name[33];

        noted_name(fact_key, name);
        snprintf(ret, ROW_SIZE, PREFIX "%s", name);
}

static uint8_t tries_in(struct slice row)
{
        return row.size == NOTED_SIZE + 1 ? ((const uint8_t *)row.data)[NOTED_SIZE] : DISTURBED_TRIES;
}

static int drop_row(struct store_txn *t, const char *row)
{
        return store_has(t, TABLE_META, slice_string(row)) ? store_delete(t, TABLE_META, slice_string(row)) : 0;
}

int disturbed_note(struct store_txn *t, const struct noted_fact *f)
{
        static const uint8_t none = 0;
        cleanup_buffer struct buffer b = {0};
        char row[ROW_SIZE];
        int r;

        row_of(f->key, row);
        if (!f->fact->disturbed || f->cell->solver->place) /* a quiet moment here says nothing of a machine elsewhere */
                return drop_row(t, row);
        r = noted_encode(f, SLICE(&none, 1), &b);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(row), SLICE(b.data, b.size));
}

struct look {
        size_t waiting;
        uint8_t tries; /* of the one in `row`; the fewest */
        char row[ROW_SIZE];
        uint8_t value[NOTED_SIZE + 1];
};

static int look_at(void *user, struct slice key, struct slice value)
{
        struct look *l = user;
        uint8_t tries = tries_in(value);

        if (tries >= DISTURBED_TRIES || key.size >= sizeof(l->row))
                return 0;
        if (l->waiting++ == 0 || tries < l->tries) {
                l->tries = tries;
                snprintf(l->row, sizeof(l->row), "%.*s", (int)key.size, (const char *)key.data);
                memcpy(l->value, value.data, sizeof(l->value));
        }
        return 0;
}

static int look(struct workspace *w, struct look *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        *ret = (struct look){0};
        return r < 0 ? r : store_each(t, TABLE_META, slice_string(PREFIX), SLICE("", 0), true, look_at, ret);
}

int disturbed_count(struct workspace *w, size_t *ret)
{
        struct look l;
        int r = look(w, &l);

        *ret = l.waiting;
        return r;
}

struct change {
        const char *row;
        uint8_t tries; /* 0: the row goes */
};

static int change_in(void *user, struct store_txn *t)
{
        const struct change *c = user;
        cleanup_blob struct blob b = {0};
        uint8_t value[NOTED_SIZE + 1];
        int r;

        if (c->tries == 0)
                return drop_row(t, c->row);
        r = store_get(t, TABLE_META, slice_string(c->row), &b);
        if (r < 0 || b.size != sizeof(value))
                return r == -ENOENT ? 0 : r; /* measured by somebody else meanwhile */
        memcpy(value, b.data, sizeof(value));
        value[NOTED_SIZE] = c->tries;
        return store_put(t, TABLE_META, slice_string(c->row), SLICE(value, sizeof(value)));
}

static int change(struct workspace *w, const char *row, uint8_t tries)
{
        return store_update(workspace_store(w), change_in, &(struct change){row, tries});
}

/* -- the query --------------------------------------------------------------------------------------------------- */

struct remeasure_query {
        struct run_query run;
        uint8_t tries;
        char row[ROW_SIZE];
};

static int remeasure_find(struct query *, struct value **)
{
        return -ENOENT;
}

static int remeasure_compute(struct query *query, struct job *j, struct value **ret)
{
        struct remeasure_query *q = (struct remeasure_query *)query;
        cleanup(build_record_unrefp) struct build_record *failed = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = run_query_measure(&q->run, j, &f, &failed);

        if (r == 0 && f && !f->disturbed)
                r = run_query_keep(&q->run, f);
        else if (r == 0)
                r = change(q->run.workspace, q->row, q->tries + 1);
        if (r < 0)
                return r;
        *ret = run_value_new(f, failed);
        return *ret ? 0 : -ENOMEM;
}

static void remeasure_describe(const struct query *query, struct buffer *ret)
{
        run_query_describe(query, ret);
        buffer_adds(ret, ", as it was disturbed");
}

static const struct query_type query_remeasure_type = {
        .name = "remeasure",
        .resource = RESOURCE_CORE,
        .find = remeasure_find,
        .compute = remeasure_compute,
        .describe = remeasure_describe,
        .gone = run_query_gone,
        .free_query = run_query_free,
};

static int make_query(struct workspace *w, const struct look *l, const struct cell *cell, struct query **ret)
{
        struct remeasure_query *q = calloc(1, sizeof(*q));
        struct hasher *h;
        int r;

        if (!q)
                return -ENOMEM;
        r = run_query_init(&q->run, &query_remeasure_type, w, cell);
        if (r < 0) {
                run_query_free(&q->run.query);
                return r;
        }
        q->tries = l->tries;
        memcpy(q->row, l->row, sizeof(q->row));
        h = hasher_new();
        hasher_string(h, "remeasure");
        hasher_string(h, q->row);
        hasher_finish(h, &q->run.query.key);
        *ret = &q->run.query;
        return 0;
}

static bool has_program(struct workspace *w, const struct cell *cell)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;

        return build_find(w, cell->solver, cell->commit, false, &record) == 0 && build_is_usable(w, record);
}

int query_remeasure(struct workspace *w, struct query **ret)
{
        struct look l;
        int r;

        while ((r = look(w, &l)) == 0 && l.waiting > 0) {
                cleanup_noted struct noted_cell n = {0};

                r = noted_open(w, SLICE(l.value, sizeof(l.value)), &n);
                if (r == 0 && n.fact->disturbed && has_program(w, &n.cell))
                        return make_query(w, &l, &n.cell, ret);
                if (r < 0 && r != -ENOENT)
                        return r;
                /* The case, the solver or the program is gone, or the cell was measured since under other limits. */
                r = change(w, l.row, r == 0 && n.fact->disturbed ? DISTURBED_TRIES : 0);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : -ENOENT;
}

/* -- the thread -------------------------------------------------------------------------------------------------- */

struct remeasuring {
        struct workspace *workspace;
        struct engine *engine;
        int end; /* eventfd */
        pthread_t thread;
};

static bool is_quiet(const struct remeasuring *m)
{
        const double most = workspace_settings(m->workspace)->remeasure / 100.0;
        struct engine_counters c;
        double busy, stolen;

        engine_counters(m->engine, &c);
        if (c.queued + c.running + c.waiters > 0)
                return false;
        return host_busy(LISTEN_MS, &busy, &stolen) == 0 && busy + stolen <= most;
}

static void remeasure_next(struct remeasuring *m)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        size_t waiting;
        int r = disturbed_count(m->workspace, &waiting);

        if (r < 0 || waiting == 0 || !is_quiet(m) || query_remeasure(m->workspace, &q) < 0)
                return;
        r = engine_get(m->engine, q, PRIORITY_BATCH, true, m->end, &v);
        if (r == 0 || r == -ECANCELED)
                return;
        log_warning("a disturbed result could not be measured again: %s", error_message(r));
        change(m->workspace, ((struct remeasure_query *)q)->row, ((struct remeasure_query *)q)->tries + 1);
}

static void *remeasuring_thread(void *user)
{
        struct remeasuring *m = user;
        struct pollfd end = {.fd = m->end, .events = POLLIN};

        while (poll(&end, 1, LOOK_MS) == 0) /* all signals are blocked here */
                remeasure_next(m);
        return NULL;
}

int remeasuring_start(struct workspace *w, struct engine *e, struct remeasuring **ret)
{
        struct remeasuring *m;
        int r;

        *ret = NULL;
        if (workspace_settings(w)->remeasure == 0 || store_read_only(workspace_store(w)))
                return 0;
        m = calloc(1, sizeof(*m));
        if (!m)
                return -ENOMEM;
        *m = (struct remeasuring){.workspace = w, .engine = e, .end = eventfd(0, EFD_CLOEXEC)};
        r = m->end < 0 ? -errno : -pthread_create(&m->thread, NULL, remeasuring_thread, m);
        if (r < 0) {
                closep(&m->end);
                free(m);
                return errorf(r, "cannot start a thread for disturbed results: %s", strerror(-r));
        }
        *ret = m;
        return 0;
}

struct remeasuring *remeasuring_stop(struct remeasuring *m)
{
        if (!m)
                return NULL;
        eventfd_write(m->end, 1);
        pthread_join(m->thread, NULL);
        close(m->end);
        free(m);
        return NULL;
}
