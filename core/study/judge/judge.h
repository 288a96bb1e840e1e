/* Judges whether one version is worse than another: pairs of runs over seeds in, changes out. All of solverfs uses this judgement. Numbers alone.
 *
 * Solvers are chaotic: under another seed the same version may take ten times as long. So one run of each version proves nothing but its answer; a
 * change is a shift over seeds. Pair i of a case is a run of each version under seed i, in turn; pair 0 is the cell itself.
 *
 *   - A measure of a case is tested by Wilcoxon's signed ranks of the pairs if the two versions correlate over the seeds (the t of their correlation
 *     is above 2), else by Mann and Whitney's test. The ratio is the Hodges-Lehmann estimate of the logarithms, with the interval of that test. If
 *     only some seeds changed, this estimate is below the floor; then the ratio is the geometric mean of the pairs, provided that its interval
 *     (Student's t) excludes 1. A measure that is constant on each side, over five seeds or more, needs no test.
 *   - The set is tested by the signed ranks of all its pairs, or of its cases if they differ by more than their seeds explain. Its ratio is the
 *     geometric mean over the cases, with two intervals: over other seeds of these cases, and over other cases like these.
 *   - A change is at least 5 % (for times at least 1 ms, too), and significant. A look is one application of the tests: at 5, 8, 12, 18, 24, 32, 40,
 *     50 and 60 pairs, as far as they exist. If two versions differ by their random numbers alone, a comparison reports any change with a chance of
 *     at most 1 %, over all cases (Benjamini and Hochberg), families, measures, looks, and the set together. The measure that is asked for gets 0.84
 *     of this chance if it is time, else 0.51: the tests of cases by time keep their part, so that `lost` and `gained` do not depend on the measure.
 *   - If a set changed as a whole, and evenly, its cases follow it: each is reported if its p is at most 0.01, and wants more pairs only if they are
 *     likely to show that.
 *   - A case wants no more pairs if the chance that they show a change is below 2 % (conditional power); the set likewise.
 *   - A run that is not solved (no answer, or a wrong one) counts its limit as its time (as its CPU time the limit of that, if there is one), and has
 *     no other measure. Of the two versions' limits the lesser counts.
 *   - A case is `lost` or `gained` if its time changed, and most seeds are solved on one side and not on the other; or if, over five seeds or more,
 *     all are solved on one side, and on the other all end by themselves without an answer (unknown, crash, error).
 *   - A wrong answer or a contradiction needs only one run.
 *
 * Pure: any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/run/verdict.h"

#define JUDGE_FLOOR        1.05  /* a smaller ratio is no change */
#define JUDGE_SECONDS      0.001 /* nor is a smaller difference of times */
#define JUDGE_FALSE_ALARMS 0.01  /* of comparisons */
#define JUDGE_FIRST_PAIRS  5     /* of the first look */
#define JUDGE_CASE_PAIRS   8     /* of the first look at single cases */
#define JUDGE_PAIRS        60    /* of the last look */

enum judge_measure {
        JUDGE_TIME,
        JUDGE_CPU_TIME,
        JUDGE_MEMORY,
        JUDGE_EFFORT, /* the solver's own count */
        JUDGE_PACE,   /* seconds per effort */
        N_JUDGE_MEASURES
};
const char *judge_measure_unit(enum judge_measure m); /* "seconds", "bytes", "effort" */
const char *judge_measure_name(enum judge_measure m); /* "time", "cpu", "memory", "effort", "seconds per effort" */

/* -- amounts ------------------------------------------------------------------------------------------------------ */

/* Comparing one run's amount with another's (not for JUDGE_PACE). The threshold is a difference in seconds for times, and a ratio for memory and
 * effort. An amount below the least counts as the least: the memory of small processes is noise, and so is a small count. */
double judge_least(enum judge_measure m); /* memory 16 MiB, effort 100, times 0 */
/* The scale on which a threshold is a difference: seconds for times, else the binary logarithm of amount / least. */
double judge_scale(enum judge_measure m, double amount);
double judge_scale_threshold(enum judge_measure m, double threshold);
bool judge_is_above(enum judge_measure m, double before, double after, double threshold);

struct short_text judge_amount_text(enum judge_measure m, double amount); /* "0.118s", "76.3 MB", "120345" */

/* -- evidence ----------------------------------------------------------------------------------------------------- */

