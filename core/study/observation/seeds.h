/* A finding under the solver's random seeds 1 to 30 (SPRFinder, section 5.3, RQ2): does it reproduce whatever the solver draws, or was it the
 * luck of the default seed? Every run is one of the store's cells: what is known of them is the answer, and nothing else is kept.
 *
 * It reproduces under a seed when the reference answers, the target does not contradict it, and the target takes more by the finding's threshold.
 * Threads: any. */
#pragma once

#include "core/query/query.h"
#include "core/study/observation/observation.h"

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
int seeds_print(const struct seeds_value *v, struct buffer *ret);
