/* A case's features, as a portfolio sees them: SMT-LIB's and DIMACS's behind each other, those of the other format not known. */
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

/* -EINVAL: the case does not parse. */
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
        size_t n = portfolio_n_features(), smt;
        cleanup_free double *values = calloc(n, sizeof(*values));
        int r = values ? read_features(w, info, &f) : -ENOMEM;

        if (r < 0 && r != -EINVAL) /* a case that does not parse has none that are known */
                return r;
        smt_features(&smt);
        for (size_t i = 0; i < n; i++)
                values[i] = NAN;
        for (size_t i = 0; r == 0 && i < f.n; i++)
                values[i + (info->format == FORMAT_CNF ? smt : 0)] = f.values[i];
        *ret_n = n;
        *ret = steal_pointer(values);
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
