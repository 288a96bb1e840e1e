/* Shared by the files of the localizer. A *program* is the first of the commits with one build key. */
#pragma once

#include <math.h>

#include "core/study/judge/judge.h"
#include "core/study/localize/localize.h"

#define NONE SIZE_MAX
#define LOCALIZE_RATIO 1.2 /* a smaller slowdown is none */
/* More than the judge's default: the caller has seen a slowdown, and each culprit is judged again by runs of its own. */
#define LOCALIZE_FALSE_ALARMS 0.05

/* -- the history -------------------------------------------------------------------------------------------------- */

/* The programs from one commit to another along first parents: the range of a search. Neighbours with the same program are one place. */
struct line {
        struct line *next;
        size_t from, to; /* the commits at its ends */
        size_t *at;      /* programs, oldest first */
        size_t *first;   /* by place: the first commit of the line with the program there, */
        size_t *last;    /* and the last */
        size_t n;
        uint32_t *place; /* by program: its first place + 1; 0: not here */
        uint32_t *again; /* by place: the next one of the same program (a revert) + 1; 0: none */
};

enum build_state {
        BUILD_UNKNOWN,
        BUILD_DONE,
        BUILD_FAILED
};

/* -- noise -------------------------------------------------------------------------------------------------------- */

/* The probability that a run shows another level than the true one, on a grid. The two ends may differ: nine of ten seeds may solve a case in time
 * before the change, and half of them after it. */
#define N_NOISE 23
struct noise {
        double fast, slow; /* at that level; other levels have the mean of both */
};
extern const struct noise noise_grid[N_NOISE];
static inline double grid_mean(const struct noise *n)
{
        return (n->fast + n->slow) / 2;
}

/* -- facts -------------------------------------------------------------------------------------------------------- */

struct fact {
        size_t program;
        struct localize_outcome outcome;
};

/* The distinguished outcomes of a case, from good to bad. */
enum level {
        LEVEL_FAST,
        LEVEL_BETWEEN,
        LEVEL_SLOW,
        LEVEL_BROKEN,
        N_LEVELS
};

/* The values (and effort) of the two ends; slow is infinite if all runs at an end are broken. */
struct thresholds {
        double fast, slow;
        double effort_fast, effort_slow; /* NaN: effort does not tell them apart */
        double low_cut, high_cut;        /* a run below low_cut of the way from fast to slow is fast, above high_cut slow */
        double spread;                   /* deviation of the logarithm of a run's value at the ends, over seeds */
        double timeouts[2];              /* share of runs without an answer in time, at the fast and at the slow end */
};

/* All facts of one case at one place of a line, and their posterior. */
struct sighting {
        size_t place;
        unsigned n;                      /* runs */
        double shows[N_NOISE][N_LEVELS]; /* log-likelihood of the facts at each level */
        double level[N_LEVELS];          /* posterior */
        double change;                   /* posterior of a change between this and the next sighting */
        double prior;                    /* share of the prior mass of change between the two */
};

/* A gap of a line that likely contains a culprit of the case: it adds to the prior of other cases. */
struct gap {
        const struct line *line;
        size_t a, b; /* places (a, b] */
};

struct verification {
        size_t before, after;             /* programs */
        struct localize_outcome *runs[2]; /* in order of arrival */
        size_t n[2];
};

/* How the two ends of a case compare, over seeds. */
enum ends_state {
        ENDS_OPEN,
        ENDS_DIFFER,
        ENDS_SAME, /* no, or by too little for the pairs of a judgement to show it */
};

/* A case of the search. */
struct test {
        size_t ends_at[2]; /* the programs of the reference and of the target */
        struct line *line;
        struct fact *facts;
        size_t n_facts;
        enum ends_state ends;
        size_t ends_wanted; /* while ENDS_OPEN: pairs of runs that the ends need in all */
        size_t ends_known;  /* runs there at the last judgement */
        bool effort_misleads; /* a change of effort turned out to be none of the value */
        struct thresholds thresholds;
        double noise_prior[N_NOISE], noise[N_NOISE]; /* without and with the case's own facts */
        struct gap *gaps, *new_gaps;        /* for the present prior, and for the next */
        size_t n_gaps, n_new_gaps;
        struct verification *verifications;
        size_t n_verifications;
        enum localize_state state;
        bool is_spent;   /* it may ask for no more runs */
        bool is_cut_off; /* it is spent, and would have asked for some */
        struct localize_culprit *culprits;
        size_t n_culprits;
};

