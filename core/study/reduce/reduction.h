/* A reduction as a fact: the smallest input found that still shows what an input shows of versions of a solver, worked out once by the engine and kept.
 *
 * Slow: the reference answers as on the input; the target gives that answer too, or is cut off, and takes at least `ratio` times as long and at least
 * `floor`. A run of the target is cut off as soon as it has shown so much, so runs get shorter as the input does; one of the reference when it is slower
 * than it may be. Time is CPU time where the input's slow run was computing (at least half of the time in which it had a core), so that a busy machine
 * changes no answer; else wall time. The version that refutes more candidates for its time runs first.
 * Of another measure than time: the target takes at least `ratio` times as much of it and at least `floor`; no run is cut off before the timeout.
 * Crash: the target ends in the same way (core/run/ending.h).
 * Answers: both versions give the answers they gave on the input: contradictions, and verdicts that became unknown.
 * Implication: the target answers as on the input, and some application of a rule to it gets the answer that the input's own application got: unknown, or
 * a wrong one. The input is the formula before the rule. Its answers stand in the place of a reference's.
 * An answer is a run's verdict: the last of several, so that checks before it can be left out.
 *
 * It ends when it is minimal, or when it took as long as the store's settings allow ([solverfs] reduce). What did not end (the last reader left,
 * kill -9) is not lost: the smallest text so far is kept as it is found, and whoever asks next goes on from there. One that ended by its time
 * answers everyone who allows no more; who allows more goes on, too.
 *
 * Threads: any. */
#pragma once

#include "core/engine/engine.h"
#include "core/run/ending.h"
#include "core/study/base/version.h"
#include "core/study/judge/judge.h"
#include "core/study/reduce/reduce.h"

enum reduce_side {
        SIDE_REFERENCE,
        SIDE_TARGET,
        N_SIDES
};

enum interest {
        INTEREST_ANY, /* what the input shows: crash, answers, slow, in this order */
        INTEREST_SLOW,
        INTEREST_CRASH,
        INTEREST_ANSWERS,
        INTEREST_IMPLICATION,
        N_INTERESTS
};
const char *interest_name(enum interest i); /* "slow" … */

/* One version on a text. */
struct version_answer {
        enum verdict verdict;
        double seconds;        /* by the clock that counts; a timeout's: its limit. Of another measure its amount, 0: none */
        char end[ENDING_SIZE]; /* of a crash */
};

/* The bounds of what is slow, where none were given: the square root of the input's ratio, at most REDUCE_RATIO; half of the target's time, at most
 * REDUCE_FLOOR; of another measure the ratio times judge_least(). */
#define REDUCE_RATIO 3.0
#define REDUCE_FLOOR 1.0
#define REDUCE_RATIO_LEAST 1.5 /* what the input itself must show then; JUDGE_FLOOR of what is no time */

/* An input: a case, or bytes. */
struct reduction_input {
        struct case_info *info; /* NULL: bytes */
        struct slice bytes;
};

struct reduction_options {
        struct workspace *workspace;
        struct solver *solver;
        const char *what;               /* for people: "spr/3", "case 5" */
        const char *reference, *target; /* versions in full; reference "" where the target alone counts */
        enum interest interest;
        struct reduction_input input;
        struct reduction_input implied; /* of an implication, and by which step */
        const char *step;               /* else "" */
        enum judge_measure measure;     /* of INTEREST_SLOW: JUDGE_TIME, _MEMORY or _EFFORT */
        double ratio, floor;            /* of the measure; 0: by what the input shows */
        double timeout;                 /* seconds */
        bool has_seed;
        uint64_t seed;
        uint64_t most_ns; /* it may take; 0: as the settings say */
        unsigned jobs;    /* 0: as many as the engine has slots */
};

struct reduction {
        struct buffer text;    /* never larger than the input */
        struct buffer implied; /* of an implication: what the rule makes of the text; else empty */
        enum interest interest;
        bool is_minimal;   /* no step that is known leads on; else the time was over */
        bool is_cpu_time;  /* the clock of the answers */
        enum judge_measure measure; /* of the answers: JUDGE_TIME, _MEMORY or _EFFORT */
        bool has_ended;    /* else it was broken off, and `after` is unknown */
        uint64_t most_ns;  /* what it might take; 0 while it has not ended */
        double seconds;    /* it took, all sessions */
        uint64_t before;   /* bytes of the input */
        uint64_t tests, taken;
        double ratio, floor; /* of what was slow */
        bool has_reference;
        struct version_answer input[N_SIDES], reduced[N_SIDES]; /* by side */
};
void reduction_done(struct reduction *r);
#define cleanup_reduction cleanup(reduction_done)

/* How it is stored. */
int reduction_encode(struct reduction *r, struct buffer *to);
int reduction_decode(struct slice bytes, struct reduction *ret);

struct reduced_value {
        struct value value;
        struct reduction reduction; /* has ended */
};
/* Keeps references and copies. */
int query_reduced(const struct reduction_options *options, struct query **ret);
extern const struct query_type query_reduced_type;
/* Its state, ended or not; -ENOENT when it never began. */
int reduction_find(struct query *query, struct reduction *ret);

/* -- the runs (reduce_versions.c): open and close by one thread; the test runs on the cores of the job -- */

struct reduce_versions;

/* Runs both on the input, on the job's core. The versions are built; the reference's may be NULL where the target alone counts (a crash, an implication).
 * `implied`: of an implication what the rule made of the input. -EINVAL with a sentence: it shows nothing of what is asked for (not slow on the
 * target, no version solves it …). -ENODATA: a version cannot be built. -ECANCELED: the job is. */
int reduce_versions_open(struct job *j, const struct reduction_options *options, const struct version *const versions[N_SIDES],
                         struct slice input, struct slice implied, struct reduce_versions **ret);
struct reduce_versions *reduce_versions_close(struct reduce_versions *v); /* NULL */
DEFINE_CLEANUP(struct reduce_versions *, reduce_versions_close)
/* To be given to reduce(); valid until it is closed. */
struct reduce_test reduce_versions_test(struct reduce_versions *v);
/* Sets in it all that the input has shown: of what interest it is (what INTEREST_ANY came to), by which clock and bounds, and both answers. */
void reduce_versions_shown(const struct reduce_versions *v, struct reduction *ret);
/* The answers on another text, with the whole timeout; all zero of a version that there is not. Of an implication `implied` gets what its rule makes;
 * -ENODATA: no application of the rule is of interest any more. */
int reduce_versions_run(struct reduce_versions *v, struct slice text, struct version_answer ret[N_SIDES], struct buffer *implied);
