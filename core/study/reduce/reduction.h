/* A reduction as a fact: the smallest input found that still shows what an input shows of versions (reduce_versions.h), worked out once by the
 * engine and kept for good.
 *
 * It ends when it is minimal, or when it took as long as the store's settings allow ([solverfs] reduce). What did not end (the last reader left,
 * kill -9) is not lost: the smallest text so far is kept as it is found, and whoever asks next goes on from there. One that ended by its time
 * answers everyone who allows no more; who allows more goes on, too.
 *
 * Threads: any. */
#pragma once

#include "core/study/reduce/reduce_versions.h"

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
        double ratio, floor;            /* of the measure; 0: by what the input shows (reduce_versions.h) */
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
