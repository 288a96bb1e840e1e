#include "core/query/plan.h"

#include <math.h>

#include "cache/base/record.h"
#include "core/query/query_internal.h"

#define CLASSES     20            /* of gaps: 0, 1, 2–3, 4–7, … */
#define CLASS_FIRST (CLASSES - 1) /* nothing was built before */
#define SAMPLES     256           /* builds that are remembered, of a recipe */
#define SAMPLE_SIZE 12            /* class(4) ns(8) */

struct series {
        double n, mean, m2;
};

struct plan {
        struct workspace *workspace;
        struct solver *solver;      /* owns a ref */
        struct commit_order *order; /* owns a ref */
        struct digest *keys;        /* [n_keys] build key by commit number */
        uint32_t n_keys;
        uint32_t *step;  /* [order->n] by place: how many different builds there are up to it */
        uint32_t *built; /* steps with a build, ascending */
        size_t n_built;
        uint64_t generation; /* of the store, when `built` was read */
        struct series classes[CLASSES];
};

/* -- notes -- */

static void series_key(const struct solver *s, char ret[160])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        recipe_builds_digest(s->recipe, &d);
        digest_hex(&d, hex);
        snprintf(ret, 160, "build-times/%.100s/%.16s", s->repository, hex);
}

static unsigned class_of(uint32_t gap)
{
        unsigned class = 0;

        for (; gap > 0; gap >>= 1)
                class ++;
        return MIN(class, CLASS_FIRST - 1u);
}

static void series_add(struct series *s, double x)
{
        double before = x - s->mean;

        s->mean += before / ++s->n;
        s->m2 += before * (x - s->mean);
}

static int read_series(struct plan *p)
{
        cleanup_blob struct blob b = {0};
        const uint8_t *bytes;
        char key[160];
        int r;

        memset(p->classes, 0, sizeof(p->classes));
        series_key(p->solver, key);
        r = store_fetch(workspace_store(p->workspace), TABLE_META, slice_string(key), &b);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        bytes = b.data;
        for (size_t at = 0; at + SAMPLE_SIZE <= b.size; at += SAMPLE_SIZE) {
                uint32_t class = key_get_u32(bytes + at);

                if (class < CLASSES)
                        series_add(&p->classes[class], (double)key_get_u64(bytes + at + 4) / 1e9);
        }
        return 0;
}

