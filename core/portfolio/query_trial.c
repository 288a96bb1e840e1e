/* The query "trial": the portfolio on one case, or one arm alone. */
#include "core/portfolio/running.h"

/* Takes over the trial. */
static struct value *value_of(struct trial *t)
{
        struct trial_value *v = allocate(1, sizeof(*v));

        *v = (struct trial_value){.value = {.type = &query_trial_type, .refs = 1}, .trial = t};
        return &v->value;
}

static void trial_value_done(struct value *v)
{
        trial_free(((struct trial_value *)v)->trial);
}

/* An arm's known run as a trial. */
static int alone_find(const struct trial_query *q, struct trial **ret)
{
        const struct portfolio *p = q->portfolio;
        struct trial_run run = {0};
        enum judgement judgement;
        struct trial *t;
        int r = arm_known(q->workspace, p, &p->arms[q->only_arm], q->info, &run);

        if (r < 0)
                return r;
        t = trial_new(p->n_arms);
        t->case_id = q->info->id;
        t->runs[q->only_arm] = run;
        t->winner = (uint32_t)(run.attempt.ending == ENDING_SOLVED ? q->only_arm : p->n_arms);
        t->verdict = run.verdict;
        t->seconds = run.attempt.seconds;
        if (t->winner < t->n_arms) {
                bool was_wrong = arm_was_wrong(q->workspace, p, q->only_arm, NULL) == 0;

                trial_judge(q, t, t->winner, &judgement);
                if (!was_wrong && judgement == JUDGED_WRONG)
                        arm_warn_wrong(q->workspace, p, q->only_arm, t->case_id);
        }
        *ret = t;
        return 0;
}

static int trial_query_find(struct query *query, struct value **ret)
{
        struct trial_query *q = (struct trial_query *)query;
        cleanup_trial struct trial *t = NULL;
        int r = trial_is_alone(q) ? alone_find(q, &t) : trial_find(q->workspace, q->portfolio, q->info->id, &t);

        if (r < 0)
                return r;
        *ret = value_of(steal_pointer(t));
        return 0;
}

