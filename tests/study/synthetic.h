/* A history made up, whose culprits are known: tables in memory that answer a localizer as an engine would, and count what it asks.
 *
 * The time of a case at a commit is fast + (slow - fast) · (sum of the shares of the case's events among the commit's ancestors and itself),
 * times a log-normal factor; with the probability `lies` a run shows the time of the other end instead. */
#pragma once

#include "cache/base/random.h"
#include "core/study/localize/localize.h"

struct synthetic_options {
        size_t commits, cases, culprits;
        double lies;                      /* probability that a run shows the wrong end */
        double spread;                    /* deviation of the logarithm of a time */
        size_t anchors;                   /* cases start and end at two of so many commits; 0: all at the first and the last */
        size_t noise_only;                /* so many of the cases have no culprit */
        bool merges, unbuildable, shapes; /* shapes: several culprits a case, drifts, fixes that are undone */
        uint64_t seed;
};

struct synthetic_event {
        size_t commit;
        double share; /* of slow - fast; negative: a fix */
};

struct synthetic_case {
        size_t reference, target;
        double fast, slow;
        struct synthetic_event events[6];
        size_t n_events;
        bool monotone;
};

struct synthetic {
        struct synthetic_options options;
        struct localize_commit *commits;
        size_t (*parents)[2];
        size_t n;
        size_t *main; /* first parents from the last commit, oldest first */
        size_t n_main;
        bool *unbuildable;
        uint64_t *ancestors; /* a bit matrix */
        struct synthetic_case *cases;
        /* of one search */
        struct random random;
        bool *built;
};

struct synthetic_score {
        size_t builds, failed_builds, searched_builds; /* searched: without those at the ends of cases */
        double build_seconds;
        size_t runs, verify_runs;
        size_t case_builds; /* builds when no case has those of others */
        double case_build_seconds;
        size_t plans;
        size_t reported, right;      /* slowdowns reported, and those whose set holds a true culprit */
        size_t true_culprits, found; /* a third of the difference at the least; on shapes that are not monotone one a case */
        size_t cases, exact;         /* cases all of whose culprits are found and none else */
        size_t noise_only, noise_said;
        size_t sets, set_commits; /* reported sets of more than one, and how many commits they hold */
        size_t wrong_sets;        /* reported sets larger than what cannot be built explains */
        size_t open, undecided;
        double (*done)[2]; /* build seconds, cases finished: a row a plan; to be freed */
        size_t n_done;
};

void synthetic_make(struct synthetic *s, const struct synthetic_options *options);
void synthetic_done(struct synthetic *s);
/* Runs one method to its end. */
void synthetic_search(struct synthetic *s, const struct localize_options *options, struct synthetic_score *ret);
bool synthetic_is_ancestor(const struct synthetic *s, size_t ancestor, size_t commit);
