/* The search for the options that restore a run: tests sets of changes, and finds the smallest set that restores the run. It knows no solver.
 *
 * A flip is one option with another value. Candidates come in rounds, the plausible ones first, and are tried:
 *
 *   - All of a round at once: its options at their first values, then at their second, and so on; with them the options of earlier rounds, at their
 *     first values. If a set breaks the run (refused, crashed, another answer) or spoils it (even the reference is slow with it), the shortest prefix
 *     that does so is found by halving, its last flip is dropped, and the search goes on with the rest: generalized binary splitting (Hwang, "A
 *     method for detecting all defective members in a population by group testing", 1972).
 *   - In groups of neighbours, half as large each time, down to single flips, including dropped ones. This helps if the first way drops too much. The
 *     first round's groups come before the next rounds.
 *
 * A set that restores is made smaller by dichotomic search (Hemery, Lecoutre, Sais and Boussemart, "Extracting MUCs from constraint networks", ECAI
 * 2006): the last flip of the shortest prefix that restores is needed; it moves to the front, and the next one is sought behind it. k needed flips of
 * n cost about k log2 n tests, where delta debugging (Zeller and Hildebrandt, TSE 2002) takes quadratically many at worst. In the end each flip is
 * left out once, with care: none in the result can be spared. Even if effects are not monotone, or tests err, every kept set was seen to restore the
 * run, and `confirm` decides.
 *
 * The search is deterministic: the same outcomes lead to the same tests. Threads: one. */
#pragma once

#include "cache/base/util.h"

struct option_flip {
        size_t candidate, value;
};
struct option_candidate {
        size_t n_values; /* possible values, most plausible first; not 0 */
        unsigned round;
};

enum option_outcome {
        OPTIONS_SLOW, /* as before */
        OPTIONS_RESTORED,
        OPTIONS_BROKEN, /* proves nothing about other flips of the set */
};
enum option_care { /* of a test */
        OPTIONS_PROBE,
        OPTIONS_SWEEP,   /* finds out whether the set spoils the run, which counts as broken */
        OPTIONS_CAREFUL, /* more runs: a wrong outcome would stay in the result */
};
struct option_search_options {
        const struct option_candidate *candidates; /* related options are neighbours */
        size_t n;
        unsigned rounds;
        /* Tests a set of flips, at most one of a candidate. 0, or -errno, which ends the search; -EXFULL: no runs are left, which is no error. */
        int (*test)(void *user, const struct option_flip *flips, size_t n, enum option_care care, enum option_outcome *ret);
        /* Tests the resulting set once, with more runs. A set that is not confirmed is dropped, and the search goes on. */
        int (*confirm)(void *user, const struct option_flip *flips, size_t n, enum option_outcome *ret);
        void *user;
};
struct option_search_result {
        struct option_flip *flips; /* the restoring set; n = 0: none found */
        size_t n;
        bool is_cut_off;             /* no runs were left; the set may not be minimal */
        size_t tests;                /* sets tested */
        struct option_flip *dropped; /* flips that break the run or spoil it */
        size_t n_dropped;
};
void option_search_result_done(struct option_search_result *r);
#define cleanup_option_search_result cleanup(option_search_result_done)

/* 0, or the error of a test. */
int option_search(const struct option_search_options *options, struct option_search_result *ret);
