/* Chooses the findings worth reporting: findings of one cause form a group with one representative, and the groups are ranked.
 *
 * Findings form a group if they have the same signature, or the same kind, versions and shape of the reduced input, and not two different responsible
 * commits. Slowdowns, for which one test of a reduction takes seconds, are also grouped before they are fully reduced: a finding joins a representative
 * if every assertion of the representative's reduced input has the shape of some part of the finding's input; or, if neither is fully reduced, if three
 * quarters of their terms are the same except for names and values. The representative is the first of its group in the ranking.
 *
 * Wrong answers and crashes come first; then unknowns (without quantifiers before with, decidable logics before others, then the smaller); then
 * slowdowns, those that hold under most seeds first, then the smaller.
 *
 * Reads stored results; measures nothing. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

struct pieces { /* of a formula: formula_pieces() */
        uint64_t *list;
        size_t n;
};

struct finding_choice {
        struct observation *finding;         /* a reference */
        uint64_t size;                   /* bytes of the input */
        uint64_t reduced;                /* bytes of the reduced input, also of an implication; 0: not reduced */
        char culprit[GIT_OID_HEXSZ + 1]; /* sha; "": not localized to one commit. A representative without one gets its group's */
        bool has_quantifier, is_decidable;
        uint64_t count; /* inputs it represents, including itself; of a representative, its group's */
        char *skeleton;  /* owned; the shape of the reduced input, or NULL */
        bool is_cut_off; /* its reduction was cut off: it could become smaller */
        struct pieces pieces; /* owned; of a slowdown's input; else empty */
        char *parts;     /* owned; of a slowdown: formula_parts() of the input; NULL: it does not parse, or is lost */
        bool is_representative;
};

/* All findings of a solver, ranked, group by group, each with its representative first. finding_choices_free(). */
int findings_select(struct workspace *w, struct solver *s, struct finding_choice **ret, size_t *ret_n);
void finding_choices_free(struct finding_choice *list, size_t n);

/* True if satisfiability in this logic of SMT-LIB is known to be decidable: "QF_NRA", but not "NIA", "ALL", "-" or an unknown logic. */
bool logic_is_decidable(const char *logic);
/* The shape of a formula: its assertions. A declared constant is replaced by its sort, a bound variable by a number. A term that has neither is
 * a value of its sort, unless it is a whole assertion. All binary relations are identified, up to symmetry. Adjacent arguments of equal shape are
 * collapsed in lists such as that of str.++. Of DIMACS: its parts (core/fuzz/formula.h). free(*ret). -EINVAL: it does not parse. */
int formula_skeleton(struct slice text, char **ret);
/* The shapes of the Boolean terms in a formula's assertions, except very large ones: an empty line, then a line each. DIMACS has none. free(*ret). */
int formula_parts(struct slice text, char **ret);
/* True if all assertions of a skeleton are among the parts of another formula; false for a skeleton without assertions. */
bool shape_occurs(const char *skeleton, const char *parts);
/* The pieces of a formula: for each term with arguments, a hash of its and their operators and sorts, without names and values; sorted. Of DIMACS:
 * its parts. free(ret->list), also after an error. */
int formula_pieces(struct slice text, struct pieces *ret);
/* True if three quarters of both are the same; false for small ones. */
bool pieces_are_alike(const struct pieces *a, const struct pieces *b);
