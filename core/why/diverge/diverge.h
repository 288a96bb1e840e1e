/* Finds where the runs of two versions of a solver part on a case. Both run with the recipe's `trace` arguments, or others, and are compared by output
 * (divergence.h), statistics (statistics.h), calls and comparisons (trail.h) and, if asked for, by where they spend their time (profile.h).
 *
 * The file in which the change acts is named by the best evidence: the function where the trails part for good; else the profile's place; else the
 * function where the trails part and are alike again later; else a statistic that is named like a file.
 *
 * Each version runs twice on the case, and once on an empty input (no assertion, no clause), to learn what varies by itself and what differs for any
 * input. Traces are kept compressed, in unnamed files in the store's scratch folder: of each stream the first DIVERGE_TRACE bytes, and its end for
 * the statistics. All runs are on one leased core of this machine, or at the solver's cluster, where a run that prints more than is kept ends. Trails
 * and profiles need further runs, without the trace arguments and on this machine only; a profile is taken by a tracer in the sandbox
 * (sample_helper.c).
 *
 * Threads: one for each call. */
#pragma once

#include <jansson.h>

#include "core/study/base/version.h"
#include "core/why/diverge/divergence.h"
#include "core/why/diverge/functions.h"
#include "core/why/diverge/profile.h"
#include "core/why/diverge/statistics.h"
#include "core/why/diverge/trail.h"

#define DIVERGE_TRACE (UINT64_C(256) << 20)
#define DIVERGE_LEAD  3.
#define DIVERGE_CALLERS 8

enum diverge_stream {
        DIVERGE_OUT,
        DIVERGE_ERR,
        N_DIVERGE_STREAMS
};

struct diverge_options {
        struct workspace *workspace;
        struct engine *engine;
        const struct version *version[2];
        const struct case_info *info;
        const char *trace; /* arguments; NULL: the recipes', if any */
        bool has_seed;     /* the same on both sides */
        uint64_t seed;
        uint64_t timeout_ns; /* 0: the recipes' */
        bool is_cpu_time;    /* the timeout is of CPU time */
        bool has_profile;
        bool has_calls; /* compare the trails, too: builds both once more, so that they report their calls */
        void (*announce)(void *user, const char *version); /* called before such a build; may be NULL */
        bool has_culprit; /* report the functions changed by the commit `culprit` of the second version's solver */
        uint32_t culprit;
        int cancel_fd;
        void (*tell)(void *user, const char *doing); /* may be NULL */
        void *user;
};

struct diverge_side {
        enum verdict verdict;
        double seconds;
        uint64_t printed[N_DIVERGE_STREAMS]; /* bytes */
        bool is_cut; /* a stream was not kept whole, or a limit ended the run */
};
struct diverge_point {
        char *name, *file; /* owned; file: with the line, "" if not known */
};
struct diverge_step {
        char kind; /* 'C': calls the function; 'R': returns from it; 'T': compares in it, or takes a case of a switch; 'X': the run has ended */
        unsigned outcome; /* of 'T' (core/build/trail_runtime.c) */
        struct diverge_point point; /* of a comparison: its line */
};
struct diverge_calls {
        uint64_t total[2];   /* steps of both runs */
        bool is_cut;         /* one run did not reach its end */
        bool has_threads;    /* the steps of further threads are missing */
        bool is_unsteady;    /* two runs of the first version part for good; then the place is theirs */
        bool is_parted;      /* the versions part: for good, or at all if two runs of the first one do not */
        bool is_alike_after; /* after the place both are alike again, or have at least half of their steps in common */
        uint64_t further;    /* partings besides this one */
        uint64_t steps;      /* of the first version, before the place */
        struct diverge_point open[DIVERGE_CALLERS]; /* the function of the place, its caller, … */
        size_t n_open;     /* 0: the place is not known */
        struct diverge_step next[2];
        char *file; /* of the place, without a line; NULL: not known; owned */
};
struct diverge_result {
        const struct diverge_options *options; /* borrowed */
        struct diverge_side side[2];
        struct divergence stream[N_DIVERGE_STREAMS];
        struct statistics statistics[2][2]; /* [0]: of both sides' first runs; [1]: of their repetitions */
        struct statistic_change *changes;   /* owned */
        size_t n_changes;
        struct profile profile;
        /* If neither calls nor profile give a file: the first statistic that differs by DIVERGE_LEAD or more and is named like a file; or NULL */
        const struct statistic_change *lead;
        char *lead_file; /* owned */
        struct diverge_calls calls;
        bool has_calls;
        char *no_calls;   /* why there are none; may be NULL; owned */
        char *no_profile; /* why there is none, or only a part; may be NULL; owned */
        struct changed_functions functions;
};
/* 0; -ECANCELED; -ENODATA with a sentence: a version cannot be built; -EINVAL: runs of the two are done at two places; or another failure. */
int diverge(const struct diverge_options *o, struct diverge_result *ret);
void diverge_result_done(struct diverge_result *r);
#define cleanup_diverge_result cleanup(diverge_result_done)

/* The file in which the change acts (NULL: not known), and the evidence: "calls", "profile", "statistic". Valid as long as the result. */
const char *diverge_place(const struct diverge_result *r, const char **ret_by);

/* -- diverge_report.c ---------------------------------------------------------------------------------------------- */

/* Lines with a sentence each, and rows: fields separated by tabs, the first of which is the row's kind ('solverfs diverge --help' lists them). At most
 * `most` statistics and `most` functions. */
void diverge_print(const struct diverge_result *r, size_t most, struct buffer *to);
json_t *diverge_json(const struct diverge_result *r); /* a new reference */
/* The same, short, for an issue: a section "Where the runs part" of Markdown. */
void diverge_markdown(const struct diverge_result *r, struct buffer *to);
