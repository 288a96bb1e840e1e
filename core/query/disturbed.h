/* Disturbed results: every sample of them was disturbed (core/run/measure.h). They are noted when they are put, and measured again when the machine
 * is quiet. An undisturbed new result replaces the old one; after the third disturbed one the old result stays, flagged, and its row is dropped.
 * A row has one byte behind its cell, the number of tries (noted_cell.h). */
#pragma once

#include "core/query/noted_cell.h"

/* For fact_note(): adds the row of a flagged fact that was measured here, and drops the row of any other (a cluster's are not measured again). */
int disturbed_note(struct store_txn *t, const struct noted_fact *f);
/* The number of results waiting to be measured again. */
int disturbed_count(struct workspace *w, size_t *ret);
/* A thread that re-measures disturbed results one by one, through the engine, while the engine is otherwise idle and other processes use no more
 * of the machine than the setting `remeasure` allows. *ret is NULL if that setting is 0 or the store is read-only. */
struct remeasuring;
int remeasuring_start(struct workspace *w, struct engine *e, struct remeasuring **ret);
struct remeasuring *remeasuring_stop(struct remeasuring *m); /* cancels a running measurement; returns NULL; `m` may be NULL */
