/* Rules of weakening and strengthening, and the table of them.
 *
 * A rule has two sides, and its left side is never weaker: if both are Boolean, left implies right; if both are regular expressions, every word of
 * left is one of right. Read from left to right a rule weakens, from right to left it strengthens; an equivalence does both and is allowed under any
 * parity. Source: Bringolf, Winterer, Su, "Finding and Understanding Incompleteness Bugs in SMT Solvers", ASE 2022, table 1, with side conditions
 * where a row does not hold as printed, and further rules of the same kind.
 *
 * The language of a side is SMT-LIB's, and
 *     ?x:Sort       a variable; its sort is given once in a rule: Bool, Int, Real, String, RegLan, Num (Int or Real, one of them for all Num
 *                   of a rule), Any (any but RegLan, one sort for all Any of a rule), Free (any but RegLan). A variable that only the
 *                   side to be built has is a parameter: a term of the file is drawn for it, or a literal.
 *     ?x:Num+       a literal above 0 (also Int+); ?x:String+: a literal that is not empty; ?x:Char: a string literal of one character
 *     ?x:Sort...    a run of arguments, perhaps none; (f ?x)...: f of each argument of the run
 *     (?f ?x...)    an application of one function, the same in all of the rule
 *     (_ re.loop 1 ?n)  ?n is an index of at least 1; if it is a parameter, it is drawn from 1 to 9
 *     (exists ((!b Bool)) …)  !b is a new variable; in a match, it must not occur in the terms of the rule's variables
 *     (forall @ ?p)  any forall, with its variables and the body ?p; likewise exists
 * and, only on a side that is built: (_ re.^ #x), the length of the run ?x as an index; (instance @ ?p), the matched quantifier with a term for one
 * of its variables; (generalize exists ?p), ?p with a closed subterm replaced by a new variable, which exists binds; (pairs ?x... ?y...), equality
 * of the runs, argument by argument; (wider ?a ?b), a range of characters around that from ?a to ?b; (narrower ?a ?b), one within it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum rule_relation {
        RULE_IMPLIES,
        RULE_EQUIVALENT
};

struct rule_row {
        const char *name; /* unique */
        const char *left;
        enum rule_relation relation;
        const char *right;
};
extern const struct rule_row rule_table[];
extern const size_t rule_table_n;
