/* Shared by the judge's files: the pairs of a case as logarithms of one measure, looks (judge.h), and a look's share of the false alarms. */
#pragma once

#include <math.h>

#include "cache/base/util.h"
#include "core/study/base/stat.h"
#include "core/study/judge/judge.h"

#define JUDGE_CONFIDENCE    0.95
#define JUDGE_CORRELATION_T 2 /* the t above which the two sides correlate over the seeds */

/* The seconds that a pair's unsolved run counts: the limit. With a CPU limit, at most the longest of that and both runs' times. 0: no limit. */
double judge_unsolved(const struct judge_pair *p);

/* -- looks (judge_plan.c) ------------------------------------------------------------------------------------------- */

#define N_LOOKS 9
extern const size_t judge_looks[N_LOOKS];

enum judge_part {
        PART_CASES,
        PART_SET,
        PART_FAMILIES,
};
struct measured;
/* This part's share of the false alarms at a look, by this measure. */
double judge_spending(enum judge_part part, size_t look, const struct measured *m);
/* The pairs of the next look after `pairs`, if they are at most `most`; else 0. The first look is cut to `most` pairs. */
size_t judge_next_pairs(size_t pairs, size_t most);

/* A shift measured over some pairs, from which judge_is_hopeless() forecasts further looks. Logarithms. */
struct prospect {
        enum judge_part part;
        const struct measured *of;
        double p; /* a change counts up to this p; 0: up to what each look may spend */
        size_t pairs;
        double shift, error; /* error: the standard error, which shrinks with more pairs */
        double fixed;        /* the part of the error that does not shrink */
        double floor;
        double share; /* of what a look may spend: the part for this one of many cases */
};
/* True if more pairs would hardly show a change. */
bool judge_is_hopeless(const struct prospect *p);

/* -- one measure of a case (judge.c) ---------------------------------------------------------------------------------- */

struct series {
        size_t index; /* of the case */
        size_t family;
        size_t known;                 /* pairs */
        size_t n;                     /* pairs with the measure on both sides */
        size_t upto[N_LOOKS];         /* how many of n are among each look's pairs; 0: look not reached */
        const double *before, *after; /* logarithms, [n] */
        double floor;                 /* the least difference that is a change */
        bool is_constant;             /* before and after */
        bool found;                   /* a change */
        struct judge_shift *ret;
        struct stat_shift shift; /* over all n, with its interval; logarithms */
};
struct measured {
        enum judge_measure measure;
        bool is_asked;
        double false_alarms;
        size_t most_pairs, most_wanted;
        struct series *list; /* of the cases with the measure */
        size_t n;
        double *room; /* owned: the numbers of all series */
};

/* -- sets (judge_set.c) ------------------------------------------------------------------------------------------------ */

/* The set and its families, by one measure. */
void judge_sets(struct measured *m, const struct judge_case *cases, struct judgement *j);
/* Counts, flips and PAR-2, which need no test. */
void judge_count_sets(const struct judge_case *cases, struct judgement *j);

/* -- runs (judge.c) --------------------------------------------------------------------------------------------------- */

struct moments {                /* of numbers that are added one by one */
        double n, mean, square; /* square: the sum of the squared differences from the mean */
};
static inline void judge_add(struct moments *m, double x)
{
        double apart = x - m->mean;

        m->n++;
        m->mean += apart / m->n;
        m->square += apart * (x - m->mean);
}
/* The standard error of the mean. */
static inline double judge_error(const struct moments *m)
{
        return sqrt(m->square / (m->n - 1) / m->n);
}
struct sides { /* both sides under the same seeds, and their difference */
        struct moments before, after, shift;
};
static inline void judge_add_pair(struct sides *s, double before, double after)
{
        judge_add(&s->before, before);
        judge_add(&s->after, after);
        judge_add(&s->shift, after - before);
}
/* Student's interval; NaN without an error. */
struct judge_interval judge_t_interval(double mean, double error, double df);
/* True if the two sides correlate over the seeds, by the t of their correlation. */
bool judge_sides_correlate(const struct sides *s);
/* The logarithm of the least ratio that is a change; `least`: the lesser of the two amounts, which matters for times. */
double judge_floor(enum judge_measure m, double least);

/* The number of the case's pairs that count. */
size_t judge_pairs_of(const struct judge_case *c, const struct judge_options *o);
