/* Choosing the findings worth reporting: findings of one cause are one group with one representative, and the groups are ranked.
 *
 * Findings are one group if they have the same signature, or the same kind, versions and shape of the reduced input, and no different commits
 * responsible. Slowdowns, where one test of a reduction takes seconds, may also be grouped before they are reduced to the end: a finding joins a
 * representative if every assertion of the representative's reduced input has the shape of some part of it; and two findings are relatives if three
 * quarters of their terms are the same but for names and values. The representative is the smallest.
 *
 * Wrong answers and crashes come first; then unknowns (without quantifiers before with, decidable logics before others, then the smaller); then
 * slowdowns, those that hold under most seeds first, then the smaller.
 *
 * From what is stored; nothing is measured. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

struct pieces {
        uint64_t *list;
        size_t n;
};

struct finding_choice {
        struct observation *finding;         /* a reference */
        uint64_t size;                   /* bytes of the input */
        uint64_t reduced;                /* of the reduced one, an implication's as well; 0: it is not reduced */
        char culprit[GIT_OID_HEXSZ + 1]; /* "": not localized, or not to one commit; of a representative: nor is one that it stands for */
        bool has_quantifier, is_decidable;
        uint64_t count; /* inputs it stands for, itself among them */
        char *skeleton;  /* owned; the shape of the reduced input, or NULL */
        bool is_cut_off; /* it could have become smaller */
        struct pieces pieces; /* owned; likewise */
        char *parts;     /* owned; of a slowdown: formula_parts() of the input, or NULL */
        bool is_representative;
};

/* All of a solver's, ranked; those of a group one behind the other, the representative first. finding_choices_free(). */
int findings_select(struct workspace *w, struct solver *s, struct finding_choice **ret, size_t *ret_n);
void finding_choices_free(struct finding_choice *list, size_t n);

/* Is satisfiability in this logic of SMT-LIB decidable? "QF_NRA": yes; "NIA", "ALL", "-", what is not known: no. */
bool logic_is_decidable(const char *logic);
/* The shape of a formula: its assertions. A constant is known by its sort, a bound variable by a number. A term without either is a value of its sort,
 * unless it is a whole assertion. All binary relations are identified, up to symmetry. Adjacent arguments of equal shape are collapsed in lists such as that
 * of str.++. Of DIMACS: the parts of core/fuzz/formula.h. free(*ret). -EINVAL: it does not parse. */
int formula_skeleton(struct slice text, char **ret);
/* The shapes of the Boolean terms in its assertions, without the very large ones: a line each, behind an empty line. None of DIMACS. free(*ret). */
int formula_parts(struct slice text, char **ret);
/* Are all assertions of a skeleton among the parts of another formula? False of one without assertions. */
bool shape_occurs(const char *skeleton, const char *parts);
/* Each of its terms by its operator, its sort and those of its arguments, without names and values; a hash each, sorted. Of DIMACS as
 * above. free(ret->list), also after an error. */
int formula_pieces(struct slice text, struct pieces *ret);
/* Are three quarters of both the same? False of small ones. */
bool pieces_are_alike(const struct pieces *a, const struct pieces *b);
