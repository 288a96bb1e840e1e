/* The query localize: the result of a search for the culprits of one case, kept for good. */
#include <math.h>

#include "core/study/localize/localization.h"

struct localized_query {
        struct query query;
        struct localization_options options; /* owns refs */
        struct case_info *info;
};

/* A name that could also be a later part of the key has a label before it. */
static void add_cluster(struct hasher *h, const char *name)
{
        bool has_label = strcmp(name, "cluster") == 0;

        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                has_label |= strcmp(name, judge_measure_name(m)) == 0;
        for (enum verdict v = 0; v < N_VERDICTS; v++)
                has_label |= strcmp(name, verdict_name(v)) == 0;
        if (has_label)
                hasher_string(h, "cluster");
        hasher_string(h, name);
}

/* All that a result depends on. Parts that came later are added only where they are set, so that older keys stay. */
static void localized_key(const struct localization_options *o, const struct case_info *info, struct digest *ret)
{
        struct cell cell = localization_cell(o, o->target, NULL);
        struct recipe_limits limits;
        struct commit reference = {0}, target = {0};
        struct digest recipe;
        struct hasher *h = hasher_new();

        history_commit(o->solver->history, o->reference, &reference);
        history_commit(o->solver->history, o->target, &target);
        cell_limits(&cell, &limits);
        hasher_string(h, "localized");
        hasher_string(h, o->solver->recipe->name);
        hasher_add(h, reference.oid.id, GIT_OID_RAWSZ);
        hasher_add(h, target.oid.id, GIT_OID_RAWSZ);
        hasher_add(h, case_identity(info).bytes, DIGEST_SIZE);
        recipe_eras_digest(o->solver->recipe, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        recipe_run_digest(o->solver->recipe, o->has_seed, o->seed, &limits, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        if (!o->has_seed && !o->by_verdict && o->solver->recipe->seed) /* it runs under seeds 0, 1, …, so the option for them counts */
                hasher_string(h, o->solver->recipe->seed);
        hasher_number(h, limits.wall_ns);
        hasher_number(h, limits.memory);
        hasher_number(h, o->measure == JUDGE_EFFORT); /* stays in this place for older keys */
        recipe_add_limits(h, &limits);
        if (o->is_cpu_time) {
                hasher_string(h, "cpu");
                hasher_number(h, limits.cpu_ns);
        } else {
                recipe_add_limit(h, "cputime", limits.cpu_ns, limits.wall_ns);
        }
        if (o->solver->pool) /* a cluster's times are not this machine's */
                add_cluster(h, o->solver->pool->name);
        if (o->measure != JUDGE_TIME)
                hasher_string(h, judge_measure_name(o->measure));
        if (o->measure == JUDGE_EFFORT && o->solver->recipe->effort[0])
                hasher_string(h, o->solver->recipe->effort[0]);
        if (verdict_is_decided(info->status) && !o->by_verdict) /* other answers count as broken */
                hasher_string(h, verdict_name(info->status));
        if (o->by_verdict) {
                hasher_string(h, verdict_name(o->before));
                hasher_string(h, verdict_name(o->after));
        }
        hasher_finish(h, ret);
}

/* An unfinished search is no answer: asked again, it goes on. */
static int localized_find(struct query *query, struct value **ret)
{
        struct localized_query *q = (struct localized_query *)query;
        cleanup_localized struct localized *l = NULL;
        int r = localized_get(q->options.workspace, q->options.solver, &query->key, &l);

        if (r == 0 && l->is_unfinished)
                r = -ENOENT;
        if (r == 0)
                *ret = &steal_pointer(l)->value;
        return r;
}

int localized_keep(const struct localization_options *o, const struct case_info *info, const struct localized *result)
{
        struct digest key;

        if (result->state == LOCALIZE_OPEN || result->state == LOCALIZE_UNBUILDABLE_END || (result->state != LOCALIZE_FOUND && result->is_unfinished))
                return 0;
        localized_key(o, info, &key);
        return localized_put(o->workspace, o->solver, &key, result);
}

static int localized_step(struct query *query, struct job *j, void **state, struct value **ret)
{
        struct localized_query *q = (struct localized_query *)query;
        struct localization *l = *state;
        struct localization_progress p;
        cleanup_localized struct localized *result = NULL;
        struct batch batch;
        int r = l ? 0 : localization_new(&q->options, &l);

        if (r < 0) /* two versions without a history between them have no result, which is no failure */
                return r == -EINVAL ? errorf(-ENODATA, "%s", error_message(r)) : r;
        *state = l;
        r = localization_next(l, &batch);
        if (r < 0)
                return r;
        if (r > 0) {
                localization_progress(l, &p);
                progress_tell(job_progress(j), "localize", p.builds_done, p.builds_done + (uint64_t)ceil(p.search.builds_left) + 1);
                return job_ask_many(j, &batch);
        }
        result = localization_result(l, 0);
        r = localized_keep(&q->options, q->info, result);
        if (r == 0)
                *ret = &steal_pointer(result)->value;
        return r;
}

static void free_state(void *state)
{
        localization_free(state);
}

static void localized_describe(const struct query *query, struct buffer *ret)
{
        const struct localized_query *q = (const struct localized_query *)query;

        buffer_addf(ret, "localize %s case %u", q->options.solver->recipe->name, q->info->id);
}

static bool localized_gone(const struct query *query)
{
        const struct localized_query *q = (const struct localized_query *)query;

        return solver_is_gone(q->options.workspace, q->options.solver);
}

static void localized_query_done(struct query *query)
{
        struct localized_query *q = (struct localized_query *)query;

        solver_unref(q->options.solver);
        case_info_unref(q->info);
}

const struct query_type query_localized_type = {
        .name = "localize",
        .resource = RESOURCE_STEP,
        .find = localized_find,
        .step = localized_step,
        .free_state = free_state,
        .describe = localized_describe,
        .gone = localized_gone,
        .query_done = localized_query_done,
        .value_done = localized_done,
};

int query_localized(const struct localization_options *options, struct query **ret)
{
        struct localized_query *q = allocate(1, sizeof(*q));

        assert(options->n == 1);
        q->query = (struct query){.type = &query_localized_type, .refs = 1};
        q->options = *options;
        q->options.solver = solver_ref(options->solver);
        q->info = case_info_ref(options->cases[0]);
        q->options.cases = &q->info;
        localized_key(options, q->info, &q->query.key);
        *ret = &q->query;
        return 0;
}
