/* Query scrambled: an input scrambled by a seed. */
#include "core/query/scrambled.h"

struct scrambled_query {
        struct query query;
        struct workspace *workspace;
        struct case_info *original; /* a ref */
        uint64_t seed;
};

/* Opens the input; makes it first, unless `known_only`. */
static int get(struct query *query, bool known_only, struct value **ret)
{
        const struct scrambled_query *q = (const struct scrambled_query *)query;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int fd, r = (known_only ? scrambled_find : scrambled_make)(q->workspace, q->original, q->seed, &info);

        if (r == 0)
                r = cases_open_bytes(workspace_cases(q->workspace), info, &fd, NULL);
        if (r == 0)
                *ret = file_value_new(query->type, fd);
        return r;
}

static int scrambled_query_find(struct query *query, struct value **ret)
{
        int r = get(query, true, ret);

        return r == -EILSEQ ? -ENOENT : r; /* damaged bytes are made again */
}

static int scrambled_query_compute(struct query *query, struct job *, struct value **ret)
{
        return get(query, false, ret);
}

static void scrambled_query_describe(const struct query *query, struct buffer *ret)
{
        const struct scrambled_query *q = (const struct scrambled_query *)query;

        buffer_addf(ret, "scramble case %u by seed %llu", q->original->id, (unsigned long long)q->seed);
}

static void scrambled_query_done(struct query *query)
{
        case_info_unref(((struct scrambled_query *)query)->original);
}

static const struct query_type query_scrambled_type = {
        .name = "scrambled",
        .resource = RESOURCE_DISK,
        .find = scrambled_query_find,
        .compute = scrambled_query_compute,
        .describe = scrambled_query_describe,
        .query_done = scrambled_query_done,
        .value_done = file_value_done,
};

int query_scrambled(struct workspace *w, struct case_info *original, uint64_t seed, struct query **ret)
{
        struct scrambled_query *q = allocate(1, sizeof(*q));
        struct hasher *h = hasher_new();

        *q = (struct scrambled_query){
                .query = {.type = &query_scrambled_type, .refs = 1}, .workspace = w, .original = case_info_ref(original), .seed = seed};
        hasher_string(h, "scrambled input");
        hasher_add(h, original->sha256.bytes, DIGEST_SIZE);
        hasher_number(h, seed);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}
