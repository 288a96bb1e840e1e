/* The search for the options that restore a run: tests sets of changes, and finds the smallest set that restores the run. It knows no solver.
 *
 * A flip is one option with another value. Candidates come in rounds, the plausible ones first, and are tried:
 *
 *   - All of a round at once: the flips of the earlier rounds and of this one, each option at its first value, then at its second, and so on. If a set
 *     breaks the run (refused, crashed, another answer) or spoils it (even the reference is slow with it), the shortest prefix that does so is found by
 *     halving, its last flip is dropped, and the search goes on with the rest: generalized binary splitting (Hwang, "A method for detecting all defective
 *     members in a population by group testing", 1972). The first round's groups come before the next rounds.
 *   - In groups of neighbours, half as large each time, down to single flips, including dropped ones: for when the first way has too much to drop.
 *
 * A set that restores is made smaller by dichotomic search (Hemery, Lecoutre, Sais and Boussemart, "Extracting MUCs from constraint networks", ECAI
 * 2006): the shortest prefix that restores, beside the flips known to be needed, ends in a needed one. k needed flips of n cost about k log2 n tests,
 * where delta debugging (Zeller and Hildebrandt, TSE 2002) takes quadratically many at worst. The result is 1-minimal, too: in the end each flip is left
 * out once, with care. Even if effects are not monotone, or tests err, every kept set was seen to restore the run, and `confirm` decides.
 *
 * Equal answers lead to equal tests. Threads: one. */
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
enum option_care {
        OPTIONS_PROBE,
        OPTIONS_SWEEP,   /* a spoiled set counts as broken */
        OPTIONS_CAREFUL, /* an error would be final */
};
struct option_search_options {
        const struct option_candidate *candidates; /* neighbours belong together */
        size_t n;
        unsigned rounds;
        /* Tests a set of flips of different candidates. 0, or -errno, which ends the search; -EXFULL: no runs are left, which is no error. */
        int (*test)(void *user, const struct option_flip *flips, size_t n, enum option_care care, enum option_outcome *ret);
        /* Tests the resulting set once, with more runs. A set that is not confirmed is dropped, and the search goes on. */
        int (*confirm)(void *user, const struct option_flip *flips, size_t n, enum option_outcome *ret);
        void *user;
};
struct option_search_result {
        struct option_flip *flips; /* the restoring set; n = 0: none found */
        size_t n;
        bool is_cut_off;            /* no runs were left; the set may not be minimal */
        size_t tests;               /* sets */
        struct option_flip *broken; /* dropped */
        size_t n_broken;
};
void option_search_result_done(struct option_search_result *r);
#define cleanup_option_search_result cleanup(option_search_result_done)

/* 0, or the error of a test. */
int option_search(const struct option_search_options *options, struct option_search_result *ret);
