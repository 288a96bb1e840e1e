/* Results derived from a finding: the responsible commits, its reduced input, its texts. Only the queries start work. Threads: any. */
#pragma once

#include "core/study/localize/localization.h"
#include "core/study/observation/observation.h"
#include "core/study/reduce/reduction.h"

/* -- finding_localized.c: the localizer (localization.h) applied to a finding -- */

/* True if its commits can be searched for: both versions are commits of the solver (without arguments, not programs of the machine), and it is a
 * slowdown or their answers differ. */
bool finding_is_localizable(const struct solver *s, const struct observation *f);
/* The version's answer when the finding was made; VERDICT_ERROR: it was not measured. */
enum verdict finding_verdict(const struct observation *f, const char *version);
/* The options of a search for the finding's commits. *info gets a reference to its case; the options point to `info`. -ENODATA with a sentence: it is
 * not localizable. */
int finding_localization_options(struct workspace *w, struct solver *s, const struct observation *f, struct case_info **info,
                                 struct localization_options *ret);
/* The query whose value is the finding's localization (struct localized). -ENODATA as above. */
int finding_query_localized(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret);
/* The result of the finding's localization so far (localized_is_final()): a new reference. -ENOENT: there is none. */
int finding_localization(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret);
/* The same, but -ENOENT while it is not final. */
int finding_localized(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret);

/* Gives a cell, whose solver is set, the time limit and the seed of the finding's runs. */
void finding_set_cell(const struct observation *f, struct cell *cell);

/* -- finding_reduced.c: the reduction (reduction.h) of a finding's input --
 *
 * The slowness that a slowdown's reduced input must keep is measured anew (choose_bounds(), reduce_versions.c). Of an implication, the formula before
 * the last rule is reduced; the target must still be wrong about the formula that the rule makes from it. */

/* The interest that a reduction keeps; INTEREST_IMPLICATION if the finding has two formulas, one of which implies the other. */
enum interest finding_interest(const struct observation *f);
/* The last line of the chain, "rule\tdirection\tplace": how the formula before the last rule became the input. "": there is no chain. free(). */
char *finding_last_step(const struct observation *f);
/* `most_ns`, `jobs`: as in struct reduction_options. -ENOENT: the input is gone. */
int finding_query_reduced(struct workspace *w, struct solver *s, const struct observation *f, uint64_t most_ns, unsigned jobs, struct query **ret);
/* The result of the finding's reduction; reduction_done(). -ENOENT: it has not ended. */
int finding_reduced(struct workspace *w, struct solver *s, const struct observation *f, struct reduction *ret);

/* -- finding_report.c, finding_verify.c: the tables of a finding's folder; report.md, which can be pasted into an issue tracker; verify.sh -- */

/* "version\tresult\ttime\tsamples": the versions measured when it was found; the third column is named after the finding's measure. */
void finding_print_times(const struct observation *f, struct buffer *ret);
/* Further rows, of later measurements: one commit for each program that the finding's own rows lack. */
struct case_history;
int finding_print_later(struct workspace *w, const struct observation *f, const struct case_history *h, struct buffer *ret);
int finding_report(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);
/* verify.sh: builds the responsible commit and its parent (if not known, both versions) from a clean clone, runs them, and tells whether the finding is
 * confirmed. A finding by memory or effort has none: -ENOENT. */
bool finding_has_verification(const struct observation *f);
int finding_verification(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);

/* -- seeds.c: a finding under the solver's random seeds 1 to 30 (SPRFinder, section 5.3, RQ2): whether it reproduces under any seed, or was chance of the
 * default seed. Every run is a cell of the store; the answer is read from these cells, and not kept itself.
 *
 * A finding reproduces under a seed if the reference answers; the target gives the same answer, or runs into the limit (by memory a memout, else a
 * timeout); and the target takes more by the finding's threshold. */

#define N_SEEDS 30

struct seeds_run {
        enum verdict verdict;
        double amount; /* of the finding's measure: seconds by its clock, bytes, effort; 0: none */
};
struct seeds_value {
        struct value value;
        enum judge_measure measure;
        double threshold;
        struct seeds_run runs[N_SEEDS][2]; /* under seed i + 1: reference, target */
};

/* True for a slowdown between two versions whose recipes have a seed. */
bool finding_has_seeds(const struct solver *s, const struct observation *f);
/* The value is a seeds_value: the runs on the finding's machine if all are known, else those on this one. -ENODATA with a sentence: no seeds. */
int query_seeds(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret);

bool seeds_reproduces(const struct seeds_value *v, unsigned i); /* under seed i + 1 */
unsigned seeds_reproduced(const struct seeds_value *v);         /* the number of such seeds */
/* "seed\treference-result\treference-time\ttarget-result\ttarget-time\treproduces"; or -memory, -effort */
void seeds_print(const struct seeds_value *v, struct buffer *ret);
