/* Two versions on the same cases: what changed, and how sure that is. The judgement alone: numbers in, numbers out (comparing.h reads and
 * measures).
 *
 * Answers come first: a wrong one, a contradiction, a case that is no longer decided (or is decided now). Then the solver's own count of its effort,
 * where it has one: it is the same at each repetition, so a difference of 5 % is one, unless the times differ by a factor of two the other way. All
 * else is decided by time, over pairs of runs that were measured in turn:
 *
 *   - The ratio is the Hodges-Lehmann estimate over the logarithms of the pairs' times, its interval the one of the signed-rank test.
 *   - A change is at least 5 % (and 1 ms), and significant: Wilcoxon's signed-rank test of the pairs, and over all cases of the comparison Benjamini
 *     and Hochberg's rule, so that in a comparison of a version with itself the chance of any false alarm is at most 1 %.
 *   - It is looked at after 10, 16, 24, 40 and 60 pairs, each time with a fifth of that 1 %; what was significant at one look stays so. A case
 *     needs no more pairs when its interval (of the first five pairs: each of them) lies within the 5 %, and from ten pairs on when its estimate is
 *     less than half of that. That can only lose a change, not make one up.
 *
 * Pure; nothing is global. */
#pragma once

#include "core/run/verdict.h"

#define COMPARISON_FLOOR        1.05  /* a smaller ratio is no change */
#define COMPARISON_SECONDS      0.001 /* nor is a smaller difference */
#define COMPARISON_FALSE_ALARMS 0.01  /* of comparisons */
#define COMPARISON_PAIRS        60    /* at the last look */

struct comparison_run { /* what is known of one version on a case */
        bool is_known;  /* false: nothing, and the rest says nothing */
        bool is_wrong;
        bool disturbed;
        enum verdict verdict;
        double seconds; /* CPU time where it was disturbed */
        double limit;   /* seconds */
        double effort;  /* NaN: none */
};
struct comparison_pair { /* of two runs in turn */
        double seconds[2]; /* a run without an answer: its limit */
        double effort[2];  /* 0, NaN: none, or nobody looks at it */
};
struct comparison_case {
        struct comparison_run run[2]; /* before and after */
        bool is_same_program;         /* by construction: they share all runs */
        /* One run proves nothing. A lost answer: the pairs decide, where it counts as long as its limit. Effort decides at once only where five pairs have
         * shown that it is the same at each repetition; where it varies it is tested over the pairs, as times are. */
        bool doubts;
        struct comparison_pair *pairs;
        size_t n_pairs;
};

enum comparison_change {
        COMPARISON_UNKNOWN, /* not known on both sides */
        /* regressions, worst first */
        COMPARISON_WRONG,         /* wrong now */
        COMPARISON_CONTRADICTION, /* sat against unsat where nobody knows the answer */
        COMPARISON_LOST,          /* no answer now */
        COMPARISON_SLOWER,
        /* improvements */
        COMPARISON_RIGHT, /* wrong before */
        COMPARISON_GAINED,
        COMPARISON_FASTER,
        /* neither */
        COMPARISON_SAME,      /* shown to differ by less than the floor, or decided by neither */
        COMPARISON_UNDECIDED, /* too few pairs, or too noisy */
        N_COMPARISON_CHANGES
};
const char *comparison_change_name(enum comparison_change c); /* "slower" */
static inline bool comparison_is_regression(enum comparison_change c)
{
        return c >= COMPARISON_WRONG && c <= COMPARISON_SLOWER;
}
static inline bool comparison_is_improvement(enum comparison_change c)
{
        return c >= COMPARISON_RIGHT && c <= COMPARISON_FASTER;
}

struct comparison_judgement {
        enum comparison_change change;
        bool by_effort;          /* ratio, low and high are of the effort */
        double ratio, low, high; /* after / before, and the 95 % interval; NaN: nothing to divide */
        double p;                /* of the pairs, two-sided; NaN: without pairs */
        size_t pairs;            /* that were looked at */
        size_t wanted;           /* pairs that the next look needs; 0: it is decided, or no look is left */
};

/* One judgement for each case, into ret[n]. At most `most_pairs` of a case are looked at and wanted (60: all looks). `by_time`: effort decides
 * nothing. 0, -ENOMEM. */
int comparison_judge(const struct comparison_case *cases, size_t n, size_t most_pairs, bool by_time,
                     struct comparison_judgement *ret);

/* Over all cases that are known on both sides. */
struct comparison_summary {
        size_t cases, compared;
        size_t known[2];                /* cases known there */
        size_t verdicts[2][N_VERDICTS]; /* as they ended; a wrong answer is in `wrong` alone */
        size_t wrong[2], solved[2];
        double par2[2];          /* mean seconds; what is not solved counts twice its limit; NaN: nothing compared */
        size_t both;             /* solved by both, */
        double seconds[2];       /* all their seconds, */
        double ratio, low, high; /* and the geometric mean of their ratios with its 95 % interval over cases; NaN: none */
        size_t changes[N_COMPARISON_CHANGES];
        size_t regressions, improvements;
        size_t pairs, disturbed[2];
};
int comparison_summarize(const struct comparison_case *cases, const struct comparison_judgement *judgements, size_t n,
                         struct comparison_summary *ret);

/* Worst first: the order in which changes are listed, as qsort() wants it, of judgements. */
int comparison_order(const struct comparison_judgement *a, const struct comparison_judgement *b);
/* Seconds of a case's version as they are shown: the median over the pairs, where there are some, else its run's. */
double comparison_seconds(const struct comparison_case *c, int side);
