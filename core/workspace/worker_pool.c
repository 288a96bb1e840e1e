#include "core/workspace/worker_pool.h"

#include "core/workspace/workspace.h"
#include "version.h"

/* -- slots, for the engine -- */

static struct worker_pool *pool_of(struct engine_remote *a)
{
        return (struct worker_pool *)a;
}

/* struct engine_remote's. `waiting`: jobs. */
static int take(struct engine_remote *a, uint64_t most_ns, size_t waiting, void **ret)
{
        struct worker_pool *p = pool_of(a);
        struct cluster_slot *s = NULL;
        size_t leasing;
        int r;

        pthread_mutex_lock(&p->lock);
        leasing = p->n_leasing;
        pthread_mutex_unlock(&p->lock);
        r = cluster_take(p->cluster, most_ns, waiting + leasing, &s);
        pthread_mutex_lock(&p->lock);
        p->n_asked = r == -EAGAIN ? waiting : waiting - 1;
        pthread_mutex_unlock(&p->lock);
        *ret = s;
        return r;
}

static void give_back(struct engine_remote *a, void *slot)
{
        struct worker_pool *p = pool_of(a);

        cluster_give_back(slot);
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
}

static void show(struct engine_remote *a, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        cluster_look(pool_of(a)->cluster, fn, user);
}

/* -- slots, for everybody else -- */

#define LEASE_LOOK_NS (200 * NSEC_PER_MSEC) /* how often a waiting lease calls is_over */

/* `more`: the askers that n_leasing does not count. */
static int try_with(struct worker_pool *p, uint64_t most_ns, size_t more, struct cluster_slot **ret)
{
        size_t waiting;

        pthread_mutex_lock(&p->lock);
        waiting = p->n_asked + p->n_leasing + more;
        pthread_mutex_unlock(&p->lock);
        return cluster_take(p->cluster, most_ns, waiting, ret);
}

int pool_try(struct worker_pool *p, uint64_t most_ns, struct cluster_slot **ret)
{
        return try_with(p, most_ns, 1, ret);
}

/* Waiting jobs and leases ask again. Jobs are counted anew then, as one that has gone does not say so. */
static void slot_may_be_free(void *user)
{
        struct worker_pool *p = user;
        void (*retry)(void *user);

        pthread_mutex_lock(&p->lock);
        p->n_asked = 0;
        retry = p->retry;
        user = p->retry_user;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (retry)
                retry(user);
}

int pool_lease(struct worker_pool *p, uint64_t most_ns, bool (*is_over)(void *user), void *user, struct cluster_slot **ret)
{
        int r = -EAGAIN;

        slot_may_be_free(p); /* counts the waiting jobs anew */
        pthread_mutex_lock(&p->lock);
        p->n_leasing++;
        while (r == -EAGAIN) {
                pthread_mutex_unlock(&p->lock);
                r = is_over(user) ? errorf(-ECANCELED, "cancelled") : try_with(p, most_ns, 0, ret);
                pthread_mutex_lock(&p->lock);
                if (r == -EAGAIN)
                        condition_wait(&p->changed, &p->lock, now_ns() + LEASE_LOOK_NS);
        }
        p->n_leasing--;
        pthread_mutex_unlock(&p->lock);
        return r;
}

void pool_release(struct worker_pool *p, struct cluster_slot *s)
{
        cluster_give_back(s);
        slot_may_be_free(p);
}

static void count_slots(void *user, const struct remote_view *v)
{
        unsigned *each = user;

        if (v->present > 0)
                *each = MAX(v->slots / v->present, 1U);
}

unsigned pool_count_slots(struct worker_pool *p)
{
        unsigned each = 1;

        cluster_look(p->cluster, count_slots, &each);
        return p->workers * each;
}

/* -- texts in the store -- */

const char *pool_key(const char *name, char ret[128])
{
        snprintf(ret, 128, "cluster/%.100s", name);
        return ret;
}

static const char *toolchain_key(const struct worker_pool *p, char ret[128])
{
        snprintf(ret, 128, "cluster/%.100s/toolchain", p->name);
        return ret;
}

/* Reads a text; `ret` stays as it is if the store has none that fits, or cannot be read because this thread is writing (-EDEADLK). */
static int fetch_text(struct store *s, const char *key, char *ret, size_t size)
{
        cleanup_blob struct blob b = {0};
        int r = store_fetch(s, TABLE_META, slice_string(key), &b);

        if (r == 0 && b.size > 0 && b.size < size)
                snprintf(ret, size, "%.*s", (int)b.size, (const char *)b.data);
        return r;
}

