#include "core/query/plan.h"

#include <math.h>

#include "cache/base/record.h"
#include "core/build/checkout.h"
#include "core/build/include_graph.h"
#include "core/query/query_internal.h"

#define NO_STEP      UINT32_MAX
#define SAMPLES      64                      /* builds that are remembered, of a recipe */
#define SAMPLE_SIZE  (3 * GIT_OID_RAWSZ + 8) /* commit, its neighbours before and behind, ns */
#define MEASURED_MIN 3
#define LISTED       4 /* commits whose files are kept */

struct past_build { /* a build that was noted */
        uint8_t bytes[SAMPLE_SIZE];
        bool is_known; /* its neighbours are still there, and the units are counted */
        size_t units;
};

struct listed { /* the files of a commit */
        struct manifest files;
        uint32_t commit;
        uint64_t used; /* when, by `uses`; 0: none is here */
};

struct counted { /* the units between a step and a built one */
        uint32_t from;
        bool is_known;
        size_t units;
};

struct plan {
        struct workspace *workspace;
        struct solver *solver;      /* owns a ref */
        struct commit_order *order; /* owns a ref */
        struct digest *keys;        /* [n_keys] build key by commit number */
        uint32_t n_keys;
        uint32_t *step;    /* [order->n] by place: how many different builds there are up to it */
        uint32_t *of_step; /* by step: a commit of it */
        uint32_t *built;   /* steps with a build, ascending */
        size_t n_built;
        uint64_t generation; /* of the store, when `built` was read */

        git_repository *git; /* NULL until a cost is asked, and the next one, too */
        struct include_graph *graph;
        struct listed listed[LISTED]; /* the last that were compared: neighbours are so with many */
        uint64_t uses;
        struct counted *counted; /* [2 * order->n] by step: from before, from behind */
        struct past_build samples[SAMPLES];
        size_t n_samples;
        bool is_fitted;
        double fixed, per_unit, spread; /* seconds, seconds, and the deviation in relation to the cost */
        unsigned n_fitted;
};

/* -- notes -- */

static void series_key(const struct solver *s, char ret[160])
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d;

        recipe_builds_digest(s->recipe, &d);
        digest_hex(&d, hex);
        snprintf(ret, 160, "build-costs/%.100s/%.16s", s->repository, hex);
}

