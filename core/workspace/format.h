/* The format of what a store keeps of builds and runs: one, that of today. What is of an older one is rewritten by tools/migrate, once. */
#pragma once

#include "core/workspace/workspace.h"

/* -EPROTONOSUPPORT with a sentence: the store has records of an older format. All of them are looked at when a store is first opened; then a
 * number in TABLE_META says that it was done. */
int format_check(struct workspace *w);

/* In a store that has no record of an older format. */
int format_note(struct store *s);
