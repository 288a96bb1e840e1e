/* The features that are not simply the count of an operator, a row each: number, name and meaning. A file that includes this defines SMT_FEATURE or
 * CNF_FEATURE, and gets the rows of that macro. */
/* clang-format off: a row is a line */

#ifdef SMT_FEATURE
/* commands */
SMT_FEATURE(F_COMMANDS, "commands", "commands of the script")
SMT_FEATURE(F_ASSERTS, "asserts", "assert commands")
SMT_FEATURE(F_CHECKS, "checks", "check-sat and other commands that ask")
SMT_FEATURE(F_SORTS_DECLARED, "sorts-declared", "declare-sort and declare-datatypes commands")
SMT_FEATURE(F_CONSTANTS_DECLARED, "constants-declared", "declared functions without arguments: the free variables")
SMT_FEATURE(F_FUNCTIONS_DECLARED, "functions-declared", "declared functions with arguments")
SMT_FEATURE(F_FUNCTION_ARITY, "function-arity", "the most arguments of a declared function")
SMT_FEATURE(F_DEFINITIONS, "definitions", "define-fun and define-fun-rec commands")
SMT_FEATURE(F_LEVELS, "levels", "the most levels that push opened at once")
SMT_FEATURE(F_OPAQUE, "opaque-commands", "commands that were not understood and stay text")
/* graph */
SMT_FEATURE(F_DAG_SIZE, "dag-size", "distinct terms, each counted once")
SMT_FEATURE(F_TREE_SIZE, "tree-size", "terms if nothing were shared, at most 1.8e19")
SMT_FEATURE(F_SHARING, "sharing", "tree-size by dag-size")
SMT_FEATURE(F_EDGES, "edges", "arguments of the distinct terms")
SMT_FEATURE(F_DEPTH, "depth", "levels of the deepest term")
SMT_FEATURE(F_ARITY, "arity", "the most arguments of a term")
SMT_FEATURE(F_LARGEST_ASSERT, "largest-assert", "tree-size of the largest asserted term, at most 1.8e19")
/* kinds of terms */
SMT_FEATURE(F_LITERALS, "literals", "distinct numbers, strings and bit-vectors")
SMT_FEATURE(F_CONSTANTS, "constants", "distinct declared constants that are used")
SMT_FEATURE(F_APPLICATIONS, "applications", "distinct applications of declared or defined functions to arguments")
SMT_FEATURE(F_OPERATORS_USED, "operators-used", "different operators that occur")
SMT_FEATURE(F_FOREIGN_TERMS, "foreign-terms", "distinct applications of what is not modelled")
SMT_FEATURE(F_ANNOTATIONS, "annotations", "distinct annotations of terms, an attribute each")
SMT_FEATURE(F_PATTERNS, "patterns", "of these, patterns for or against instantiation")
/* quantifiers */
SMT_FEATURE(F_FORALLS, "foralls", "distinct universal quantifiers")
SMT_FEATURE(F_EXISTS, "exists", "distinct existential quantifiers")
SMT_FEATURE(F_LAMBDAS, "lambdas", "distinct lambda terms")
SMT_FEATURE(F_BOUND_VARIABLES, "bound-variables", "variables that distinct quantifiers bind, together")
SMT_FEATURE(F_QUANTIFIER_NESTING, "quantifier-nesting", "the most quantifiers within each other")
SMT_FEATURE(F_QUANTIFIER_ALTERNATION, "quantifier-alternation",
            "the most changes between forall and exists from the outside in, as written: negation does not count")
