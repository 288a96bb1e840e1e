/* Shared by the files of the learner: its state, and the tables of functions behind a selector and an allocation. */
#pragma once

#include "cache/base/random.h"
#include "core/portfolio/learner.h"
#include "core/portfolio/past.h"

/* A method of choosing the next arm. Members may be NULL where nothing else is said. */
struct selector {
        size_t size; /* of its state, which begins as zeros */
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        /* For an allocation: puts the arms in the order in which they are tried. *ret begins as 0, 1, … and stays a permutation. */
        void (*order)(struct learner *l, void *state, uint32_t *ret);
        /* The outcome, before the query is added to the past; behind begin() or expect(), perhaps without order(). */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
        void (*begin)(struct learner *l, void *state); /* a query; before order() */
        /* The numbers that begin() finds and learn() needs: how many; the numbers; these numbers in place of begin(). */
        size_t (*expectations)(const struct learner *l);
        void (*expected)(const struct learner *l, const void *state, double *ret);
        void (*expect)(struct learner *l, void *state, const double *expected);
        /* Without an allocation: the next turn, perhaps of an arm that had one. */
        bool (*next)(struct learner *l, void *state, const struct attempt *attempts, struct step *ret);
};

/* How long an arm may run before the next one gets its turn. init, done and learn may be NULL. */
struct allocation {
        size_t size;
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        double (*share)(struct learner *l, void *state, uint32_t arm); /* seconds; none: 0 or less */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
};

struct learner {
        struct learner_settings settings;
        size_t arms, features;
        struct past past;
        struct random random; /* seeded for each query, so that a query which does not end leaves no trace */
        const struct selector *selector;
        const struct allocation *allocation; /* NULL: selector->next() */
        void *selecting, *allocating;        /* their states */
        uint32_t *order;          /* of the present query, */
        size_t at;                /* and the place in it */
        double *score;            /* of each arm; scratch of a selector */
        bool *left_out;           /* arms that get no turn */
        struct attempt *attempts; /* scratch: these arms count as failed */
};

extern const struct selector selector_survival, selector_10nn;
extern const struct allocation allocation_expo;
/* How long an arm may run that solved so many queries in so many seconds, if its runtimes are exponential. */
double exponential_share(const struct learner *l, double solved, double seconds);

static inline bool attempt_ran(const struct attempt *a)
{
        return a->ending != ENDING_NONE;
}
/* Sorts the arms by descending score; equal scores in random order. */
void learner_rank(struct learner *l, const double *score, uint32_t *order);
