/* Shared by the files of a store's portfolios. */
#pragma once

#include "core/portfolio/portfolio.h"

struct learner_settings portfolio_learner_settings(const struct portfolio *p);
/* The case's features; a case that cannot be read has none that are known. */
int portfolio_features(struct workspace *w, const struct case_info *info, size_t *ret_n, double **ret);
/* The same arms' features for either format: the table's length. */
size_t portfolio_n_features(void);

static inline bool is_answer(enum verdict v)
{
        return v == VERDICT_SAT || v == VERDICT_UNSAT;
}
