/* Shared by the files of the learner: its state, and the tables of functions behind a selector's and an allocation's name. */
#pragma once

#include "cache/base/random.h"
#include "core/portfolio/learner.h"
#include "core/portfolio/past.h"

/* Puts the arms in the order in which they should be tried. */
struct selector {
        size_t size; /* of its state, which begins as zeros */
        int (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        void (*order)(struct learner *l, void *state, uint32_t *ret); /* begins as 0, 1, …; it is to stay a permutation */
        /* Before the query is in the past. There was a begin() or an expect(), and perhaps no order(). */
        int (*learn)(struct learner *l, void *state, const struct attempt *attempts);
        int (*begin)(struct learner *l, void *state); /* a query; before order() */
        /* The numbers that begin() worked out and learn() needs: how many, written out, and taken in place of begin(). NULL: none. */
        size_t (*expectations)(const struct learner *l);
        void (*expected)(const struct learner *l, const void *state, double *ret);
        void (*expect)(struct learner *l, void *state, const double *expected);
        /* A plan of its own, that may come back to an arm; NULL when it has none. */
        bool (*next)(struct learner *l, void *state, const struct attempt *attempts, struct step *ret);
};

/* How long an arm may run before the next one gets its turn. */
struct allocation {
        size_t size;
        int (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        double (*share)(struct learner *l, void *state, uint32_t arm); /* seconds in [0, limit] */
        int (*learn)(struct learner *l, void *state, const struct attempt *attempts);
};

struct learner {
        struct learner_settings settings;
        size_t arms, features;
        struct past past;
        struct random random; /* for each query one of its own, so that one which does not end leaves no trace */
        const struct selector *selector;
        const struct allocation *allocation; /* NULL: the selector's own plan */
        void *selecting, *allocating;        /* their states */
        uint32_t *order;                     /* of the present query */
        double *shares;
        double *score; /* of each arm; a selector's scratch */
        size_t at;     /* in the order */
        uint32_t *fixed;
        bool *left_out;           /* arms that get no turn */
        struct attempt *attempts; /* scratch: as if these had failed */
};

extern const struct selector selector_thompson, selector_epsilon, selector_exp3, selector_random,
        selector_fixed;                                                    /* order_bandit.c */
extern const struct selector selector_1nn, selector_10nn, selector_linucb; /* order_context.c */
extern const struct selector selector_neural, selector_static, selector_survival;
extern const struct allocation allocation_expo, allocation_nearest, allocation_linear, allocation_constant, allocation_none;

double learner_reward(const struct learner *l, const struct attempt *a);
static inline bool attempt_ran(const struct attempt *a)
{
        return a->ending != ENDING_NONE;
}
/* Sorts the arms by descending score; equal ones in random order. */
void learner_rank(struct learner *l, const double *score, uint32_t *order);
