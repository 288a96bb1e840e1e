/* Shared by the files of the strategy, and by the strategies that tests compare it with. An arm is a source of inputs or an operator; candidates, wanted
 * ones and finds: strategy.h. */
#pragma once

#include "cache/base/transfer.h"
#include "core/fuzz/generate.h"
#include "core/fuzz/strategy.h"

/* -- bandit.c: a multi-armed bandit by Thompson sampling. The chance of success of each arm has a Beta distribution, at first Beta(1, 1); the arm with
 * the largest draw is chosen (BanditFuzz, section 3.3; Russo et al., "A tutorial on Thompson sampling", 2018, algorithm 3.2). */

struct bandit {
        double *successes, *failures; /* owned; one for each arm, at least 1; a success or failure adds its weight */
        size_t n;
};
void bandit_init(struct bandit *b, size_t n);
void bandit_done(struct bandit *b);
#define cleanup_bandit cleanup(bandit_done)

/* `is_open`: the arms that may be chosen; NULL: all. `cost`: one for each arm, greater than zero, so that the chance of success per unit of cost
 * counts; NULL: equal. SIZE_MAX if none may be chosen. */
size_t bandit_choose(const struct bandit *b, struct random *random, const bool *is_open, const double *cost);
static inline double bandit_mean(const struct bandit *b, size_t arm) /* the arm's expected chance of success */
{
        return b->successes[arm] / (b->successes[arm] + b->failures[arm]);
}

/* -- family.c: families of finds: inputs that a campaign need not look for again. The cause of a find is not known during a campaign. In its place a
 * rule names one or two parts (formula.h): 30 % or more of the inputs with these parts are finds (up to 90 % where finds are common), and several of
 * these finds have no better rule. The rules are a greedy cover by precision and reach (Fürnkranz, "Separate-and-conquer rule learning", Artificial
 * Intelligence Review, 1999).
 *
 * Threads: a set of families belongs to one thread at a time. Equal calls give equal families. */

struct families;
struct families *families_new(void);
struct families *families_free(struct families *f); /* returns NULL; `f` may be NULL */

/* Counts an input whose runs have ended: missed if it is no find, else found. */
void families_missed(struct families *f, const struct shape *s);
void families_found(struct families *f, const struct shape *s);
/* Counts an unconfirmed candidate as one more of its family: it adds to the precision of rules of one part like a find, and no rule is made from it. */
void families_assumed(struct families *f, const struct shape *s);
/* True if a rule explains inputs with this shape. */
bool families_know(const struct families *f, const struct shape *s);
void families_transfer(struct transfer *t, struct families *f);

/* -- strategy.c -- */

/* An input under way, or one that the strategy's state keeps (strategy_type.keeps), such as a member of a population. */
struct input {
        uint64_t id;           /* 0: not given out yet */
        struct formula formula; /* owned */
        struct buffer text;
        const char *source;
        size_t arm;               /* the arm that made it; SIZE_MAX: none */
        size_t parent;            /* of a mutant: its parent's index in the population */
        uint64_t lineage;         /* of a mutant of the novelty strategy: the id of the first of its ancestors; else 0 */
        struct shape shape;       /* set by the novelty strategy */
        struct outcome *outcomes; /* owned; one for each version */
        bool *ran;                /* owned */
        bool is_out;              /* given out, not finished */
        bool is_candidate;        /* the score is above the threshold; from finish() on: and the input was wanted */
        bool is_passed_over;      /* the score is above the threshold, and the input was not wanted; set before finish() */
        double score;
        unsigned pair[2]; /* the versions that the score compares: a reference, then the later one */
};

struct strategy {
        struct strategy_options options;
        struct formula *corpus; /* owned */
        struct generate_options generate;
        struct generator *generator; /* owned */
        struct random random;
        const struct strategy_type *type;
        struct input **under_way; /* owned, with the inputs, except for those that the state keeps */
        size_t n_under_way;
        uint64_t last_id;
        void *state; /* the type's, which owns it */
};

struct strategy_type {
        void (*begin)(struct strategy *s);
        void (*end)(struct strategy *s);
        /* Errors as of strategy_next(). *ret is under way from now on, and freed at its end unless keeps() is true for it. */
        int (*next)(struct strategy *s, struct input **ret);
        /* The next version and its time; false: enough. Not called with every_version. */
        bool (*step)(struct strategy *s, struct input *i, unsigned *ret_version, double *ret_seconds);
        /* These may be NULL; transfer() only if the state is never saved. */
        bool (*wants)(const struct strategy *s, const struct input *i); /* of a candidate: true if it is worth confirming */
        void (*finish)(struct strategy *s, struct input *i); /* score and is_candidate are set before */
        void (*confirmed)(struct strategy *s, struct input *i, bool is_find);
        bool (*keeps)(const struct strategy *s, const struct input *i); /* true if the state still owns an input that is finished */
        size_t (*arms)(const struct strategy *s, struct strategy_arm *ret, size_t most);
        void (*transfer)(struct strategy *s, struct transfer *t); /* writes or reads the state; a type that has it has no keeps() */
};
extern const struct strategy_type strategy_novelty;

struct input *input_free(struct input *i); /* returns NULL; `i` may be NULL */
struct input *input_new(const struct strategy *s, struct formula f, const char *source); /* takes the formula; the text is made later */

/* Each version in turn, with the whole timeout. */
bool step_every_version(struct strategy *s, struct input *i, unsigned *ret_version, double *ret_seconds);
/* Seconds until it was solved; the timeout without sat or unsat. */
double solved_after(const struct strategy *s, const struct outcome *o);
/* strategy_cnf.c: DIMACS of a random family; `magnitude` is 0 (small) to 3 (large). */
struct formula make_cnf(struct strategy *s, unsigned magnitude);
/* One to three changes of `from`, which is DIMACS. Empty if it cannot be changed. */
struct formula mutate_cnf(struct strategy *s, const struct formula *from);
/* A random member of the corpus; NULL if there is no corpus. */
const struct formula *corpus_draw(struct strategy *s);

/* -- strategy_save.c: a strategy's state. Reading needs an empty object, and an initialized bandit -- */

void transfer_formula(struct transfer *t, struct formula *f);
void transfer_shape(struct transfer *t, struct shape *s);
void transfer_shapes(struct transfer *t, struct shape **list, size_t *n);
void transfer_counts(struct transfer *t, struct shape_counts *c);
void transfer_bandit(struct transfer *t, struct bandit *b);
