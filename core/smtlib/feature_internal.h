/* Numbers of the features that are not simply the count of an operator: feature_list.h. */
#pragma once

#include "core/smtlib/feature.h"

enum smt_feature {
#define CNF_FEATURE(number, ...)
#define SMT_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
#undef SMT_FEATURE
#undef CNF_FEATURE
        N_SMT_FEATURES /* behind them: one for each operator */
};

enum cnf_feature {
#define SMT_FEATURE(number, ...)
#define CNF_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
#undef CNF_FEATURE
#undef SMT_FEATURE
        N_CNF_FEATURES
};
