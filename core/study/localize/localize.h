/* The commits that made cases slow: a search over a history, for a batch of cases at once, against any way of building and running.
 *
 *     localize_new(&options, commits, n, &l);
 *     localize_add_case(l, reference, target);
 *     while (localize_plan(l, &wants, &n) >= 0 && n > 0)
 *             for each want, in any order, as many at once as you like:
 *                     build its commit: localize_unbuildable(l, commit) if that fails, else run its case there:
 *                     localize_feed(l, commit, test, &outcome)
 *
 * The next question depends on the facts alone, not on their order or on random numbers. So a search that is fed the same facts again, from the store,
 * continues where it ended.
 *
 * The ends come first: pairs of runs under the same seeds, until they are judged to differ (core/study/judge), or not to. Nothing between them is built
 * before that. Each run of a case at a commit then shows one of four levels: as at the reference, as at the target, between the two, or broken. The
 * likelihood of each level follows from the variation at the ends over seeds. Along the line of first parents the true level is a hidden Markov chain that
 * changes rarely. A run shows another level with an unknown error rate, estimated from all cases together (empirical Bayes over a grid, as in flake-aware
 * culprit finders; Google, ICST 2023). The forward-backward recursion gives the probability of a change between any two neighbouring facts; no change,
 * several changes and non-monotone shapes are among the hypotheses.
 *
 * While it is unsure whether a gap between two facts has a change, the case runs again at one of its ends. A gap with a change is split: by a built
 * commit if one divides it well, else by the build with the most information per second for all cases together. A culprit is more likely where other
 * cases have theirs (a Chinese restaurant prior). If the culprit is a merge, the search continues along the merged commits. Around commits that
 * cannot be built it probes at doubling distances, and reports the remaining ones as a set. Every culprit is verified by interleaved runs on it and
 * the commit before it, under new seeds, as many as their judgement wants. These runs are facts, too: they reopen the search if they contradict it.
 *
 * Noise alone could prolong a search for ever. So a case has a number of runs beside those at its ends: most_runs for each change that is likely by then.
 * When they are used up, or after localize_stop(), it asks for nothing more. Unsure places are then left out, and a change between two sure ones is
 * reported as the set of commits between them (is_cut_off). If not even that is sure, the case is undecided.
 *
 * Threads: one at a time. */
#pragma once

#include "cache/base/util.h"

struct localize;

/* Commits are numbered so that parents come before their children. */
struct localize_commit {
        const size_t *parents; /* the first parent first */
        size_t n_parents;
        uint64_t build; /* commits with equal keys are one program: nothing changes between them. 0: a program of its own */
};

struct localize_options {
        void (*plan)(struct localize *l); /* another method, as in tests/study/halves.h; NULL: this one */
        unsigned most_runs;               /* per case between its ends, for each change that it likely has, and at least for one; 0: 300 */
        double limit;                     /* value that no run exceeds (seconds); 0: none */
};

enum localize_answer {
        LOCALIZE_SOLVED,  /* with an answer compatible with the reference's */
        LOCALIZE_TIMEOUT, /* at its limit: slow, whatever the slow level */
        LOCALIZE_BROKEN,  /* unknown, crash, memout, error, a wrong answer: neither fast nor slow */
};

struct localize_outcome {
        enum localize_answer answer;
        bool is_unsat; /* if solved; two commits along a history may contradict each other */
        double value;  /* the compared value: seconds, as a rule; > 0 */
        double effort; /* the solver's own count, preferred to the value if it tells the ends apart, unless a verification shows that the value does not
                        * change with it; NaN: none */
        unsigned seed; /* runs under one seed are pairs; 0: the case as it is */
};

struct localize_want {
        size_t commit, test; /* test: the number localize_add_case() gave */
        unsigned seed;       /* for the run; no outcome of this commit has it yet */
        bool verify;         /* part of an interleaved pair: run it on a clean build, in the order of the plan */
        /* private */
        bool has_seed, answered;
        size_t verification; /* of the case; SIZE_MAX: none */
        int side;            /* of the verification: 0 before, 1 after */
        size_t order;        /* of asking */
};

