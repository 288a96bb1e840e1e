/* Query scrambled: an input scrambled by a seed. */
#include "core/query/scrambled.h"

#include <fcntl.h>

struct scrambled_query {
        struct query query;
        struct workspace *workspace;
        struct case_info *of; /* a ref */
        uint64_t seed;
};

static const struct query_type query_scrambled_type;

static int value_of(struct workspace *w, struct case_info *info, struct value **ret)
{
        struct scrambled_value *v = allocate(1, sizeof(*v));
        char path[PATH_SIZE];
        int r = cases_open_bytes(workspace_cases(w), info, &v->fd, path);

        if (r < 0) {
                free(v);
                return r;
        }
        v->value = (struct value){.type = &query_scrambled_type, .refs = 1};
        v->info = case_info_ref(info);
        *ret = &v->value;
        return 0;
}

static int scrambled_query_find(struct query *query, struct value **ret)
{
        const struct scrambled_query *q = (const struct scrambled_query *)query;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = scrambled_find(q->workspace, q->of, q->seed, &info);

        if (r == 0)
                r = value_of(q->workspace, info, ret);
        return r == -EILSEQ ? -ENOENT : r; /* damaged bytes are made again */
}

static int scrambled_query_compute(struct query *query, struct job *, struct value **ret)
{
        const struct scrambled_query *q = (const struct scrambled_query *)query;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = scrambled_make(q->workspace, q->of, q->seed, &info);

        return r < 0 ? r : value_of(q->workspace, info, ret);
}

static void scrambled_query_describe(const struct query *query, struct buffer *ret)
{
        const struct scrambled_query *q = (const struct scrambled_query *)query;

        buffer_addf(ret, "scramble case %u by seed %llu", q->of->id, (unsigned long long)q->seed);
}

static void scrambled_query_free(struct query *query)
{
        struct scrambled_query *q = (struct scrambled_query *)query;

        case_info_unref(q->of);
        free(q);
}

static void scrambled_value_free(struct value *value)
{
        struct scrambled_value *v = (struct scrambled_value *)value;

        case_info_unref(v->info);
        close(v->fd);
        free(v);
}

int scrambled_value_fd(struct value *v)
{
        return fcntl(((struct scrambled_value *)v)->fd, F_DUPFD_CLOEXEC, 3);
}

static const struct query_type query_scrambled_type = {
        .name = "scrambled",
        .resource = RESOURCE_DISK,
        .find = scrambled_query_find,
        .compute = scrambled_query_compute,
        .describe = scrambled_query_describe,
        .free_query = scrambled_query_free,
        .free_value = scrambled_value_free,
};

int query_scrambled(struct workspace *w, struct case_info *of, uint64_t seed, struct query **ret)
{
        struct scrambled_query *q = allocate(1, sizeof(*q));
        struct hasher *h;

        *q = (struct scrambled_query){.query = {.type = &query_scrambled_type, .refs = 1}, .workspace = w, .of = case_info_ref(of), .seed = seed};
        h = hasher_new();
        hasher_string(h, "scrambled input");
        hasher_add(h, of->sha256.bytes, DIGEST_SIZE);
        hasher_number(h, seed);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}
