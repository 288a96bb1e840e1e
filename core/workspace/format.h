/* The format of a store's records of builds and runs. Only today's is read; tools/migrate rewrites records of an older one, once. */
#pragma once

#include "core/workspace/workspace.h"

/* Keys in TABLE_META. A store with programs in its database instead of files lacks the second. */
#define FORMAT_FACTS    "facts/format"
#define FORMAT_PROGRAMS "programs/kept-in"

/* -EPROTONOSUPPORT with a sentence: the store has records of another format. The first opening of a store checks all records; a number in
 * TABLE_META then says that they were checked. */
int format_check(struct workspace *w);
/* True if format_check() once found nothing in the store but files (journal and index were gone), until format_forget_loss() is called. */
bool format_was_lost(struct workspace *w);
int format_forget_loss(struct workspace *w);

/* Notes that the store has no record of an older format. `is_lost`: also that it has nothing but files, unless another process opened it first. */
int format_note(struct store *s, bool is_lost);
