/* Results that were kept though others disturbed every sample (core/run/measure.h): noted when they are put, and measured again when the machine
 * is quiet. The new result takes the old one's place if nothing disturbed it; at the third time that something did, the old one stays, flagged.
 * The row of one has a byte behind its cell: how often it was tried (noted_cell.h). */
#pragma once

#include "core/query/noted_cell.h"

/* For fact_note(): notes one that is flagged, and forgets one that is not. */
int disturbed_note(struct store_txn *t, const struct noted_fact *f);
/* How many wait to be measured again. */
int disturbed_count(struct workspace *w, size_t *ret);
/* A thread that asks for them one by one, by the engine, while nothing else is asked of it and other processes use no more of the machine than
 * the setting `remeasure` allows. *ret is NULL where that is 0, or the store read-only. */
struct remeasuring;
int remeasuring_start(struct workspace *w, struct engine *e, struct remeasuring **ret);
struct remeasuring *remeasuring_stop(struct remeasuring *m); /* NULL, and NULL is fine; what runs is cancelled */
