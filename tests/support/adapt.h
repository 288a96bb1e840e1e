/* The adaptive configuration of SPRFinder (section 4.1.3): while nothing is found, the generator's parameters change one after the other.
 *
 * After one window of time without a find, the length of literals L moves by a random amount in [20, 50] within [10, 500]; after two, the
 * variables V by [1, 5] within [3, 20]; after three, the assertions S by [1, 3] within [4, 15]; after four, the depth D by 1 within [2, 6];
 * after five the count begins anew. They grow while the mean solving time of all inputs is below θ · timeout, and shrink from there on. An
 * update that would leave its range is ignored. A find starts the count anew, too. */
#pragma once

#include "core/fuzz/generate.h"

struct adapt_options {
        double window;  /* seconds; the paper leaves it open */
        double timeout; /* seconds */
        double theta;   /* 3/4 */
};

struct adapt {
        struct adapt_options options;
        struct random random;
        double since;    /* when the count began */
        unsigned stage;  /* windows acted upon since then: 0 … 4 */
        double total;    /* seconds of solving … */
        uint64_t n_runs; /* … in so many runs */
};

void adapt_init(struct adapt *a, const struct adapt_options *options, uint64_t seed, double now);
void adapt_ran(struct adapt *a, double seconds); /* one solver run */
void adapt_found(struct adapt *a, double now);
/* Changes `g` as far as time has come; true when something changed. */
bool adapt_step(struct adapt *a, double now, struct generate_options *g);
/* Each parameter anew, from its whole range: what BanditFuzz_SPR does for each input. */
void adapt_draw(struct random *random, struct generate_options *g);
