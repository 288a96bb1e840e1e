/* Changes one DIMACS formula into another: in its literals, clauses and gates, or joined with another one. */
#pragma once

#include "cache/base/random.h"
#include "core/smtlib/cnf.h"

enum cnf_change {
        CNF_FLIP,        /* a literal is negated */
        CNF_DROP,        /* a literal, of a clause of several, is left out */
        CNF_EXTEND,      /* a clause gets a literal */
        CNF_DROP_CLAUSE, /* a clause is left out */
        CNF_ADD_CLAUSE,  /* a random one of 2 to 4 literals */
        CNF_DUPLICATE,   /* a clause, once more, with one literal negated */
        CNF_MERGE,       /* two clauses become one */
        CNF_RESOLVE,     /* the resolvent of two clauses joins them */
        CNF_SIGNS,       /* a variable changes its sign everywhere, or in half of its places */
        CNF_IDENTIFY,    /* two variables become one, or one the complement of the other */
        CNF_GATE,        /* an AND becomes an OR or a XOR, a XOR an AND, an equality its complement (cnf_gate.h) */
        CNF_ADD_XOR,     /* the parity of 2 to 4 variables is given */
        CNF_GRAFT,       /* the clauses of another formula join it, over variables of their own or in part of its own */
        N_CNF_CHANGES
};

/* One change, or up to eight of its kind. `other`: for CNF_GRAFT; may be NULL. -ENOENT: there is nothing to change so. *ret differs from `from`. */
int cnf_mutate(struct random *r, const struct cnf *from, enum cnf_change what, const struct cnf *other, struct cnf **ret);