struct judge_run {
        bool is_known;     /* false: the rest is undefined */
        bool is_wrong;     /* its answer contradicts the case's status */
        bool is_uncertain; /* its answer may be of another question or formula (core/run/verdict.h): it contradicts none */
        bool disturbed;    /* by others on its core */
        enum verdict verdict;
        double limit;       /* seconds; 0, infinity: none */
        double cpu_limit;   /* likewise, of CPU time */
        double seconds;     /* the time that counts */
        double cpu_seconds; /* this and memory: NaN, or 0: none */
        double memory;      /* bytes */
        double effort;      /* NaN: none; 0 counts as 1 */
};
struct judge_pair {
        struct judge_run run[2]; /* before and after */
};
double judge_limit(const struct judge_pair *p); /* the lesser limit of the two; 0: none */
/* True for a right answer within the lesser limits. */
bool judge_is_solved(const struct judge_pair *p, int side);
/* The run's verdict; a timeout for a right answer that is not within them. */
enum verdict judge_verdict(const struct judge_pair *p, int side);
struct judge_case {
        bool is_same_program;           /* by construction: the versions share all runs */
        size_t family;                  /* below n_families */
        const struct judge_pair *pairs; /* by seed; a pair with an unknown side is skipped; if it is the first, the case is JUDGE_UNKNOWN */
        size_t n_pairs;
};
static inline bool judge_pair_is_known(const struct judge_pair *p)
{
        return p->run[0].is_known && p->run[1].is_known;
}
/* True if the case's first pair is known on both sides. */
static inline bool judge_is_compared(const struct judge_case *c)
{
        return c->n_pairs > 0 && judge_pair_is_known(&c->pairs[0]);
}
struct judge_options {
        enum judge_measure measure; /* asked for: pairs are wanted for it, and for time in cases where some seeds lost or gained an answer */
        size_t most_pairs;          /* judged per case, at most JUDGE_PAIRS; 0, 1: one seed, which proves nothing: see JUDGE_DIFFERS */
        size_t most_wanted;         /* no case wants more pairs than this; pairs that are known beyond it are judged, too. 0: most_pairs */
        size_t n_families;          /* 0: none */
        double false_alarms;        /* 0: JUDGE_FALSE_ALARMS */
};

/* -- changes ------------------------------------------------------------------------------------------------------ */

enum judge_change {
        JUDGE_UNKNOWN, /* not known on both sides */
        /* regressions, worst first */
        JUDGE_WRONG,         /* wrong now */
        JUDGE_CONTRADICTION, /* sat against unsat, also under two seeds of one version, with no known answer */
        JUDGE_LOST,          /* solved under most seeds before, not now */
        JUDGE_MORE,          /* slower; more memory or effort */
        /* improvements */
        JUDGE_RIGHT, /* wrong before */
        JUDGE_GAINED,
        JUDGE_LESS,
        /* neither */
        JUDGE_SAME,      /* shown to differ by less; or solved by neither; or one program */
        JUDGE_UNDECIDED, /* neither shown nor excluded; if nothing is wanted, more pairs would hardly show it */
        JUDGE_DIFFERS,   /* at this seed; only one was asked for */
        N_JUDGE_CHANGES
};
/* "slower" and "faster" of times, "more" and "less" of other measures. */
const char *judge_change_name(enum judge_change c, enum judge_measure m);
static inline bool judge_is_regression(enum judge_change c)
{
        return c >= JUDGE_WRONG && c <= JUDGE_MORE;
}
static inline bool judge_is_improvement(enum judge_change c)
{
        return c >= JUDGE_RIGHT && c <= JUDGE_LESS;
}

struct judge_shift {              /* of one measure of a case, whatever the answers */
        enum judge_change change; /* unknown, more, less, same, undecided, differs */
        size_t pairs;             /* with the measure on both sides */
        double median[2];         /* over these pairs; NaN: none */
        double ratio, low, high;  /* after / before, and its 95 % interval; NaN: nothing to divide, too few pairs for an interval */
        double p;                 /* two-sided; NaN: not tested. If constant before and after: 1 if equal, else 0 */
        bool follows_set;
};
struct judged_case {
        enum judge_change change; /* by the answers and the measure that was asked for */
        struct judge_shift by[N_JUDGE_MEASURES];
        size_t pairs;     /* known on both sides */
        size_t solved[2]; /* of them */
        size_t flips[2];  /* of them: solved before and not now; solved now and not before */
        size_t wanted;    /* pairs needed by the next look, for this case or for the set; 0: decided, hopeless, or no look is left */
};

