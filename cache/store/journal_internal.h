/* Shared by journal.c (segments, and writing to the last one), journal_read.c and journal_compact.c. */
#pragma once

#include "cache/store/journal.h"

#define RECORD_MAGIC  UINT32_C(0x4a524653) /* "SFRJ" */
#define RECORD_HEADER 24

struct journal {
        char *dir;
        int dir_fd;
        /* segment being written; under the store's write lock */
        int fd;
        uint64_t segment; /* 0: none open */
};

struct segment_header {
        char magic[8];
        uint32_t version, flags;
        uint64_t segment, base_segment, base_offset, compacted_end, reserved;
        uint64_t checksum;
};
_Static_assert(sizeof(struct segment_header) == JOURNAL_HEADER, "the header is as documented");

struct record_header {
        uint32_t magic;
        uint8_t op, table_size;
        uint16_t key_size;
        uint32_t value_size, zero;
        uint64_t checksum;
};
_Static_assert(sizeof(struct record_header) == RECORD_HEADER, "the record's header is as documented");

#define COMPACT_NAME "compacting" /* name of a compacted segment while it is written */

void segment_name(uint64_t segment, char ret[24]);
int segment_open(struct journal *j, uint64_t segment, int flags); /* a descriptor, or -errno without a sentence */
/* Bytes read, or -errno without a sentence; `place` is a fault's (cache/base/fault.h). */
ssize_t segment_read(int fd, void *bytes, size_t size, uint64_t offset, const char *place);
bool segment_is_there(struct journal *j, uint64_t segment);
/* Where the first group of the next existing segment begins; in a compacted one, the first behind its compacted part. {0, 0}: there is no segment.
 * *ret_base: the base of a compacted segment, else {0, 0}. */
int journal_next_segment(struct journal *j, uint64_t segment, struct journal_position *ret, struct journal_position *ret_base);
int segment_error(struct journal *j, int r, const char *verb, uint64_t segment);
/* `base` and `end`: of a compacted segment, else NULL and 0. */
void segment_header_fill(struct segment_header *h, uint64_t segment, const struct journal_position *base, uint64_t end);
int segment_write(int fd, uint64_t offset, struct slice bytes); /* -errno without a sentence */

static inline uint64_t record_round_up(uint64_t n)
{
        return (n + 7) & ~UINT64_C(7);
}
/* Checksum of the record at this place: of its header up to the checksum, and of its body. */
uint64_t record_checksum(const struct record_header *h, const void *body, size_t size, uint64_t segment, uint64_t offset);
