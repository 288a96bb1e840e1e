/* A fact: the result of one run of a program on a case under limits. Kept for good; never recomputed, only superseded.
 *
 * Limits are not part of a run's key: a fact answers all limits under which its result must be the same (docs/tree.md, 9). "Solved after 0.4 s"
 * answers limits of at least 0.4 s, "not solved within 20 s" limits of at most 20 s, if they leave at least the memory that was used. Our runs limit
 * memory as address space and measure it as resident size, so they answer only for at least the memory that they were run with, and an `error` or
 * `crash` only for the same. A memout answers for no more memory than that. */
#pragma once

#include <jansson.h>

#include "core/run/verdict.h"

struct sample {
        enum verdict verdict;
        uint64_t wall_ns, cpu_ns, memory;
        uint64_t waited_ns; /* it was ready to run while others, or the hypervisor, had its core */
        bool wrong;
        bool disturbed; /* waited_ns is more than a small share (measure.h) */
};

struct fact {
        unsigned refs;
        /* of the chosen sample: the lower median by wall time */
        enum verdict verdict;
        bool wrong;
        uint64_t wall_ns; /* for a timeout, timeout_ns() */
        uint64_t cpu_ns, memory;
        /* the limits it was run under; stack 0: not known, as in facts written before it was set */
        struct recipe_limits limits;
        bool address_space;   /* memory was limited as address space; false: imported, from a tool that limits resident memory */
        int64_t measured;     /* seconds since the epoch */
        int64_t remeasured;   /* likewise: when a run with --again was made, or when a chosen fact was chosen; else 0 */
        bool disturbed;       /* it waited for others at every attempt: its time is only a bound */
        bool chosen;          /* the value of a cell that was measured more than once: one of its measurements (core/query/cell_value.h) */
        uint64_t waited_ns;   /* the waiting of all its threads; 0 also if not known, as in facts written before it was kept */
        struct blob results;  /* the lines of `result`, one for each check-sat */
        uint64_t uncertain_from; /* the first answer, from 1, that may be of another question or formula (verdict.h); 0: none, or not known */
        struct blob answers;  /* of a script with several check-sat: when each was answered (fact_query.h); empty: not known */
        struct blob out, err; /* the kept output of the chosen sample */
        struct blob json;     /* run.json */
        char *not_started;    /* why the program did not begin, in a sentence; NULL: it did, or it is a fact written before this was kept */
};

DECLARE_REFS(fact)

/* The seconds that the run would have taken undisturbed, for comparisons. For a disturbed run with an answer: without the waiting, but at least its
 * CPU time (older facts have only that). For any other run: its wall-clock time. */
double fact_seconds(const struct fact *f);

/* The time that a timeout after `wall_ns` counts as: the limit of wall time. With a limit of CPU time: `wall_ns`, but no less than that limit, and no
 * more than the limit of wall time. */
uint64_t timeout_ns(uint64_t wall_ns, const struct recipe_limits *limits);
/* For sorting by time: a timeout comes after any answer, even one that took longer as it slept beyond the limit of CPU time. */
static inline int timeout_order(enum verdict a, enum verdict b)
{
        return ORDER(a == VERDICT_TIMEOUT, b == VERDICT_TIMEOUT);
}

/* The newest of its times: measured or remeasured. */
int64_t fact_moment(const struct fact *f);

/* True if the fact answers the asked limits: of time and memory as above. Its own limits of output, processes and stack must be no looser than those
 * asked; for an `error` or a crash those of output and processes must be the same. For a crash or memout it is the asked stack that must be no larger. An
 * asked stack of 0 is the default. */
bool fact_covers(const struct fact *f, const struct recipe_limits *asked);
/* The store's form; its version is the first byte. fact_decode() copies: the fact owns its bytes. -EBADMSG if it is not one. `brief` leaves the
 * fields `out`, `err` and `json` empty (for listings and `time`). */
#define FACT_VERSION 4
int fact_encode(const struct fact *f, struct buffer *ret);
enum { FACT_WHOLE = false, FACT_BRIEF = true }; /* of `brief`, here and in the queries */
int fact_decode(struct slice bytes, bool brief, struct fact **ret);
