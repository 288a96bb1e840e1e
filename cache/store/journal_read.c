/* Reading segments, whole or damaged. */
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/journal_internal.h"

#define READ_BLOCK (UINT64_C(1) << 20)

/* A window on one segment, with the records read so far of the current group. */
struct reader {
        struct journal *journal;
        int fd;
        uint64_t segment, size; /* the file's */
        struct buffer bytes;    /* [start, start + bytes.size) of the file */
        uint64_t start;
        /* of the group at hand */
        uint64_t *records; /* offsets; malloc'd */
        size_t n_records;
        size_t since_gap; /* records read whole since something was not */
        bool gap;
};

static void reader_done(struct reader *r)
{
        if (r->fd >= 0)
                close(r->fd);
        buffer_done(&r->bytes);
        free(r->records);
}

/* Bytes [offset, offset + n), or NULL when the file has not as many; *error when it cannot be read. */
static const char *reader_bytes(struct reader *r, uint64_t offset, uint64_t n, int *error)
{
        static const char block[4096];

        if (offset + n > r->size)
                return NULL;
        while (r->start + r->bytes.size < offset + n) {
                uint64_t from = r->start + r->bytes.size, want = MIN(MAX(offset + n - from, READ_BLOCK), r->size - from);
                size_t had = r->bytes.size;
                ssize_t got;

                /* make room by adding; the content is then read over it */
                for (uint64_t more = 0; more < want; more += sizeof(block))
                        buffer_add(&r->bytes, block, MIN(want - more, sizeof(block)));
                if (r->bytes.failed) {
                        *error = -ENOMEM;
                        return NULL;
                }
                do
                        got = pread(r->fd, r->bytes.data + had, want, (off_t)from);
                while (got < 0 && errno == EINTR);
                if (got < 0)
                        *error = segment_error(r->journal, -errno, "read", r->segment);
                if (got <= 0) {
                        r->size = from; /* shorter by now */
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

        if (gone < READ_BLOCK) /* moving little by little would be quadratic */
                return;
        gone = MIN(gone, r->bytes.size);
        memmove(r->bytes.data, r->bytes.data + gone, r->bytes.size - gone);
        r->bytes.size -= gone;
        r->start += gone;
}

enum found {
        FOUND_RECORD,
        FOUND_END,    /* zeros, or the file's end */
        FOUND_DAMAGE, /* something, but no record */
};

static enum found reader_look(struct reader *r, uint64_t offset, struct journal_record *ret, uint64_t *ret_next, int *error)
{
        struct record_header h;
        const char *p = reader_bytes(r, offset, sizeof(h), error);
        uint64_t body;

        if (!p) {
                p = reader_bytes(r, offset, 8, error);
                return p && memcmp(p, (const char[8]){0}, 8) != 0 ? FOUND_DAMAGE : FOUND_END;
        }
        memcpy(&h, p, sizeof(h));
        if (memcmp(&h, (const char[8]){0}, 8) == 0)
                return FOUND_END;
        if (le32toh(h.magic) != RECORD_MAGIC || h.op < JOURNAL_PUT || h.op > JOURNAL_COMMIT || h.table_size > JOURNAL_TABLE_MAX)
                return FOUND_DAMAGE;
        body = (uint64_t)h.table_size + le16toh(h.key_size) + le32toh(h.value_size);
        p = reader_bytes(r, offset, sizeof(h) + body, error);
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

/* The next whole record at or behind `offset`; 0 when there is none. */
static uint64_t reader_resync(struct reader *r, uint64_t offset, int *error)
{
        struct journal_record record;
        uint64_t next;

        for (; *error == 0 && offset + RECORD_HEADER <= r->size; offset += 8) {
                const char *p = reader_bytes(r, offset, sizeof(uint32_t), error);
                uint32_t magic;

                if (!p)
                        break;
                memcpy(&magic, p, sizeof(magic));
                if (le32toh(magic) == RECORD_MAGIC && reader_look(r, offset, &record, &next, error) == FOUND_RECORD)
                        return offset;
        }
        return 0;
}

static int reader_remember(struct reader *r, uint64_t offset)
{
        list_grow(r->records, r->n_records);
        r->records[r->n_records++] = offset;
        r->since_gap++;
        return 0;
}

static int reader_deliver(struct reader *r, uint64_t end, journal_fn fn, void *user, struct journal_counts *counts)
{
        struct journal_record record = {0};
        uint64_t next;
        int e = 0;

        for (size_t i = 0; i < r->n_records; i++) {
                int result;

                if (reader_look(r, r->records[i], &record, &next, &e) != FOUND_RECORD)
                        return e < 0 ? e : -EIO; /* it was whole a moment ago */
                result = fn(user, &record);
                if (result != 0)
                        return result;
        }
        counts->records += r->n_records;
        r->n_records = r->since_gap = 0;
        r->gap = false;
        record = (struct journal_record){.op = JOURNAL_COMMIT, .end = {r->segment, end}};
        return fn(user, &record);
}

/* Is the group whose commit record, ending at `end`, was just read known to have been finished? Whole, it is. With a part missing it was
 * if anything was written after it: a writer goes on only behind a finished group. */
static bool reader_is_finished(struct reader *r, struct slice commit, uint64_t end, int *error)
{
        uint64_t n;

        if (commit.size != sizeof(n))
                return false;
        memcpy(&n, commit.data, sizeof(n));
        n = le64toh(n);
        if (r->gap ? r->since_gap >= n : r->n_records == n)
                return true;
        return reader_resync(r, end, error) != 0 || segment_is_there(r->journal, r->segment + 1);
}

static int read_segment(struct journal *j, struct journal_position *at, uint64_t until, bool thorough, journal_fn fn, void *user,
                        struct journal_counts *counts)
{
        cleanup(reader_done) struct reader r = {.journal = j, .segment = at->segment, .start = at->offset};
        uint64_t offset = at->offset;
        struct stat st;
        int e = 0;

        r.fd = segment_open(j, at->segment, O_RDONLY);
        if (r.fd == -ENOENT) { /* lost; there may be others behind it */
                counts->damaged++;
                return 0;
        }
        if (r.fd < 0 || fstat(r.fd, &st) < 0)
                return segment_error(j, r.fd < 0 ? r.fd : -errno, "read", at->segment);
        r.size = MIN((uint64_t)st.st_size, until);
        for (;;) {
                struct journal_record record;
                uint64_t next = 0;
                enum found found = reader_look(&r, offset, &record, &next, &e);

                if (e == 0 && found == FOUND_END && !thorough)
                        break;
                if (e == 0 && found != FOUND_RECORD) {
                        next = reader_resync(&r, offset + 8, &e);
                        if (e == 0 && next == 0) {
                                counts->torn |= found == FOUND_DAMAGE;
                                break;
                        }
                        r.gap = true;
                        r.since_gap = 0;
                        counts->damaged++;
                } else if (e == 0 && record.op != JOURNAL_COMMIT) {
                        e = reader_remember(&r, offset);
                } else if (e == 0 && reader_is_finished(&r, record.frame, next, &e)) {
                        int result = reader_deliver(&r, next, fn, user, counts);

                        if (result != 0)
                                return result;
                        at->offset = next;
                        reader_forget(&r, next);
                }
                if (e < 0)
                        return e;
                offset = next;
        }
        if (offset > at->offset || r.gap)
                counts->torn = true;
        return 0;
}

int journal_read(struct journal *j, struct journal_position *at, bool thorough, journal_fn fn, void *user,
                 struct journal_counts *counts)
{
        return read_segment(j, at, UINT64_MAX, thorough, fn, user, counts);
}

int journal_read_all(struct journal *j, struct journal_position upto, journal_fn fn, void *user, struct journal_counts *counts)
{
        struct journal_position at, base;
        bool lost;
        int r = journal_first(j, &at, &lost);
        uint64_t next = at.segment;

        if (upto.segment != 0 && at.segment > upto.segment && !lost)
                upto = (struct journal_position){at.segment, UINT64_MAX};
        counts->damaged += r == 0 && lost;
        while (r == 0 && at.segment != 0 && at.segment <= upto.segment) {
                counts->damaged += at.segment != next; /* those in between are lost, with what they said of keys before them */
                next = at.segment + 1;
                r = read_segment(j, &at, at.segment == upto.segment ? upto.offset : UINT64_MAX, true, fn, user, counts);
                /* its end is gone, and with it perhaps the last word on any key */
                counts->damaged += r == 0 && at.segment == upto.segment && upto.offset != UINT64_MAX && at.offset < upto.offset;
                if (r == 0)
                        r = journal_next_segment(j, at.segment, &at, &base);
        }
        counts->damaged += r == 0 && upto.segment != 0 && next <= upto.segment;
        return r;
}
