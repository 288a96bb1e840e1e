/* Each feature and its description; there is no other. */
#include "core/smtlib/feature_internal.h"

#include <pthread.h>

/* One for each enum smt_feature; the operators' follow. */
static struct feature smt[N_SMT_FEATURES + N_OPS - 1] = {
        [F_COMMANDS] = {"commands", "commands of the script"},
        [F_ASSERTS] = {"asserts", "assert commands"},
        [F_CHECKS] = {"checks", "check-sat and check-sat-assuming commands"},
        [F_SORTS_DECLARED] = {"sorts-declared", "declare-sort and declare-datatypes commands"},
        [F_CONSTANTS_DECLARED] = {"constants-declared", "declared functions without arguments: the free variables"},
        [F_FUNCTIONS_DECLARED] = {"functions-declared", "declared functions with arguments"},
        [F_FUNCTION_ARITY] = {"function-arity", "the most arguments of a declared function"},
        [F_DEFINITIONS] = {"definitions", "define-fun and define-fun-rec commands"},
        [F_LEVELS] = {"levels", "the most levels that push opened at once"},
        [F_OPAQUE] = {"opaque-commands", "commands that were not understood and stay text"},
        [F_DAG_SIZE] = {"dag-size", "distinct terms, each counted once"},
        [F_TREE_SIZE] = {"tree-size", "terms if nothing were shared, at most 1.8e19"},
        [F_SHARING] = {"sharing", "tree-size by dag-size"},
        [F_EDGES] = {"edges", "arguments of the distinct terms"},
        [F_DEPTH] = {"depth", "levels of the deepest term"},
        [F_ARITY] = {"arity", "the most arguments of a term"},
        [F_LARGEST_ASSERT] = {"largest-assert", "tree-size of the largest asserted term, at most 1.8e19"},
        [F_LITERALS] = {"literals", "distinct numbers, strings and bit-vectors"},
        [F_CONSTANTS] = {"constants", "distinct declared constants that are used"},
        [F_APPLICATIONS] = {"applications", "distinct applications of declared or defined functions to arguments"},
        [F_OPERATORS_USED] = {"operators-used", "different operators that occur"},
        [F_FOREIGN_TERMS] = {"foreign-terms", "distinct applications of what is not modelled"},
        [F_ANNOTATIONS] = {"annotations", "distinct annotations of terms, an attribute each"},
        [F_PATTERNS] = {"patterns", "of these, patterns for instantiation"},
        [F_FORALLS] = {"foralls", "distinct universal quantifiers"},
        [F_EXISTS] = {"exists", "distinct existential quantifiers"},
        [F_LAMBDAS] = {"lambdas", "distinct lambda terms"},
        [F_BOUND_VARIABLES] = {"bound-variables", "variables that distinct quantifiers bind, together"},
        [F_QUANTIFIER_NESTING] = {"quantifier-nesting", "the most quantifiers within each other"},
        [F_QUANTIFIER_ALTERNATION] =
                {"quantifier-alternation",
                 "the most changes between forall and exists from the outside in, as written: negation does not count"},
        [F_QUANTIFIED_TERMS] = {"quantified-terms", "distinct terms that hold a quantifier"},
        [F_SORT_BOOL + SORT_BOOL - SORT_BOOL] = {"sort-bool", "distinct terms of sort Bool"},
        [F_SORT_BOOL + SORT_INT - SORT_BOOL] = {"sort-int", "distinct terms of sort Int"},
        [F_SORT_BOOL + SORT_REAL - SORT_BOOL] = {"sort-real", "distinct terms of sort Real"},
        [F_SORT_BOOL + SORT_STRING - SORT_BOOL] = {"sort-string", "distinct terms of sort String"},
        [F_SORT_BOOL + SORT_REGLAN - SORT_BOOL] = {"sort-reglan", "distinct terms of sort RegLan"},
        [F_SORT_BOOL + SORT_ROUNDING_MODE - SORT_BOOL] = {"sort-rounding-mode", "distinct terms of sort RoundingMode"},
        [F_SORT_BOOL + SORT_BITVEC - SORT_BOOL] = {"sort-bitvec", "distinct terms that are bit-vectors"},
        [F_SORT_BOOL + SORT_FLOAT - SORT_BOOL] = {"sort-float", "distinct terms that are floating-point numbers"},
        [F_SORT_BOOL + SORT_ARRAY - SORT_BOOL] = {"sort-array", "distinct terms that are arrays"},
        [F_SORT_BOOL + SORT_NAMED - SORT_BOOL] = {"sort-named", "distinct terms of declared sorts and datatypes"},
        [F_SORT_UNKNOWN] = {"sort-unknown", "distinct terms whose sort is not known"},
        [F_SORTS_USED] = {"sorts-used", "different sorts of terms"},
        [F_ATOMS] = {"atoms", "distinct terms of sort Bool that are no connective and no quantifier"},
        [F_CONNECTIVES] = {"connectives", "distinct not, and, or, xor, =>, and =, distinct and ite over Bool"},
        [F_INT_LITERAL_MAX] = {"int-literal-max", "the largest integer written"},
        [F_INT_LITERAL_SUM] = {"int-literal-sum", "the sum of the distinct integers written"},
        [F_REAL_LITERAL_MAX] = {"real-literal-max", "the largest decimal written"},
        [F_REAL_LITERAL_SUM] = {"real-literal-sum", "the sum of the distinct decimals written"},
        [F_NONLINEAR] = {"nonlinear", "distinct *, /, div, mod and rem with more than one argument that is no number"},
        [F_BITVEC_WIDTH_MAX] = {"bitvec-width-max", "bits of the widest bit-vector"},
        [F_BITVEC_WIDTH_SUM] = {"bitvec-width-sum", "bits of the used constants that are bit-vectors, together"},
        [F_BITVEC_LITERAL_MAX] = {"bitvec-literal-max", "the largest bit-vector of up to 64 bits written, as a number"},
        [F_ARRAY_NESTING] = {"array-nesting", "how deep arrays of arrays go"},
        [F_STORE_CHAIN] = {"store-chain", "the most stores upon each other"},
        [F_STRING_LITERAL_MAX] = {"string-literal-max", "characters of the longest string written"},
        [F_STRING_LITERAL_SUM] = {"string-literal-sum", "characters of the distinct strings written, together"},
        [F_REGEX_DEPTH] = {"regex-depth", "levels of the deepest regular expression"},
        [F_LOOP_MAX] = {"loop-max", "the largest number in re.loop and re.^"},
        [F_THEORY + THEORY_CORE] = {"theory-core", "distinct applications of operators of Core"},
        [F_THEORY + THEORY_ARITHMETIC] = {"theory-arithmetic", "distinct applications of operators of Ints and Reals"},
        [F_THEORY + THEORY_BITVECTORS] = {"theory-bitvectors", "distinct applications of operators of bit-vectors"},
        [F_THEORY + THEORY_FLOATS] = {"theory-floats", "distinct applications of operators of floating-point numbers"},
        [F_THEORY + THEORY_ARRAYS] = {"theory-arrays", "distinct applications of operators of arrays"},
        [F_THEORY + THEORY_STRINGS] = {"theory-strings", "distinct applications of operators of strings and regular expressions"},
};

