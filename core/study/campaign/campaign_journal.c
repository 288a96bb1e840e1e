#include "core/study/campaign/campaign_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include "cache/base/fault.h"
#include "cache/base/record.h"
#include "cache/store/store.h"

/* A record: size(1) of the fields, the fields, checksum(4) of the fields. The file begins with its format. Format 1 had no causes and no
 * numbers of findings, format 2 no runs that confirm, format 3 no amounts. A run's amount is its last field, left out where it equals the seconds. */
#define MAGIC      "solverfs campaign 4\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)

struct campaign_journal {
        int fd;
        uint64_t size; /* of the whole records */
        bool is_dirty;
};

static bool is_run(enum campaign_event e)
{
        return e == EVENT_RAN || e == EVENT_STEP || e == EVENT_AGAIN;
}

static bool has_step(enum campaign_event e)
{
        return e == EVENT_STEP || e == EVENT_FOUND || e == EVENT_AGAIN;
}

/* Is the file of this format, or of an earlier one? */
static bool is_readable(const struct blob *b)
{
        const char *p = b->data;

        return b->size >= MAGIC_SIZE && memcmp(p, MAGIC, MAGIC_SIZE - 2) == 0 && p[MAGIC_SIZE - 2] >= '1' &&
               p[MAGIC_SIZE - 2] <= MAGIC[MAGIC_SIZE - 2] && p[MAGIC_SIZE - 1] == '\n';
}

static void encode(const struct campaign_record *r, struct buffer *ret)
{
        cleanup_buffer struct buffer b = {0};

        record_put_u8(&b, (uint8_t)r->event);
        record_put_u64(&b, r->id);
        record_put_real(&b, r->now);
        if (has_step(r->event))
                record_put_u32(&b, r->step);
        if (is_run(r->event)) {
                record_put_u16(&b, (uint16_t)r->version);
                record_put_real(&b, r->seconds);
                record_put_u8(&b, (uint8_t)r->verdict);
        }
        if (r->event == EVENT_STEP) {
                record_put_u16(&b, (uint16_t)r->rule);
                record_put_u8(&b, (uint8_t)r->direction);
        } else if (r->event == EVENT_FOUND) {
                record_put_u16(&b, (uint16_t)r->version);
                record_put_u8(&b, (uint8_t)r->kind);
                record_put_u8(&b, r->is_find);
                record_put_u64(&b, r->cause);
        } else if (r->event == EVENT_CONFIRMED) {
                record_put_u8(&b, r->is_find);
                record_put_u64(&b, r->cause);
                record_put_u32(&b, r->finding);
        } else if (r->event == EVENT_CAUSE) {
                record_put_u64(&b, r->cause);
        } else if (is_run(r->event) && r->amount != r->seconds) {
                record_put_real(&b, r->amount);
        }
        record_put_u8(ret, (uint8_t)b.size);
        buffer_add(ret, b.data, b.size);
        record_put_u32(ret, (uint32_t)XXH3_64bits(b.data, b.size));
}

/* False where there is no whole record. */
static bool decode(struct slice bytes, struct campaign_record *ret, size_t *ret_size)
{
        const uint8_t *p = bytes.data;
        size_t n = bytes.size > 0 ? p[0] : 0;
        struct record r;
        uint8_t event, verdict = 0;

        if (n == 0 || bytes.size < n + 5 || key_get_u32(p + 1 + n) != (uint32_t)XXH3_64bits(p + 1, n))
                return false;
        r = record_of(SLICE(p + 1, n));
        event = record_u8(&r);
        *ret = (struct campaign_record){.event = (enum campaign_event)event, .id = record_u64(&r)};
        ret->now = record_real(&r);
        if (has_step(ret->event))
                ret->step = record_u32(&r);
        if (is_run(ret->event)) {
                ret->version = record_u16(&r);
                ret->seconds = record_real(&r);
                verdict = record_u8(&r);
        }
        if (ret->event == EVENT_STEP) {
                ret->rule = record_u16(&r);
                ret->direction = record_u8(&r);
        } else if (ret->event == EVENT_FOUND) {
                ret->version = record_u16(&r);
                ret->kind = record_u8(&r);
                ret->is_find = record_bool(&r);
                ret->cause = record_u64(&r);
        } else if (ret->event == EVENT_CONFIRMED) {
                ret->is_find = record_bool(&r);
                ret->cause = record_u64(&r);
                ret->finding = record_left(&r) > 0 ? record_u32(&r) : 0;
        } else if (ret->event == EVENT_CAUSE) {
                ret->cause = record_u64(&r);
        } else if (is_run(ret->event)) {
                ret->amount = record_left(&r) > 0 ? record_real(&r) : ret->seconds;
        }
        ret->verdict = (enum verdict)verdict;
        *ret_size = n + 5;
        return record_end(&r, "a campaign's journal") == 0 && event >= EVENT_NEXT && event < N_EVENTS && verdict < N_VERDICTS;
}

