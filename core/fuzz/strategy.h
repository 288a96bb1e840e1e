/* A strategy decides which input a campaign runs next, and on which versions. It starts nothing and reads no clock and no file: its decisions
 * follow from its seed and from what it is told, in that order. So a campaign that recorded what it told a strategy can tell it again, and go on; or it
 * saves the strategy's state, and tells a new one what came later.
 *
 *     strategy_next()  ─▶ an input
 *           strategy_step()  ─▶ a version to run it on, with the most seconds that could matter; false: enough is known
 *           strategy_ran()      what came of it
 *     strategy_wants()   ─▶ is it a candidate for a find that is worth confirming?
 *     strategy_finish()
 *     strategy_confirmed()     whether the campaign's own, careful runs say so, too
 *
 * Several inputs may be under way at once. The last version is the target, the others are references. The score of an input is the target's time
 * minus the least of the others' (SPRFinder, definition 1); with every_version, the largest such difference of a version to those before it. A
 * reference that does not answer has not solved the input.
 *
 * strategy_novelty.c says how campaigns choose; tests/support/strategies.h has other ways, to compare with.
 *
 * Threads: a strategy belongs to one thread at a time. */
#pragma once

#include "cache/base/transfer.h"
#include "core/fuzz/formula.h"
#include "core/run/verdict.h"

struct strategy_rows;
struct strategy_options {
        const struct strategy_rows *rows; /* how it chooses (strategy_internal.h); NULL: as campaigns do */
        unsigned versions;         /* at least 2 */
        double timeout, threshold; /* seconds */
        enum dialect dialect;
        uint64_t seed;
        const struct formula *corpus; /* inputs to mutate beside what is generated; may be NULL; copied */
        size_t n_corpus;
        bool corpus_only;   /* generate nothing */
        bool is_cnf;        /* DIMACS, which the corpus then is, too; else SMT-LIB */
        char *const *logics; /* one of these is drawn for each generated formula; borrowed. NULL: strings, as struct generate_options has it */
        size_t n_logics;
        bool every_version; /* a slowdown between any two versions counts (--pairs any): every version runs */
};
extern const struct strategy_options strategy_defaults; /* but for versions, timeout, threshold and seed */

struct strategy;
int strategy_new(const struct strategy_options *options, struct strategy **ret);
struct strategy *strategy_free(struct strategy *s);
DEFINE_CLEANUP(struct strategy *, strategy_free)
#define cleanup_strategy cleanup(strategy_freep)

struct strategy_input {
        uint64_t id;        /* 1, 2, 3 … */
        struct slice text;  /* until strategy_finish() */
        const char *source; /* where it comes from: "generated", "mutated", … or an operator's name; static */
};
/* -EAGAIN: it waits for what is under way. -ENOSPC: there are no more. */
int strategy_next(struct strategy *s, struct strategy_input *ret);

bool strategy_step(struct strategy *s, uint64_t id, unsigned *ret_version, double *ret_seconds);

struct outcome {
        double seconds;       /* of wall clock, or what the caller counts instead; of a timeout: its limit */
        enum verdict verdict; /* VERDICT_TIMEOUT also under a limit below the timeout */
};
void strategy_ran(struct strategy *s, uint64_t id, unsigned version, const struct outcome *o);

/* Is the input a candidate that is worth confirming? Decides nothing and changes nothing: of a kind that was found several times, one in ten is. */
bool strategy_wants(struct strategy *s, uint64_t id);
/* The versions of its largest slowdown, once strategy_wants() was asked: a reference, and the target (or a later version, with every_version). */
void strategy_pair(struct strategy *s, uint64_t id, unsigned ret[2]);
/* `is_wanted`: as strategy_wants() said; where nobody knows that any more, whether the input was confirmed. True: a candidate that is wanted. An input with
 * a score above the threshold that is none was passed over. The input and its text are gone afterwards, but for strategy_confirmed(). */
bool strategy_finish(struct strategy *s, uint64_t id, bool is_wanted, double *ret_score);
void strategy_confirmed(struct strategy *s, uint64_t id, bool is_find); /* whether a candidate is a find */

/* The strategy's state. One that is new, has equal options and reads it goes on exactly like it from there, with the same inputs under way. After an error
 * (damaged, or of a solverfs that chooses otherwise) the strategy is of no use. */
void strategy_transfer(struct strategy *s, struct transfer *t);
/* An input under way, as strategy_next() gave it. -ENOENT. */
int strategy_again(const struct strategy *s, uint64_t id, struct strategy_input *ret);

/* A hash of the first inputs, where made-up outcomes are told: equal while equal options lead to equal inputs. Another version of solverfs may generate
 * others. */
int strategy_fingerprint(const struct strategy_options *options, uint64_t *ret);

/* For progress and operators.tsv: every arm with what is expected of it. */
struct strategy_arm {
        const char *name;
        double mean; /* expected chance of success */
        uint64_t used, won;
};
size_t strategy_arms(const struct strategy *s, struct strategy_arm *ret, size_t most);
