/* Shared by the files of the learner: its state, and the table of functions behind a selector. */
#pragma once

#include "cache/base/random.h"
#include "core/portfolio/learner.h"
#include "core/portfolio/past.h"

/* A method of choosing the next arm. Members but next() may be NULL. */
struct selector {
        size_t size; /* of its state, which begins as zeros */
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        void (*begin)(struct learner *l, void *state); /* a query */
        /* The next turn, perhaps of an arm that had one; `left`: seconds of the limit, more than 0. False: none is worth it. */
        bool (*next)(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret);
        /* The outcome, before the query is added to the past; behind begin() or expect(), perhaps without next(). */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
        /* The numbers that begin() finds and learn() needs, and how many (`ret` may be NULL); these numbers in place of begin(). */
        size_t (*expected)(const struct learner *l, const void *state, double *ret);
        void (*expect)(struct learner *l, void *state, const double *expected);
};

struct learner {
        struct learner_settings settings;
        size_t arms, features;
        struct past past;
        struct random random; /* seeded for each query, so that a query which does not end leaves no trace */
        const struct selector *selector;
        void *state;              /* the selector's */
        double *score;            /* of each arm; scratch of a selector */
        bool *left_out;           /* arms that get no turn */
        struct attempt *attempts; /* scratch: these arms count as failed */
};

extern const struct selector selector_survival, selector_medley;
/* Parts of the latter: puts the arms in the order in which they are tried; how long an arm may run that solved so many queries in so many seconds, if its
 * runtimes are exponential. */
void medley_order(struct learner *l, uint32_t *ret);
double exponential_share(const struct learner *l, double solved, double seconds);

static inline bool attempt_ran(const struct attempt *a)
{
        return a->ending != ENDING_NONE;
}
/* All arms by descending score; equal scores in random order. */
void learner_rank(struct learner *l, const double *score, uint32_t *ret);
/* The first place from `at` on of an arm that has not run; l->arms: none. */
size_t learner_next_untried(const struct learner *l, const uint32_t *order, const struct attempt *attempts, size_t at);
