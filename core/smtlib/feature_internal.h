/* The features that are not simply the count of an operator; their names and meanings are in feature_table.c. */
#pragma once

#include "core/smtlib/feature.h"

enum smt_feature {
        /* commands */
        F_COMMANDS,
        F_ASSERTS,
        F_CHECKS,
        F_SORTS_DECLARED,
        F_CONSTANTS_DECLARED,
        F_FUNCTIONS_DECLARED,
        F_FUNCTION_ARITY,
        F_DEFINITIONS,
        F_LEVELS,
        F_OPAQUE,
        /* graph */
        F_DAG_SIZE,
        F_TREE_SIZE,
        F_SHARING,
        F_EDGES,
        F_DEPTH,
        F_ARITY,
        F_LARGEST_ASSERT,
        /* kinds of terms */
        F_LITERALS,
        F_CONSTANTS,
        F_APPLICATIONS,
        F_OPERATORS_USED,
        F_FOREIGN_TERMS,
        F_ANNOTATIONS,
        F_PATTERNS,
        /* quantifiers */
        F_FORALLS,
        F_EXISTS,
        F_LAMBDAS,
        F_BOUND_VARIABLES,
        F_QUANTIFIER_NESTING,
        F_QUANTIFIER_ALTERNATION,
        F_QUANTIFIED_TERMS,
        /* sorts: of distinct terms, in the order of enum sort_kind from SORT_BOOL on */
        F_SORT_BOOL,
        F_SORT_LAST = F_SORT_BOOL + SORT_NAMED - SORT_BOOL,
        F_SORT_UNKNOWN,
        F_SORTS_USED,
        /* Boolean structure */
        F_ATOMS,
        F_CONNECTIVES,
        /* arithmetic */
        F_INT_LITERAL_MAX,
        F_INT_LITERAL_SUM,
        F_REAL_LITERAL_MAX,
        F_REAL_LITERAL_SUM,
        F_NONLINEAR,
        /* bit-vectors */
        F_BITVEC_WIDTH_MAX,
        F_BITVEC_WIDTH_SUM,
        F_BITVEC_LITERAL_MAX,
        /* arrays */
        F_ARRAY_NESTING,
        F_STORE_CHAIN,
        /* strings */
        F_STRING_LITERAL_MAX,
        F_STRING_LITERAL_SUM,
        F_REGEX_DEPTH,
        F_LOOP_MAX,
        /* theories: distinct applications, in the order of enum theory */
        F_THEORY,
        F_THEORY_LAST = F_THEORY + N_THEORIES - 1,
        N_SMT_FEATURES /* behind them: one for each operator */
};

enum cnf_feature {
        C_VARIABLES,
        C_CLAUSES,
        C_LITERALS,
        C_VARIABLES_USED,
        C_LENGTH_MIN,
        C_LENGTH_MAX,
        C_LENGTH_MEAN,
        C_EMPTY,
        C_UNIT,
        C_BINARY,
        C_TERNARY,
        C_LENGTH_4_TO_8,
        C_LENGTH_9_UP,
        C_HORN,
        C_POSITIVE,
        C_OCCURRENCES_MAX,
        C_RATIO,
        N_CNF_FEATURES
};
