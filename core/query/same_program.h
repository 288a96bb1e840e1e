/* Programs that are one. Clean builds of a commit that give other bytes each time are one program with several digests (core/build/build.h), and
 * another commit's build may give any of them: whoever asks, results stand under one digest for all, the class's first. In TABLE_META.
 *
 * Classes only grow: two become one when a build makes a digest of each. What was measured under the second one's first digest stays where it
 * is, and is looked for there, too.
 *
 * Threads: any, in a transaction of the caller's. */
#pragma once

#include "core/query/query_internal.h"

/* The digest under which results of the program stand; its own where no other is known. Never fails: what cannot be read counts for nothing. */
void program_first(struct store_txn *t, const struct digest *program, struct digest *ret);
/* In the transaction that keeps the record: all programs of it are one from now on; *ret its first digest. -ENOENT: it has no program. */
int program_join(struct store_txn *t, const struct build_record *record, struct digest *ret);
/* Digests under which results of the class were kept before it was one; all but the first digest itself. free(*ret), which may be NULL. */
int program_others(struct store_txn *t, const struct digest *first, struct digest **ret, size_t *ret_n);
