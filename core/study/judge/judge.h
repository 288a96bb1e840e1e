/* Is one version worse than another? The one judgement of this house: pairs of runs over seeds in, changes out. Numbers alone.
 *
 * Solvers are chaotic: under another seed the same version takes ten times as long. So one run of each version says nothing but what it answered; a
 * change is a shift over seeds. Pair i of a case is a run of each version under seed i, in turn; pair 0 is the cell itself.
 *
 *   - A measure of a case is tested by Wilcoxon's signed ranks of the pairs where the two versions go together over the seeds (the t of their correlation
 *     is above 2), else by Mann and Whitney's test. The ratio is the Hodges-Lehmann estimate of the logarithms, with the interval of that test. A
 *     measure that is one constant before and one after, over five seeds or more, decides by itself.
 *   - The set is tested by the signed ranks of all its pairs, or of its cases where they differ by more than their seeds explain. Its ratio is the
 *     geometric mean over the cases, with two intervals: over other seeds of these cases, and over other cases like these.
 *   - A change is at least 5 % (of times 1 ms, too), and significant. The looks are at 5, 8, 12, 18, 24, 32, 40, 50 and 60 pairs, where they are there.
 *     The chance that a comparison of two versions that differ by their random numbers alone reports any change is at most 1 %, over all cases
 *     (Benjamini and Hochberg), families, measures, looks, and the set together. The measure that is asked for has 0.84 of that.
 *   - A case of a set that changed as a whole, and evenly, `follows` it: it is reported from p <= 0.01 on, and wants no pairs of its own.
 *   - A case wants no more pairs when the chance that they show a change is below 2 % (conditional power); the set likewise.
 *   - A run that is not solved (no answer, or a wrong one) counts its limit as its time, and has no other measure. Limits that differ count as the lesser.
 *     `lost` and `gained` are changes of time between seeds that are mostly solved and seeds that mostly are not.
 *   - A wrong answer and a contradiction are facts at one run.
 *
 * Pure: any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/run/verdict.h"

#define JUDGE_FLOOR        1.05  /* a smaller ratio is no change */
#define JUDGE_SECONDS      0.001 /* nor is a smaller difference of times */
#define JUDGE_FALSE_ALARMS 0.01  /* of comparisons */
#define JUDGE_FIRST_PAIRS  5     /* at the first look */
#define JUDGE_PAIRS        60    /* at the last one */

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

/* Is one run's amount more than another's? The threshold is a difference in seconds for times, and a ratio for memory and effort. An amount below the
 * least counts as the least: the memory of small processes is noise, and so is a small count. */
double judge_least(enum judge_measure m); /* 16 MiB, 100; of times 0 */
/* The scale on which a threshold is a difference, for every measure: seconds; of the others the binary logarithm of amount / least. */
double judge_scale(enum judge_measure m, double amount);
double judge_scale_threshold(enum judge_measure m, double threshold);
bool judge_is_above(enum judge_measure m, double before, double after, double threshold);

struct judge_text {
        char s[32];
};
struct judge_text judge_amount_text(enum judge_measure m, double amount); /* "0.118s", "76.3 MB", "120345" */

/* -- evidence ----------------------------------------------------------------------------------------------------- */

struct judge_run {
        bool is_known;  /* false: nothing, and the rest says nothing */
        bool is_wrong;  /* its answer contradicts the case's status */
        bool disturbed; /* by others on its core */
        enum verdict verdict;
        double limit;       /* seconds; 0, infinity: none */
        double seconds;     /* that count as its time */
        double cpu_seconds; /* these and the following: NaN, or 0: none */
        double memory;      /* bytes */
        double effort;
};
struct judge_pair {
        struct judge_run run[2]; /* before and after */
};
struct judge_case {
        bool is_same_program;           /* by construction: they share all runs */
        size_t family;                  /* below n_families */
        const struct judge_pair *pairs; /* by seed; where a side is not known the pair is passed over, but for the first */
        size_t n_pairs;
};
static inline bool judge_pair_is_known(const struct judge_pair *p)
{
        return p->run[0].is_known && p->run[1].is_known;
}
/* Is the case's first pair known on both sides? */
static inline bool judge_is_compared(const struct judge_case *c)
{
        return c->n_pairs > 0 && judge_pair_is_known(&c->pairs[0]);
}
struct judge_options {
        enum judge_measure measure; /* that is asked for: pairs are wanted for it alone */
        size_t most_pairs;          /* of a case, at most JUDGE_PAIRS; 0, 1: one seed, which proves nothing: see JUDGE_DIFFERS */
        size_t most_wanted;         /* pairs of a case that are wanted; what is there beyond counts. 0: most_pairs */
        size_t n_families;          /* 0: none */
        double false_alarms;        /* 0: JUDGE_FALSE_ALARMS */
};

/* -- changes ------------------------------------------------------------------------------------------------------ */

