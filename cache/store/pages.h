/* Checks the structure of an LMDB data file without LMDB, which trusts every page. It reads copies and checks all references that LMDB
 * would follow, so a truncated or damaged file cannot make it fault, loop or write astray.
 *
 * Checked, in one snapshot: the meta pages; the file's size against the last page they claim; the free list; every branch and leaf page
 * of every table: its number, flags, bounds, nodes, depth, the order of its keys; that no page is used twice or both used and free;
 * the count of entries. Not checked: the values, which have checksums (codec.h).
 *
 * The format is that of LMDB 0.9, data version 1, defined in mdb.c: MDB_page, MDB_node, MDB_meta, MDB_db. */
#pragma once

#include "cache/base/util.h"

/* Errors of all functions: -EIO: damaged; the sentence begins with `name`. -EPROTONOSUPPORT: both meta pages name another LMDB's format; if only
 * one does, it is damaged. */

/* Checks the meta pages and the file's length; an empty file is sound. Cheap. Call it before LMDB opens the file: LMDB divides by a number found
 * there. */
int pages_check_meta(int fd, const char *name);
/* Checks the whole snapshot number `txn`, for which the caller holds a read transaction; 0: the newest, while nobody writes. -EAGAIN: writers have
 * replaced the snapshot's meta page. */
int pages_check(int fd, const char *name, uint64_t txn);

/* -- for a write transaction ------------------------------------------------------------------------------------ *
 *
 * Each page that LMDB will read for a write is checked here first. LMDB writes by copy on write: it reads clean pages, those of the snapshot
 * on which the transaction began, and changes copies of its own (dirty pages) made from them. So if every clean page it reads is sound, it
 * follows no bad reference. The clean pages it reads, by mdb.c of LMDB 0.9:
 *
 *   mdb_txn_begin      a meta page                                               pages_begin() checks both
 *   mdb_page_alloc     the free list: a cursor over it, each record's list       pages_begin() walks the whole tree, and all lists:
 *   mdb_freelist_save  the same tree, written, rebalanced                        in range, in order, no page twice; once more
 *                                                                              before the commit: pages_check_free_list()
 *   mdb_cursor_touch,  the tree of tables, on the way to the table's name        pages_begin() walks it whole
 *   mdb_txn_commit
 *   mdb_put            the pages from the table's root to the key's leaf, and    pages_path()
 *                      the header of the old value's overflow pages: freeing
 *                      them trusts mp_pages
 *   mdb_page_split     the leaf and the pages above it, which are dirty by then
 *   mdb_del            as mdb_put; then mdb_rebalance, on each level from the    pages_path() with `deletes`: the whole table, once
 *                      leaf up: a page beside it, the lowest leaf below that or  in a transaction (2 to 4 µs a page, so delete
 *                      below the page itself; at last the next leaf              many rows at once, or from small tables)
 *
 * LMDB takes the same path as in the snapshot, although its tree has changed since the transaction began: while keys are only put, pages are
 * only split, so the same clean page lies between the same two separators. Pages spilled to the disk in a huge transaction are LMDB's own,
 * written a moment ago.
 *
 * One window remains: a page may be overwritten from outside in the microseconds between the check and LMDB's reading. */
struct pages;

/* Takes the newest snapshot, while nobody else writes. `fd` and `name` are borrowed. */
int pages_begin(int fd, const char *name, struct pages **ret);
struct pages *pages_free(struct pages *p);                     /* NULL */
uint64_t pages_txn(const struct pages *p);                     /* number of the snapshot */
/* Call before the key is put or deleted. A missing table is sound. */
int pages_path(struct pages *p, const char *table, struct slice key, bool deletes);
int pages_check_free_list(struct pages *p); /* checks the free list before the commit; only pages_free() may follow */
bool pages_was_checked(const struct pages *p, uint64_t page); /* for pages of a table or of a large value; for tests */
