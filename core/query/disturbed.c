#include "core/query/disturbed.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "core/query/run_query.h"
#include "core/run/host.h"

#define PREFIX          "disturbed/"
#define DISTURBED_TRIES 3    /* re-measurements of a result; then it counts as it is */
#define LOOK_MS         2000 /* between two checks for waiting results */
#define LISTEN_MS       300  /* how long the machine's load is observed */

/* -- notes ------------------------------------------------------------------------------------------------------- */

static uint8_t tries_in(const struct note *n)
{
        struct slice rest = note_rest(n);

        return rest.size == 1 ? *(const uint8_t *)rest.data : DISTURBED_TRIES;
}

int disturbed_note(struct store_txn *t, const struct noted_fact *f)
{
        static const uint8_t none = 0;

        /* a quiet machine here says nothing about a cluster's machines */
        return note_set(t, PREFIX, f, f->fact->disturbed && !f->cell->solver->pool, SLICE(&none, 1));
}

/* *ret_waiting: the number of those that are still to be measured. */
static int read_rows(struct workspace *w, struct notes *ret, size_t *ret_waiting)
{
        int r = notes_read(w, PREFIX, ret);

        *ret_waiting = 0;
        for (size_t i = 0; i < ret->n; i++)
                *ret_waiting += tries_in(&ret->list[i]) < DISTURBED_TRIES;
        return r;
}

int disturbed_count(struct workspace *w, size_t *ret)
{
        cleanup_notes struct notes all = {0};

        return read_rows(w, &all, ret);
}

/* Sets a row's tries; the last one drops the row. */
static int set_tries(struct workspace *w, const char *row, uint8_t tries)
{
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u)) {
                cleanup_blob struct blob b = {0};
                cleanup_buffer struct buffer value = {0};

                u.r = tries >= DISTURBED_TRIES ? note_drop(u.txn, row) : store_get(u.txn, TABLE_META, slice_string(row), &b);
                if (u.r == 0 && b.size > 0) {
                        buffer_add(&value, b.data, b.size);
                        value.data[b.size - 1] = (char)tries;
                        u.r = store_put(u.txn, TABLE_META, slice_string(row), SLICE(value.data, value.size));
                } else if (u.r == -ENOENT) {
                        u.r = 0; /* measured by somebody else meanwhile */
                }
        }
        return u.r;
}

/* -- the query --------------------------------------------------------------------------------------------------- */

struct remeasure_query {
        struct run_query run;
        uint8_t tries;
        char row[NOTE_KEY_SIZE];
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
                r = measurement_keep(&q->run, true, f, NULL);
        else if (r == 0)
                r = set_tries(q->run.workspace, q->row, q->tries + 1);
        if (r == 0)
                *ret = run_value_new(f, failed);
        return r;
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
        .query_done = run_query_done,
};

static int make_query(struct workspace *w, const struct note *note, const struct cell *cell, struct query **ret)
{
        struct remeasure_query *q = allocate(1, sizeof(*q));
        struct hasher *h;
        int r = run_query_init(&q->run, &query_remeasure_type, w, cell, NULL);

        if (r < 0) {
                query_unref(&q->run.query);
                return r;
        }
        q->tries = tries_in(note);
        memcpy(q->row, note->key, sizeof(q->row));
        h = hasher_new();
        hasher_string(h, "remeasure");
        hasher_string(h, q->row);
        hasher_finish(h, &q->run.query.key);
        *ret = &q->run.query;
        return 0;
}

/* *ret stays NULL if the case, the solver or the program is gone, or the cell was measured since under other limits. Builds nothing. */
static int query_of(struct workspace *w, const struct note *note, struct query **ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_noted struct noted_cell n = {0};
        int r = noted_open(w, note, &n);

        if (r == 0 && n.fact->disturbed && build_find(w, n.cell.solver, n.cell.commit, WITHOUT_LOG, &record) == 0 && build_is_usable(w, record))
                return make_query(w, note, &n.cell, ret);
        return r == -ENOENT ? 0 : r;
}

static int by_tries(const void *a, const void *b)
{
        const struct note *x = a, *y = b;

        return ORDER(tries_in(x), tries_in(y)) ?: strcmp(x->key, y->key);
}

/* The query for the waiting result that was tried least often; -ENOENT: none waits, or the end has come. Drops the rows before it, whose results
 * cannot be measured again; not those that cannot be looked up now. */
static int next_query(struct workspace *w, int end, struct query **ret)
{
        struct store_update u = {.store = workspace_store(w)};
        cleanup_notes struct notes all = {0};
        cleanup_free bool *is_past = NULL;
        size_t waiting, n = 0, drops = 0;
        int r = read_rows(w, &all, &waiting);

        is_past = allocate(all.n + 1, sizeof(*is_past));
        sort_list(all.list, all.n, sizeof(*all.list), by_tries);
        for (; r == 0 && n < waiting && !*ret && !fd_is_readable(end); n++) {
                r = query_of(w, &all.list[n], ret);
                is_past[n] = r == 0 && !*ret;
                drops += is_past[n];
                r = r == -ENODATA ? 0 : r;
        }
        while (drops > 0 && store_update_begins(&u))
                for (size_t i = 0; u.r == 0 && i < n; i++)
                        u.r = is_past[i] ? note_drop(u.txn, all.list[i].key) : 0;
        r = r < 0 ? r : u.r;
        return r < 0 || *ret ? r : -ENOENT;
}

/* -- the thread -------------------------------------------------------------------------------------------------- */

struct remeasuring {
        struct workspace *workspace;
        struct engine *engine;
        int end; /* eventfd */
        pthread_t thread;
};

static bool is_idle(const struct remeasuring *m)
{
        struct engine_counters c;

        engine_counters(m->engine, &c);
        return c.queued + c.running + c.waiters == 0;
}

static bool is_quiet(const struct remeasuring *m)
{
        const double most = workspace_settings(m->workspace)->remeasure / 100.0;
        double busy, stolen;

        return host_busy(LISTEN_MS, &busy, &stolen) == 0 && busy + stolen <= most;
}

static void remeasure_next(struct remeasuring *m)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        size_t waiting;
        int r;

        if (!is_idle(m) || disturbed_count(m->workspace, &waiting) < 0 || waiting == 0 || !is_quiet(m) || next_query(m->workspace, m->end, &q) < 0)
                return;
        r = engine_get(m->engine, q, PRIORITY_BATCH, COMPUTE_AGAIN, m->end, &v);
        if (r == 0 || r == -ECANCELED)
                return;
        log_warning("a disturbed result could not be measured again: %s", error_message(r));
        set_tries(m->workspace, ((struct remeasure_query *)q)->row, ((struct remeasure_query *)q)->tries + 1);
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
        m = allocate(1, sizeof(*m));
        *m = (struct remeasuring){.workspace = w, .engine = e, .end = eventfd(0, EFD_CLOEXEC)};
        r = m->end < 0 ? -errno : thread_start(&m->thread, remeasuring_thread, m);
        if (r < 0) {
                closep(&m->end);
                free(m);
                return errorf(r, "disturbed results are not measured again: %s", error_message(r));
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