static const struct feature cnf[N_CNF_FEATURES] = {
        [C_VARIABLES] = {"variables", "variables that the header announces, or more if more occur"},
        [C_CLAUSES] = {"clauses", "clauses"},
        [C_LITERALS] = {"literals", "literals of all clauses, together"},
        [C_VARIABLES_USED] = {"variables-used", "different variables that occur"},
        [C_LENGTH_MIN] = {"clause-length-min", "literals of the shortest clause"},
        [C_LENGTH_MAX] = {"clause-length-max", "literals of the longest clause"},
        [C_LENGTH_MEAN] = {"clause-length-mean", "literals by clauses"},
        [C_EMPTY] = {"clauses-empty", "clauses without a literal"},
        [C_UNIT] = {"clauses-unit", "clauses of one literal"},
        [C_BINARY] = {"clauses-binary", "clauses of two literals"},
        [C_TERNARY] = {"clauses-ternary", "clauses of three literals"},
        [C_LENGTH_4_TO_8] = {"clauses-4-to-8", "clauses of four to eight literals"},
        [C_LENGTH_9_UP] = {"clauses-9-up", "clauses of nine literals or more"},
        [C_HORN] = {"clauses-horn", "clauses of at most one positive literal"},
        [C_POSITIVE] = {"literals-positive", "positive literals, together"},
        [C_OCCURRENCES_MAX] = {"occurrences-max", "literals of the variable that occurs most"},
        [C_RATIO] = {"ratio", "clauses by variables used"},
};

/* Names and meanings of the operators' features: of all, once. */
static char operator_names[N_OPS][64], operator_meanings[N_OPS][96];

/* A name that several operators share says how many arguments it is about. */
static void name_operators(void)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const char *name = operator_row(op)->name;
                struct feature *f = &smt[N_SMT_FEATURES + op - 1];
                char *text = operator_names[op], *meaning = operator_meanings[op];
                bool is_shared = operator_next(operator_find(slice_string(name))) != OP_NONE;

                if (is_shared)
                        snprintf(text, sizeof(operator_names[op]), "op:%s/%zu", name, operator_n_args(op));
                else
                        snprintf(text, sizeof(operator_names[op]), "op:%s", name);
                snprintf(meaning, sizeof(operator_meanings[op]), "distinct applications of %s", text + 3);
                f->name = text;
                f->meaning = meaning;
        }
}

const struct feature *smt_features(size_t *ret_n)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, name_operators);
        *ret_n = ARRAY_SIZE(smt);
        return smt;
}

const struct feature *cnf_features(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(cnf);
        return cnf;
}

void features_done(struct features *f)
{
        free(f->values);
        *f = (struct features){0};
}

void features_print(const struct feature *table, const struct features *f, struct buffer *ret)
{
        for (size_t i = 0; i < f->n; i++)
                buffer_addf(ret, "%s\t%.12g\n", table[i].name, f->values[i]);
}
