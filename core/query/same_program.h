/* Classes of equal programs, in TABLE_META. If clean builds of a commit give different bytes each time, they are one program with several digests
 * (core/build/build.h), and another commit's build may give any of them. All results are stored under one digest, the first of the class.
 *
 * Classes only grow: two become one when a build makes a digest of each. Results stored under the second class's first digest stay there, and are
 * looked up there, too.
 *
 * Threads: any, in a transaction of the caller's. */
#pragma once

#include "core/query/query_internal.h"

/* The digest under which the program's results are stored; its own if no other is known. Never fails: unreadable rows are ignored. */
void program_first(struct store_txn *t, const struct digest *program, struct digest *ret);
/* Makes one class of all programs of a record, in the transaction that keeps it; *ret: the first digest. -ENOENT: the record has no program. */
int program_join(struct store_txn *t, const struct build_record *record, struct digest *ret);
/* The other digests under which the class has results, from before classes were joined. free(*ret), which may be NULL. */
int program_others(struct store_txn *t, const struct digest *first, struct digest **ret, size_t *ret_n);