enum judge_change {
        JUDGE_UNKNOWN, /* not known on both sides */
        /* regressions, worst first */
        JUDGE_WRONG,         /* wrong now */
        JUDGE_CONTRADICTION, /* sat against unsat where nobody knows the answer */
        JUDGE_LOST,          /* solved under most seeds before, and not now */
        JUDGE_MORE,          /* slower; more memory or effort */
        /* improvements */
        JUDGE_RIGHT, /* wrong before */
        JUDGE_GAINED,
        JUDGE_LESS,
        /* neither */
        JUDGE_SAME,      /* shown to differ by less than that; or solved by neither, or one program */
        JUDGE_UNDECIDED, /* not shown, and not excluded; with nothing wanted more pairs would hardly show it */
        JUDGE_DIFFERS,   /* at this seed, and only one was asked for */
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

struct judge_shift {              /* of one measure of a case, whatever it answered */
        enum judge_change change; /* unknown, more, less, same, undecided, differs */
        size_t pairs;             /* that have the measure on both sides */
        double median[2];         /* over them; NaN: none */
        double ratio, low, high;  /* after / before, and its 95 % interval; NaN: nothing to divide */
        double p;                 /* two-sided; NaN: without pairs; 0: constant before and after */
        bool follows_set;
};
struct judged_case {
        enum judge_change change; /* by the answers and the measure that was asked for */
        struct judge_shift by[N_JUDGE_MEASURES];
        size_t pairs;     /* known on both sides */
        size_t solved[2]; /* of them */
        size_t flips[2];  /* of them: solved before and not now; and the other way */
        size_t wanted;    /* pairs that the next look needs, for this case or for the set; 0: it is decided, or no look is left */
};

struct judge_interval { /* of 95 % */
        double low, high;
};
struct judge_mean {
        double mean;
        struct judge_interval seeds; /* over other seeds of these cases; infinite: too few pairs */
        struct judge_interval cases; /* over other cases like these; infinite: too few cases */
};
struct judge_set_shift { /* of one measure, over the cases that are known, that either side solves, and that are no facts by their answers */
        enum judge_change change; /* unknown, more, less, same, undecided */
        size_t cases;
        struct judge_mean ratio; /* the geometric mean; NaN: no cases */
        double p;                /* two-sided, over seeds of these cases; NaN: without pairs */
        bool is_even;            /* the cases do not differ by more than their seeds do */
};
struct judged_set {                     /* the whole, or a family */
        size_t cases, compared;         /* compared: known on both sides; the following are over these */
        size_t known[2];                /* cases known there */
        size_t solved[2];               /* at the first pair */
        double solved_mean[2];          /* cases times the share of their seeds */
        size_t wrong[2];                /* cases, under any seed */
        size_t verdicts[2][N_VERDICTS]; /* at the first pair; a case that is wrong is in `wrong` alone */
        size_t disturbed[2];            /* runs */
        size_t pairs;
        size_t flips[2];
        double flips_p; /* McNemar's exact test of them, two-sided */
        double par2[2]; /* seconds a case, over seeds; what is not solved counts twice its limit; NaN: nothing compared */
        struct judge_mean par2_difference;
        struct judge_set_shift by[N_JUDGE_MEASURES];
        size_t changes[N_JUDGE_CHANGES]; /* of the cases */
        size_t regressions, improvements;
        size_t wanted; /* pairs of each case, for the measure that was asked for */
};

struct judgement {
        struct judge_options options;
        struct judged_case *cases; /* [n] */
        size_t n;
        struct judged_set set;
        struct judged_set *families; /* [options.n_families] */
};
/* How many pairs of a case are worth their time, where nobody says: 24 of a set of 20 cases or fewer, which is to answer within minutes; else 60. */
size_t judge_usual_pairs(size_t n_cases);
/* Keeps nothing of the evidence. */
void judge(const struct judge_case *cases, size_t n, const struct judge_options *options, struct judgement *ret);
void judgement_done(struct judgement *j);
#define cleanup_judgement cleanup(judgement_done)

/* Worst first, of judged cases: the order in which changes are listed, as qsort() wants it. `m`: the measure that was asked for. */
int judge_order(const struct judged_case *a, const struct judged_case *b, enum judge_measure m);

/* -- levels along a history ---------------------------------------------------------------------------------------------- */

/* Divides a line of builds into stretches of one level each. A stretch may be a single build. Where two stretches have five seeds or more in common, a
 * seed is one observation, however many builds it was run on: its draw stays the same while nobody changes the search. The test is Student's t of the
 * seeds' means over either stretch, in pairs where they go together. With fewer seeds each value is an observation, and the result holds for these seeds
 * alone; then a level has at least four builds, and single outliers are drawn to the values around them. The narrowest interval that shows a change
 * comes first (Baranowski, Chen and Fryzlewicz, "Narrowest-over-threshold detection", 2019), over intervals of all lengths (Kovács et al., "Seeded
 * binary segmentation", 2023). With log-normal noise at most 1 % of series without a change are said to have one. */
struct judge_build {
        const double *values; /* by seed, > 0; NaN: none. What is not solved counts its limit */
        size_t n;
};
struct judge_level {
        size_t from, to; /* builds */
        double median;   /* of their values */
        double p;        /* of the change from the level before; NaN: it is the first */
};
struct judge_levels {
        struct judge_level *list;
        size_t n;
};
/* `floor`: a smaller ratio is no change (0: JUDGE_FLOOR). At least one level where there are builds. */
void judge_levels(const struct judge_build *builds, size_t n, double floor, struct judge_levels *ret);
void judge_levels_done(struct judge_levels *l);
#define cleanup_judge_levels cleanup(judge_levels_done)
