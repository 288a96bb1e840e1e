/* Reduction: finds the smallest text it can that an interest test still accepts.
 *
 * The reducer knows nothing of solvers. It gives candidates, a few at a time, to the test, and takes the first interesting one in their order, whichever
 * answer comes first. So the result does not depend on the number of parallel tests, if the test always gives a text the same answer.
 *
 * A text that core/smtlib reads is reduced as a script, by the steps of reduce_script.c, from coarse to fine, in passes until a pass changes nothing:
 * delta debugging over commands (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002); then over distinct subterms,
 * level by level from the roots (Misherghi and Su, "HDD", ICSE 2006). An interesting candidate costs as much as several boring ones, so many changes
 * are tried at once before each by itself; steps with many candidates for few bytes wait for a pass in which the others change nothing. core/smtlib
 * checks each term that it makes, and reads each candidate: none is ill-sorted if its theory is modelled there. Of an opaque term (not understood
 * there) only arguments change. A let is only notation: it is printed if it makes the text shorter. DIMACS stays DIMACS: clauses, variables and
 * literals are left out, and variables are numbered without gaps. Any other text is reduced as a tree of parentheses; so are a script's commands of
 * unknown name. An opaque command of a known name is left out or stays whole. Lines come first if parentheses do not match, or words are outside of
 * them.
 *
 * Minimal means: none of these steps gives an interesting text. Two bounds: in a formula whose tree has more than REDUCE_PLACES_MOST places, a shared
 * subterm is replaced in all its places or in none; and only some hundreds of terms from other places and of pairs of changes are tried.
 *
 * Threads: one per reduction; the test may use any number. */
#pragma once

#include "cache/base/util.h"

#define REDUCE_PLACES_MOST 20000

enum reduce_answer {
        REDUCE_UNTRIED, /* it follows an interesting one */
        REDUCE_BORING,
        REDUCE_INTERESTING
};

struct reduce_test {
        /* Answers for the texts in order, at least up to the first interesting one; ret[] is all REDUCE_UNTRIED before. An error ends the reduction:
         * -ECANCELED: cancelled. */
        int (*try)(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret);
        void *user;
        size_t width; /* texts at a time; at least 1 */
        /* False: a text is taken after it was interesting twice. True: it is taken at once, and tested again some texts later, or when no step leads on.
         * If it is boring then, the smallest earlier text that is still interesting replaces it, and the reduction goes on as with false. */
        bool checks_late;
        bool knows_input; /* the input was just interesting: it is not tested first */
        /* Called when a text is taken, for tests that adapt to it; may be NULL. */
        void (*taken)(void *user, struct slice text);
};

struct reduce_status {
        size_t before, now; /* bytes */
        uint64_t tests;     /* candidates tried, re-checks too */
        uint64_t taken;
        uint64_t withdrawn; /* interesting at first, not when tested again */
        const char *stage;  /* static: the present step */
};

struct reduce_options {
        uint64_t deadline_ns; /* of now_ns(); 0: none */
        const char *dialect;  /* its name, for scripts that name none: dialect_named() */
        void (*status)(void *user, const struct reduce_status *s); /* may be NULL */
        void *user;
};

struct reduce_result {
        struct buffer text; /* buffer_done(); never larger than the input, and interesting when last tested */
        struct reduce_status status;
        bool is_minimal; /* no known step leads on; else the time was over, or the test ended it */
};
void reduce_result_done(struct reduce_result *r);
#define cleanup_reduce_result cleanup(reduce_result_done)

/* Replaces a buffer's content by a NUL-terminated copy of a text, which must not point into the buffer. 0 or -ENOMEM. */
int reduce_set_text(struct buffer *to, struct slice text);

/* 0: minimal, or the time is over. -ENODATA: the input itself is not interesting. Else the test's error. *ret holds the best text so far in any case
 * but -ENOMEM. `options` may be NULL. */
int reduce(struct slice input, const struct reduce_test *test, const struct reduce_options *options, struct reduce_result *ret);
