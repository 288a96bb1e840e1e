/* Weakening and strengthening of formulas, one step at a time (Bringolf, Winterer, Su, ASE 2022, section 3.3).
 *
 * A step applies a rule (rules.h) at one place of one assertion. The conjunction of the assertions becomes weaker (every model of the old one is a
 * model of the new one) or stronger (the other way round). The parity of the place (parity.h) decides in which direction the rule is read. The result
 * is always well-sorted and another formula. The new script shares the old one's bank; the old script stays as it was.
 *
 * A step is its rule, direction, place and seed. The seed determines everything drawn in it: matches, parameters, names of new variables. So a
 * recorded chain of steps, applied to the same formula, gives the same formulas again, also in another bank or program, unless a rule has changed.
 *
 * Threads: a struct weaken is only read and may be shared; a script and its bank belong to one thread at a time. */
#pragma once

#include "cache/base/random.h"
#include "core/smtlib/script.h"
#include "core/weaken/rules.h"

enum weaken_direction {
        WEAKEN,
        STRENGTHEN
};

struct weaken;
/* Reads the rules of a table. `rows` must outlive the result; NULL: rule_table. -EINVAL with a sentence: a rule cannot be read. */
int weaken_new(const struct rule_row *rows, size_t n, struct weaken **ret);
struct weaken *weaken_free(struct weaken *w);
DEFINE_CLEANUP(struct weaken *, weaken_free)
#define cleanup_weaken cleanup(weaken_freep)

size_t weaken_n_rules(const struct weaken *w);
const struct rule_row *weaken_rule(const struct weaken *w, size_t rule);
/* The index of the rule with this name; -ENOENT with a sentence. */
int weaken_find(const struct weaken *w, struct slice name, size_t *ret);

/* The operators that its rules can produce. */
void weaken_operators(const struct weaken *w, bool ret[N_OPS]);
/* Prints a formula that a solver decides at once if it supports the operator: one application to constants. -ENOENT with a sentence if none
 * is found with arguments of sort Bool, Int, Real, String or RegLan. */
int weaken_probe(enum op op, enum dialect dialect, struct buffer *ret);
/* The same with a quantifier. */
int weaken_probe_quantifier(enum term_kind kind, enum dialect dialect, struct buffer *ret);

struct weaken_options {
        uint64_t size_most;      /* nodes of an assertion as a tree; a step beyond it is not done. 0: no limit */
        const bool *rules;       /* for weaken_step(): by rule, true for each to use; NULL: all */
        bool (*keeps)(void *user, const struct term *t); /* a step is not done if this returns false for its new part; NULL: all are done */
        void *user;
};

struct weaken_step {
        size_t rule;
        enum weaken_direction direction; /* of the whole formula */
        size_t command;                  /* index of the assertion in script.commands */
        uint32_t *path;                  /* argument indices, from the assertion down; malloc'd */
        size_t n_path;
        uint32_t seed;
};
void weaken_step_done(struct weaken_step *s);
#define cleanup_weaken_step cleanup(weaken_step_done)

/* One random step: draws an assertion by its size, then a rule uniformly, then a place. `options` and `step` may be NULL. -ENOENT with a sentence if
 * no rule can be applied. */
int weaken_step(const struct weaken *w, const struct script *s, enum weaken_direction direction, struct random *random,
                const struct weaken_options *options, struct script **ret, struct weaken_step *step);
/* Repeats a step. -ENOENT with a sentence if it cannot be done in this script. Options can refuse the step; they do not change
 * what it gives. */
int weaken_apply(const struct weaken *w, const struct script *s, const struct weaken_step *step,
                 const struct weaken_options *options, struct script **ret);
/* Applies a rule to `s` at each place where that is possible, one at a time. `found` gets each new script, which it owns, and its step, which it
 * borrows; a result other than 0 ends the search and is returned. Algorithm 1 of the paper uses it. */
int weaken_each(const struct weaken *w, const struct script *s, size_t rule, enum weaken_direction direction,
                struct random *random, const struct weaken_options *options,
                int (*found)(void *user, struct script *with, const struct weaken_step *step), void *user);

/* "RULE\tweaken\tCOMMAND/ARG/ARG…@SEED\n": a line of rules.tsv. */
void weaken_step_print(const struct weaken *w, const struct weaken_step *s, struct buffer *ret);
/* Reads such a line, with or without its newline. -EINVAL or -ENOENT with a sentence. */
int weaken_step_parse(const struct weaken *w, struct slice line, struct weaken_step *ret);
