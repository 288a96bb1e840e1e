/* A strategy decides which input a campaign runs next, and on which versions. It starts nothing and reads no clock and no file: its decisions follow
 * from its seed and the calls that it gets, in order. So an interrupted campaign goes on by repeating its recorded calls to a new strategy; if it
 * also saved the strategy's state, it repeats only later calls.
 *
 *     strategy_next()  ─▶ an input
 *           strategy_step()  ─▶ a version to run it on, with the longest time that could matter; false: enough is known
 *           strategy_ran()      the result
 *     strategy_wants()   ─▶ true for a candidate that is worth confirming
 *     strategy_finish()
 *     strategy_confirmed()     whether the campaign's own, careful runs confirm it
 *
 * Several inputs may be under way at once. The last version is the target, the others are references. The score of an input is the target's time
 * minus the least of the others' (SPRFinder, definition 1); with every_version, the largest such difference of a version to those before it. A
 * reference without an answer counts with the timeout. An input with a score above the threshold is a candidate; a confirmed candidate is a find.
 *
 * strategy_novelty.c has the strategy of campaigns; tests/support/strategies.h has others, for comparison.
 *
 * Threads: a strategy belongs to one thread at a time. */
#pragma once

#include "cache/base/transfer.h"
#include "core/fuzz/formula.h"
#include "core/run/verdict.h"

struct strategy_type;
struct strategy_options {
        const struct strategy_type *type; /* the way of choosing (strategy_internal.h); NULL: as campaigns do */
        unsigned versions;         /* at least 2 */
        double timeout, threshold; /* seconds */
        enum dialect dialect;
        uint64_t seed;
        const struct formula *corpus; /* inputs to mutate; then none are generated; copied */
        size_t n_corpus;    /* 0: inputs are generated */
        bool is_cnf;        /* all inputs are DIMACS, the corpus included; else SMT-LIB */
        char *const *logics; /* one of these is drawn for each generated formula; borrowed. NULL: strings, as in struct generate_options */
        size_t n_logics;
        bool every_version; /* a slowdown between any two versions counts (--pairs any): every version runs */
};
extern const struct strategy_options strategy_defaults; /* of two versions, without a seed */

struct strategy;
int strategy_new(const struct strategy_options *options, struct strategy **ret);
struct strategy *strategy_free(struct strategy *s);
DEFINE_CLEANUP(struct strategy *, strategy_free)
#define cleanup_strategy cleanup(strategy_freep)

struct strategy_input {
        uint64_t id;        /* 1, 2, 3 … */
        struct slice text;  /* valid until strategy_finish() */
        const char *source; /* its origin: "generated", "mutated", … or an operator's name; static */
};
/* -EAGAIN if it must wait for inputs under way. -ENOSPC if there are no more. */
int strategy_next(struct strategy *s, struct strategy_input *ret);

bool strategy_step(struct strategy *s, uint64_t id, unsigned *ret_version, double *ret_seconds);

struct outcome {
        double seconds;       /* wall-clock time, or the caller's other measure; for a timeout, its limit */
        enum verdict verdict; /* VERDICT_TIMEOUT also for a limit below the timeout */
};
void strategy_ran(struct strategy *s, uint64_t id, unsigned version, const struct outcome *o);

/* True if the input is a candidate worth confirming. Of candidates like several earlier finds, one in ten is. Changes no later decision. ret_pair
 * (may be NULL): the versions of its largest slowdown: a reference, and the target (with every_version, any later version). */
bool strategy_wants(struct strategy *s, uint64_t id, unsigned ret_pair[2]);
/* Ends an input, and gives its score. `is_wanted`: the answer of strategy_wants(); when calls are repeated, whether a confirmation was recorded.
 * Returns true for a wanted candidate. A candidate that is not wanted is passed over. Afterwards the input and its text are gone; only
 * strategy_confirmed() still accepts the id of a wanted candidate. */
bool strategy_finish(struct strategy *s, uint64_t id, bool is_wanted, double *ret_score);
void strategy_confirmed(struct strategy *s, uint64_t id, bool is_find); /* whether a candidate is a find */

/* Writes or reads the strategy's state. A new strategy with equal options that reads it goes on exactly like the one that wrote it, with the same
 * inputs under way. After an error (damage, or a state of a solverfs that chooses in another way) the strategy can only be freed. */
void strategy_transfer(struct strategy *s, struct transfer *t);
/* Gives an input under way once more, as strategy_next() did. -ENOENT if it is not under way. */
int strategy_again(const struct strategy *s, uint64_t id, struct strategy_input *ret);

/* A hash of the first inputs, for simulated outcomes. A campaign keeps it, to notice another version of solverfs in which equal options lead to other
 * inputs. */
int strategy_fingerprint(const struct strategy_options *options, uint64_t *ret);

/* For progress and operators.tsv: an arm (a source of inputs, or an operator) with its expected success. */
struct strategy_arm {
        const char *name;
        double mean; /* expected chance of success */
        uint64_t used, won;
};
size_t strategy_arms(const struct strategy *s, struct strategy_arm *ret, size_t most);
