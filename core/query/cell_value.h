/* The choice of a cell's value among its measurements: the lower median by wall time of those that count. The deciding measurement is that of the
 * last re-measurement (`run --again`, disturbed.h), else the first. A measurement counts if nothing disturbed it and its result agrees with the
 * deciding one's. A timeout agrees with every answer: the run only took longer. If none counts, the value is the deciding one.
 *
 * The choice is made in the transaction that keeps a measurement. A copy of the chosen one is in TABLE_FACTS, so readers of facts read values. A
 * single measurement is only in TABLE_FACTS, and has no row in TABLE_SAMPLES. */
#pragma once

#include "core/run/fact.h"

/* Numbers from here on belong to re-measurements; those below belong to query_sample(). */
#define MEASUREMENT_AGAIN UINT32_C(0x80000000)

struct measurement {
        uint32_t number;
        struct fact *fact; /* a ref */
};
/* The index of the value in a list that is sorted by number and not empty. Brief facts are enough. */
size_t cell_value_choose(const struct measurement *list, size_t n);
/* True if a measurement contradicts the case's status, whatever the others answer. Measurements before the last re-measurement do not count. */
bool cell_value_is_wrong(const struct measurement *list, size_t n);