/* A gap that waits for a build, with the prior share of each of its places. */
struct demand {
        size_t test;
        const struct line *line;
        size_t a, b;   /* places with a run at either end; those between may be built */
        double *below; /* below[x - a]: prior share of (a, x], 1 at b */
        double *alive; /* alive[x - a]: chance that x can be built; 0: known or presumed unbuildable */
        double best;   /* the most information of any place */
        bool served;   /* this plan has a run for it */
};

struct localize {
        struct localize_options options;
        double build_seconds, run_seconds; /* localize_set_costs() */
        const struct localize_commit *commits;
        size_t n;
        size_t *program; /* of each commit */
        enum build_state *built;
        double *density; /* of culprits over programs, by all cases */
        double *gain;    /* room for one number per program */
        struct line *lines;
        struct test *tests;
        size_t n_tests;
        struct localize_want *wants; /* of the last plan, or of the one being made */
        size_t n_wants, left; /* left: not answered */

        struct demand *demands;
        size_t n_demands;
        double builds_left, build_seconds_left;
        bool is_stopped;
        bool plans_anew; /* the plan being made relied on an effort that misleads */
};

/* -- lines (localize_line.c) -- */
struct line *line_get(struct localize *l, size_t from, size_t to); /* NULL: `from` is no ancestor along first parents */
/* The commits that a merge brought by its parent k (0: the first): from a commit that the first parent has, too, to parent k. NULL: none. */
struct line *line_of_side(struct localize *l, size_t merge, size_t k);

/* -- the ends of a case (localize_ends.c) -- */
/* Judges whether they differ (core/study/judge), and finds the thresholds from the runs there. */
void ends_judge(const struct localize *l, struct test *t);
/* A run as evidence for the judge, which takes the value for seconds; and the judgement of pairs of runs. */
struct judge_run judge_run_of(const struct localize *l, const struct localize_outcome *o);
void judge_pairs(const struct judge_pair *pairs, size_t n, struct judgement *ret);
/* The lower median of the values of a program's runs at the level; N_LEVELS: of all its runs. NaN: none. */
double median_at(const struct test *t, size_t program, enum level level);

/* -- levels and their posterior (localize_posterior.c) -- */
void thresholds_cut(struct test *t); /* sets low_cut and high_cut from all facts; needs fast and slow */
enum level level_of(const struct thresholds *thresholds, const struct localize_outcome *outcome);
/* The sightings of a case on a line, by place; free(). */
struct sighting *sightings_collect(const struct test *t, const struct line *line, size_t *ret_n);
/* Fills level and change from shows and prior. `rate`: changes expected on the line. `noise`: prior over the grid. Returns the chance of none. */
double posterior(struct sighting *s, size_t n, double rate, const double noise[N_NOISE]);
/* Estimates the noise of all cases, each with the others as its prior: l->tests[].noise_prior and noise. */
void noise_estimate(struct localize *l);
/* The prior share of culprits up to each place of the line, without the case's own contribution: [0] = 0 … [n - 1] = 1; free(). */
double *prior_below(const struct localize *l, const struct test *t, const struct line *line);

/* -- asking (localize.c) -- */

void want_run(struct localize *l, size_t program, size_t test); /* under a seed new for this program */
void want_seed(struct localize *l, size_t program, size_t test, unsigned seed);
void want_pairs(struct localize *l, size_t test, size_t verification, unsigned pairs);
unsigned facts_at(const struct test *t, size_t program);
const struct fact *fact_under(const struct test *t, size_t program, unsigned seed); /* NULL: none */
void results_clear(struct test *t);

/* -- the method: plans the next runs, and records the results (localize_default.c) -- */
void plan_default(struct localize *l);

/* -- builds (localize_choose.c) -- */

/* Notes that the case waits for a commit in (a, b), unless its runs are used up. False: none of them can be built. */
bool demand_add(struct localize *l, size_t test, const struct line *line, size_t a, size_t b, const double *below);
void demands_serve(struct localize *l); /* asks for runs on built commits and for the most useful builds */
void demands_clear(struct localize *l);
double build_cost(const struct localize *l, size_t program); /* expected seconds; 0 when built */

