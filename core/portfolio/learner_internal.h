/* Shared by the files of the learner: its state, and how a selector is called. */
#pragma once

#include "cache/base/random.h"
#include "core/portfolio/learner.h"

/* A selector chooses the next arm. All functions but next() may be NULL. */
struct selector {
        size_t size; /* of the selector's state, which is zeroed at first */
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        void (*begin)(struct learner *l, void *state); /* begins a query */
        /* The next turn, perhaps of an arm that had one before; `left`: seconds left of the limit, more than 0. False if none is worth it. */
        bool (*next)(struct learner *l, void *state, const struct attempt *attempts, double left, struct step *ret);
        /* Learns the outcome, the true one also of arms left out; the query is not yet in learner.seen. Called after begin() or expect(), perhaps without
         * next(). */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
        /* expected() gives the numbers that begin() has computed and learn() needs, and returns how many (`ret` may be NULL). expect() takes these
         * numbers, in place of begin(). */
        size_t (*expected)(const struct learner *l, const void *state, double *ret);
        void (*expect)(struct learner *l, void *state, const double *expected);
};

struct learner {
        struct learner_settings settings;
        size_t arms, features;
        size_t n;             /* queries learned from */
        struct attempt *seen; /* the attempts on each query, one for each arm */
        double *now;          /* the present query's features; NaN: not known */
        struct random random; /* seeded for each query, so that an unfinished query leaves no trace */
        const struct selector *selector;
        void *state;              /* the selector's */
        bool *left_out;           /* arms that get no turn */
        struct attempt *attempts; /* scratch of learner_next(), in which arms left out count as failed */
};

extern const struct selector selector_survival;

static inline const struct attempt *learner_seen(const struct learner *l, size_t i)
{
        return &l->seen[i * l->arms];
}
