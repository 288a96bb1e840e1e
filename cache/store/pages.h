/* Looks at the structure of an LMDB data file without LMDB, which trusts every page: reads by pread and checks all that LMDB would
 * follow. So neither a truncated nor a damaged file can fault, loop or write astray here.
 *
 * Checked, of one snapshot: the meta pages; the file's size against the last page they claim; the free list; every branch and leaf page
 * of every table: its number, flags, bounds, nodes, depth, the order of its keys; that no page is used twice or both used and free;
 * the count of entries. Not checked: what is in the values (they have checksums of their own, codec.h).
 *
 * The format is LMDB 0.9's, data version 1 (lmdb.h calls it so; laid out in mdb.c: MDB_page, MDB_node, MDB_meta, MDB_db). */
#pragma once

#include "cache/base/util.h"

struct pages_report {
        uint64_t pages, entries; /* looked at */
        bool complete;           /* else the time was up */
};

/* -EPROTONOSUPPORT: another LMDB's, as both meta pages say; one alone is damaged. */
int pages_format(int fd, const char *name);
/* `txn` is the snapshot's number, of which the caller holds a read transaction; 0: the newest, with nobody writing. `deadline` in
 * now_ns() time, 0: none. An empty file is sound. -EIO with a sentence that begins with `name`: damaged. -EAGAIN: writers have gone on
 * since, and the meta pages are not of this snapshot any more. Else as pages_format(). */
int pages_check(int fd, const char *name, uint64_t txn, uint64_t deadline, struct pages_report *ret);
