/* Finds the options that undo a version's regression on a case: option_search.h on a real solver.
 *
 * First the two versions run in turn under the solver's own seed and under seeds 1, 2, 3, … The search uses the seeds whose pair of runs shows the
 * regression; if judge.h finds none over all seeds, the pair must differ by a factor of two, and the answer says so. A run is *fast* if it has the
 * reference's answer within the threshold of its seed: the geometric mean of both versions' times, or for a seed that shows no regression, of the
 * other thresholds. Runs of the search end at the threshold, so a slow one costs little. A set of options runs under one of these seeds after the
 * other until Wald's sequential test (1945) decides whether its share of fast runs is the reference's or the target's: two fast runs, or one slow
 * one, are enough if seeds change little. The final set runs under every seed with the whole limit, and is judged against both versions.
 *
 * Candidates, in rounds: options whose default differs between the versions (at first the reference's default); options that the culprit's patch names;
 * options that the reference does not have; all others, except for limits, seeds and output. For comparison, the reference runs with the target's defaults
 * of the options found.
 *
 * No run is stored. Threads: one, which leases a core, or a slot of the solver's cluster, meanwhile. */
#pragma once

#include <jansson.h>

#include "cache/base/progress.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"

#define RESTORING_SEEDS 12 /* a look of the judge; enough if the pairs correlate */
#define RESTORING_RUNS  300

struct restoring_question {
        struct workspace *workspace;
        const struct version *version[2]; /* reference and target; built */
        const struct case_info *info;
        const char *patch;   /* the culprit's, from option_read_patch(); "": not known */
        uint64_t most_runs;  /* the search ends after so many; the confirmation takes some more */
        uint64_t seeds;      /* at most JUDGE_PAIRS */
        uint64_t timeout_ns; /* 0: the recipes' */
        bool is_cpu_time;
        int cancel_fd;
        const struct progress *progress;
};

struct restoring_flip {
        char *argument;  /* as in a command line */
        const char *why; /* why a flip was dropped; static; NULL: not known */
};
enum restoring_side {
        RESTORING_REFERENCE,
        RESTORING_TARGET,
        RESTORING_FLIPPED, /* the target with the flips */
        N_RESTORING_SIDES
};
struct restoring_answer {
        bool has_seeds, is_cut_off;                  /* cut off: no runs were left */
        struct restoring_flip *flips, *dropped;      /* flips: n = 0: none found */
        size_t n, n_dropped;
        size_t listed[2], passed_over[2], unread[2]; /* options of each version (option_list.h) */
        size_t candidates, set_aside;                /* options of the target; set aside: limits, seeds, output */
        size_t sets;                                 /* tested */
        uint64_t runs;
        size_t seeds[N_RESTORING_SIDES];             /* runs with the whole limit, each under its own seed */
        size_t fast[N_RESTORING_SIDES];              /* of them */
        double seconds[N_RESTORING_SIDES];           /* medians */
        size_t shown;                                /* seeds that show the regression */
        enum judge_change change, effect, remaining; /* from reference to target, from target to flipped, from reference to flipped */
        char *mirror;                                /* arguments that give the reference the target's defaults of the flips; NULL: none */
        size_t mirrored, mirrored_slow;              /* the reference's runs with these arguments, and how many were slow */
};
void restoring_answer_done(struct restoring_answer *a);

/* 0, with or without flips. -ENODATA with a sentence: no seed shows a regression, or the target prints no options; -ECANCELED; a run's error. */
int restoring_run(const struct restoring_question *q, struct restoring_answer *ret);

/* One sentence, without a newline: "smt.arith.solver=2 restores it (0.33s; 10 of 10 seeds)". */
void restoring_add_line(const struct restoring_answer *a, struct buffer *to);
/* A new reference; without the case and the versions. */
json_t *restoring_json(const struct restoring_answer *a);

/* Appends a commit's changes against its first parent, for restoring_question. */
int restoring_read_change(struct solver *s, uint32_t commit, struct buffer *ret);
