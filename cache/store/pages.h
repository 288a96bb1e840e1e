/* Looks at the structure of an LMDB data file without LMDB, which trusts every page: reads copies, and checks all that LMDB would
 * follow. So neither a truncated nor a damaged file can fault, loop or write astray here.
 *
 * Checked, of one snapshot: the meta pages; the file's size against the last page they claim; the free list; every branch and leaf page
 * of every table: its number, flags, bounds, nodes, depth, the order of its keys; that no page is used twice or both used and free;
 * the count of entries. Not checked: what is in the values (they have checksums of their own, codec.h).
 *
 * The format is LMDB 0.9's, data version 1 (lmdb.h calls it so; laid out in mdb.c: MDB_page, MDB_node, MDB_meta, MDB_db). */
#pragma once

#include "cache/base/util.h"

/* All of these: -EIO with a sentence that begins with `name`: damaged. -EPROTONOSUPPORT: another LMDB's, as both meta pages say; one alone
 * is damaged. */

/* The meta pages, and that the file is as long as they say; an empty file is sound. Cheap: before LMDB opens the file, which divides by what
 * stands there. */
int pages_look(int fd, const char *name);
/* All of it. `txn` is the snapshot's number, of which the caller holds a read transaction; 0: the newest, with nobody writing. -EAGAIN:
 * writers have gone on since, and the meta pages are not of this snapshot any more. */
int pages_check(int fd, const char *name, uint64_t txn);

/* -- for a write transaction ------------------------------------------------------------------------------------ *
 *
 * Before LMDB writes, each page that it is going to read is looked at here. A write in LMDB is copy on write: it reads clean pages, those of the
 * snapshot that the transaction began on, and changes copies of its own (dirty pages), which it made from clean ones. So it never
 * follows rubbish when every clean page it reads is sound. Which those are, by mdb.c of LMDB 0.9:
 *
 *   mdb_txn_begin      a meta page                                               pages_begin() looks at both
 *   mdb_page_alloc     the free list: a cursor over it, each record's list       pages_begin() walks the whole tree, and all lists:
 *   mdb_freelist_save  the same tree, written, rebalanced                        in range, in order, no page twice; once more
                                                                                before the commit: pages_look_again()
 *   mdb_cursor_touch,  the tree of tables, on the way to the table's name        pages_begin() walks it whole
 *   mdb_txn_commit
 *   mdb_put            the pages from the table's root to the key's leaf, and    pages_path()
 *                      the header of the old value's overflow pages, of which
 *                      mp_pages is believed when they are freed
 *   mdb_page_split     the leaf and the pages above it, which are dirty by then
 *   mdb_del            as mdb_put; then mdb_rebalance, on each level from the    pages_path() with `deletes`: the whole table, once
 *                      leaf up: a page beside it, the lowest leaf below that or  in a transaction. Only small tables have deletions
 *                      below the page itself; at last the next leaf
 *
 * The path in the snapshot is the path that LMDB takes although its tree has changed since the transaction began: while keys are only put, pages are
 * only split, so that between the same two separators lies the same clean page. Pages spilled to the disk in a huge transaction are LMDB's own,
 * written a moment ago.
 *
 * One window remains: a page overwritten from outside between the look and LMDB's reading, some microseconds later. */
struct pages;

/* The newest snapshot, with nobody else writing. `name` is borrowed. */
int pages_begin(int fd, const char *name, struct pages **ret);
struct pages *pages_free(struct pages *p);                     /* NULL */
uint64_t pages_txn(const struct pages *p);                     /* number of the snapshot */
/* Before the key is put or deleted. A table that is not there is sound. */
int pages_path(struct pages *p, const char *table, struct slice key, bool deletes);
int pages_look_again(struct pages *p); /* at the free list, before the commit; nothing more can be asked of p */
bool pages_was_looked_at(const struct pages *p, uint64_t page); /* a table's, or of a large value; for tests */
