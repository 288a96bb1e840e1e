/* Shared by the files of the learner: its state, and the tables of functions behind a selector and an allocation. */
#pragma once

#include "cache/base/random.h"
#include "core/portfolio/learner.h"
#include "core/portfolio/past.h"

/* Puts the arms in the order in which they should be tried. */
struct selector {
        size_t size; /* of its state, which begins as zeros */
        int (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        /* For an allocation. *ret begins as 0, 1, …; it is to stay a permutation. NULL: it goes with its own plan only. */
        void (*order)(struct learner *l, void *state, uint32_t *ret);
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
        bool *left_out;           /* arms that get no turn */
        struct attempt *attempts; /* scratch: as if these had failed */
};

extern const struct selector selector_survival, selector_10nn;
extern const struct allocation allocation_expo;
/* How long an arm may run that solved so many queries in so many seconds, of exponential runtimes. */
double exponential_share(const struct learner *l, double solved, double seconds);

static inline bool attempt_ran(const struct attempt *a)
{
        return a->ending != ENDING_NONE;
}
/* Sorts the arms by descending score; equal ones in random order. */
void learner_rank(struct learner *l, const double *score, uint32_t *order);