/* Reads machine and toolchain again: another process may have noted them. Lock held. */
static void reread_store(struct worker_pool *p)
{
        struct store *s = workspace_store(p->workspace);
        uint64_t generation = store_generation(s);
        char key[128];

        if (p->generation == generation || fetch_text(s, toolchain_key(p, key), p->toolchain, sizeof(p->toolchain)) == -EDEADLK)
                return;
        p->generation = generation;
        if (!p->machine[0] && fetch_text(s, pool_key(p->name, key), p->machine, sizeof(p->machine)) == 0)
                cluster_know_machine(p->cluster, p->machine);
}

/* Copies p->machine or p->toolchain, after reading it again if need be. False: not known, and *ret is "?". */
static bool known_text(struct worker_pool *p, const char *text, char *ret, size_t size)
{
        bool is_known;
        cleanup_unlock pthread_mutex_t *held = hold(&p->lock);

        if (!text[0] || text == p->toolchain) /* a known machine never changes */
                reread_store(p);
        is_known = text[0];
        snprintf(ret, size, "%s", is_known ? text : "?");
        return is_known;
}

bool pool_machine(struct worker_pool *p, char ret[PATH_SIZE])
{
        return known_text(p, p->machine, ret, PATH_SIZE);
}

bool pool_toolchain(struct worker_pool *p, char ret[65])
{
        return known_text(p, p->toolchain, ret, 65);
}

static int builder_toolchain(struct recipe_builder *b, char ret[65])
{
        pool_toolchain((struct worker_pool *)((char *)b - offsetof(struct worker_pool, builder)), ret);
        return 0;
}

/* If two processes learn the machine at the same time, the first one counts. */
static int note_machine(const struct worker_pool *p, const char *machine)
{
        struct store_update u = {.store = workspace_store(p->workspace)};
        char key[128];

        pool_key(p->name, key);
        while (store_update_begins(&u))
                if (!store_has(u.txn, TABLE_META, slice_string(key)))
                        u.r = store_put(u.txn, TABLE_META, slice_string(key), slice_string(machine));
        return u.r;
}

int pool_note_toolchain(struct worker_pool *p, const char *toolchain)
{
        char key[128];

        return store_set(workspace_store(p->workspace), TABLE_META, slice_string(toolchain_key(p, key)), slice_string(toolchain));
}

void pool_will_build(struct worker_pool *p)
{
        pthread_mutex_lock(&p->lock);
        p->builds = true;
        pthread_mutex_unlock(&p->lock);
        cluster_will_build(p->cluster);
}

/* -- probes in the store -- */

#define PROBES "cluster/%.100s/probe/" /* then VERSION/HOST */

static const char *probe_key(const struct worker_pool *p, const char *host, char ret[STORE_KEY_MAX])
{
        snprintf(ret, STORE_KEY_MAX, PROBES "%.40s/%.256s", p->name, SOLVERFS_VERSION, host);
        return ret;
}

/* False: it is too old to say anything. */
static bool read_probe(const struct store_walk *row, struct cluster_probe *ret)
{
        if (row->value.size != 16)
                return false;
        *ret = (struct cluster_probe){key_get_u64(row->value.data), (int64_t)key_get_u64((const uint8_t *)row->value.data + 8)};
        return !is_older_than(ret->at, CLUSTER_PROBE_KEPT);
}

/* Errors here and below are not reported: probes serve a warning alone. */
static void learn_probes(struct worker_pool *p)
{
        char key[STORE_KEY_MAX];
        cleanup_walk struct store_walk each = {
                .store = workspace_store(p->workspace), .table = TABLE_META, .prefix = slice_string(probe_key(p, "", key))};
        struct cluster_probe probe;

        while (store_walk(&each) > 0) {
                cleanup_free char *host = copy_prefix((const char *)each.key.data + each.prefix.size, each.key.size - each.prefix.size);

                if (read_probe(&each, &probe))
                        cluster_know_probe(p->cluster, host, &probe);
        }
}

static int forget_old_probes(const struct worker_pool *p, struct store_txn *t)
{
        cleanup_free char *prefix = format_string(PROBES, p->name);
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_META, .prefix = slice_string(prefix)};
        struct cluster_probe probe;
        int r = 0;

        while (r == 0 && (r = store_walk(&each)) > 0)
                r = read_probe(&each, &probe) ? 0 : store_delete(t, TABLE_META, each.key);
        return r;
}

struct sharing {
        const struct worker_pool *pool;
        struct store_txn *txn;
        int r;
        size_t n;
};

