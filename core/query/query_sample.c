/* Samples: measurements of a cell beside the one that is its result. */
#include "core/query/run_query.h"

#define SAMPLE_KEY_SIZE (FACT_KEY_SIZE + 4)

static void sample_key(const struct resolved_cell *resolved, const struct case_info *info, uint32_t sample, uint8_t ret[SAMPLE_KEY_SIZE])
{
        uint8_t run[RUN_KEY_SIZE];

        resolved_run_key(resolved, info, run);
        fact_key(run, &resolved->limits, ret);
        key_u32(ret + FACT_KEY_SIZE, sample);
}

int sample_find(const struct run_query *q, const struct resolved_cell *resolved, struct fact **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        uint8_t key[SAMPLE_KEY_SIZE];
        int r = resolved->n_programs > 0 ? store_read(workspace_store(q->workspace), &t) : -ENOENT;

        if (r < 0)
                return r;
        sample_key(resolved, q->cell.info, q->sample, key);
        r = store_get(t, TABLE_SAMPLES, SLICE(key, sizeof(key)), &b);
        if (r == 0 && fact_decode(SLICE(b.data, b.size), false, ret) < 0)
                r = -ENOENT; /* what cannot be read is measured again */
        return r;
}

struct sample_to_put {
        struct slice key, encoded;
};

static int put_in(void *user, struct store_txn *t)
{
        const struct sample_to_put *p = user;

        return store_put(t, TABLE_SAMPLES, p->key, p->encoded);
}

int sample_keep(const struct run_query *q, const struct fact *f)
{
        cleanup_buffer struct buffer b = {0};
        uint8_t key[SAMPLE_KEY_SIZE];
        int r = fact_encode(f, &b);

        if (r < 0)
                return r;
        sample_key(&q->resolved, q->cell.info, q->sample, key);
        return store_update_together(workspace_store(q->workspace), put_in,
                                     &(struct sample_to_put){SLICE(key, sizeof(key)), SLICE(b.data, b.size)});
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
        uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];
        struct recipe_limits limits;
        int r = run_key(w, cell, run);

        if (r < 0)
                return r;
        cell_limits(cell, &limits);
        fact_key(run, &limits, key);
        return store_visit(workspace_store(w), TABLE_SAMPLES, SLICE(key, sizeof(key)), true, sample_look,
                           &(struct sample_look){.brief = brief, .fn = fn, .user = user});
}
