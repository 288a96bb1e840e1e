/* The choice of a cell's value among its measurements. One rule, for whoever took them: the lower median by wall time of those that count. A
 * measurement counts when nobody disturbed it and its result agrees with the deciding one's: that of the last `run --again`, else of the first. A timeout
 * agrees with every answer, as one that took longer. Where none counts the deciding one is the value.
 *
 * The choice is made when a measurement is kept, in the same transaction, and a copy of the chosen one stands in TABLE_FACTS, so that whoever reads
 * facts reads values. As long as there is one measurement it stands there alone, and nothing in TABLE_SAMPLES. */
#pragma once

#include "core/run/fact.h"

/* Numbers from here on are of measurements that were asked for with --again; those below are query_sample()'s. */
#define MEASUREMENT_AGAIN UINT32_C(0x80000000)

struct measurement {
        uint32_t number;
        struct fact *fact; /* a ref */
};
/* The index of the value in a list that is sorted by number and not empty. Brief facts do. */
size_t cell_value_choose(const struct measurement *list, size_t n);
/* Did any that counts, from the deciding one on, contradict the case's status? */
bool cell_value_is_wrong(const struct measurement *list, size_t n);
