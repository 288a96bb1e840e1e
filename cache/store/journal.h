/* The journal: an append-only log of every put and delete in the store, in segments <store>/journal/<number>.
 *
 * A segment is a header and groups; a group is the records of one transaction and a commit record. Every record has its own checksum,
 * seeded with its place: a damaged record does not affect its neighbours, and stale bytes of a disk block are not taken for a record.
 * Numbers are little-endian; records begin at multiples of eight:
 *
 *     header  "SLVRFSJ\n" | version u32 | flags u32 | segment u64 | base segment u64 | base offset u64 | end u64 | 0 u64 | checksum u64
 *     record  magic u32 | op u8 | table name's length u8 | key's length u16 | value's length u32 | 0 u32 | checksum u64 | table | key | value
 *     commit  a record of op 3 with the number of the group's records as its value
 *
 * Values are as framed by codec.h. Zeros are written ahead of the records, because a sync is cheaper when the file does not grow; a zero
 * where a record would begin is the end. A compacted segment (flag 1) replaces all segments before it. Its compacted part holds all values
 * that were alive at a position of the journal, its base. `end`: where the compacted part ends; groups behind it are newer. `end` is 0 in
 * other segments, and in compacted ones of older versions.
 *
 * Bytes behind the last whole group belong to a transaction that was in flight when a process or the machine died: they are cut off.
 *
 * Threads and processes: writing functions need the store's write lock. Reading up to a known position needs no lock.
 */
#pragma once

#include "cache/base/util.h"

#define JOURNAL_HEADER       64
#define JOURNAL_SEGMENT_SIZE (UINT64_C(64) << 20) /* beyond it the next segment begins */
#define JOURNAL_TABLE_MAX    64                   /* bytes in a table's name */

struct journal;

/* Segments count from 1; {0, 0} is before everything. */
struct journal_position {
        uint64_t segment, offset;
};
static inline bool journal_position_equal(struct journal_position a, struct journal_position b)
{
        return a.segment == b.segment && a.offset == b.offset;
}

enum journal_op {
        JOURNAL_PUT = 1,
        JOURNAL_DELETE = 2,
        JOURNAL_COMMIT = 3
};

struct journal_record {
        enum journal_op op;
        struct slice table, key, frame; /* borrowed, until the callback returns; empty in a commit */
        struct journal_position end;    /* of the group, in a commit */
};

/* A value other than 0 ends the walk, which returns it. */
typedef int (*journal_fn)(void *user, const struct journal_record *record);

struct journal_counts {
        uint64_t records, damaged; /* records read whole; damaged places and lost segments */
        bool torn;                 /* an unfinished group is at the end */
};

int journal_open(const char *dir, struct journal **ret); /* dir: <store>/journal. -EPROTONOSUPPORT: another version wrote it */
struct journal *journal_close(struct journal *j);

int journal_size(struct journal *j, uint64_t *ret); /* bytes on disk, of all segments */

/* -- writing ---------------------------------------------------------------------------------------------------- */

/* Where the next group begins, if all up to `at` is applied: at `at`, or in a new segment. */
struct journal_position journal_next_group(struct journal_position at);
/* Builds a group that begins at `start`. */
void journal_add(struct buffer *group, struct journal_position start, enum journal_op op, struct slice table, struct slice key,
                 struct slice frame);
void journal_add_commit(struct buffer *group, struct journal_position start, uint64_t n_records);
/* Writes the group at `start` and syncs it. A failure leaves nothing of it. */
int journal_append(struct journal *j, struct journal_position start, struct slice group);
/* Cuts off what lies behind `end` in its segment. */
int journal_cut(struct journal *j, struct journal_position end);

/* -- compacting: a new segment with all that is alive, made beside the others and then put in their place ------------- */

struct journal_compaction;

/* `base`: the position up to which the values to be added are applied. */
int journal_compact_begin(struct journal *j, struct journal_position base, struct journal_compaction **ret);
int journal_compact_add(struct journal_compaction *c, struct slice table, struct slice key, struct slice frame);
/* `r`: the result of the additions. If it is 0, syncs the new segment and names it; *ret_end is its end. Frees c in any case. After a failure the
 * segment may have its name already. That is harmless: it holds exactly what is applied, and the next writer continues in it. */
int journal_compact_finish(struct journal_compaction *c, int r, struct journal_position *ret_end);
void journal_remove(struct journal *j, uint64_t segment);        /* a compacted segment that did not come into force */
void journal_remove_before(struct journal *j, uint64_t segment); /* once the compacted segment is in force */
void journal_sweep(struct journal *j);                           /* removes what a crash left of a compaction; needs the store alone */

/* -- reading ---------------------------------------------------------------------------------------------------- */

/* 1 if there is anything behind `at`, else 0. -ENODATA: a part is lost, as the journal ends before `at` or cannot be read there; or
 * a compaction has removed its segment. Cheap. */
int journal_pending(struct journal *j, struct journal_position at);
/* The newest compacted segment of those up to `last`, else the first; {0, 0}: there is none. *ret_lost (may be NULL): the segment is neither
 * compacted nor number 1, so its predecessors are lost. */
int journal_first_of(struct journal *j, uint64_t last, struct journal_position *ret, bool *ret_lost);
static inline int journal_first(struct journal *j, struct journal_position *ret, bool *ret_lost)
{
        return journal_first_of(j, UINT64_MAX, ret, ret_lost);
}
#define JOURNAL_END ((struct journal_position){UINT64_MAX, UINT64_MAX})

/* A walk over the whole groups, record by record. */
struct journal_walk {
        struct journal_position at;   /* the start; moves behind the last group read whole. {0, 0}: journal_first_of(upto.segment) */
        struct journal_position upto; /* leaves out groups that end behind it; JOURNAL_END: none */
        bool thorough;                /* also looks behind zeros, as a lost page looks like an end, and behind pages that cannot be read */
        journal_fn fn;               /* may be NULL: only `at` moves */
        void *user;
        struct journal_counts counts; /* anything missing before `upto` counts as damage */
};
/* If a later segment is compacted, and its base is where the walk has arrived, the walk skips the compacted part. -ESTALE without a sentence: its
 * base is another position. -EAGAIN without a sentence: a compaction has replaced all up to `upto`; `upto` is now the end of the compacted segment,
 * for another walk. With JOURNAL_END there is no -EAGAIN. */
int journal_walk(struct journal *j, struct journal_walk *w);
