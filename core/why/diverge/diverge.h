/* Where the runs of two versions of a solver part on a case: both are run with the recipe's `trace` arguments, or others, and compared by what they print
 * (divergence.h), their statistics (statistics.h), their calls and comparisons (trail.h) and, if it is asked for, by where they spend their time
 * (profile.h).
 *
 * The file in which the change acts is that of the function where the trails part, unless they go on alike behind it; else that of the profile's place;
 * else that of a part that goes on alike; else the one that a statistic has the name of.
 *
 * Each version is run twice on the case, and once on an input that asks nothing, for what differs by itself and whatever the input. Traces are kept
 * compressed, in the store's scratch folder, in files without a name; of each stream the first DIVERGE_TRACE bytes, and the end of it for the
 * statistics. All runs are on one leased core of this machine, or done at the solver's cluster, where a run ends that prints more than is kept. The
 * profile's are in the same sandbox, under a tracer (sample_helper.c), with the plain arguments, and of this machine alone.
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
        const char *trace; /* arguments; NULL: the recipes'; where these have none: nothing but the plain ones */
        bool has_seed;     /* the same on both sides */
        uint64_t seed;
        uint64_t timeout_ns; /* 0: the recipes' */
        bool has_profile;
        bool has_calls; /* both are built once more, to report their calls */
        void (*announce)(void *user, const char *version); /* before such a build; NULL: nobody */
        bool has_culprit; /* what this commit of the second version's solver changed */
        uint32_t culprit;
        int cancel_fd;
        void (*tell)(void *user, const char *doing); /* NULL: nobody */
        void *user;
};

struct diverge_side {
        enum verdict verdict;
        double seconds;
        uint64_t printed[N_DIVERGE_STREAMS]; /* bytes */
        bool is_cut; /* of a stream not all was kept, or the run was ended by a limit */
};
struct diverge_point {
        char *name, *file; /* owned; file: with the line, "" where it is not known */
};
struct diverge_step {
        char kind; /* 'C'all of the function, its 'R'eturn, a comparison in i'T'; 'X': the run has ended */
        unsigned outcome;
        struct diverge_point point; /* of a comparison: its line */
};
struct diverge_calls {
        uint64_t total[2]; /* steps of both runs */
        bool is_cut;       /* one did not come to its end */
        bool has_threads;  /* whose steps are not among them */
        bool is_unsteady;  /* A parts from itself; the place is where */
        bool is_parted;
        bool goes_on;      /* behind it the two have half of their steps in common or more */
        uint64_t others;   /* more such partings */
        bool has_place;
        uint64_t steps;    /* of A, before it */
        struct diverge_point open[DIVERGE_CALLERS]; /* the function it is in, its caller, … */
        size_t n_open;
        struct diverge_step next[2];
        char *file; /* of the place, without a line; NULL: not known; owned */
};
struct diverge_result {
        const struct diverge_options *options; /* borrowed */
        struct diverge_side side[2];
        struct divergence stream[N_DIVERGE_STREAMS];
        struct statistics statistics[2][2]; /* of the first runs of both sides; and of those once more */
        struct statistic_change *changes;   /* owned */
        size_t n_changes;
        struct profile profile;
        /* Where no profile has a place: the first statistic that differs by DIVERGE_LEAD or more and that a source file has the name of; NULL: none. */
        const struct statistic_change *lead;
        char *lead_file; /* owned */
        struct diverge_calls calls;
        bool has_calls;
        char *no_calls;   /* why there are none; NULL; owned */
        char *no_profile; /* why there is none, or not all of one; NULL; owned */
        struct changed_functions functions;
};
/* 0; -ECANCELED; -ENODATA with a sentence: one cannot be built; -EINVAL: runs of the two are done at two places; or it could not be done. */
int diverge(const struct diverge_options *o, struct diverge_result *ret);
void diverge_result_done(struct diverge_result *r);
#define cleanup_diverge_result cleanup(diverge_result_done)

/* The file in which the change acts, and by what that is known: "calls", "profile", "statistic"; NULL: it is not. Valid as long as the result. */
const char *diverge_place(const struct diverge_result *r, const char **ret_by);

/* -- diverge_report.c ---------------------------------------------------------------------------------------------- */

/* Sentences, and tables separated by tabs: statistics (name, both values, ratio), functions with their seconds, changed functions. At most `most` rows
 * each. */
void diverge_print(const struct diverge_result *r, size_t most, struct buffer *to);
json_t *diverge_json(const struct diverge_result *r); /* a new reference */
/* The same, short, for an issue: a section "Where the runs part" of Markdown. */
void diverge_markdown(const struct diverge_result *r, struct buffer *to);
