/* A strategy decides which input a campaign runs next, and on which versions; it only decides. It starts nothing and reads no clock and
 * no file. Its decisions follow from its seed and from what it is told, in that order; so a campaign that keeps what it told a strategy can tell
 * it again, and goes on where it stopped.
 *
 *     strategy_next()  ─▶ an input
 *           strategy_step()  ─▶ a version to run it on, with the most seconds that could matter; false: enough is known
 *           strategy_ran()      what came of it
 *     strategy_finish()  ─▶ is it a candidate for a find?
 *     strategy_confirmed()     whether the campaign's own, careful runs say so, too
 *
 * Several inputs may be under way at once. The last version is the target, the others are references; the score of an input is the target's
 * time minus the least of the others' (SPRFinder, definition 1); with every_version, the most of all versions' over those before them. A reference
 * that does not answer counts as not having solved.
 *
 * The target runs first, as an input that it solves fast can be no find, and the references only as long as they could still make it one; candidates
 * come from several sources, chosen by Thompson sampling, and of a handful the one runs whose shape (shape.h) is newest and least explained by what was
 * found. Other ways to choose, which it is compared with, are in tests/support/strategies.h.
 *
 * Threads: a strategy belongs to one thread at a time. */
#pragma once

#include "core/fuzz/generate.h"
#include "core/run/verdict.h"

struct strategy_rows;
struct strategy_options {
        const struct strategy_rows *rows; /* a way to choose (strategy_internal.h); NULL: the one that campaigns take */
        unsigned versions;         /* at least 2 */
        double timeout, threshold; /* seconds */
        enum dialect dialect;
        uint64_t seed;
        struct script *const *corpus; /* inputs to mutate beside what is generated; may be NULL; copied */
        size_t n_corpus;
        bool corpus_only;   /* generate nothing: another theory than strings */
        bool every_version; /* a slowdown between any two versions counts (--pairs any): none is spared its run */
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
        double seconds;       /* of wall clock; of a timeout: the limit it had. Or what the caller counts in their place */
        enum verdict verdict; /* VERDICT_TIMEOUT also under a limit below the timeout */
};
void strategy_ran(struct strategy *s, uint64_t id, unsigned version, const struct outcome *o);

/* The candidate's score; false: no candidate. The input and its text are gone afterwards, but for strategy_confirmed(). */
bool strategy_finish(struct strategy *s, uint64_t id, double *ret_score);
/* Of a candidate. `cause`: what is known to be its cause (a number of the caller's, 0: not known); a find of a cause that was there
 * already teaches what need not be looked for again. */
void strategy_confirmed(struct strategy *s, uint64_t id, bool is_find, uint64_t cause);

/* Tells the cause of a find that was confirmed before the cause was known. */
void strategy_learned(struct strategy *s, uint64_t id, uint64_t cause);

/* The same as long as the same options lead to the same inputs: of the first that come where made-up outcomes are told. Another version of solverfs may
 * generate others. */
int strategy_fingerprint(const struct strategy_options *options, uint64_t *ret);

/* For progress and operators.tsv: every arm with what is expected of it. */
struct strategy_arm {
        const char *name;
        double mean; /* expected chance of success */
        uint64_t used, won;
};
size_t strategy_arms(const struct strategy *s, struct strategy_arm *ret, size_t most);
