/* A reduction as a fact: the smallest input found that still shows what the original input shows of versions of a solver. The engine computes it once,
 * and it is kept.
 *
 * Slow: the reference answers as on the input; the target gives that answer, too, or is cut off, and takes at least `ratio` times as long and at least
 * `floor`. A run of the target is cut off as soon as it has shown this, so runs get shorter with the input; a run of the reference is cut off when it is
 * too slow. Time is CPU time if the input's slow run was computing (at least half of the time in which it had a core), so that a busy machine changes no
 * answer; else wall time. The version that refutes more candidates for its time runs first.
 * For another measure: the target takes at least `ratio` times as much and at least `floor`; no run is cut off before the timeout.
 * Crash: the target ends in the same way (core/run/ending.h).
 * Answers: both versions give the answers they gave on the input: contradictions, and verdicts that became unknown.
 * Implication: the target answers as on the input, and some application of the rule (core/weaken) to the text gets the answer that the input's
 * application got: unknown, or a wrong one. The input is the formula before the rule; the target's runs on it take the place of a reference's.
 * An answer is a run's verdict, if it is certain (verdict_believed()): of several the last one, so that earlier checks can be left out.
 *
 * A reduction ends when it is minimal, or after the time that the store's settings allow ([solverfs] reduce). One that was interrupted (the last
 * reader left, kill -9) is not lost: the smallest text so far is stored every few seconds, and the next query continues from there. A reduction that
 * ran out of time answers every query that allows no more time; a query that allows more continues it.
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
        INTEREST_ANY, /* whichever the input shows, in this order: crash, answers, slow */
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
        double amount;         /* seconds by the clock that counts, for a timeout its limit; by another measure 0: none */
        char end[ENDING_SIZE]; /* of a crash */
};

/* The default bounds of slowness. The ratio is the square root of the ratio that the input shows, at most REDUCE_RATIO. The floor is half of the
 * target's time on the input, at most REDUCE_FLOOR; for another measure it is the ratio times judge_least(). */
#define REDUCE_RATIO 3.0
#define REDUCE_FLOOR 1.0
#define REDUCE_RATIO_LEAST 1.5 /* the ratio instead if the input shows less than this; for another measure JUDGE_FLOOR */

/* An input: a case, or bytes. */
struct reduction_input {
        struct case_info *info; /* NULL: bytes */
        struct slice bytes;
};

struct reduction_options {
        struct workspace *workspace;
        struct solver *solver;
        const char *what;               /* for people: "spr/3", "case 5" */
        const char *reference, *target; /* versions in full; reference "" if only the target counts */
        enum interest interest;
        struct reduction_input input;
        struct reduction_input implied; /* INTEREST_IMPLICATION: what `step` made of the input */
        const char *step;               /* INTEREST_IMPLICATION: a line for weaken_step_parse(); else "" */
        bool has_answers;               /* INTEREST_ANSWERS, _IMPLICATION: the input must get `answers` */
        enum verdict answers[N_SIDES];  /* VERDICT_ERROR: any answer that shows the interest */
        enum judge_measure measure;     /* of INTEREST_SLOW: JUDGE_TIME, _MEMORY or _EFFORT */
        double ratio, floor;            /* the bounds of slowness, floor in the measure's unit; 0: the defaults above */
        double timeout;                 /* seconds */
        bool has_seed;
        uint64_t seed;
        uint64_t most_ns; /* the time it may take; 0: by the settings */
        unsigned jobs;    /* 0: as many as the engine has slots */
};

struct reduction {
        struct buffer text;    /* never larger than the input */
        struct buffer implied; /* INTEREST_IMPLICATION: the rule applied to the text; else empty */
        enum interest interest;
        bool is_minimal;   /* no known step leads on; else the time was over */
        bool is_cpu_time;  /* the clock of the answers */
        enum judge_measure measure; /* of the answers: JUDGE_TIME, _MEMORY or _EFFORT */
        bool has_ended;    /* else it was interrupted, and `reduced` is unknown */
        uint64_t most_ns;  /* the time it was allowed, once it has ended */
        double seconds;    /* the time it took, in all sessions */
        uint64_t before;   /* bytes of the input */
        uint64_t tests, taken;
        double ratio, floor; /* the bounds of slowness */
        bool has_reference;
        struct version_answer input[N_SIDES], reduced[N_SIDES]; /* by side */
};
void reduction_done(struct reduction *r);
#define cleanup_reduction cleanup(reduction_done)

/* The stored form. */
int reduction_encode(struct reduction *r, struct buffer *to);
int reduction_decode(struct slice bytes, struct reduction *ret);

struct reduced_value {
        struct value value;
        struct reduction reduction; /* has ended */
};
/* Keeps references to the solver and the cases, and copies of texts and bytes; borrows the workspace. */
int query_reduced(const struct reduction_options *options, struct query **ret);
extern const struct query_type query_reduced_type;
/* The reduction's state, ended or not. -ENOENT: it never began. */
int reduction_find(struct query *query, struct reduction *ret);
/* The same, or what an interrupted continuation of an ended reduction has kept, if its text is smaller. *ret_ended: reduction_find()'s has ended. */
int reduction_find_smallest(struct query *query, struct reduction *ret, bool *ret_ended);

/* -- the runs (reduce_versions.c): open and close by one thread; the test runs on the cores of the job -- */

struct reduce_versions;

/* Runs both versions on the input, on the job's core. The versions are built; the reference may be NULL if only the target counts (a crash, an
 * implication). `implied`: of an implication, the rule applied to the input. -EINVAL with a sentence: the input does not show what is asked for (not slow
 * on the target, no version solves it …). -ENODATA: a version cannot be built. -ECANCELED: the job is cancelled. */
int reduce_versions_open(struct job *j, const struct reduction_options *options, const struct version *const versions[N_SIDES],
                         struct slice input, struct slice implied, struct reduce_versions **ret);
struct reduce_versions *reduce_versions_close(struct reduce_versions *v); /* returns NULL */
DEFINE_CLEANUP(struct reduce_versions *, reduce_versions_close)
/* The test for reduce(); valid until the close. */
struct reduce_test reduce_versions_test(struct reduce_versions *v);
/* Sets what the input has shown: the interest (also for INTEREST_ANY), the clock, the bounds, and both answers. */
void reduce_versions_shown(const struct reduce_versions *v, struct reduction *ret);
/* Runs both versions on another text, with the whole timeout; ret[] is all zero for a missing version. For an implication, `implied` gets the rule
 * applied to the text; -ENODATA: no application of the rule is interesting any more. */
int reduce_versions_run(struct reduce_versions *v, struct slice text, struct version_answer ret[N_SIDES], struct buffer *implied);
