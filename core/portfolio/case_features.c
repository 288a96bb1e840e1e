/* A case's features for portfolios: those of SMT-LIB, then those of DIMACS. */
#include "core/portfolio/portfolio_internal.h"

#include <math.h>

#include "core/smtlib/feature.h"

size_t portfolio_n_features(void)
{
        size_t smt, cnf;

        smt_features(&smt);
        cnf_features(&cnf);
        return smt + cnf;
}

uint64_t portfolio_features_id(void)
{
        cleanup_buffer struct buffer names = {0};
        size_t n;

        for (int cnf = 0; cnf < 2; cnf++) {
                const struct feature *table = cnf ? cnf_features(&n) : smt_features(&n);

                for (size_t i = 0; i < n; i++)
                        buffer_addf(&names, "%s\n", table[i].name);
        }
        return hash_quick(names.data, names.size) | 1;
}

/* -EINVAL if the case does not parse. */
static int read_features(struct workspace *w, const struct case_info *info, struct features *ret)
{
        cleanup_blob struct blob bytes = {0};
        int r = cases_read_bytes(workspace_cases(w), info, CASE_SIZE_MAX, &bytes);

        if (r < 0)
                return r;
        return info->format == FORMAT_CNF ? features_of_cnf(SLICE(bytes.data, bytes.size), ret)
                                          : features_of_smt(SLICE(bytes.data, bytes.size), ret);
}

int portfolio_features(struct workspace *w, const struct case_info *info, size_t *ret_n, double **ret)
{
        cleanup_features struct features f = {0};
        size_t smt;
        int r = read_features(w, info, &f);

        if (r < 0 && r != -EINVAL)
                return r;
        smt_features(&smt);
        *ret_n = portfolio_n_features();
        *ret = allocate(*ret_n, sizeof(**ret));
        for (size_t i = 0; i < *ret_n; i++)
                (*ret)[i] = NAN;
        for (size_t i = 0; r == 0 && i < f.n; i++)
                (*ret)[i + (info->format == FORMAT_CNF ? smt : 0)] = f.values[i];
        return 0;
}

int case_features_print(struct workspace *w, const struct case_info *info, struct buffer *ret)
{
        cleanup_features struct features f = {0};
        size_t n;
        const struct feature *table = info->format == FORMAT_CNF ? cnf_features(&n) : smt_features(&n);
        int r = read_features(w, info, &f);

        if (r < 0)
                return r;
        features_print(table, &f, ret);
        return buffer_error(ret);
}

/* -- the query: a long formula takes long to parse -- */

struct features_query {
        struct query query;
        struct workspace *workspace;
        struct case_info *info; /* a ref */
};

/* No text is kept. */
static int features_query_find(struct query *, struct value **)
{
        return -ENOENT;
}

static int features_query_compute(struct query *query, struct job *, struct value **ret)
{
        const struct features_query *q = (const struct features_query *)query;
        struct features_value *v = allocate(1, sizeof(*v));
        int r = case_features_print(q->workspace, q->info, &v->text);

        v->value = (struct value){.type = query->type, .refs = 1};
        *ret = r == 0 ? &v->value : value_unref(&v->value);
        return r == -EINVAL ? errorf(-EOPNOTSUPP, "case %u cannot be parsed: %s", q->info->id, error_message(r)) : r;
}

static void features_query_describe(const struct query *query, struct buffer *ret)
{
        buffer_addf(ret, "features of case %u", ((const struct features_query *)query)->info->id);
}

static void features_query_done(struct query *query)
{
        case_info_unref(((struct features_query *)query)->info);
}

static void features_value_done(struct value *v)
{
        buffer_done(&((struct features_value *)v)->text);
}

static const struct query_type query_features_type = {
        .name = "features",
        .resource = RESOURCE_DISK,
        .find = features_query_find,
        .compute = features_query_compute,
        .describe = features_query_describe,
        .query_done = features_query_done,
        .value_done = features_value_done,
};

struct query *query_features(struct workspace *w, struct case_info *info)
{
        struct features_query *q = allocate(1, sizeof(*q));
        struct hasher *h = hasher_new();

        *q = (struct features_query){.query = {.type = &query_features_type, .refs = 1}, .workspace = w, .info = case_info_ref(info)};
        hasher_string(h, "features");
        hasher_add(h, info->sha256.bytes, DIGEST_SIZE);
        hasher_finish(h, &q->query.key);
        return &q->query;
}
