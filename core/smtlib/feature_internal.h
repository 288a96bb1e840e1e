/* Numbers of the features that are not simply the count of an operator: feature_list.h. */
#pragma once

#include "core/smtlib/feature.h"

enum smt_feature {
#define SMT_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
        N_SMT_FEATURES /* behind them: one for each operator */
};

enum cnf_feature {
#define CNF_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
        N_CNF_FEATURES
};
