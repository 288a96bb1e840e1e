/* Strategies that the one of campaigns (core/fuzz/strategy.h) is compared with:
 *
 *     random               every input is new; the generator's parameters stay
 *     banditfuzz           BanditFuzz_SPR: algorithm 1 without distance and adaptation; the parameters are drawn for each input, and all
 *                          that was learned is forgotten after a find (SPRFinder, section 5.1)
 *     sprfinder-no-dtw     algorithm 1 with the adaptive configuration
 *     sprfinder            the same, a success rewarded by its distance: α += γ · Dis(t)
 *     enumerate            every small formula, smallest first (ET)
 *     solverfs             the one of campaigns */
#pragma once

#include "core/fuzz/strategy.h"

static inline int strategy_save(struct strategy *s, struct buffer *ret)
{
        strategy_transfer(s, &(struct transfer){.to = ret});
        return buffer_error(ret);
}
static inline int strategy_load(struct strategy *s, struct slice state)
{
        struct transfer t = {.from = record_of(state)};

        strategy_transfer(s, &t);
        return record_end(&t.from, "a strategy");
}

enum strategy_kind {
        STRATEGY_RANDOM,
        STRATEGY_BANDITFUZZ,
        STRATEGY_SPRFINDER_NO_DTW,
        STRATEGY_SPRFINDER,
        STRATEGY_ENUMERATE,
        STRATEGY_SOLVERFS,
        N_STRATEGIES
};
const char *strategy_name(enum strategy_kind k);                    /* "sprfinder-no-dtw" … */
const struct strategy_type *strategy_type_of(enum strategy_kind k); /* for struct strategy_options */

/* Seconds since the campaign began, and those of the adaptive configuration's window; set by who plays one. */
extern _Thread_local double strategies_now, strategies_window;
