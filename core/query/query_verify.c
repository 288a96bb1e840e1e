#include "core/query/query_verify.h"

#include "core/query/query_internal.h"

struct verify_query {
        struct query query;
        struct workspace *workspace;
        struct solver *solver; /* owns a ref */
        uint32_t from, to;
        bool twice;
};

static int verify_find(struct query *, struct value **)
{
        return -ENOENT;
}

static int same_text(char **to, const char *text)
{
        *to = strdup(text);
        return *to ? 0 : -ENOMEM;
}

/* How the builds differ, in *ret; NULL when they do not. */
static int compare(struct verify_query *q, const struct build_record *clean, const struct build_record *other, char **ret)
{
        *ret = NULL;
        if (clean->ok != other->ok)
                return same_text(ret, clean->ok ? other->reason : clean->reason);
        return clean->ok ? build_differences(workspace_programs(q->workspace), clean, other, ret) : 0;
}

static int build_one(struct verify_query *q, struct job *j, uint32_t commit, enum build_way way, bool again,
                     struct build_record **ret)
{
        return build_commit(q->workspace, q->solver, commit, NULL, way, again, j, ret);
}

static int check_twice(struct verify_query *q, struct job *j, const struct build_record *clean, struct verify_value *v)
{
        cleanup(build_record_unrefp) struct build_record *second = NULL;
        int r = build_one(q, j, q->to, BUILD_CLEAN, true, &second);

        if (r == 0)
                r = compare(q, clean, second, &v->reason);
        v->reproducible = r == 0 && !v->reason;
        return r;
}

static int verify_pair(struct verify_query *q, struct job *j, struct verify_value *v)
{
        cleanup(build_record_unrefp) struct build_record *first = NULL, *on_top = NULL, *clean = NULL;
        int r = build_one(q, j, q->from, BUILD_INCREMENTAL, false, &first);

        if (r == 0 && !first->ok)
                return same_text(&v->reason, "the first of them cannot be built");
        if (r == 0)
                r = build_one(q, j, q->to, BUILD_INCREMENTAL, false, &on_top);
        if (r == 0)
                r = build_one(q, j, q->to, BUILD_CLEAN, false, &clean);
        if (r < 0)
                return r;
        v->incremental_ns = on_top->duration_ns;
        v->clean_ns = clean->duration_ns;
        if (q->twice && clean->ok)
                r = check_twice(q, j, clean, v);
        if (r < 0 || v->reason)
                return r;
        v->taken = !on_top->clean;
        if (!v->taken)
                return same_text(&v->reason, clean->ok ? "it was built in a clean tree all the same: see its log"
                                                       : "the second of them cannot be built");
        return compare(q, clean, on_top, &v->reason);
}

static void verify_value_free(struct value *value)
{
        struct verify_value *v = (struct verify_value *)value;

        free(v->reason);
        free(v);
}

static int verify_compute(struct query *query, struct job *j, struct value **ret)
{
        struct verify_query *q = (struct verify_query *)query;
        struct verify_value *v = calloc(1, sizeof(*v));
        int r;

        if (!v)
                return -ENOMEM;
        *v = (struct verify_value){.value = {.type = query->type, .refs = 1}, .reproducible = true};
        r = verify_pair(q, j, v);
        if (r < 0)
                verify_value_free(&v->value);
        else
                *ret = &v->value;
        return r;
}

static void verify_describe(const struct query *query, struct buffer *ret)
{
        const struct verify_query *q = (const struct verify_query *)query;
        struct commit a, b;

        buffer_addf(ret, "verify %s", q->solver->recipe->name);
        if (history_commit(q->solver->history, q->from, &a) == 0 && history_commit(q->solver->history, q->to, &b) == 0) {
                buffer_addf(ret, " %.12s", git_oid_tostr_s(&a.oid));
                buffer_addf(ret, "..%.12s", git_oid_tostr_s(&b.oid));
        }
}

static bool verify_gone(const struct query *query)
{
        const struct verify_query *q = (const struct verify_query *)query;

        return solver_is_gone(q->workspace, q->solver);
}

static void verify_free(struct query *query)
{
        struct verify_query *q = (struct verify_query *)query;

        solver_unref(q->solver);
        free(q);
}

static const struct query_type query_verify_type = {
        .name = "verify",
        .resource = RESOURCE_BUILD,
        .find = verify_find,
        .compute = verify_compute,
        .describe = verify_describe,
        .gone = verify_gone,
        .free_query = verify_free,
        .free_value = verify_value_free,
};

int query_verify(struct workspace *w, struct solver *s, uint32_t from, uint32_t to, bool twice, struct query **ret)
{
        struct verify_query *q = calloc(1, sizeof(*q));
        struct hasher *h;

        if (!q)
                return -ENOMEM;
        *q = (struct verify_query){.query = {.type = &query_verify_type, .refs = 1},
                                   .workspace = w,
                                   .solver = solver_ref(s),
                                   .from = from,
                                   .to = to,
                                   .twice = twice};
        h = hasher_new();
        hasher_string(h, "verify");
        hasher_string(h, s->recipe->name);
        hasher_number(h, s->version);
        hasher_number(h, from);
        hasher_number(h, to);
        hasher_number(h, twice);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}