/* *ret_size: the bytes of whole records, the format included; 0: the file is empty. */
static int read_records(int fd, const char *path, campaign_replay_fn replay, void *user, uint64_t *ret_size)
{
        cleanup_blob struct blob b = {0};
        size_t at = MAGIC_SIZE, n;
        struct campaign_record record;
        int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : read_fd(fd, SIZE_MAX, &b);

        *ret_size = 0;
        if (r < 0)
                return errorf(r, "cannot read %s: %s", path, strerror(-r));
        if (b.size < MAGIC_SIZE && memcmp(b.data, MAGIC, b.size) == 0)
                return 0; /* a crash while the file was made */
        if (!is_readable(&b))
                return errorf(-EPROTONOSUPPORT, "%s is no journal of a campaign, or one of another solverfs", path);
        while (r == 0 && decode(SLICE((const char *)b.data + at, b.size - at), &record, &n)) {
                at += n;
                r = replay ? replay(user, &record) : 0;
        }
        *ret_size = at;
        return r;
}

int campaign_journal_read(const char *path, campaign_replay_fn replay, void *user)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint64_t size;

        return fd < 0 ? -errno : read_records(fd, path, replay, user, &size);
}

int campaign_journal_open(const char *path, campaign_replay_fn replay, void *user, struct campaign_journal **ret)
{
        cleanup(campaign_journal_closep) struct campaign_journal *j = allocate(1, sizeof(*j));
        int r;

        j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (j->fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        if (flock(j->fd, LOCK_EX | LOCK_NB) < 0)
                return errorf(-EBUSY, "the campaign is running in another process");
        r = read_records(j->fd, path, replay, user, &j->size);
        if (r < 0)
                return r;
        /* Records are added in this format, so the file's format is written anew, also over an earlier one. */
        j->size = MAX(j->size, MAGIC_SIZE);
        r = ftruncate(j->fd, (off_t)j->size) < 0 || lseek(j->fd, 0, SEEK_SET) < 0 ? -errno : write_all(j->fd, MAGIC, MAGIC_SIZE);
        if (r == 0 && lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
                r = -errno;
        if (r < 0)
                return errorf(r, "cannot write %s: %s", path, strerror(-r));
        *ret = steal_pointer(j);
        return 0;
}

void campaign_journal_close(struct campaign_journal *j)
{
        if (j && j->fd >= 0) {
                campaign_journal_sync(j);
                close(j->fd);
        }
        free(j);
}

int campaign_journal_add(struct campaign_journal *j, const struct campaign_record *record)
{
        cleanup_buffer struct buffer b = {0};
        int r = fault_at("campaign.journal");

        encode(record, &b);
        if (r == 0)
                r = write_all(j->fd, b.data, b.size);
        if (r < 0) { /* half a record would hide what is added behind it */
                if (ftruncate(j->fd, (off_t)j->size) < 0 || lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
                        log_warning("cannot take back half a record of a campaign's journal: %s", strerror(errno));
                return errorf(r, "cannot write a campaign's journal: %s", strerror(-r));
        }
        j->size += b.size;
        j->is_dirty = true;
        return 0;
}

int campaign_journal_sync(struct campaign_journal *j)
{
        if (j->is_dirty && fdatasync(j->fd) < 0)
                return errorf(-errno, "cannot save a campaign's journal: %s", strerror(errno));
        j->is_dirty = false;
        return 0;
}
