/* A study of features: those that tell arms apart (MedleySolver, section 6.3). */
#pragma once

#include "core/portfolio/replay.h"

/* Pearson's correlation of a feature with the difference of two arms' times (a timeout's is the limit), over the queries that know the feature. NaN where
 * nothing varies. */
double feature_correlation(const struct run_table *t, size_t feature, size_t arm, size_t other, double limit, size_t *ret_n);

/* Backward selection: takes away, one after the other, the feature without which the replay's mean PAR-2 is the lowest, as long as that is no
 * worse. `r` has one table. `kept` [features] says which are left; `step` (may be NULL) is told of each that goes. -EINVAL as replay_run(). */
int feature_select(const struct replay *r, bool *kept, double *ret_par2,
                   void (*step)(void *user, const char *without, double par2), void *user);