enum localize_state {
        LOCALIZE_OPEN,       /* not finished */
        LOCALIZE_FOUND,      /* culprits of the slowdown, at least one */
        LOCALIZE_NO_CULPRIT, /* reference and target do not differ: the slowdown was noise */
        LOCALIZE_REVERSED,   /* the target is the faster one; the changes found are improvements */
        LOCALIZE_UNBUILDABLE_END,
        LOCALIZE_UNDECIDED, /* too noisy for the samples allowed, or the change lies outside what can be searched */
};

struct localize_culprit {
        size_t before;         /* the last commit known to be before the change */
        const size_t *commits; /* the change is one of these n, oldest first; several if those between cannot be built */
        size_t n;
        bool is_slowdown;                 /* else an improvement; slow after broken is a slowdown, unless the reference is broken, too */
        double value_before, value_after; /* medians of the runs that agree with the level decided */
        bool broken_before, broken_after;
        double confidence; /* probability of a change in the set */
        unsigned pairs;    /* number of interleaved pairs that verify it */
        double p, ratio; /* of these pairs, as in struct judge_shift: two-sided; after / before. NaN without pairs */
        bool verified;
        bool is_cut_off; /* further runs could make the set smaller */
};

/* `commits` must stay until the free. -EINVAL with a sentence: a parent does not precede its child. */
int localize_new(const struct localize_options *options, const struct localize_commit *commits, size_t n, struct localize **ret);
void localize_free(struct localize *l);
DEFINE_CLEANUP(struct localize *, localize_free)
#define cleanup_localize cleanup(localize_freep)

/* Expected seconds of a new build, and of a run (0: its value); the defaults are 300 and 0. They weigh another run against a misleading build. */
void localize_set_costs(struct localize *l, double build, double run);
/* The number of the case, from 0. -EINVAL with a sentence: the two are one program, or the reference is no ancestor of the target along first parents. */
int localize_add_case(struct localize *l, size_t reference, size_t target);
void localize_built(struct localize *l, size_t commit); /* the commit costs no build */
void localize_unbuildable(struct localize *l, size_t commit);
/* Takes the outcome of a run that the last plan wanted, or of one known before. */
void localize_feed(struct localize *l, size_t commit, size_t test, const struct localize_outcome *outcome);

/* The runs that are wanted next, grouped by commit, valid until the next plan. All must be answered before the next plan is made: -EBUSY.
 * *ret_n = 0: finished. */
int localize_plan(struct localize *l, const struct localize_want **ret, size_t *ret_n);

/* Makes plans want nothing more: every case ends with what is known. The wants of the last plan need not be answered. */
void localize_stop(struct localize *l);

enum localize_state localize_state(const struct localize *l, size_t test);
/* Median values at the reference and at the target; NaN: not run there, or half of the runs are broken. */
void localize_end_values(const struct localize *l, size_t test, double ret[2]);
/* The number of runs at the reference, and how many of them are solved. */
void localize_solved(const struct localize *l, size_t test, unsigned *ret_solved, unsigned *ret_runs);
/* True if the case still needed runs when its runs were used up or the search was stopped. */
bool localize_is_cut_off(const struct localize *l, size_t test);
/* The culprits known so far, oldest first along the history. Valid until the next plan. */
size_t localize_culprits(const struct localize *l, size_t test, const struct localize_culprit **ret);

/* A case's level at a commit of its line; BETWEEN also if it is unsure, or the commit cannot be built. */
enum localize_seen {
        LOCALIZE_SEEN_FAST,
        LOCALIZE_SEEN_BETWEEN,
        LOCALIZE_SEEN_SLOW,
};
struct localize_sighting {
        size_t commit;
        enum localize_seen seen;
};
/* The commits of the line that have runs or cannot be built, oldest first; free(). */
struct localize_sighting *localize_sightings(const struct localize *l, size_t test, size_t *ret_n);

struct localize_progress {
        size_t finished, cases;
        double builds_left, build_seconds_left; /* expected */
};
void localize_progress(const struct localize *l, struct localize_progress *ret);
