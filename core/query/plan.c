#include "core/query/plan_internal.h"

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
        *ret = NO_STEP;
        if (commit >= p->order->n || commit >= p->n_keys)
                return errorf(-ENOENT, "commit number %u of %s is newer than the plan", commit, p->solver->repository);
        *ret = p->step[p->order->place[commit]];
        return 0;
}

void plan_neighbours(const struct plan *p, uint32_t step, uint32_t *before, uint32_t *behind)
{
        size_t at = built_from(p, step);

        *before = at > 0 ? p->built[at - 1] : NO_STEP;
        at += at < p->n_built && p->built[at] == step;
        *behind = at < p->n_built ? p->built[at] : NO_STEP;
}

/* -- costs -- */

static int cost_of_step(struct plan *p, uint32_t step, struct plan_cost *ret)
{
        size_t units;
        int r = plan_open_graph(p, p->of_step[step]);

        *ret = (struct plan_cost){.basis = PLAN_UNKNOWN};
        if (r == 0)
                r = plan_fit(p);
        if (r < 0 || p->n_fitted == 0)
                return r;
        r = plan_units_of(p, step, &units);
        if (r < 0)
                return r;
        ret->seconds = plan_expected(p, units);
        ret->deviation = p->spread * ret->seconds;
        ret->basis = p->n_fitted >= MEASURED_MIN ? PLAN_MEASURED : PLAN_GUESSED;
        return 0;
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
                return cost_of_step(p, step, ret);
        else if (build_is_usable(p->workspace, record))
                *ret = (struct plan_cost){.basis = PLAN_DONE};
        else { /* its programs were dropped: it is known what it took */
                double seconds = (double)record->duration_ns / 1e9;

                *ret = (struct plan_cost){.seconds = seconds, .deviation = seconds, .basis = PLAN_MEASURED};
        }
        return 0;
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
        plan_neighbours(p, step, &before, &behind);
        plan_series_key(s, ret->key);
        ret->wanted = oid_of(p, step, &ret->commit) && oid_of(p, before, &ret->before) && oid_of(p, behind, &ret->behind);
}
