/* An online learner: for each query it says which arm runs next and for how long, and learns from what came of it.
 *
 *     learner_begin(l, features);
 *     while (learner_next(l, attempts, &step))
 *             run arm step.arm until it has had step.until seconds, put what came of it into attempts[step.arm]; leave when it is solved
 *     learner_end(l, attempts);
 *
 * A query that begins and does not end leaves no trace. learner_tell() is learner_begin() and learner_end() in one; it is cheaper where the
 * caller hands in the expectation that the query began with.
 *
 * A learner knows only what these calls told it: the same calls and the same seed give the same steps, and a learner is saved by
 * saving its queries' features, attempts and expectations, and loaded by telling them to a new one.
 *
 * Not thread-safe per learner; nothing is shared between learners. */
#pragma once

#include "core/portfolio/run_table.h"

struct learner;

/* Parts of the default that an ablation leaves out. */
enum {
        WITHOUT_FEATURES = 1, /* every earlier query counts the same */
        WITHOUT_HARDNESS = 2, /* no model of runtimes: hazards are counted alone, over a flat prior */
        WITHOUT_CURVES = 4,   /* the model alone: no hazards counted among similar queries */
        WITHOUT_PAUSING = 8,  /* each arm gets one turn */
        WITHOUT_GUARD = 16,   /* however far it is behind its best arm */
};

/* How a learner chooses: a selector and an allocation, which learner_internal.h defines. tests/bench measures others beside these. */
struct method {
        const char *name, *allocation_name, *summary;
        const struct selector *selector;
        const struct allocation *allocation; /* NULL: the selector's own plan, which may come back to an arm */
};
extern const struct method learner_methods[]; /* the default first; a row without a name ends them */
/* -EINVAL with the names there are. */
int learner_method(const char *name, const struct method **ret);

struct learner_settings {
        const struct method *method; /* NULL: the default; only learner_new() looks at it */
        double limit;                /* T: seconds for all arms of a query together; > 0 */
        uint64_t seed;
        unsigned without; /* WITHOUT_*; for the default */
};

/* -EINVAL: a limit out of range, no arm. */
int learner_new(const struct learner_settings *settings, size_t arms, size_t features, struct learner **ret);
void learner_free(struct learner *l);
DEFINE_CLEANUP(struct learner *, learner_free)
#define cleanup_learner cleanup(learner_freep)

/* The arm gets no turn any more, or does again. */
void learner_leave_out(struct learner *l, uint32_t arm, bool is_left_out);

struct step {
        uint32_t arm;
        double until; /* seconds the arm shall have had then, all its turns together */
};

/* A query with these features comes (NaN: not known). -ENOMEM. */
int learner_begin(struct learner *l, const double *features);
/* The next step for a query that is not solved yet. False: the limit is used up, or no arm is left. */
bool learner_next(struct learner *l, const struct attempt *attempts, struct step *ret);
/* Tells the outcome of the query that began last. -ENOMEM: nothing was learned. */
int learner_end(struct learner *l, const struct attempt *attempts);

/* The method's expectation of the query that began last, as so many numbers. 0: it has none. */
size_t learner_expectations(const struct learner *l);
void learner_expected(const struct learner *l, double *ret);
/* Tells the outcome of a query that began with this expectation (NULL: work it out as of now). -ENOMEM: nothing was learned. */
int learner_tell(struct learner *l, const double *features, const double *expected, const struct attempt *attempts);
