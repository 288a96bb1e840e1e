/* Query sample: a measurement of a cell beside the one that query_run() keeps. */
#include "core/query/query_internal.h"

#define SAMPLE_KEY_SIZE (FACT_KEY_SIZE + 4)

struct sample_query {
        struct query query;
        struct workspace *workspace;
        struct cell cell; /* owns refs on solver and case */
        uint32_t sample;
        struct recipe_limits limits;
        uint8_t key[SAMPLE_KEY_SIZE];
};

static struct value *value_new(struct fact *fact, struct build_record *failed)
{
        struct run_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_sample_type, .refs = 1};
        v->fact = fact ? fact_ref(fact) : NULL;
        v->build = failed ? build_record_ref(failed) : NULL;
        return &v->value;
}

static void value_free(struct value *value)
{
        struct run_value *v = (struct run_value *)value;

        fact_unref(v->fact);
        build_record_unref(v->build);
        free(v);
}

static int sample_find(struct query *query, struct value **ret)
{
        struct sample_query *q = (struct sample_query *)query;
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        int r = store_read(workspace_store(q->workspace), &t);

        if (r == 0)
                r = store_get(t, TABLE_SAMPLES, SLICE(q->key, sizeof(q->key)), &b);
        if (r == 0 && fact_decode(SLICE(b.data, b.size), false, &f) < 0)
                r = -ENOENT; /* what cannot be read is measured again */
        if (r < 0)
                return r;
        *ret = value_new(f, NULL);
        return *ret ? 0 : -ENOMEM;
}

static int sample_need(struct query *query, struct query_list *ret)
{
        struct sample_query *q = (struct sample_query *)query;
        cleanup(query_unrefp) struct query *build = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r = query_build(q->workspace, q->cell.solver, q->cell.commit, &build);

        if (r < 0)
                return r;
        r = build->type->find(build, &v);
        return r == -ENOENT ? query_list_add(ret, steal_pointer(build)) : r;
}

struct sample_to_put {
        const struct sample_query *query;
        struct slice encoded;
};

static int put_in(void *user, struct store_txn *t)
{
        const struct sample_to_put *p = user;

        return store_put(t, TABLE_SAMPLES, SLICE(p->query->key, sizeof(p->query->key)), p->encoded);
}

static int sample_compute(struct query *query, struct job *j, struct value **ret)
{
        struct sample_query *q = (struct sample_query *)query;
        cleanup(build_record_unrefp) struct build_record *failed = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup_buffer struct buffer b = {0};
        int r = run_measure_cell(q->workspace, &q->cell, j, &f, &failed);

        if (r == 0 && f)
                r = fact_encode(f, &b);
        if (r == 0 && f)
                r = store_update_together(workspace_store(q->workspace), put_in,
                                          &(struct sample_to_put){.query = q, .encoded = SLICE(b.data, b.size)});
        if (r < 0)
                return r;
        *ret = value_new(f, failed);
        return *ret ? 0 : -ENOMEM;
}

static void sample_describe(const struct query *query, struct buffer *ret)
{
        const struct sample_query *q = (const struct sample_query *)query;
        struct commit c;

        buffer_addf(ret, "run %s ", q->cell.solver->recipe->name);
        if (history_commit(q->cell.solver->history, q->cell.commit, &c) == 0)
                buffer_addf(ret, "%.12s ", git_oid_tostr_s(&c.oid));
        buffer_addf(ret, "case %u, sample %u", q->cell.info->id, q->sample + 1);
}

static bool sample_estimate(const struct query *query, struct cost *ret)
{
        const struct sample_query *q = (const struct sample_query *)query;
        cleanup(query_unrefp) struct query *run = NULL;

        return query_run(q->workspace, &q->cell, &run) == 0 && run->type->estimate && run->type->estimate(run, ret);
}

static struct engine_away *sample_away(const struct query *query, uint64_t *ret_most_ns)
{
        const struct sample_query *q = (const struct sample_query *)query;

        *ret_most_ns = q->limits.wall_ns;
        return &q->cell.solver->place->away;
}

static bool sample_gone(const struct query *query)
{
        const struct sample_query *q = (const struct sample_query *)query;

        return solver_is_gone(q->workspace, q->cell.solver);
}

static void sample_free(struct query *query)
{
        struct sample_query *q = (struct sample_query *)query;

        solver_unref(q->cell.solver);
        case_info_unref(q->cell.info);
        free(q);
}

const struct query_type query_sample_type = {
        .name = "sample",
        .resource = RESOURCE_CORE,
        .find = sample_find,
        .need = sample_need,
        .compute = sample_compute,
        .describe = sample_describe,
        .estimate = sample_estimate,
        .gone = sample_gone,
        .free_query = sample_free,
        .free_value = value_free,
};

const struct query_type query_sample_away_type = {
        .name = "sample",
        .resource = RESOURCE_AWAY,
        .find = sample_find,
        .need = sample_need,
        .compute = sample_compute,
        .describe = sample_describe,
        .estimate = sample_estimate,
        .away = sample_away,
        .gone = sample_gone,
        .free_query = sample_free,
        .free_value = value_free,
};

int query_sample(struct workspace *w, const struct cell *cell, uint32_t sample, struct query **ret)
{
        uint8_t run[RUN_KEY_SIZE];
        char machine[PATH_SIZE];
        struct sample_query *q;
        struct hasher *h;
        int r;

        if (sample == 0)
                return query_run(w, cell, ret);
        if (cell->machine)
                return errorf(-ENOENT, "nothing is measured on another machine, and of %s no further samples are known", cell->machine);
        if (!cell_machine(cell, machine))
                return errorf(-EAGAIN, "no worker of %s was there yet: ask for the result first", cell->solver->place->name);
        r = run_key(w, cell, run);
        if (r < 0)
                return r;
        q = calloc(1, sizeof(*q));
        if (!q)
                return -ENOMEM;
        q->query = (struct query){.type = cell->solver->place ? &query_sample_away_type : &query_sample_type, .refs = 1};
        q->workspace = w;
        q->cell = *cell;
        q->sample = sample;
        solver_ref(q->cell.solver);
        case_info_ref(q->cell.info);
        cell_limits(cell, &q->limits);
        fact_key(run, &q->limits, q->key);
        key_u32(q->key + FACT_KEY_SIZE, sample);
        h = hasher_new();
        hasher_string(h, "sample");
        hasher_add(h, q->key, sizeof(q->key));
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}

struct sample_look {
        bool brief;
        sample_fn fn;
        void *user;
};

static int sample_look(void *user, struct slice key, struct slice value)
{
        const struct sample_look *l = user;
        cleanup(fact_unrefp) struct fact *f = NULL;

        if (key.size != SAMPLE_KEY_SIZE || fact_decode(value, l->brief, &f) < 0)
                return 0; /* it will be measured again */
        return l->fn(l->user, key_get_u32((const uint8_t *)key.data + FACT_KEY_SIZE), f);
}

int samples_known(struct workspace *w, const struct cell *cell, bool brief, sample_fn fn, void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];
        struct recipe_limits limits;
        int r = run_key(w, cell, run);

        if (r == 0)
                r = store_read(workspace_store(w), &t);
        if (r < 0)
                return r;
        cell_limits(cell, &limits);
        fact_key(run, &limits, key);
        return store_each(t, TABLE_SAMPLES, SLICE(key, sizeof(key)), SLICE("", 0), true, sample_look,
                          &(struct sample_look){.brief = brief, .fn = fn, .user = user});
}
