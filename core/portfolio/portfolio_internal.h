/* Shared by the files of a store's portfolios. */
#pragma once

#include "core/portfolio/portfolio.h"

struct learner_settings portfolio_learner_settings(const struct portfolio *p);
/* The case's features; a case that cannot be read has none that are known. */
int portfolio_features(struct workspace *w, const struct case_info *info, size_t *ret_n, double **ret);
/* The same arms' features for either format: the table's length. */
size_t portfolio_n_features(void);

/* An answer that is not the case's :status. */
static inline bool is_wrong(enum verdict v, const struct case_info *info)
{
        return info->n_expected == 1 && verdict_is_decided(v) && verdict_is_decided(info->expected[0]) && info->expected[0] != v;
}

/* Compares the winner's answer with the case's :status and with the runs of all arms alone, known[p->n_arms], of which those that are not known are
 * zero. *ret: the first contradiction in a sentence, free(); NULL when there is none. */
int trial_contradiction(const struct portfolio *p, const struct case_info *info, const struct trial *t, const struct trial_run *known,
                        char **ret);