/* Counts a probe, and stores it unless `txn` is NULL. */
static void put_probe(void *user, const char *host, const struct cluster_probe *probe)
{
        struct sharing *s = user;
        char key[STORE_KEY_MAX];
        uint8_t value[16];

        key_u64(value, probe->ns);
        key_u64(value + 8, (uint64_t)probe->at);
        if (s->r == 0 && s->txn)
                s->r = store_put(s->txn, TABLE_META, slice_string(probe_key(s->pool, host, key)), SLICE(value, sizeof(value)));
        s->n++;
}

void pool_store_probes(struct worker_pool *p)
{
        struct store_update u = {.store = workspace_store(p->workspace)};
        struct sharing s = {.pool = p};

        cluster_each_probe(p->cluster, put_probe, &s);
        while (s.n > 0 && store_update_begins(&u)) {
                s.txn = u.txn;
                s.r = forget_old_probes(p, u.txn);
                cluster_each_probe(p->cluster, put_probe, &s);
                u.r = s.r;
        }
}

void pool_attach(struct worker_pool *p, void (*retry)(void *user), void *user)
{
        if (retry)
                learn_probes(p);
        pthread_mutex_lock(&p->lock);
        p->retry = retry;
        p->retry_user = user;
        p->n_asked = 0;
        pthread_mutex_unlock(&p->lock);
        cluster_attach(p->cluster, retry ? slot_may_be_free : NULL, p);
}

/* -- life -- */

int pool_open(struct workspace *w, const struct cluster_settings *s, struct worker_pool **ret)
{
        struct worker_pool *p = allocate(1, sizeof(*p));
        int r;

        p->remote = (struct engine_remote){.take = take, .give_back = give_back, .look = show};
        p->builder.toolchain = builder_toolchain;
        p->workspace = w;
        p->name = copy_string(s->name);
        p->workers = s->workers;
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        r = cluster_open(s, &p->cluster);
        if (r < 0)
                pool_close(p);
        else
                *ret = p;
        return r;
}

struct worker_pool *pool_close(struct worker_pool *p)
{
        if (!p)
                return NULL;
        cluster_close(p->cluster);
        pthread_mutex_destroy(&p->lock);
        pthread_cond_destroy(&p->changed);
        free(p->name);
        free(p);
        return NULL;
}

/* -- the query -- */

struct machine_query {
        struct query query;
        struct worker_pool *pool;
};

static const struct query_type query_machine_type;

static int make_value(struct value **ret)
{
        *ret = allocate(1, sizeof(**ret));
        **ret = (struct value){.type = &query_machine_type, .refs = 1};
        return 0;
}

static int machine_find(struct query *query, struct value **ret)
{
        struct worker_pool *p = ((struct machine_query *)query)->pool;
        char machine[PATH_SIZE], toolchain[65];

        return pool_machine(p, machine) && (!p->builds || pool_toolchain(p, toolchain)) ? make_value(ret) : -ENOENT;
}

static int machine_compute(struct query *query, struct job *j, struct value **ret)
{
        struct worker_pool *p = ((struct machine_query *)query)->pool;
        char found[PATH_SIZE], machine[PATH_SIZE], toolchain[65];
        int r = cluster_machine(p->cluster, found) ?: note_machine(p, found);

        if (r < 0)
                return r;
        if (!pool_machine(p, machine) || strcmp(machine, found) != 0)
                return errorf(-EIO, "the workers of %s are now %s, and its results are of %s: give these machines a [cluster] of their own", p->name,
                              found, machine);
        if (p->builds && !pool_toolchain(p, toolchain))
                r = pool_note_toolchain(p, cluster_slot_toolchain(job_remote(j)));
        return r < 0 ? r : make_value(ret);
}

static struct engine_remote *machine_remote(const struct query *query, uint64_t *)
{
        return &((const struct machine_query *)query)->pool->remote;
}

static void machine_describe(const struct query *query, struct buffer *ret)
{
        buffer_addf(ret, "first worker of %s", ((const struct machine_query *)query)->pool->name);
}

static const struct query_type query_machine_type = {
        .name = "machine",
        .resource = RESOURCE_REMOTE,
        .find = machine_find,
        .compute = machine_compute,
        .remote = machine_remote,
        .describe = machine_describe,
};

int query_machine(struct worker_pool *p, struct query **ret)
{
        struct machine_query *q = allocate(1, sizeof(*q));
        struct hasher *h = hasher_new();

        hasher_string(h, "machine");
        hasher_string(h, p->name);
        q->query = (struct query){.type = &query_machine_type, .refs = 1};
        q->pool = p;
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}
