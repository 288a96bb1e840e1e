/* Reading segments, whole or damaged. The records of a group are remembered by offset, and delivered once its commit record shows that the group was
 * finished. Behind a damaged place, reading continues at the next whole record. */
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/journal_internal.h"

#define READ_BLOCK (UINT64_C(1) << 20) /* bytes; the window grows for a longer record */

/* -- a window on one segment ------------------------------------------------------------------------------------- */

/* A window on one segment, with the records read so far of the current group. */
struct reader {
        struct journal *journal;
        int fd;
        bool thorough;
        uint64_t segment, size; /* the file's */
        struct buffer bytes;    /* [start, start + bytes.size) of the file */
        uint64_t start;
        /* of the current group */
        uint64_t *records; /* offsets; malloc'd */
        size_t n_records;
        size_t since_gap; /* whole records since the last damaged place */
        bool gap;         /* there was a damaged place in it, or before it */
        int error; /* of reading the file */
};

static void reader_done(struct reader *r)
{
        if (r->fd >= 0)
                close(r->fd);
        buffer_done(&r->bytes);
        free(r->records);
}

/* Bytes [offset, offset + n); NULL if the file is shorter or cannot be read. */
static const char *reader_bytes(struct reader *r, uint64_t offset, uint64_t n)
{
        static const char block[4096];

        if (offset + n > r->size)
                return NULL;
        while (r->start + r->bytes.size < offset + n) {
                uint64_t from = r->start + r->bytes.size, want = MIN(MAX(offset + n - from, READ_BLOCK), r->size - from);
                size_t had = r->bytes.size;
                ssize_t got;

                /* adding makes room; the read then overwrites it */
                for (uint64_t more = 0; more < want; more += sizeof(block))
                        buffer_add(&r->bytes, block, MIN(want - more, sizeof(block)));
                if (r->bytes.failed) {
                        r->error = -ENOMEM;
                        return NULL;
                }
                got = segment_read(r->fd, r->bytes.data + had, want, from, "journal.read");
                if (got == -EIO && r->thorough)
                        got = (ssize_t)MIN(want, sizeof(block) - from % sizeof(block)); /* stays zeros, like a page that was lost */
                if (got < 0)
                        r->error = segment_error(r->journal, (int)got, "read", r->segment);
                if (got <= 0) {
                        r->size = from; /* the file is shorter now */
                        r->bytes.size = had;
                        return NULL;
                }
                r->bytes.size = had + (size_t)got;
        }
        return r->bytes.data + (offset - r->start);
}

/* Drops the bytes before `offset` from the window. */
static void reader_forget(struct reader *r, uint64_t offset)
{
        size_t gone = (size_t)(offset - r->start);

        if (gone < READ_BLOCK) /* small moves would take quadratic time */
                return;
        gone = MIN(gone, r->bytes.size);
        memmove(r->bytes.data, r->bytes.data + gone, r->bytes.size - gone);
        r->bytes.size -= gone;
        r->start += gone;
}

/* -- records ----------------------------------------------------------------------------------------------------- */

enum found {
        FOUND_RECORD,
        FOUND_END,    /* zeros, or the file's end */
        FOUND_DAMAGE, /* something, but no record */
};

/* Reads the record at `offset`. *ret points into the reader's bytes; *ret_next: the offset behind it. */
static enum found reader_record(struct reader *r, uint64_t offset, struct journal_record *ret, uint64_t *ret_next)
{
        struct record_header h;
        const char *p = reader_bytes(r, offset, sizeof(h));
        uint64_t body;

        if (!p) {
                p = reader_bytes(r, offset, 8);
                return p && memcmp(p, (const char[8]){0}, 8) != 0 ? FOUND_DAMAGE : FOUND_END;
        }
        memcpy(&h, p, sizeof(h));
        if (memcmp(&h, (const char[8]){0}, 8) == 0)
                return FOUND_END;
        if (le32toh(h.magic) != RECORD_MAGIC || h.op < JOURNAL_PUT || h.op > JOURNAL_COMMIT || h.table_size > JOURNAL_TABLE_MAX)
                return FOUND_DAMAGE;
        body = (uint64_t)h.table_size + le16toh(h.key_size) + le32toh(h.value_size);
        p = reader_bytes(r, offset, sizeof(h) + body);
        if (!p || record_checksum(&h, p + sizeof(h), body, r->segment, offset) != le64toh(h.checksum))
                return FOUND_DAMAGE;
        p += sizeof(h);
        *ret_next = offset + sizeof(h) + record_round_up(body);
        *ret = (struct journal_record){
                .op = h.op,
                .table = SLICE(p, h.table_size),
                .key = SLICE(p + h.table_size, le16toh(h.key_size)),
                .frame = SLICE(p + h.table_size + le16toh(h.key_size), le32toh(h.value_size)),
        };
        return FOUND_RECORD;
}

/* The next whole record at or behind `offset`; 0: there is none. */
static uint64_t reader_resync(struct reader *r, uint64_t offset)
{
        struct journal_record record;
        uint64_t next;

        for (; r->error == 0 && offset + RECORD_HEADER <= r->size; offset += 8) {
                const char *p = reader_bytes(r, offset, sizeof(uint32_t));
                uint32_t magic;

                if (!p)
                        break;
                memcpy(&magic, p, sizeof(magic));
                if (le32toh(magic) == RECORD_MAGIC && reader_record(r, offset, &record, &next) == FOUND_RECORD)
                        return offset;
        }
        return 0;
}

/* -- groups ------------------------------------------------------------------------------------------------------ */

static void reader_remember(struct reader *r, uint64_t offset)
{
        list_add(r->records, r->n_records, offset);
        r->since_gap++;
}

