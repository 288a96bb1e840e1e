#include "journal.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <xxhash.h>

#include "fault.h"

#define VERSION        1
#define FLAG_COMPACTED 1u
#define RECORD_MAGIC   UINT32_C(0x4a524653) /* "SFRJ" */
#define RECORD_HEADER  24
#define AHEAD_LEAST    (UINT64_C(64) << 10) /* zeros written ahead: as much as there is already, between these */
#define AHEAD_MOST     (UINT64_C(4) << 20)
#define READ_BLOCK     (UINT64_C(1) << 20)

static const char segment_magic[8] = "SLVRFSJ\n";

struct journal {
        char *dir;
        int dir_fd;
        /* the segment being written; under the store's write lock */
        int fd;
        uint64_t segment; /* 0: none open */
};

struct header {
        char magic[8];
        uint32_t version, flags;
        uint64_t segment, base_segment, base_offset, reserved[2];
        uint64_t checksum;
};
_Static_assert(sizeof(struct header) == JOURNAL_HEADER, "the header is as documented");

struct record_header {
        uint32_t magic;
        uint8_t op, table_size;
        uint16_t key_size;
        uint32_t value_size, zero;
        uint64_t checksum;
};
_Static_assert(sizeof(struct record_header) == RECORD_HEADER, "the record's header is as documented");

static uint64_t round_up(uint64_t n)
{
        return (n + 7) & ~UINT64_C(7);
}

static void segment_name(uint64_t segment, char ret[24])
{
        snprintf(ret, 24, "%08" PRIu64, segment);
}