int plan_note_put(struct store_txn *t, const struct plan_note *n, const struct build_record *record)
{
        cleanup_blob struct blob b = {0};
        cleanup_buffer struct buffer all = {0};
        uint8_t ns[8];
        size_t skip;
        int r;

        if (!n->wanted || !record->ok) /* where a failed one stopped says nothing of the others */
                return 0;
        r = store_get(t, TABLE_META, slice_string(n->key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        skip = b.size >= SAMPLES * SAMPLE_SIZE ? b.size - (SAMPLES - 1) * SAMPLE_SIZE : 0;
        if (b.size > 0)
                buffer_add(&all, (const uint8_t *)b.data + skip, b.size - skip);
        key_u64(ns, record->duration_ns);
        buffer_add(&all, n->commit.id, GIT_OID_RAWSZ);
        buffer_add(&all, n->before.id, GIT_OID_RAWSZ);
        buffer_add(&all, n->behind.id, GIT_OID_RAWSZ);
        buffer_add(&all, ns, sizeof(ns));
        r = buffer_error(&all);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(n->key), SLICE(all.data, all.size));
}

/* The samples as they are in the store; what is known of one that was there before is kept. */
static int read_samples(struct plan *p)
{
        cleanup_blob struct blob b = {0};
        struct past_build before[SAMPLES];
        size_t n_before = p->n_samples;
        char key[160];
        int r;

        memcpy(before, p->samples, sizeof(before));
        series_key(p->solver, key);
        r = store_fetch(workspace_store(p->workspace), TABLE_META, slice_string(key), &b);
        if (r < 0 && r != -ENOENT)
                return r;
        p->n_samples = MIN(b.size / SAMPLE_SIZE, (size_t)SAMPLES);
        for (size_t i = 0; i < p->n_samples; i++) {
                struct past_build *s = &p->samples[i];

                *s = (struct past_build){0};
                memcpy(s->bytes, (const uint8_t *)b.data + i * SAMPLE_SIZE, SAMPLE_SIZE);
                for (size_t k = 0; k < n_before; k++)
                        if (memcmp(before[k].bytes, s->bytes, SAMPLE_SIZE) == 0)
                                *s = before[k];
        }
        return 0;
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
                p->generation = now;
        p->is_fitted = false;
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
                p->of_step[step] = commit;
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
        p->of_step = calloc((size_t)p->order->n + 1, sizeof(*p->of_step));
        p->built = calloc((size_t)p->order->n + 1, sizeof(*p->built));
        if (!p->step || !p->of_step || !p->built)
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
        free(p->of_step);
        free(p->built);
        free(p->counted);
        for (size_t i = 0; i < LISTED; i++)
                manifest_done(&p->listed[i].files);
        include_graph_free(p->graph);
        git_repository_free(p->git);
        free(p);
        return NULL;
}

/* -- neighbours -- */

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

/* The built steps around this one, itself left out: NO_STEP where there is none. */
static void neighbours(const struct plan *p, uint32_t step, uint32_t *before, uint32_t *behind)
{
        size_t at = built_from(p, step);

        *before = at > 0 ? p->built[at - 1] : NO_STEP;
        at += at < p->n_built && p->built[at] == step;
        *behind = at < p->n_built ? p->built[at] : NO_STEP;
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

/* -- units -- */

/* *ret is the plan's, until three others were listed. */
static int list_files(struct plan *p, uint32_t commit, const struct manifest **ret)
{
        cleanup_buffer struct buffer notes = {0};
        struct listed *slot = &p->listed[0];
        struct commit c;
        int r;

        for (size_t i = 0; i < LISTED; i++) {
                if (p->listed[i].used > 0 && p->listed[i].commit == commit) {
                        p->listed[i].used = ++p->uses;
                        *ret = &p->listed[i].files;
                        return 0;
                }
                if (p->listed[i].used < slot->used)
                        slot = &p->listed[i];
        }
        manifest_done(&slot->files);
        *slot = (struct listed){.commit = commit};
        r = history_commit(p->solver->history, commit, &c);
        if (r == 0)
                r = checkout_list(p->git, &c.oid, p->solver->recipe->sources, p->solver->recipe->submodules, &slot->files,
                                  &notes);
        if (r < 0) {
                manifest_done(&slot->files);
                return r;
        }
        slot->used = ++p->uses;
        *ret = &slot->files;
        return 0;
}

/* Includes hardly change along a history: those of one commit will do for all. */
static int open_graph(struct plan *p, uint32_t commit)
{
        const struct manifest *files;
        int r = p->git ? 0 : history_repository(p->solver->history, &p->git);

        if (r < 0 || p->graph)
                return r;
        p->counted = calloc(2 * ((size_t)p->order->n + 1), sizeof(*p->counted));
        if (!p->counted)
                return -ENOMEM;
        r = list_files(p, commit, &files);
        return r < 0 ? r : include_graph_new(p->git, files, &p->graph);
}

static int count_units(struct plan *p, uint32_t from, uint32_t to, size_t *ret)
{
        const struct manifest *a, *b;
        int r = list_files(p, from, &a);

        if (r == 0)
                r = list_files(p, to, &b);
        return r < 0 ? r : include_graph_changed(p->graph, a, b, ret);
}

static int units_beside(struct plan *p, uint32_t step, uint32_t from, struct counted *c, size_t *ret)
{
        int r = 0;

        if (from == NO_STEP)
                return 0;
        if (!c->is_known || c->from != from)
                r = count_units(p, p->of_step[from], p->of_step[step], &c->units);
        if (r < 0)
                return r;
        *c = (struct counted){.from = from, .is_known = true, .units = c->units};
        *ret = MIN(*ret, c->units);
        return 0;
}

/* Counts what a build of this step compiles; all when nothing is built. */
static int units_of(struct plan *p, uint32_t step, size_t *ret)
{
        uint32_t before, behind;
        int r;

        *ret = include_graph_units(p->graph);
        neighbours(p, step, &before, &behind);
        r = units_beside(p, step, before, &p->counted[2 * (size_t)step], ret);
        return r < 0 ? r : units_beside(p, step, behind, &p->counted[2 * (size_t)step + 1], ret);
}

/* -- the fit -- */

/* -ENOENT: a commit of it is not there any more. */
static int count_sample(struct plan *p, struct past_build *s)
{
        uint32_t commit, from;
        int r = history_number(p->solver->history, (const git_oid *)(const void *)s->bytes, &commit);

        s->units = include_graph_units(p->graph);
        for (unsigned i = 1; r == 0 && i <= 2; i++) {
                git_oid oid;
                size_t n;

                git_oid_fromraw(&oid, s->bytes + i * GIT_OID_RAWSZ);
                if (git_oid_is_zero(&oid))
                        continue;
                r = history_number(p->solver->history, &oid, &from);
                if (r == 0)
                        r = count_units(p, from, commit, &n);
                if (r == 0)
                        s->units = MIN(s->units, n);
        }
        s->is_known = r == 0;
        return r;
}

struct sums {
        double n, x, y, xx, xy; /* each weighed by 1 / seconds² */
};

static double seconds_of(const struct past_build *s)
{
        return fmax((double)key_get_u64(s->bytes + 3 * GIT_OID_RAWSZ) / 1e9, 1e-3);
}

/* Least squares over relative errors; neither part below zero. */
static void fit_line(struct plan *p)
{
        struct sums s = {0};
        double determinant;

        for (size_t i = 0; i < p->n_samples; i++) {
                double x = (double)p->samples[i].units, y = seconds_of(&p->samples[i]), weight = 1 / (y * y);

                if (!p->samples[i].is_known)
                        continue;
                s.n += weight;
                s.x += weight * x;
                s.y += weight * y;
                s.xx += weight * x * x;
                s.xy += weight * x * y;
                p->n_fitted++;
        }
        determinant = s.n * s.xx - s.x * s.x;
        p->per_unit = p->n_fitted > 1 && determinant > 1e-9 * s.n * s.xx ? (s.n * s.xy - s.x * s.y) / determinant : 0;
        p->fixed = s.n > 0 ? (s.y - p->per_unit * s.x) / s.n : 0;
        if (p->per_unit < 0) {
                p->per_unit = 0;
                p->fixed = s.y / s.n;
        }
        if (s.xx > 0 && (p->fixed < 0 || p->n_fitted == 1)) {
                p->fixed = 0;
                p->per_unit = s.xy / s.xx;
        }
}

static double expected(const struct plan *p, size_t units)
{
        return p->fixed + p->per_unit * (double)units;
}

static int fit(struct plan *p)
{
        double errors = 0;
        int r = p->is_fitted ? 0 : read_samples(p);

        if (r < 0 || p->is_fitted)
                return r;
        p->n_fitted = 0;
        for (size_t i = 0; r == 0 && i < p->n_samples; i++)
                if (!p->samples[i].is_known && (r = count_sample(p, &p->samples[i])) != -ENOMEM)
                        r = 0; /* the other samples will do */
        fit_line(p);
        for (size_t i = 0; i < p->n_samples; i++)
                if (p->samples[i].is_known) {
                        double y = seconds_of(&p->samples[i]), error = y / fmax(expected(p, p->samples[i].units), 1e-3) - 1;

                        errors += error * error;
                }
        p->spread = p->n_fitted >= MEASURED_MIN ? sqrt(errors / (p->n_fitted - 1)) : 1;
        p->is_fitted = r == 0;
        return r;
}

static int cost_of_step(struct plan *p, uint32_t step, struct plan_cost *ret)
{
        size_t units;
        int r = open_graph(p, p->of_step[step]);

        *ret = (struct plan_cost){.basis = PLAN_UNKNOWN};
        if (r == 0)
                r = fit(p);
        if (r < 0 || p->n_fitted == 0)
                return r;
        r = units_of(p, step, &units);
        if (r < 0)
                return r;
        ret->seconds = expected(p, units);
        ret->deviation = p->spread * ret->seconds;
        ret->basis = p->n_fitted >= MEASURED_MIN ? PLAN_MEASURED : PLAN_GUESSED;
        return 0;
}

/* -- costs -- */

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
                return cost_of_step(p, step, ret);
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

/* Zero for no step. */
static bool oid_of(const struct plan *p, uint32_t step, git_oid *ret)
{
        struct commit c;

        if (step == NO_STEP)
                return true;
        if (history_commit(p->solver->history, p->of_step[step], &c) < 0)
                return false;
        *ret = c.oid;
        return true;
}

void plan_note_begin(struct workspace *w, struct solver *s, uint32_t commit, struct plan_note *ret)
{
        cleanup(plan_freep) struct plan *p = NULL;
        uint32_t step, before, behind;

        *ret = (struct plan_note){0};
        if (plan_new(w, s, &p) < 0 || step_of(p, commit, &step) < 0)
                return;
        neighbours(p, step, &before, &behind);
        series_key(s, ret->key);
        ret->wanted = oid_of(p, step, &ret->commit) && oid_of(p, before, &ret->before) && oid_of(p, behind, &ret->behind);
}