SMT_FEATURE(F_QUANTIFIED_TERMS, "quantified-terms", "distinct terms that hold a quantifier")
/* sorts: of distinct terms, in the order of enum sort_kind from SORT_BOOL on */
SMT_FEATURE(F_SORT_BOOL, "sort-bool", "distinct terms of sort Bool")
SMT_FEATURE(F_SORT_INT, "sort-int", "distinct terms of sort Int")
SMT_FEATURE(F_SORT_REAL, "sort-real", "distinct terms of sort Real")
SMT_FEATURE(F_SORT_STRING, "sort-string", "distinct terms of sort String")
SMT_FEATURE(F_SORT_REGLAN, "sort-reglan", "distinct terms of sort RegLan")
SMT_FEATURE(F_SORT_ROUNDING_MODE, "sort-rounding-mode", "distinct terms of sort RoundingMode")
SMT_FEATURE(F_SORT_BITVEC, "sort-bitvec", "distinct terms that are bit-vectors")
SMT_FEATURE(F_SORT_FLOAT, "sort-float", "distinct terms that are floating-point numbers")
SMT_FEATURE(F_SORT_ARRAY, "sort-array", "distinct terms that are arrays")
SMT_FEATURE(F_SORT_NAMED, "sort-named", "distinct terms of declared sorts and datatypes")
SMT_FEATURE(F_SORT_UNKNOWN, "sort-unknown", "distinct terms whose sort is not known")
SMT_FEATURE(F_SORTS_USED, "sorts-used", "different sorts of terms")
/* Boolean structure */
SMT_FEATURE(F_ATOMS, "atoms", "distinct terms of sort Bool that are no connective and no quantifier")
SMT_FEATURE(F_CONNECTIVES, "connectives", "distinct not, and, or, xor, =>, and =, distinct and ite over Bool")
/* arithmetic */
SMT_FEATURE(F_INT_LITERAL_MAX, "int-literal-max", "the largest integer written")
SMT_FEATURE(F_INT_LITERAL_SUM, "int-literal-sum", "the sum of the distinct integers written")
SMT_FEATURE(F_REAL_LITERAL_MAX, "real-literal-max", "the largest decimal written")
SMT_FEATURE(F_REAL_LITERAL_SUM, "real-literal-sum", "the sum of the distinct decimals written")
SMT_FEATURE(F_NONLINEAR, "nonlinear", "distinct *, /, div, mod and rem with two arguments that are no numbers, or with such a divisor")
/* bit-vectors */
SMT_FEATURE(F_BITVEC_WIDTH_MAX, "bitvec-width-max", "bits of the widest bit-vector")
SMT_FEATURE(F_BITVEC_WIDTH_SUM, "bitvec-width-sum", "bits of the used constants that are bit-vectors, together")
SMT_FEATURE(F_BITVEC_LITERAL_MAX, "bitvec-literal-max", "the largest bit-vector of up to 64 bits written, as a number")
/* arrays */
SMT_FEATURE(F_ARRAY_NESTING, "array-nesting", "how deep arrays of arrays go")
SMT_FEATURE(F_STORE_CHAIN, "store-chain", "the most stores upon each other")
/* strings */
SMT_FEATURE(F_STRING_LITERAL_MAX, "string-literal-max", "characters of the longest string written")
SMT_FEATURE(F_STRING_LITERAL_SUM, "string-literal-sum", "characters of the distinct strings written, together")
SMT_FEATURE(F_REGEX_DEPTH, "regex-depth", "levels of the deepest regular expression")
SMT_FEATURE(F_LOOP_MAX, "loop-max", "the largest number in re.loop and re.^")
/* theories: distinct applications, in the order of enum theory */
SMT_FEATURE(F_THEORY_CORE, "theory-core", "distinct applications of operators of Core")
SMT_FEATURE(F_THEORY_ARITHMETIC, "theory-arithmetic", "distinct applications of operators of Ints and Reals")
SMT_FEATURE(F_THEORY_BITVECTORS, "theory-bitvectors", "distinct applications of operators of bit-vectors")
SMT_FEATURE(F_THEORY_FLOATS, "theory-floats", "distinct applications of operators of floating-point numbers")
SMT_FEATURE(F_THEORY_ARRAYS, "theory-arrays", "distinct applications of operators of arrays")
SMT_FEATURE(F_THEORY_STRINGS, "theory-strings", "distinct applications of operators of strings and regular expressions")
#undef SMT_FEATURE
#endif

#ifdef CNF_FEATURE
CNF_FEATURE(C_VARIABLES, "variables", "variables that the header announces, or more if more occur")
CNF_FEATURE(C_CLAUSES, "clauses", "clauses")
CNF_FEATURE(C_LITERALS, "literals", "literals of all clauses, together")
CNF_FEATURE(C_VARIABLES_USED, "variables-used", "different variables that occur")
CNF_FEATURE(C_LENGTH_MIN, "clause-length-min", "literals of the shortest clause")
CNF_FEATURE(C_LENGTH_MAX, "clause-length-max", "literals of the longest clause")
CNF_FEATURE(C_LENGTH_MEAN, "clause-length-mean", "literals by clauses")
CNF_FEATURE(C_EMPTY, "clauses-empty", "clauses without a literal")
CNF_FEATURE(C_UNIT, "clauses-unit", "clauses of one literal")
CNF_FEATURE(C_BINARY, "clauses-binary", "clauses of two literals")
CNF_FEATURE(C_TERNARY, "clauses-ternary", "clauses of three literals")
CNF_FEATURE(C_LENGTH_4_TO_8, "clauses-4-to-8", "clauses of four to eight literals")
CNF_FEATURE(C_LENGTH_9_UP, "clauses-9-up", "clauses of nine literals or more")
CNF_FEATURE(C_HORN, "clauses-horn", "clauses of at most one positive literal")
CNF_FEATURE(C_POSITIVE, "literals-positive", "positive literals, together")
CNF_FEATURE(C_OCCURRENCES_MAX, "occurrences-max", "literals of the variable that occurs most")
CNF_FEATURE(C_RATIO, "ratio", "clauses by variables used")
#undef CNF_FEATURE
#endif
/* clang-format on */
