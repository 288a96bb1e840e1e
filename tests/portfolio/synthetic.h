/* Tables made up: queries of two kinds, told apart by their first feature; each kind has an arm that is good at it. */
#pragma once

#include <math.h>

#include "cache/base/random.h"
#include "tests/bench/run_table.h"
#include "tests/support/test.h"

static inline void add_run(struct buffer *b, double seconds, double limit)
{
        if (seconds < limit)
                buffer_addf(b, "\tsat\t%.4f", seconds);
        else
                buffer_addf(b, "\ttimeout\t%.4f", limit);
}

/* Arms `even`, `odd` and `broken` (which always gives up); a third of the hard ones is solved by none. */
static inline struct run_table *two_kinds(unsigned seed, size_t queries, double limit)
{
        cleanup_buffer struct buffer b = {0};
        struct run_table *t = NULL;
        struct random r;

        random_seed(&r, test_seed(seed));
        buffer_adds(&b, "query\tkind\tsize\teven_result\teven_seconds\todd_result\todd_seconds\tbroken_result\tbroken_seconds\n");
        for (size_t i = 0; i < queries; i++) {
                bool odd = random_below(&r, 2) == 1;
                double hardness = random_normal(&r), fast = limit / 500 * exp(hardness), slow = limit * .8 * exp(hardness);

                buffer_addf(&b, "q%zu\t%d\t%.3f", i, odd ? 40 : 2, exp(random_normal(&r)));
                add_run(&b, (odd ? slow : fast) * exp(.2 * random_normal(&r)), limit);
                add_run(&b, (odd ? fast : slow) * exp(.2 * random_normal(&r)), limit);
                buffer_addf(&b, "\terror\t%.4f\n", limit / 1000);
        }
        assert_ok(buffer_error(&b));
        assert_ok(run_table_parse("two-kinds", SLICE(b.data, b.size), &t));
        return t;
}
