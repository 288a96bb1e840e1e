/* Query check: an incremental build is compared with a clean one. */
#include "core/query/build_query.h"
#include "core/query/incremental.h"

static int check_find(struct query *query, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_record_fetch(q->workspace, &q->build_key, false, &record);

        if (r == 0 && record->ok && !record->clean)
                return -ENOENT;
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

/* The two builds of the commit gave different programs. */
static int describe_wrong(struct build_query *q, const struct build_record *before, const struct build_record *clean, char **ret)
{
        cleanup_free char *differences = NULL;
        char *line = NULL;
        struct commit c;
        int r = history_commit(q->solver->history, q->commit, &c);

        *ret = NULL;
        if (r == 0 && clean->ok)
                r = build_differences(workspace_programs(q->workspace), clean, before, &differences);
        if (r < 0 || (clean->ok && !differences))
                return r;
        if (asprintf(&line, "%.12s: %s", git_oid_tostr_s(&c.oid), differences ?: clean->reason) < 0)
                return -ENOMEM;
        *ret = line;
        return 0;
}

static int check_compute(struct query *query, struct job *j, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *before = NULL, *record = NULL;
        cleanup_free char *wrong = NULL;
        int r = build_record_fetch(q->workspace, &q->build_key, false, &before);

        if (r == 0)
                r = build_query_make(q, j, true, &record);
        if (r == 0)
                r = describe_wrong(q, before, record, &wrong);
        if (r == 0 && wrong)
                r = incremental_revoke(q->workspace, q->solver, wrong);
        if (r < 0)
                return r;
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

static const struct query_type query_check_type = {
        .name = "check",
        .resource = RESOURCE_BUILD,
        .find = check_find,
        .compute = check_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .estimate = build_query_estimate,
        .free_query = build_query_free,
        .free_value = build_value_free,
};

int query_check(struct workspace *w, struct solver *s, struct query **ret)
{
        uint32_t commit;
        int r = incremental_due(w, s, &commit);

        return r < 0 ? r : build_query_new(&query_check_type, w, s, commit, NULL, NULL, ret);
}

static void checked(void *user, int r, struct value *v, const char *reason)
{
        if (r < 0 && r != -ECANCELED)
                log_warning("an incremental build could not be compared with a clean one: %s", reason ?: strerror(-r));
}

void query_check_in_background(struct build_query *q, struct job *j)
{
        cleanup(query_unrefp) struct query *check = NULL;
        struct ticket *ticket;

        if (query_check(q->workspace, q->solver, &check) == 0)
                engine_ask(job_engine(j), check, PRIORITY_BATCH, false, checked, NULL, &ticket);
}
