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