struct judge_interval { /* of 95 % */
        double low, high;
};
struct judge_mean {
        double mean;
        struct judge_interval seeds; /* over other seeds of these cases; NaN: too few pairs */
        struct judge_interval cases; /* over other cases like these; NaN: fewer than three cases */
};
struct judge_set_shift { /* of one measure, over the compared cases that either version solves and whose answers show no change */
        enum judge_change change; /* unknown, more, less, same, undecided */
        size_t cases;
        struct judge_mean ratio; /* the geometric mean; NaN: no cases */
        double p;                /* two-sided, over seeds of these cases; over cases if they are not even; NaN: without pairs */
        bool is_even;            /* the cases do not differ by more than their seeds explain */
};
struct judged_set {                     /* the whole, or a family */
        size_t cases, compared;         /* compared: first pair known on both sides. What follows is over these, unless it says otherwise */
        size_t known[2];                /* of all cases: those whose first run is known */
        size_t solved[2];               /* at the first pair */
        double solved_mean[2];          /* the sum of the cases' shares of solved seeds */
        size_t wrong[2];                /* of all cases: those with a wrong answer under any seed */
        size_t verdicts[2][N_VERDICTS]; /* at the first pair; a wrong case is in `wrong` alone */
        size_t disturbed[2];            /* runs */
        size_t pairs;
        size_t flips[2];
        size_t flipped[2]; /* cases with more flips of this kind than of the other */
        double flips_p;    /* McNemar's exact test of `flipped`, two-sided; by cases, as the pairs of one case are not independent of each other */
        double par2[2]; /* seconds per case, over seeds; an unsolved run counts twice its limit; NaN: nothing compared */
        struct judge_mean par2_difference;
        struct judge_set_shift by[N_JUDGE_MEASURES];
        size_t changes[N_JUDGE_CHANGES]; /* of the cases */
        size_t regressions, improvements;
        size_t wanted; /* pairs per case, for the measure that was asked for */
};

struct judgement {
        struct judge_options options;
        struct judged_case *cases; /* [n] */
        size_t n;
        struct judged_set set;
        struct judged_set *families; /* [options.n_families] */
};
/* The default of most_pairs: 24 for a set of 20 cases or fewer, which is to answer within minutes; else 60. */
size_t judge_usual_pairs(size_t n_cases);
/* Judges the evidence; keeps no pointer to it. */
void judge(const struct judge_case *cases, size_t n, const struct judge_options *options, struct judgement *ret);
void judgement_done(struct judgement *j);
#define cleanup_judgement cleanup(judgement_done)

/* The order in which changes are listed, worst first, as for qsort(). `m`: the measure that was asked for. */
int judge_order(const struct judged_case *a, const struct judged_case *b, enum judge_measure m);

/* -- levels along a history ---------------------------------------------------------------------------------------------- */

/* Divides a line of builds into stretches of one level each. A stretch may be a single build. If two stretches share five seeds or more, a seed is
 * one observation, however many builds it was run on, as its luck stays the same until the solver's search changes. The test is Student's t of the
 * seeds' means over either stretch, paired if they correlate. With fewer seeds each value is an observation, and the result holds for these seeds
 * alone; then a level has at least four builds, and single outliers are drawn to the values around them. The narrowest interval that shows a change
 * comes first (Baranowski, Chen and Fryzlewicz, "Narrowest-over-threshold detection", 2019), over intervals of all lengths (Kovács et al., "Seeded
 * binary segmentation", 2023). With log-normal noise a change is reported in at most 1 % of series without one. */
struct judge_build {
        const double *values; /* by seed, > 0; NaN: none. An unsolved run counts its limit */
        size_t n;             /* seeds */
};
struct judge_level {
        size_t from, to; /* builds from .. to - 1 */
        double mean;     /* the geometric mean of their values; NaN: none is known */
        double shift, p; /* of the change from the level before, shift as a logarithm; NaN for the first level */
};
struct judge_levels {
        struct judge_level *list;
        size_t n;
};
/* `floor`: a smaller ratio is no change (1 or less: JUDGE_FLOOR). There is at least one level if there are builds. */
void judge_levels(const struct judge_build *builds, size_t n, double floor, struct judge_levels *ret);
void judge_levels_done(struct judge_levels *l);
#define cleanup_judge_levels cleanup(judge_levels_done)
