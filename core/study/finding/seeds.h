/* A finding under the solver's random seeds 1 to 30 (SPRFinder, section 5.3, RQ2): does it reproduce whatever the solver draws, or was it the
 * luck of the default seed? Every run is one of the store's cells, so that what was measured is never measured again.
 *
 * It reproduces under a seed when the reference answers, the target does not contradict it, and the target takes longer by the threshold of the
 * campaign that found it. Threads: any. */
#pragma once

#include <jansson.h>

#include "core/study/base/study_value.h"
#include "core/study/finding/finding.h"

#define SEEDS_MOST 30

/* By how many seconds it has to be slower: its campaign's threshold; where that record is lost, the paper's share of the timeout. */
int finding_threshold(struct workspace *w, const struct finding *f, double *ret);
/* A slowdown between two versions of the solver whose recipe says how to set a seed; a program of the machine has none. */
bool finding_has_seeds(const struct solver *s, const struct finding *f);

/* Its value is a study_value: threshold, seeds: [{seed, reference: {result, seconds}, target: {…}, reproduces}]. -ENODATA with a sentence where it has
 * no seeds. */
int query_seeds(struct workspace *w, struct solver *s, const struct finding *f, struct query **ret);
extern const struct query_type query_seeds_type;

/* "seed\treference-result\treference-time\ttarget-result\ttarget-time\treproduces" */
int seeds_print(const json_t *result, struct buffer *ret);
/* Under how many it reproduces. */
unsigned seeds_reproduced(const json_t *result);

/* Fig. 4's ranges of that number: 0, 1 to 9, 10 to 19, 20 to 29, 30. */
#define SEEDS_BINS 5
unsigned seeds_bin(unsigned reproduced);
const char *seeds_bin_name(unsigned bin);
