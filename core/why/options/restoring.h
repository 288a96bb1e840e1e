/* The options that give back what a version lost on a case: option_search.h on a real solver.
 *
 *     restoring_run(&question, &answer)         a program of each version is built already
 *     restoring_add_line(&answer, &text)        "smt.arith.solver=2 restores it (0.33 s; 10 of 10 seeds)"
 *
 * First the two versions run in turn under the case's own seed and under seeds 1, 2, 3, … Where judge.h finds no regression over these, the search is
 * for the seeds that show one, and says so. A run is *fast* when it has the reference's answer and takes no longer than the geometric mean of both
 * versions' times under the seeds that show the regression. Probes end there, so a slow one costs little. A set of options is tried under one of these
 * seeds after the other until Wald's sequential test (1945) tells the reference's share of fast runs from the target's: two fast runs, or one slow one, where
 * seeds change little. What is left is run under every seed with the whole limit, and judged against both versions.
 *
 * Candidates, in rounds: options whose default differs between the versions (at first the reference's default), and those the reference does not have;
 * those that the change names; all others, without limits, seeds and what is printed.
 *
 * The other way round: the reference with the target's defaults. It is tried on what was found; `reverse` searches for it.
 *
 * Runs are nobody else's: none is kept. Threads: a question is one thread's, which has a core of its own meanwhile. */
#pragma once

#include <jansson.h>

#include "cache/base/progress.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"

#define RESTORING_SEEDS 10
#define RESTORING_RUNS  300

struct restoring_question {
        struct workspace *workspace;
        const struct version *version[2]; /* reference and target; built */
        const struct case_info *info;
        const struct buffer *words;       /* of what the culprit changed, by option_add_words(); may be NULL */
        uint64_t most_runs;               /* 0: RESTORING_RUNS; what is found is confirmed by some more */
        uint64_t seeds;                   /* 0: RESTORING_SEEDS */
        uint64_t timeout_ns;              /* 0: the recipes' */
        bool is_cpu_time;
        bool reverse;                     /* which of the target's defaults make the reference slow? */
        int cancel_fd;
        const struct progress *progress;
};

struct restoring_flip {
        char *name, *value, *argument; /* argument: as it stands in a command line */
        char *was;                     /* the default; NULL: not known */
        const char *why;               /* of one that was dropped: static */
};
enum restoring_side {
        RESTORING_REFERENCE,
        RESTORING_TARGET,
        RESTORING_FLIPPED, /* the version whose options are changed, with the flips */
        N_RESTORING_SIDES
};
struct restoring_answer {
        bool is_reverse, has_seeds, is_cut_off;
        struct restoring_flip *flips, *dropped; /* flips: n = 0: none was found */
        size_t n, n_dropped;
        size_t listed[2], passed_over[2], unread[2]; /* options of each version (option_list.h) */
        size_t set_aside;                            /* of them: limits, seeds, output */
        size_t tried, sets, unconfirmed;             /* option_search.h */
        uint64_t runs, listings;                     /* listings: runs that print options */
        double cut;                                  /* seconds; a run of no more is fast */
        size_t seeds[N_RESTORING_SIDES];             /* runs with the whole limit, each under another seed */
        size_t fast[N_RESTORING_SIDES];              /* of them */
        double seconds[N_RESTORING_SIDES];           /* medians; NaN: no runs */
        size_t shown;                                /* seeds that show the regression */
        enum judge_change change;                    /* from reference to target */
        enum judge_change effect, rest;              /* from the version to the flipped one; from the one to be reached to the flipped one */
        size_t mirrored, mirrored_slow;              /* runs of the reference with the target's defaults of the flips, and how many were slow */
        char *mirror;                                /* these as arguments; NULL: they are none */
};
void restoring_answer_done(struct restoring_answer *a);
#define cleanup_restoring_answer cleanup(restoring_answer_done)

/* 0, with or without flips. -ENODATA with a sentence: no seed shows a regression, or a version prints no options; -ECANCELED; a run's error. */
int restoring_run(const struct restoring_question *q, struct restoring_answer *ret);

/* One sentence, without a newline, for people and for reports. */
void restoring_add_line(const struct restoring_answer *a, struct buffer *to);
/* A new reference; without the case and the versions. */
json_t *restoring_json(const struct restoring_answer *a);

/* The words of what a commit changed against its first parent, for restoring_question. */
int restoring_change_words(struct solver *s, uint32_t commit, struct buffer *ret);