int plan_note_put(struct store_txn *t, const struct plan_note *n, const struct build_record *record)
{
        cleanup_blob struct blob b = {0};
        cleanup_buffer struct buffer all = {0};
        uint8_t sample[SAMPLE_SIZE];
        size_t skip;
        int r;

        if (!n->wanted || !record->ok) /* where a failed one stopped says nothing of the others */
                return 0;
        r = store_get(t, TABLE_META, slice_string(n->key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        key_u32(sample, n->class);
        key_u64(sample + 4, record->duration_ns);
        skip = b.size >= SAMPLES * SAMPLE_SIZE ? b.size - (SAMPLES - 1) * SAMPLE_SIZE : 0;
        if (b.size > 0)
                buffer_add(&all, (const uint8_t *)b.data + skip, b.size - skip);
        buffer_add(&all, sample, sizeof(sample));
        r = buffer_error(&all);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(n->key), SLICE(all.data, all.size));
}

/* -- what is built -- */

/* As commits_known() does, but by the keys that are here already: they are most of what a plan costs. */
static int read_built(struct plan *p)
{
        cleanup_kept_builds struct kept_builds kept = {0};
        int r = kept_builds_read(p->workspace, &kept);

        p->n_built = 0;
        for (uint32_t i = 0; r == 0 && i < p->order->n; i++) {
                uint32_t commit = p->order->list[i];

                if (commit >= p->n_keys || !kept_builds_have(&kept, &p->keys[commit]))
                        continue;
                if (p->n_built == 0 || p->built[p->n_built - 1] != p->step[i])
                        p->built[p->n_built++] = p->step[i];
        }
        return r;
}

int plan_refresh(struct plan *p)
{
        uint64_t now = store_generation(workspace_store(p->workspace));
        int r;

        if (now == p->generation)
                return 0;
        r = read_built(p);
        if (r == 0)
                r = read_series(p);
        if (r == 0)
                p->generation = now;
        return r;
}

static void number_steps(struct plan *p)
{
        uint32_t step = 0;

        for (uint32_t i = 0; i < p->order->n; i++) {
                uint32_t commit = p->order->list[i], before = i > 0 ? p->order->list[i - 1] : commit;

                if (commit < p->n_keys && before < p->n_keys && !digest_equal(&p->keys[commit], &p->keys[before]))
                        step++;
                p->step[i] = step;
        }
}

int plan_new(struct workspace *w, struct solver *s, struct plan **ret)
{
        cleanup(plan_freep) struct plan *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->workspace = w;
        p->solver = solver_ref(s);
        p->generation = UINT64_MAX;
        r = history_order(s->history, &p->order);
        if (r == 0)
                r = build_keys(s->history, s->recipe, &p->keys, &p->n_keys);
        if (r < 0)
                return r;
        p->step = calloc((size_t)p->order->n + 1, sizeof(*p->step));
        p->built = calloc((size_t)p->order->n + 1, sizeof(*p->built));
        if (!p->step || !p->built)
                return -ENOMEM;
        number_steps(p);
        r = plan_refresh(p);
        if (r == 0)
                *ret = steal_pointer(p);
        return r;
}

struct plan *plan_free(struct plan *p)
{
        if (!p)
                return NULL;
        solver_unref(p->solver);
        commit_order_unref(p->order);
        free(p->keys);
        free(p->step);
        free(p->built);
        free(p);
        return NULL;
}

/* -- costs -- */

/* Where in `built` this step is, or would be. */
static size_t built_from(const struct plan *p, uint32_t step)
{
        size_t low = 0, high = p->n_built;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (p->built[middle] < step)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int step_of(const struct plan *p, uint32_t commit, uint32_t *ret)
{
        if (commit >= p->order->n || commit >= p->n_keys)
                return errorf(-ENOENT, "commit number %u of %s is newer than the plan", commit, p->solver->repository);
        *ret = p->step[p->order->place[commit]];
        return 0;
}

static unsigned class_at(const struct plan *p, uint32_t step)
{
        size_t at = built_from(p, step);
        uint32_t gap = UINT32_MAX;

        if (p->n_built == 0)
                return CLASS_FIRST;
        if (at < p->n_built)
                gap = p->built[at] - step;
        if (at > 0)
                gap = MIN(gap, step - p->built[at - 1]);
        return class_of(gap);
}

int plan_assume_built(struct plan *p, uint32_t commit)
{
        uint32_t step;
        size_t at;
        int r = step_of(p, commit, &step);

        if (r < 0)
                return r;
        at = built_from(p, step);
        if (at < p->n_built && p->built[at] == step)
                return 0;
        memmove(p->built + at + 1, p->built + at, (p->n_built - at) * sizeof(*p->built)); /* there is room for every step */
        p->built[at] = step;
        p->n_built++;
        return 0;
}

static struct plan_cost cost_of(const struct series *s, enum plan_basis basis)
{
        return (struct plan_cost){.seconds = s->mean, .deviation = s->n > 1 ? sqrt(s->m2 / (s->n - 1)) : s->mean, .basis = basis};
}

/* The nearest class with builds, on one side; NULL: there is none. */
static const struct series *neighbour(const struct plan *p, int class, int by, int *ret_distance)
{
        for (int i = class + by; i >= 0 && i < CLASSES; i += by)
                if (p->classes[i].n > 0) {
                        *ret_distance = abs(i - class);
                        return &p->classes[i];
                }
        return NULL;
}

static struct plan_cost cost_of_class(const struct plan *p, unsigned class)
{
        const struct series *nearer, *farther;
        struct plan_cost a, b;
        int below, above;
        double part;

        if (p->classes[class].n > 0)
                return cost_of(&p->classes[class], PLAN_MEASURED);
        nearer = neighbour(p, (int)class, -1, &below);
        farther = neighbour(p, (int)class, 1, &above);
        if (!nearer && !farther)
                return (struct plan_cost){.basis = PLAN_UNKNOWN};
        if (!nearer || !farther)
                return cost_of(nearer ? nearer : farther, PLAN_GUESSED);
        a = cost_of(nearer, PLAN_GUESSED);
        b = cost_of(farther, PLAN_GUESSED);
        part = (double)below / (below + above);
        return (struct plan_cost){.seconds = a.seconds + part * (b.seconds - a.seconds),
                                  .deviation = MAX(MAX(a.deviation, b.deviation), fabs(b.seconds - a.seconds) / 2),
                                  .basis = PLAN_GUESSED};
}

int plan_build(struct plan *p, uint32_t commit, struct plan_cost *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        uint32_t step;
        int r = step_of(p, commit, &step);

        if (r < 0)
                return r;
        r = build_find(p->workspace, p->solver, commit, false, &record);
        if (r < 0 && r != -ENOENT)
                return r;
        if (!record)
                *ret = cost_of_class(p, class_at(p, step));
        else if (build_is_usable(p->workspace, record))
                *ret = (struct plan_cost){.basis = PLAN_DONE};
        else { /* its programs were dropped: it is known what it took */
                double seconds = (double)record->duration_ns / 1e9;

                *ret = (struct plan_cost){.seconds = seconds, .deviation = seconds, .basis = PLAN_MEASURED};
        }
        return 0;
}

int plan_run(struct plan *p, const struct cell *cell, struct plan_cost *ret)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup(query_unrefp) struct query *q = NULL;
        struct cost cost;
        int r = run_find(p->workspace, cell, true, &f);

        *ret = (struct plan_cost){.basis = r == 0 ? PLAN_DONE : PLAN_UNKNOWN};
        if (r != -ENOENT)
                return r;
        r = query_run(p->workspace, cell, &q);
        if (r == 0 && q->type->estimate(q, &cost))
                *ret = (struct plan_cost){
                        .seconds = (double)cost.mean_ns / 1e9, .deviation = (double)cost.mean_ns / 1e9, .basis = PLAN_MEASURED};
        return r;
}

void plan_note_begin(struct workspace *w, struct solver *s, uint32_t commit, struct plan_note *ret)
{
        cleanup(plan_freep) struct plan *p = NULL;
        uint32_t step;

        *ret = (struct plan_note){0};
        if (plan_new(w, s, &p) < 0 || step_of(p, commit, &step) < 0)
                return;
        series_key(s, ret->key);
        ret->class = class_at(p, step);
        ret->wanted = true;
}