/* Adds the queries that come before the arms can run here. */
static int need_here(struct trial_query *q, struct query_list *ret)
{
        for (size_t i = 0; i < q->portfolio->n_arms; i++) {
                const struct arm *a = &q->portfolio->arms[i];
                cleanup(query_unrefp) struct query *before = NULL;
                cleanup(value_unrefp) struct value *v = NULL;
                struct cell cell;
                int r;

                if (a->problem || !a->solver || (trial_is_alone(q) && q->only_arm != i))
                        continue;
                cell = arm_cell(a, q->info, q->portfolio->wall_ns);
                if (trial_is_alone(q) && recipe_takes(a->recipe, q->info->format)) /* a cell, which is measured and stored as such */
                        r = query_run(q->workspace, &cell, &before);
                else /* no turn has time for a build */
                        r = query_build(q->workspace, a->solver, a->commit, &before);
                if (r == 0)
                        r = before->type->find(before, &v);
                if (r == -ENOENT)
                        r = query_list_add(ret, steal_pointer(before));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int trial_query_need(struct query *query, struct query_list *ret)
{
        struct trial_query *q = (struct trial_query *)query;
        struct worker_pool *pool;
        int r = running_place(q->portfolio, &pool);

        if (r < 0)
                return r;
        return pool && !trial_is_alone(q) ? running_need_remote(q, ret) : need_here(q, ret);
}

/* Runs and stores the trial. *ret_stands: false if its answer is withheld, as the arm was wrong on another case meanwhile. */
static int compute(struct trial_query *q, struct running *run, struct value **ret, bool *ret_stands)
{
        cleanup_trial struct trial *there = NULL;
        struct trial *t;
        int r = trial_is_alone(q) ? running_alone(run) : running_portfolio(run);

        if (r == 0 && !trial_is_alone(q))
                r = trial_put(q->workspace, q->portfolio, q->info, run->trial, &there);
        if (r < 0)
                return r;
        t = there ? steal_pointer(there) : steal_pointer(run->trial);
        for (size_t i = 0; i < t->n_arms; i++)
                if (is_wrong(t->runs[i].verdict, q->info))
                        arm_warn_wrong(q->workspace, q->portfolio, i, t->case_id);
        *ret_stands = trial_is_alone(q) || trial_stands(q->workspace, q->portfolio, q->info, t);
        if (!*ret_stands && t->winner < t->n_arms) {
                free(t->alarm);
                t->alarm = format_string("%s answered, and was wrong on another case meanwhile: ask again", q->portfolio->arms[t->winner].name);
                t->winner = (uint32_t)t->n_arms;
                t->verdict = VERDICT_UNKNOWN;
        }
        *ret = value_of(t);
        return 0;
}

static int trial_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct trial_query *q = (struct trial_query *)query;
        bool stands = false;
        int r = 0;

        if (q->remote) {
                r = compute(q, q->remote, ret, &stands);
                if (r == 0)
                        q->remote = running_end_remote(q->remote);
                return r;
        }
        *ret = NULL;
        /* Each answer that does not stand excludes its arm. */
        for (size_t i = 0; r == 0 && !stands && i <= q->portfolio->n_arms; i++) {
                cleanup(running_done) struct running run = {.query = q, .job = j, .case_fd = -1};

                *ret = value_unref(*ret);
                r = running_open_case(&run) ?: compute(q, &run, ret, &stands);
        }
        return r;
}

static void trial_query_describe(const struct query *query, struct buffer *ret)
{
        const struct trial_query *q = (const struct trial_query *)query;

        buffer_addf(ret, "portfolio %s case %u", q->portfolio->name, q->info->id);
        if (trial_is_alone(q))
                buffer_addf(ret, ", %s alone", q->portfolio->arms[q->only_arm].name);
}

static bool trial_query_estimate(const struct query *query, struct cost *ret)
{
        const struct trial_query *q = (const struct trial_query *)query;

        *ret = (struct cost){.mean_ns = q->portfolio->wall_ns / 2, .most_ns = q->portfolio->wall_ns};
        return true;
}

static void trial_query_done(struct query *query)
{
        struct trial_query *q = (struct trial_query *)query;

        running_end_remote(q->remote);
        portfolio_unref(q->portfolio);
        case_info_unref(q->info);
}

static enum resource trial_query_resource(const struct query *query)
{
        struct worker_pool *pool;

        /* Counting turns needs no core. */
        return running_place(((const struct trial_query *)query)->portfolio, &pool) == 0 && pool ? RESOURCE_DISK : RESOURCE_CORE;
}

const struct query_type query_trial_type = {
        .name = "portfolio",
        .resource_of = trial_query_resource,
        .find = trial_query_find,
        .need = trial_query_need,
        .compute = trial_query_compute,
        .describe = trial_query_describe,
        .estimate = trial_query_estimate,
        .query_done = trial_query_done,
        .value_done = trial_value_done,
};

int query_arm(struct workspace *w, struct portfolio *p, size_t arm, struct case_info *info, struct query **ret)
{
        struct trial_query *q = allocate(1, sizeof(*q));
        struct hasher *h = hasher_new();

        *q = (struct trial_query){.query = {.type = &query_trial_type, .refs = 1},
                                  .workspace = w,
                                  .portfolio = portfolio_ref(p),
                                  .info = case_info_ref(info),
                                  .only_arm = arm};
        hasher_string(h, "trial");
        hasher_add(h, p->epoch.bytes, DIGEST_SIZE);
        hasher_number(h, arm);
        hasher_number(h, info->id);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}

int query_trial(struct workspace *w, struct portfolio *p, struct case_info *info, struct query **ret)
{
        return query_arm(w, p, p->n_arms, info, ret);
}
