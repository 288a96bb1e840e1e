/* An online learner: for each query it decides which arm runs next and for how long, and learns from the outcome.
 *
 *     learner_begin(l, features);
 *     while (learner_next(l, attempts, &step))
 *             run arm step.arm until it has had step.until seconds; put the outcome into attempts[step.arm]; stop when it is solved
 *     learner_end(l, attempts);
 *
 * A query that begins and does not end leaves no trace. learner_tell() is learner_begin() and learner_end() in one. It is cheaper if the caller
 * passes what learner_expected() returned when the query began.
 *
 * A learner depends on these calls alone: equal calls and an equal seed give equal steps. To save a learner, save the features, attempts and
 * expectations of its queries; to load it, tell them to a new one.
 *
 * Threads: one at a time per learner; learners share nothing. */
#pragma once

#include "cache/base/util.h"

/* How running an arm on a query ended. */
enum ending {
        ENDING_NONE,    /* it was not run */
        ENDING_SOLVED,  /* sat or unsat after `seconds` */
        ENDING_FAILED,  /* it ended by itself without an answer: unknown, error, crash, memout, unbuildable */
        ENDING_STOPPED, /* still running at the end of its time */
};

/* One arm on one query; `seconds` are the arm's own, over all its turns. */
struct attempt {
        enum ending ending;
        double seconds;
};

struct learner;

/* Parts of the default method that an ablation can leave out. */
enum {
        WITHOUT_FEATURES = 1, /* every earlier query counts the same */
        WITHOUT_HARDNESS = 2, /* no model of runtimes: only what similar queries showed */
        WITHOUT_CURVES = 4,   /* the model of runtimes alone */
        WITHOUT_PAUSING = 8,  /* each arm gets one turn */
        WITHOUT_GUARD = 16,   /* no limit on how far the learner may fall behind its best arm */
};

/* Another method of choosing an arm, to compare the default with; tests/bench/baselines.h has some. Its functions: learner_internal.h. */
struct method {
        const char *name;
        const struct selector *selector;
        const void *parameters; /* of the selector */
};

struct learner_settings {
        const struct method *method; /* NULL: the default; used only by learner_new() and its callees */
        double limit;                /* seconds for all arms of a query together; > 0 */
        uint64_t seed;
        unsigned without; /* WITHOUT_*; for the default */
};

/* -EINVAL if the limit is out of range, or there is no arm. */
int learner_new(const struct learner_settings *settings, size_t arms, size_t features, struct learner **ret);
void learner_free(struct learner *l);
DEFINE_CLEANUP(struct learner *, learner_free)
#define cleanup_learner cleanup(learner_freep)

/* With is_left_out the arm gets no turns. */
void learner_leave_out(struct learner *l, uint32_t arm, bool is_left_out);

struct step {
        uint32_t arm;
        double until; /* seconds of the arm at the end of this turn, over all its turns */
};

/* Begins a query with these features (NaN: not known). */
void learner_begin(struct learner *l, const double *features);
/* The next step for an unsolved query. False if the limit is used up, or every arm has ended. */
bool learner_next(struct learner *l, const struct attempt *attempts, struct step *ret);
/* Ends the latest query with this outcome, and learns from it. */
void learner_end(struct learner *l, const struct attempt *attempts);

/* The method's expectation of the latest query, as numbers (`ret` may be NULL). Returns how many there are; 0: none. */
size_t learner_expected(const struct learner *l, double *ret);
/* Learns the outcome of a query. `expected`: learner_expected() when it began; NULL: computed now. */
void learner_tell(struct learner *l, const double *features, const double *expected, const struct attempt *attempts);
