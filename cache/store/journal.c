/* Segments: their headers, which one is first or next, and writing to the last one. */
#include "cache/store/journal_internal.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "cache/base/fault.h"
#include "cache/base/lock.h"

#define VERSION        1
#define FLAG_COMPACTED 1u
#define AHEAD_LEAST    (UINT64_C(64) << 10) /* as many zeros are written ahead as the segment has bytes, within these bounds */
#define AHEAD_MOST     (UINT64_C(4) << 20)

static const char segment_magic[8] = "SLVRFSJ\n";

void segment_name(uint64_t segment, char ret[24])
{
        snprintf(ret, 24, "%08" PRIu64, segment);
}

int segment_open(struct journal *j, uint64_t segment, int flags)
{
        char name[24];
        int fd;

        segment_name(segment, name);
        fd = openat(j->dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
        return fd < 0 ? -errno : fd;
}

ssize_t segment_read(int fd, void *bytes, size_t size, uint64_t offset, const char *place)
{
        int r = fault_at(place);
        ssize_t n = r < 0 ? r : TEMP_FAILURE_RETRY(pread(fd, bytes, size, (off_t)offset));

        return r == 0 && n < 0 ? -errno : n;
}

int segment_error(struct journal *j, int r, const char *verb, uint64_t segment)
{
        return errorf(r, "cannot %s the journal %s/%08" PRIu64 ": %s", verb, j->dir, segment, strerror(-r));
}

bool segment_is_there(struct journal *j, uint64_t segment)
{
        char name[24];

        segment_name(segment, name);
        return faccessat(j->dir_fd, name, F_OK, 0) == 0;
}

/* -- headers ---------------------------------------------------------------------------------------------------- */

void segment_header_fill(struct segment_header *h, uint64_t segment, const struct journal_position *base, uint64_t end)
{
        *h = (struct segment_header){
                .version = htole32(VERSION),
                .flags = htole32(base ? FLAG_COMPACTED : 0),
                .segment = htole64(segment),
                .base_segment = htole64(base ? base->segment : 0),
                .base_offset = htole64(base ? base->offset : 0),
                .compacted_end = htole64(end),
        };
        memcpy(h->magic, segment_magic, sizeof(h->magic));
        h->checksum = htole64(XXH3_64bits(h, offsetof(struct segment_header, checksum)));
}

/* *ret_base: the base of a compacted segment, else {0, 0}. *ret_start: where the groups behind its compacted part begin; else the first record. A header
 * that is damaged or cannot be read is ignored: its segment is read like any other, record by record. */
static int header_read(struct journal *j, uint64_t segment, struct journal_position *ret_base, struct journal_position *ret_start)
{
        cleanup_close int fd = segment_open(j, segment, O_RDONLY);
        struct segment_header h;
        ssize_t n;

        *ret_base = (struct journal_position){0};
        *ret_start = (struct journal_position){segment, JOURNAL_HEADER};
        if (fd < 0)
                return segment_error(j, fd, "open", segment);
        n = segment_read(fd, &h, sizeof(h), 0, "journal.look");
        if (n < 0 && n != -EIO)
                return segment_error(j, (int)n, "read", segment);
        if (n != sizeof(h) || memcmp(h.magic, segment_magic, sizeof(h.magic)) != 0 || le64toh(h.segment) != segment ||
            le64toh(h.checksum) != XXH3_64bits(&h, offsetof(struct segment_header, checksum)))
                return 0;
        if (le32toh(h.version) != VERSION)
                return errorf(-EPROTONOSUPPORT,
                              "the journal %s/%08" PRIu64 " has format %u and this solverfs knows format %u only; nothing was "
                              "changed: use %s",
                              j->dir, segment, le32toh(h.version), VERSION,
                              le32toh(h.version) > VERSION ? "a newer one" : "the one that made it");
        if (le32toh(h.flags) & FLAG_COMPACTED) {
                *ret_base = (struct journal_position){le64toh(h.base_segment), le64toh(h.base_offset)};
                ret_start->offset = MAX(le64toh(h.compacted_end), ret_start->offset);
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

/* Ignores temporary and foreign files. */
static int is_segment(const struct dirent *e)
{
        uint64_t n = strtoull(e->d_name, NULL, 10);
        char name[24];

        segment_name(n, name);
        return n > 0 && strcmp(name, e->d_name) == 0;
}

static int list_segments(struct journal *j, struct numbers *ret)
{
        struct dirent **names;
        int n = scandirat(j->dir_fd, ".", &names, is_segment, versionsort);

        if (n < 0)
                return errorf(-errno, "cannot list %s: %s", j->dir, strerror(errno));
        ret->list = allocate((size_t)n, sizeof(*ret->list));
        for (; ret->n < (size_t)n; ret->n++) {
                ret->list[ret->n] = strtoull(names[ret->n]->d_name, NULL, 10);
                free(names[ret->n]);
        }
        free(names);
        return 0;
}

static int find_first(struct journal *j, uint64_t last, struct journal_position *ret, bool *ret_lost)
{
        cleanup(numbers_done) struct numbers all = {0};
        struct journal_position base = {0}, start;
        int r = list_segments(j, &all);

        *ret = (struct journal_position){0};
        for (size_t i = all.n; r == 0 && base.segment == 0 && i-- > 0;) {
                if (all.list[i] > last)
                        continue;
                *ret = (struct journal_position){all.list[i], JOURNAL_HEADER}; /* the compacted part, too */
                r = header_read(j, all.list[i], &base, &start);
        }
        if (ret_lost)
                *ret_lost = base.segment == 0 && ret->segment > 1;
        return r;
}

int journal_first_of(struct journal *j, uint64_t last, struct journal_position *ret, bool *ret_lost)
{
        int r = -ENOENT;

        for (unsigned i = 0; r == -ENOENT && i < 10; i++) /* a compaction removed it since the listing */
                r = find_first(j, last, ret, ret_lost);
        return r;
}

int journal_next_segment(struct journal *j, uint64_t segment, struct journal_position *ret, struct journal_position *ret_base)
{
        cleanup(numbers_done) struct numbers all = {0};
        int r = list_segments(j, &all);

        *ret = *ret_base = (struct journal_position){0};
        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (all.list[i] > segment)
                        return header_read(j, all.list[i], ret_base, ret);
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
        struct journal *j = allocate(1, sizeof(*j));
        struct journal_position first;
        int r;

        j->fd = -1;
        j->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        j->dir = copy_string(dir);
        if (j->dir_fd < 0)
                r = errorf(-errno, "cannot open the journal's folder %s: %s", dir, strerror(errno));
        else
                r = journal_first(j, &first, NULL); /* finds out whether another solverfs wrote it */
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
static void take_segment(struct journal *j, uint64_t segment, int fd)
{
        if (j->fd >= 0)
                close(j->fd);
        j->fd = fd;
        j->segment = segment;
}

/* Opens an existing segment for writing, unless it is open. -errno without a sentence. */
static int use_segment(struct journal *j, uint64_t segment)
{
        int fd;

        if (j->fd >= 0 && j->segment == segment)
                return 0;
        fd = segment_open(j, segment, O_RDWR);
        if (fd >= 0)
                take_segment(j, segment, fd);
        return MIN(fd, 0);
}

/* Makes a new segment and opens it for writing. -errno without a sentence. */
static int begin_segment(struct journal *j, uint64_t segment)
{
        int fd = segment_open(j, segment, O_RDWR | O_CREAT | O_TRUNC), r;
        struct segment_header h;

        if (fd < 0)
                return fd;
        segment_header_fill(&h, segment, NULL, 0);
        r = fchmod(fd, 0600) < 0 ? -errno : write_all(fd, &h, sizeof(h));
        if (r == 0 && fsync(j->dir_fd) < 0)
                r = -errno;
        if (r == 0) {
                take_segment(j, segment, fd);
        } else {
                close(fd);
                journal_remove(j, segment);
        }
        return r;
}

/* -- writing ---------------------------------------------------------------------------------------------------- */

struct journal_position journal_next_group(struct journal_position at)
{
        if (at.segment == 0 || at.offset >= JOURNAL_SEGMENT_SIZE)
                return (struct journal_position){at.segment + 1, JOURNAL_HEADER};
        return at;
}

uint64_t record_checksum(const struct record_header *h, const void *body, size_t size, uint64_t segment, uint64_t offset)
{
        uint64_t seed = XXH3_64bits_withSeed(h, offsetof(struct record_header, checksum), segment << 40 ^ offset);

        return XXH3_64bits_withSeed(body, size, seed);
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
        buffer_add(group, (const char[8]){0}, record_round_up(body) - body);
        if (group->failed)
                return;
        h.checksum = htole64(record_checksum(&h, group->data + at + sizeof(h), body, start.segment, start.offset + at));
        memcpy(group->data + at, &h, sizeof(h));
}

void journal_add_commit(struct buffer *group, struct journal_position start, uint64_t n_records)
{
        uint64_t n = htole64(n_records);

        journal_add(group, start, JOURNAL_COMMIT, SLICE(NULL, 0), SLICE(NULL, 0), SLICE(&n, sizeof(n)));
}

int segment_write(int fd, uint64_t offset, struct slice bytes)
{
        while (bytes.size > 0) {
                ssize_t n = TEMP_FAILURE_RETRY(pwrite(fd, bytes.data, bytes.size, (off_t)offset));

                if (n < 0)
                        return -errno;
                bytes = SLICE((const char *)bytes.data + n, bytes.size - (size_t)n);
                offset += (uint64_t)n;
        }
        return 0;
}

/* Writes zeros behind `end` if the file ends before it. Errors are ignored: a full disk shows at the next real write. */
static void fill_ahead(int fd, uint64_t end)
{
        static const char zeros[1 << 16];
        uint64_t ahead = MIN(MAX(end, AHEAD_LEAST), AHEAD_MOST);
        struct stat st;

        if (fstat(fd, &st) < 0 || (uint64_t)st.st_size >= end)
                return;
        for (uint64_t done = 0; done < ahead; done += sizeof(zeros))
                if (segment_write(fd, end + done, SLICE(zeros, sizeof(zeros))) < 0) {
                        if (ftruncate(fd, (off_t)end) < 0)
                                log_warning("cannot shorten the journal: %s", strerror(errno));
                        return;
                }
}

int journal_append(struct journal *j, struct journal_position start, struct slice group)
{
        int r = start.offset == JOURNAL_HEADER && !segment_is_there(j, start.segment) ? begin_segment(j, start.segment)
                                                                                      : use_segment(j, start.segment);

        if (r < 0)
                return segment_error(j, r, "open", start.segment);
        fill_ahead(j->fd, start.offset + group.size);
        r = fault_at("journal.append") ?: segment_write(j->fd, start.offset, group) ?: fault_at("journal.sync");
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

int journal_pending(struct journal *j, struct journal_position at)
{
        struct journal_position first;
        uint64_t word = 0;
        struct stat st;
        char name[24];
        ssize_t n;
        int r;

        if (at.segment == 0) {
                r = journal_first(j, &first, NULL);
                return r < 0 ? r : first.segment != 0;
        }
        segment_name(at.segment, name);
        r = use_segment(j, at.segment);
        if (r == -ENOENT || (r == 0 && !fd_is_named(j->fd, j->dir_fd, name))) /* a compaction has deleted it: what we write to it would be lost */
                return -ENODATA;
        if (r < 0)
                return segment_error(j, r, "open", at.segment);
        n = segment_read(j->fd, &word, sizeof(word), at.offset, "journal.look");
        if (n == -EIO) /* a page that cannot be read is a lost one */
                return -ENODATA;
        if (n < 0 || (n == 0 && fstat(j->fd, &st) < 0))
                return segment_error(j, n < 0 ? (int)n : -errno, "read", at.segment);
        if (n == 0 && (uint64_t)st.st_size < at.offset)
                return -ENODATA;
        return word != 0 || segment_is_there(j, at.segment + 1);
}

/* -- removing --------------------------------------------------------------------------------------------------- */

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
