/* What is worked out of a finding: the commits responsible, its reduced input, its texts. From what is stored, but for the queries. Threads: any. */
#pragma once

#include "core/study/localize/localization.h"
#include "core/study/observation/observation.h"
#include "core/study/reduce/reduction.h"

/* -- finding_localized.c: the localizer (localization.h) asked of what the finding compares -- */

/* Can its commits be looked for? Between two commits of one history: of a slowdown by its times, of others by their answers, which must differ. Versions with
 * arguments and programs of the machine have no history. */
bool finding_is_localizable(const struct solver *s, const struct observation *f);
enum verdict finding_verdict(const struct observation *f, const char *version); /* its answer when the finding was made */
/* The search for its commits; *info is its case, a reference, to which the options point. -ENODATA with a sentence where it has no history. */
int finding_localization_options(struct workspace *w, struct solver *s, const struct observation *f, struct case_info **info,
                                 struct localization_options *ret);
/* The query whose value is its localization (struct localized). -ENODATA with a sentence where it has no history. */
int finding_query_localized(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret);
/* The result of its localization, or how far that has come (localized_is_final()): a new reference. -ENOENT: there is none. */
int finding_localization(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret);
/* The same, but -ENOENT while it is not final. */
int finding_localized(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret);
/* localized.tsv: "case\tcommit\tbefore\tafter\tsubject". */
void finding_print_localized(const struct localized *result, struct buffer *ret);

/* -- finding_reduced.c: the reduction (reduction.h) of what the finding shows --
 *
 * How slow a slowdown's reduced input must stay is measured anew (reduce_versions_bounds()). Of an implication, the formula before the last rule is
 * reduced; the target must still be mistaken about what that rule makes of it. */

/* The interest that a reduction keeps: INTEREST_IMPLICATION of two formulas, one of which follows from the other. */
enum interest finding_interest(const struct observation *f);
/* `most_ns`, `jobs`: as in struct reduction_options. -ENOENT: its input is gone. */
int finding_query_reduced(struct workspace *w, struct solver *s, const struct observation *f, uint64_t most_ns, unsigned jobs,
                          struct query **ret);
/* The outcome of its reduction, once it has ended; else -ENOENT. */
int finding_reduced(struct workspace *w, struct solver *s, const struct observation *f, struct reduction *ret);

/* -- finding_report.c, finding_verify.c: the tables of its folder, report.md, which can be pasted into an issue tracker as it is, and verify.sh -- */

/* "version\tresult\ttime\tsamples": the versions measured when it was found; the third column is called after the finding's measure. */
void finding_print_times(const struct observation *f, struct buffer *ret);
/* Later measurements, as further rows: a commit for each program. */
struct case_history;
int finding_print_later(struct workspace *w, const struct observation *f, const struct case_history *h, struct buffer *ret);
int finding_report(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);
/* verify.sh: builds the commit responsible and its parent (both versions, where it is not known) from a clean clone, runs them, and says whether it is confirmed. */
bool finding_has_verification(const struct observation *f);
int finding_verification(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);

/* -- seeds.c: under the solver's random seeds 1 to 30 (SPRFinder, section 5.3, RQ2): does it reproduce whatever the solver draws, or was it the luck of the
 * default seed? Every run is one of the store's cells: what is known of them is the answer, and nothing else is kept.
 *
 * It reproduces under a seed when the reference answers, the target does not contradict it, and the target takes more by the finding's threshold. */

#define SEEDS_MOST 30

struct seeds_run {
        enum verdict verdict;
        double amount; /* of the finding's measure: seconds by its clock, bytes, effort */
};
struct seeds_value {
        struct value value;
        enum judge_measure measure;
        double threshold;
        struct seeds_run runs[SEEDS_MOST][2]; /* under seed i + 1: the reference's, the target's */
};

/* A slowdown between two versions of the solver whose recipe says how to set a seed; a program of the machine has none. */
bool finding_has_seeds(const struct solver *s, const struct observation *f);
/* Its value is a seeds_value: what the machine has that the finding was found on, else this one. -ENODATA with a sentence where it has no seeds. */
int query_seeds(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret);

bool seeds_reproduces(const struct seeds_value *v, unsigned i); /* under seed i + 1 */
unsigned seeds_reproduced(const struct seeds_value *v);         /* under how many it does */
/* "seed\treference-result\treference-time\ttarget-result\ttarget-time\treproduces"; or -memory, -effort */
void seeds_print(const struct seeds_value *v, struct buffer *ret);
