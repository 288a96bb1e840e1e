/* Reduction: the smallest text that can be found in which somebody still is interested.
 *
 * The reducer knows nothing of solvers. It gives candidates, a few at a time, to an interest test, and takes the first one in their order that is
 * interesting, whichever answer comes first. So the result does not depend on how many are tried side by side, if the test answers a text always alike.
 *
 * A text that core/smtlib reads is reduced as a script, by the steps of reduce_script.c, from coarse to fine, in passes until a pass changes nothing:
 * delta debugging over commands (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002); then over distinct subterms,
 * level by level from the roots (Misherghi and Su, "HDD", ICSE 2006). An interesting candidate costs several boring ones, so many changes are tried at
 * once before each by itself; steps with many candidates for few bytes wait for a pass in which the others change nothing. The checked constructors make
 * all terms, so no candidate is ill-sorted where the theory is modelled. A let is nothing but a way of writing: it is written where it makes the text
 * shorter. DIMACS stays DIMACS: clauses, variables and literals are left out, and variables are numbered without gaps. Another text, and a script with
 * opaque terms, is reduced as a tree of parentheses; by lines first where they do not match, or where words stand outside of them.
 *
 * Minimal means: none of these steps gives an interesting text. Two bounds: a formula of more than REDUCE_PLACES_MOST places as a tree has a shared
 * subterm replaced in all its places or in none; and of terms from other places and of pairs of changes some hundreds are tried.
 *
 * Threads: a reduction is its caller's; the test may use as many as it likes. */
#pragma once

#include "cache/base/util.h"

#define REDUCE_PLACES_MOST 20000

enum reduce_answer {
        REDUCE_UNTRIED, /* it stands behind an interesting one */
        REDUCE_BORING,
        REDUCE_INTERESTING
};

struct reduce_test {
        /* Answers for texts in order, up to the first interesting one at least; ret[] is REDUCE_UNTRIED before. 0, or -errno, which ends the
         * reduction: -ECANCELED when somebody wants it to. */
        int (*try)(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret);
        void *user;
        size_t width; /* texts at a time; at least 1 */
        /* False: a text is taken when it was interesting twice. True: it is taken at once, and asked for again where no step leads on from it, or some texts
         * later; if it is not interesting then, the last text before it that still is takes its place, and from then on it is as with false. */
        bool checks_late;
        bool knows_input; /* the input was interesting just now: it is not asked for first */
        /* Told when a text was taken, for tests that adapt to it; may be NULL. */
        void (*taken)(void *user, struct slice text);
};

struct reduce_status {
        size_t before, now; /* bytes */
        uint64_t tests;     /* candidates tried, re-checks too */
        uint64_t taken;
        uint64_t withdrawn; /* interesting once, and not when asked again */
        const char *stage;  /* static: what is being tried */
};

struct reduce_options {
        uint64_t deadline_ns; /* of now_ns(); 0: none */
        void (*status)(void *user, const struct reduce_status *s);
        void *user;
};

struct reduce_result {
        struct buffer text; /* buffer_done(); never larger than the input, and interesting when last asked */
        struct reduce_status status;
        bool is_minimal; /* no step that is known leads on; else the time was over, or the test ended it */
};
void reduce_result_done(struct reduce_result *r);
#define cleanup_reduce_result cleanup(reduce_result_done)

/* Puts a copy of the text, with a NUL behind it, in the place of what is there. The text is not that buffer's. 0 or -ENOMEM. */
int reduce_set_text(struct buffer *to, struct slice text);

/* 0; -ENODATA: the input itself is not interesting; the test's error. *ret holds the best text so far in any case (but for -ENOMEM). `options` may
 * be NULL. */
int reduce(struct slice input, const struct reduce_test *test, const struct reduce_options *options, struct reduce_result *ret);