/* Gives the walk's callback the records of the group that ends at `end`, and its commit. */
static int reader_deliver(struct reader *r, uint64_t end, struct journal_walk *w)
{
        struct journal_record record = {0};
        uint64_t next;
        int result = 0;

        for (size_t i = 0; w->fn && i < r->n_records; i++) {
                if (reader_record(r, r->records[i], &record, &next) != FOUND_RECORD)
                        return r->error < 0 ? r->error : -EIO; /* it was whole a moment ago */
                result = w->fn(w->user, &record);
                if (result != 0)
                        return result;
        }
        w->counts.records += r->n_records;
        r->n_records = r->since_gap = 0;
        r->gap = false;
        w->at.offset = end;
        return w->fn ? w->fn(w->user, &(struct journal_record){.op = JOURNAL_COMMIT, .end = w->at}) : 0;
}

/* True if the group whose commit record ends at `end` was certainly finished: it is whole, or something was written after it, as a writer
 * continues only behind a finished group. */
static bool reader_is_finished(struct reader *r, struct slice commit, uint64_t end)
{
        uint64_t n;

        if (commit.size != sizeof(n))
                return false;
        memcpy(&n, commit.data, sizeof(n));
        n = le64toh(n);
        if (r->gap ? r->since_gap >= n : r->n_records == n) /* if all n are behind the gap, it lacks none */
                return true;
        return reader_resync(r, end) != 0 || segment_is_there(r->journal, r->segment + 1);
}

/* Delivers the segment's groups that are finished. */
static int read_records(struct reader *r, struct journal_walk *w)
{
        uint64_t offset = w->at.offset, next = 0;

        for (;; offset = next) {
                struct journal_record record;
                enum found found = reader_record(r, offset, &record, &next);
                int result = 0;

                if (r->error == 0 && found == FOUND_END && !w->thorough)
                        break;
                if (r->error == 0 && found != FOUND_RECORD) {
                        next = reader_resync(r, offset + 8);
                        if (r->error == 0 && next == 0) {
                                w->counts.torn |= found == FOUND_DAMAGE;
                                break;
                        }
                        r->gap = true;
                        r->since_gap = 0;
                        w->counts.damaged++;
                } else if (r->error == 0 && record.op != JOURNAL_COMMIT) {
                        reader_remember(r, offset);
                } else if (r->error == 0 && reader_is_finished(r, record.frame, next)) {
                        result = reader_deliver(r, next, w);
                        reader_forget(r, next);
                }
                if (r->error < 0 || result != 0)
                        return result != 0 ? result : r->error;
        }
        w->counts.torn |= offset > w->at.offset || r->gap;
        return 0;
}

/* -- segments ---------------------------------------------------------------------------------------------------- */

/* Reads to the end of the segment, or to `until` in it. */
static int read_segment(struct journal *j, struct journal_walk *w, uint64_t until)
{
        cleanup(reader_done) struct reader r = {.journal = j, .thorough = w->thorough, .segment = w->at.segment, .start = w->at.offset};
        struct stat st;

        r.fd = segment_open(j, w->at.segment, O_RDONLY);
        if (r.fd == -ENOENT) { /* lost; later segments may exist */
                w->counts.damaged++;
                return 0;
        }
        if (r.fd < 0 || fstat(r.fd, &st) < 0)
                return segment_error(j, r.fd < 0 ? r.fd : -errno, "read", w->at.segment);
        r.size = MIN((uint64_t)st.st_size, until);
        return read_records(&r, w);
}

static int read_segments(struct journal *j, struct journal_walk *w)
{
        struct journal_position next, base;
        int r = 0;

        while (r == 0 && w->at.segment != 0 && w->at.segment <= w->upto.segment) {
                r = read_segment(j, w, w->at.segment == w->upto.segment ? w->upto.offset : UINT64_MAX);
                if (r < 0)
                        return r;
                if (w->at.segment == w->upto.segment) { /* a lost end may have held the last word on any key */
                        w->counts.damaged += w->upto.offset != UINT64_MAX && w->at.offset < w->upto.offset;
                        return 0;
                }
                r = journal_next_segment(j, w->at.segment, &next, &base);
                if (r < 0 || next.segment == 0 || next.segment > w->upto.segment)
                        break;
                w->counts.damaged += base.segment == 0 && next.segment != w->at.segment + 1; /* segments in between are lost */
                if (base.segment != 0 && !journal_position_equal(base, w->at))
                        return -ESTALE;
                w->at = next;
        }
        w->counts.damaged += r == 0 && w->upto.segment != UINT64_MAX && w->at.segment < w->upto.segment;
        return r;
}

/* The result of journal_walk(): -EAGAIN if a compaction may have removed a part of what was read, else `result`. While the segment at the start is
 * there, so were all behind it: the first ones are removed first. */
static int judge_compaction(struct journal *j, uint64_t start, struct journal_position *upto, int result)
{
        struct journal_position first;
        bool lost;
        int r;

        if (upto->segment == 0 || upto->segment == UINT64_MAX || segment_is_there(j, start))
                return result;
        r = journal_first(j, &first, &lost);
        if (r < 0 || first.segment <= upto->segment || lost)
                return result;
        *upto = (struct journal_position){first.segment, UINT64_MAX};
        return -EAGAIN;
}

int journal_walk(struct journal *j, struct journal_walk *w)
{
        bool lost = false;
        int r = w->at.segment == 0 ? journal_first_of(j, w->upto.segment, &w->at, &lost) : 0;
        uint64_t start = w->at.segment;

        w->counts.damaged += lost;
        if (r == 0)
                r = read_segments(j, w);
        return r == 0 || r == -ENOENT ? judge_compaction(j, start, &w->upto, r) : r;
}
