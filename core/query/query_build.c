/* Query build: makes a program of a commit, here or on the cluster of its solver. */
#include "core/build/era.h"
#include "core/query/build_query.h"
#include "core/query/programs.h"

int build_query_key(const struct build_query *q, struct digest *ret)
{
        const struct solver *s = q->solver;

        *ret = q->build_key;
        return q->is_late ? build_key(s->history, q->commit, s->recipe, ret) : 0;
}

static bool knows_toolchain(const struct solver *s)
{
        char toolchain[65];

        return !s->builder || pool_toolchain(s->builder, toolchain);
}

struct value *build_value_new(struct build_record *record)
{
        struct build_value *v = allocate(1, sizeof(*v));

        v->value = (struct value){.type = &query_build_type, .refs = 1};
        v->record = build_record_ref(record);
        return &v->value;
}

static void build_value_done(struct value *value)
{
        struct build_value *v = (struct build_value *)value;

        build_record_unref(v->record);
}

static int build_query_find(struct query *query, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest key;
        int r = build_query_key(q, &key)
            ?: build_record_find(q->workspace, q->solver, q->commit, &key, WITHOUT_LOG, &record);

        if (r == 0 && ((q->is_current && build_tools_changed(q->workspace, &key, NULL)) || !build_is_usable(q->workspace, record)))
                r = -ENOENT;
        if (r == 0)
                *ret = build_value_new(record);
        return r;
}

/* Builds the commit and keeps the record. A known record is read with its log, joined with the new one, and may stay in its place
 * (build_record_join()). */
static int make_record(struct build_query *q, struct job *j, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *known = NULL, *record = NULL;
        int r = build_record_find(q->workspace, q->solver, q->commit, &q->build_key, WITH_LOG, &known);

        if (r == 0 || r == -ENOENT)
                r = build_commit(q->workspace, q->solver, q->commit, &q->build_key, job_again(j), j, &record);
        if (r == 0 && known)
                r = build_record_join(q->workspace, known, job_again(j), build_tools_changed(q->workspace, &q->build_key, NULL), &record);
        if (r == 0) /* else 1: the known record stays */
                r = build_record_keep(q->workspace, q, record);
        if (r < 0)
                return r;
        *ret = r == 1 ? steal_pointer(known) : steal_pointer(record);
        return 0;
}

static struct engine_remote *build_query_remote(const struct query *query, uint64_t *ret_most_ns)
{
        const struct build_query *q = (const struct build_query *)query;

        *ret_most_ns = era_or_solver(q->solver->history, q->solver->recipe, q->commit)->build_limits.wall_ns;
        return &q->solver->builder->remote;
}

/* A query that was made before the cluster's toolchain was known (is_late) has no build's key. It asks for the toolchain first, and then for the build
 * under its true key, as a query of its own. */
static int build_query_need(struct query *query, struct query_list *ret)
{
        const struct build_query *q = (const struct build_query *)query;
        cleanup(value_unrefp) struct value *v = NULL;
        struct query *first = NULL;
        int r = q->is_late ? query->type->find(query, &v) : 0;

        if (r != -ENOENT)
                return r;
        r = knows_toolchain(q->solver) ? query_build(q->workspace, q->solver, q->commit, &first) : query_machine(q->solver->builder, &first);
        return r < 0 ? r : query_list_add(ret, first);
}

static int build_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r;

        if (q->is_late)
                return query->type->find(query, ret);
        r = make_record(q, j, &record);
        if (r == 0)
                *ret = build_value_new(record);
        return r;
}

void build_query_describe(const struct query *query, struct buffer *ret)
{
        const struct build_query *q = (const struct build_query *)query;

        buffer_addf(ret, "%s %s %s", query->type->name, q->solver->recipe->name, commit_label(q->solver, q->commit).s);
        if (q->output)
                buffer_addf(ret, " %s", q->output);
}

bool build_query_gone(const struct query *query)
{
        const struct build_query *q = (const struct build_query *)query;

        return solver_is_gone(q->workspace, q->solver);
}

void build_query_done(struct query *query)
{
        struct build_query *q = (struct build_query *)query;

        solver_unref(q->solver);
        free(q->output);
}

int build_query_new(const struct query_type *type, struct workspace *w, struct solver *s, uint32_t commit,
                    const struct digest *build, const char *output, bool never_builds, struct query **ret)
{
        struct build_query *q = allocate(1, sizeof(*q));
        const bool is_released = era_or_solver(s->history, s->recipe, commit)->file;
        struct hasher *h;
        int r = 0;

        *q = (struct build_query){.query = {.type = type, .refs = 1},
                                  .workspace = w,
                                  .solver = solver_ref(s),
                                  .commit = commit,
                                  .is_released = is_released,
                                  .is_late = !is_released && !knows_toolchain(s),
                                  .never_builds = never_builds,
                                  .output = output ? copy_string(output) : NULL};
        if (build)
                q->build_key = *build;
        else
                r = build_key(s->history, commit, s->recipe, &q->build_key);
        if (r < 0) {
                query_unref(&q->query);
                return r;
        }
        h = hasher_new();
        hasher_string(h, type->name);
        hasher_add(h, q->build_key.bytes, DIGEST_SIZE);
        hasher_string(h, output);
        hasher_number(h, never_builds);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}

static enum resource build_query_resource(const struct query *query)
{
        const struct build_query *q = (const struct build_query *)query;

        return q->is_late || q->is_released ? RESOURCE_DISK : q->solver->builder ? RESOURCE_REMOTE : RESOURCE_BUILD;
}

const struct query_type query_build_type = {
        .name = "build",
        .resource_of = build_query_resource,
        .find = build_query_find,
        .need = build_query_need,
        .compute = build_query_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .estimate = build_query_estimate,
        .remote = build_query_remote,
        .query_done = build_query_done,
        .value_done = build_value_done,
};

int query_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret)
{
        return build_query_new(&query_build_type, w, s, commit, build, NULL, false, ret);
}

int query_build(struct workspace *w, struct solver *s, uint32_t commit, struct query **ret)
{
        return query_build_of(w, s, commit, NULL, ret);
}

int query_current_build(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret)
{
        int r = query_build_of(w, s, commit, build, ret);

        if (r == 0)
                ((struct build_query *)*ret)->is_current = true;
        return r;
}