static int open_segment(struct journal *j, uint64_t segment, int flags)
{
        char name[24];
        int fd;

        segment_name(segment, name);
        fd = openat(j->dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
        return fd < 0 ? -errno : fd;
}

static int segment_error(struct journal *j, int r, const char *verb, uint64_t segment)
{
        return errorf(r, "cannot %s the journal %s/%08" PRIu64 ": %s", verb, j->dir, segment, strerror(-r));
}

static bool is_there(struct journal *j, uint64_t segment)
{
        char name[24];

        segment_name(segment, name);
        return faccessat(j->dir_fd, name, F_OK, 0) == 0;
}

/* -- headers ---------------------------------------------------------------------------------------------------- */

static void header_fill(struct header *h, uint64_t segment, const struct journal_position *base)
{
        *h = (struct header){
                .version = htole32(VERSION),
                .flags = htole32(base ? FLAG_COMPACTED : 0),
                .segment = htole64(segment),
                .base_segment = htole64(base ? base->segment : 0),
                .base_offset = htole64(base ? base->offset : 0),
        };
        memcpy(h->magic, segment_magic, sizeof(h->magic));
        h->checksum = htole64(XXH3_64bits(h, offsetof(struct header, checksum)));
}

/* A header that does not check out says nothing: its segment is then read like any other, record by record. */
static int header_read(struct journal *j, uint64_t segment, bool *ret_compacted, struct journal_position *ret_base)
{
        cleanup_close int fd = open_segment(j, segment, O_RDONLY);
        struct header h;
        ssize_t n;

        *ret_compacted = false;
        *ret_base = (struct journal_position){0};
        if (fd < 0)
                return segment_error(j, fd, "open", segment);
        n = pread(fd, &h, sizeof(h), 0);
        if (n < 0)
                return segment_error(j, -errno, "read", segment);
        if (n != sizeof(h) || memcmp(h.magic, segment_magic, sizeof(h.magic)) != 0 || le64toh(h.segment) != segment ||
            le64toh(h.checksum) != XXH3_64bits(&h, offsetof(struct header, checksum)))
                return 0;
        if (le32toh(h.version) > VERSION)
                return errorf(-EPROTONOSUPPORT,
                              "the journal %s/%08" PRIu64
                              " has format %u and this solverfs knows formats up to %u; use a newer one",
                              j->dir, segment, le32toh(h.version), VERSION);
        if (le32toh(h.flags) & FLAG_COMPACTED) {
                *ret_compacted = true;
                *ret_base = (struct journal_position){le64toh(h.base_segment), le64toh(h.base_offset)};
        }
        return 0;
}

/* -- segments --------------------------------------------------------------------------------------------------- */

struct numbers {
        uint64_t *list; /* malloc'd, ascending */
        size_t n;
};

static void numbers_done(struct numbers *n)
{
        free(n->list);
}

static int compare_numbers(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static int numbers_add(struct numbers *l, size_t *capacity, uint64_t n)
{
        if (l->n == *capacity) {
                size_t grown = MAX(*capacity * 2, (size_t)16);
                uint64_t *list = reallocarray(l->list, grown, sizeof(*list));

                if (!list)
                        return -ENOMEM;
                l->list = list;
                *capacity = grown;
        }
        l->list[l->n++] = n;
        return 0;
}

static int list_segments(struct journal *j, struct numbers *ret)
{
        int fd = openat(j->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        size_t capacity = 0;
        struct dirent *e;

        if (!d) {
                r = errorf(-errno, "cannot list %s: %s", j->dir, strerror(errno));
                if (fd >= 0)
                        close(fd);
                return r;
        }
        while (r == 0 && (e = readdir(d))) {
                char *end, name[24];
                uint64_t n;

                errno = 0;
                n = strtoull(e->d_name, &end, 10);
                if (errno || *end || n == 0)
                        continue;
                segment_name(n, name);
                if (strcmp(name, e->d_name) == 0) /* temporary files and strangers are not ours */
                        r = numbers_add(ret, &capacity, n);
        }
        closedir(d);
        if (ret->n > 0)
                qsort(ret->list, ret->n, sizeof(*ret->list), compare_numbers);
        return r;
}

int journal_first(struct journal *j, struct journal_position *ret)
{
        cleanup(numbers_done) struct numbers all = {0};
        int r = list_segments(j, &all);

        *ret = (struct journal_position){0};
        for (size_t i = all.n; r == 0 && i-- > 0;) {
                struct journal_position base;
                bool compacted;

                *ret = (struct journal_position){all.list[i], JOURNAL_HEADER};
                r = header_read(j, all.list[i], &compacted, &base);
                if (compacted)
                        break;
        }
        return r;
}

int journal_next_segment(struct journal *j, uint64_t segment, struct journal_position *ret, struct journal_position *ret_base)
{
        cleanup(numbers_done) struct numbers all = {0};
        bool compacted;
        int r = list_segments(j, &all);

        *ret = *ret_base = (struct journal_position){0};
        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (all.list[i] > segment) {
                        *ret = (struct journal_position){all.list[i], JOURNAL_HEADER};
                        return header_read(j, all.list[i], &compacted, ret_base);
                }
        return r;
}

int journal_size(struct journal *j, uint64_t *ret)
{
        cleanup(numbers_done) struct numbers all = {0};
        int r = list_segments(j, &all);

        *ret = 0;
        for (size_t i = 0; i < all.n; i++) {
                char name[24];
                struct stat st;

                segment_name(all.list[i], name);
                if (fstatat(j->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        *ret += (uint64_t)st.st_size;
        }
        return r;
}

int journal_open(const char *dir, struct journal **ret)
{
        struct journal *j = calloc(1, sizeof(*j));
        struct journal_position first;
        int r;

        if (!j)
                return -ENOMEM;
        j->fd = -1;
        j->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        j->dir = strdup(dir);
        if (j->dir_fd < 0)
                r = errorf(-errno, "cannot open the journal's folder %s: %s", dir, strerror(errno));
        else
                r = j->dir ? journal_first(j, &first) : -ENOMEM;
        if (r < 0) {
                journal_close(j);
                return r;
        }
        *ret = j;
        return 0;
}

struct journal *journal_close(struct journal *j)
{
        if (!j)
                return NULL;
        if (j->fd >= 0)
                close(j->fd);
        if (j->dir_fd >= 0)
                close(j->dir_fd);
        free(j->dir);
        free(j);
        return NULL;
}

/* Makes `segment` the one being written. */
static int use_segment(struct journal *j, uint64_t segment)
{
        int fd;

        if (j->segment == segment)
                return 0;
        fd = open_segment(j, segment, O_RDWR);
        if (fd < 0)
                return fd;
        if (j->fd >= 0)
                close(j->fd);
        j->fd = fd;
        j->segment = segment;
        return 0;
}

static int begin_segment(struct journal *j, uint64_t segment)
{
        cleanup_close int fd = open_segment(j, segment, O_RDWR | O_CREAT | O_TRUNC);
        struct header h;
        int r;

        if (fd < 0)
                return segment_error(j, fd, "make", segment);
        header_fill(&h, segment, NULL);
        r = fchmod(fd, 0600) < 0 ? -errno : write_all(fd, &h, sizeof(h));
        if (r == 0 && fsync(j->dir_fd) < 0)
                r = -errno;
        if (r < 0) {
                char name[24];

                segment_name(segment, name);
                unlinkat(j->dir_fd, name, 0);
                return segment_error(j, r, "begin", segment);
        }
        if (j->fd >= 0)
                close(j->fd);
        j->fd = steal_fd(&fd);
        j->segment = segment;
        return 0;
}

/* -- writing ---------------------------------------------------------------------------------------------------- */

struct journal_position journal_next_group(struct journal_position at)
{
        if (at.segment == 0 || at.offset >= JOURNAL_SEGMENT_SIZE)
                return (struct journal_position){at.segment + 1, JOURNAL_HEADER};
        return at;
}

static uint64_t record_seed(uint64_t segment, uint64_t offset)
{
        return segment << 40 ^ offset;
}

/* Over the header up to its checksum, and what follows. */
static uint64_t record_checksum(const struct record_header *h, const void *body, size_t size, uint64_t seed)
{
        return XXH3_64bits_withSeed(body, size, XXH3_64bits_withSeed(h, offsetof(struct record_header, checksum), seed));
}

void journal_add(struct buffer *group, struct journal_position start, enum journal_op op, struct slice table, struct slice key,
                 struct slice frame)
{
        size_t at = group->size, body = table.size + key.size + frame.size;
        struct record_header h = {
                .magic = htole32(RECORD_MAGIC),
                .op = (uint8_t)op,
                .table_size = (uint8_t)table.size,
                .key_size = htole16((uint16_t)key.size),
                .value_size = htole32((uint32_t)frame.size),
        };

        assert(table.size <= JOURNAL_TABLE_MAX && key.size <= UINT16_MAX && frame.size <= UINT32_MAX);
        buffer_add(group, &h, sizeof(h));
        buffer_add(group, table.data, table.size);
        buffer_add(group, key.data, key.size);
        buffer_add(group, frame.data, frame.size);
        buffer_add(group, (const char[8]){0}, round_up(body) - body);
        if (group->failed)
                return;
        h.checksum =
                htole64(record_checksum(&h, group->data + at + sizeof(h), body, record_seed(start.segment, start.offset + at)));
        memcpy(group->data + at, &h, sizeof(h));
}

void journal_add_commit(struct buffer *group, struct journal_position start, uint64_t n_records)
{
        uint64_t n = htole64(n_records);

        journal_add(group, start, JOURNAL_COMMIT, SLICE(NULL, 0), SLICE(NULL, 0), SLICE(&n, sizeof(n)));
}

static int write_at(int fd, uint64_t offset, struct slice bytes)
{
        while (bytes.size > 0) {
                ssize_t n = pwrite(fd, bytes.data, bytes.size, (off_t)offset);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                bytes = SLICE((const char *)bytes.data + n, bytes.size - (size_t)n);
                offset += (uint64_t)n;
        }
        return 0;
}

/* Zeros behind `end`, when the file ends before it. Only a help: a full disk is found out by who writes more than zeros. */
static void fill_ahead(int fd, uint64_t end)
{
        static const char zeros[1 << 16];
        uint64_t ahead = MIN(MAX(end, AHEAD_LEAST), AHEAD_MOST);
        struct stat st;

        if (fstat(fd, &st) < 0 || (uint64_t)st.st_size >= end)
                return;
        for (uint64_t done = 0; done < ahead; done += sizeof(zeros))
                if (write_at(fd, end + done, SLICE(zeros, sizeof(zeros))) < 0) {
                        if (ftruncate(fd, (off_t)end) < 0)
                                log_warning("cannot shorten the journal: %s", strerror(errno));
                        return;
                }
}

int journal_append(struct journal *j, struct journal_position start, struct slice group)
{
        int r = start.offset == JOURNAL_HEADER && !is_there(j, start.segment) ? begin_segment(j, start.segment)
                                                                              : use_segment(j, start.segment);

        if (r < 0)
                return segment_error(j, r, "open", start.segment);
        fill_ahead(j->fd, start.offset + group.size);
        r = fault_at("journal.append");
        if (r == 0)
                r = write_at(j->fd, start.offset, group);
        if (r == 0)
                r = fault_at("journal.sync");
        if (r == 0 && fdatasync(j->fd) < 0)
                r = -errno;
        if (r == 0)
                return 0;
        journal_cut(j, start);
        return segment_error(j, r, "write", start.segment);
}

int journal_cut(struct journal *j, struct journal_position end)
{
        int r = use_segment(j, end.segment);

        if (r == 0 && (ftruncate(j->fd, (off_t)end.offset) < 0 || fdatasync(j->fd) < 0))
                r = -errno;
        if (r == -ENOENT && end.offset == JOURNAL_HEADER) /* the segment was never begun */
                return 0;
        return r < 0 ? segment_error(j, r, "shorten", end.segment) : 0;
}

/* -- compacting ------------------------------------------------------------------------------------------------- */

#define COMPACT_NAME  "compacting"
#define COMPACT_GROUP (UINT64_C(4) << 20) /* bytes in a group: what a reader keeps in memory at once */

struct journal_compaction {
        struct journal *journal;
        int fd;
        struct journal_position at; /* where the group at hand begins */
        struct buffer group;
        uint64_t n_records;
};

int journal_compact_begin(struct journal *j, struct journal_position base, struct journal_compaction **ret)
{
        struct journal_compaction *c = calloc(1, sizeof(*c));
        struct header h;
        int r;

        if (!c)
                return -ENOMEM;
        c->journal = j;
        c->at = (struct journal_position){base.segment + 1, JOURNAL_HEADER};
        c->fd = openat(j->dir_fd, COMPACT_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        header_fill(&h, c->at.segment, &base);
        r = c->fd < 0 || fchmod(c->fd, 0600) < 0 ? -errno : write_all(c->fd, &h, sizeof(h));
        if (r < 0) {
                r = errorf(r, "cannot write %s/" COMPACT_NAME ": %s", j->dir, strerror(-r));
                journal_compact_abort(c);
                return r;
        }
        *ret = c;
        return 0;
}

void journal_compact_abort(struct journal_compaction *c)
{
        unlinkat(c->journal->dir_fd, COMPACT_NAME, 0);
        if (c->fd >= 0)
                close(c->fd);
        buffer_done(&c->group);
        free(c);
}

static int compact_flush(struct journal_compaction *c)
{
        int r;

        if (c->n_records == 0)
                return 0;
        journal_add_commit(&c->group, c->at, c->n_records);
        r = buffer_error(&c->group);
        if (r == 0)
                r = write_all(c->fd, c->group.data, c->group.size);
        if (r < 0)
                return errorf(r, "cannot write %s/" COMPACT_NAME ": %s", c->journal->dir, strerror(-r));
        c->at.offset += c->group.size;
        c->group.size = 0;
        c->n_records = 0;
        return 0;
}

int journal_compact_add(struct journal_compaction *c, struct slice table, struct slice key, struct slice frame)
{
        journal_add(&c->group, c->at, JOURNAL_PUT, table, key, frame);
        c->n_records++;
        return c->group.size < COMPACT_GROUP ? buffer_error(&c->group) : compact_flush(c);
}

int journal_compact_finish(struct journal_compaction *c, struct journal_position *ret_end)
{
        struct journal *j = c->journal;
        int r = compact_flush(c);
        char name[24];

        segment_name(c->at.segment, name);
        if (r == 0 && (fsync(c->fd) < 0 || renameat(j->dir_fd, COMPACT_NAME, j->dir_fd, name) < 0 || fsync(j->dir_fd) < 0))
                r = errorf(-errno, "cannot put the compacted journal %s/%s in place: %s", j->dir, name, strerror(errno));
        *ret_end = c->at;
        journal_compact_abort(c);
        return r;
}

void journal_remove(struct journal *j, uint64_t segment)
{
        char name[24];

        segment_name(segment, name);
        if (unlinkat(j->dir_fd, name, 0) < 0 && errno != ENOENT)
                log_warning("cannot remove %s/%s: %s", j->dir, name, strerror(errno));
}

void journal_remove_before(struct journal *j, uint64_t segment)
{
        cleanup(numbers_done) struct numbers all = {0};

        if (list_segments(j, &all) < 0)
                return;
        for (size_t i = 0; i < all.n && all.list[i] < segment; i++)
                journal_remove(j, all.list[i]);
}

void journal_sweep(struct journal *j)
{
        unlinkat(j->dir_fd, COMPACT_NAME, 0);
}

/* -- reading ---------------------------------------------------------------------------------------------------- */

int journal_pending(struct journal *j, struct journal_position at)
{
        struct journal_position first;
        uint64_t word = 0;
        struct stat st;
        ssize_t n;
        int r;

        if (at.segment == 0) {
                r = journal_first(j, &first);
                return r < 0 ? r : first.segment != 0;
        }
        r = use_segment(j, at.segment);
        if (r == -ENOENT)
                return -ENODATA;
        if (r < 0)
                return segment_error(j, r, "open", at.segment);
        n = pread(j->fd, &word, sizeof(word), (off_t)at.offset);
        if (n < 0 || (n == 0 && fstat(j->fd, &st) < 0))
                return segment_error(j, -errno, "read", at.segment);
        if (n == 0 && (uint64_t)st.st_size < at.offset)
                return -ENODATA;
        return word != 0 || is_there(j, at.segment + 1);
}

/* A window on one segment: what is read of the group at hand. */
struct reader {
        struct journal *journal;
        int fd;
        uint64_t segment, size; /* the file's */
        struct buffer bytes;    /* [start, start + bytes.size) of the file */
        uint64_t start;
        /* of the group at hand */
        uint64_t *records; /* offsets; malloc'd */
        size_t n_records, capacity;
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

/* Lets go of what lies before `offset`. */
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
        if (!p || record_checksum(&h, p + sizeof(h), body, record_seed(r->segment, offset)) != le64toh(h.checksum))
                return FOUND_DAMAGE;
        p += sizeof(h);
        *ret_next = offset + sizeof(h) + round_up(body);
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
        if (r->n_records == r->capacity) {
                size_t capacity = MAX(r->capacity * 2, (size_t)64);
                uint64_t *records = reallocarray(r->records, capacity, sizeof(*records));

                if (!records)
                        return -ENOMEM;
                r->records = records;
                r->capacity = capacity;
        }
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
        return reader_resync(r, end, error) != 0 || is_there(r->journal, r->segment + 1);
}

static int read_segment(struct journal *j, struct journal_position *at, uint64_t until, bool thorough, journal_fn fn, void *user,
                        struct journal_counts *counts)
{
        cleanup(reader_done) struct reader r = {.journal = j, .segment = at->segment, .start = at->offset};
        uint64_t offset = at->offset;
        struct stat st;
        int e = 0;

        r.fd = open_segment(j, at->segment, O_RDONLY);
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
        int r = journal_first(j, &at);

        while (r == 0 && at.segment != 0 && at.segment <= upto.segment) {
                uint64_t segment = at.segment;

                r = read_segment(j, &at, segment == upto.segment ? upto.offset : UINT64_MAX, true, fn, user, counts);
                if (r == 0)
                        r = journal_next_segment(j, segment, &at, &base);
        }
        return r;
}
