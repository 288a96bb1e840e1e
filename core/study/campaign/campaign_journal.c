#include "core/study/campaign/campaign_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "cache/base/fault.h"
#include "cache/base/transfer.h"
#include "cache/store/store.h"

/* The file: its format, size(8) of the checkpoint (0: there is none), the checkpoint, records.
 * A record: size(1) of the fields, the fields, checksum(4) of the fields.
 * A checkpoint: now(8), size(8) of the state, the state, records, checksum(8) of all before. */
#define MAGIC      "solverfs campaign 7\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define HEAD_SIZE  (MAGIC_SIZE + sizeof(uint64_t))

struct campaign_journal {
        int fd;
        char *path;     /* owned */
        uint64_t begin; /* where the records begin, */
        uint64_t size;  /* and the whole ones end */
        bool is_dirty;
        struct campaign_record *under_way; /* owned; the records of inputs under way: from EVENT_NEXT until EVENT_FINISH */
        size_t n_under_way;
};

/* Each event has the fields that enum campaign_event names. */
static void transfer_record(struct transfer *t, struct campaign_record *r)
{
        const enum campaign_event e = r->event = (enum campaign_event)transfer_choice(t, r->event, N_EVENTS);

        transfer_u64(t, &r->id);
        transfer_real(t, &r->now);
        if (e == EVENT_STEP || e == EVENT_FOUND || e == EVENT_AGAIN)
                transfer_u64(t, &r->step);
        if (e == EVENT_RAN || e == EVENT_STEP || e == EVENT_AGAIN) {
                transfer_u32(t, &r->version);
                transfer_real(t, &r->seconds);
                r->verdict = (enum verdict)transfer_choice(t, r->verdict, N_VERDICTS);
        }
        if (e == EVENT_RAN || e == EVENT_AGAIN)
                transfer_real(t, &r->amount);
        if (e == EVENT_STEP) {
                transfer_u32(t, &r->rule);
                transfer_u32(t, &r->direction);
        }
        if (e == EVENT_FOUND) {
                transfer_u32(t, &r->version);
                transfer_u32(t, &r->kind);
        }
        if (e == EVENT_FOUND || e == EVENT_CONFIRMED)
                transfer_bool(t, &r->is_find);
        if (e == EVENT_FOUND || e == EVENT_COUNTED)
                transfer_u64(t, &r->finding);
        if (e < EVENT_NEXT)
                record_fail(&t->from);
}

static void encode(const struct campaign_record *r, struct buffer *ret)
{
        cleanup_buffer struct buffer b = {0};
        struct campaign_record record = *r;

        transfer_record(&(struct transfer){.to = &b}, &record);
        record_put_u8(ret, (uint8_t)b.size);
        buffer_add(ret, b.data, b.size);
        record_put_u32(ret, (uint32_t)XXH3_64bits(b.data, b.size));
}

/* False if there is no whole record. */
static bool decode(struct slice bytes, struct campaign_record *ret, size_t *ret_size)
{
        const uint8_t *p = bytes.data;
        size_t n = bytes.size > 0 ? p[0] : 0;
        struct transfer t;

        if (n == 0 || bytes.size < n + 5 || key_get_u32(p + 1 + n) != (uint32_t)XXH3_64bits(p + 1, n))
                return false;
        t = (struct transfer){.from = record_of(SLICE(p + 1, n))};
        *ret = (struct campaign_record){0};
        transfer_record(&t, ret);
        *ret_size = n + 5;
        return record_end(&t.from, "a campaign's journal") == 0;
}

/* -- inputs under way -- */

/* Keeps the record if it is of an input under way; an EVENT_FINISH drops those of its input. */
static void keep_under_way(struct campaign_journal *j, const struct campaign_record *r)
{
        bool is_under_way = r->event == EVENT_NEXT && r->id > 0;
        size_t n = 0;

        for (size_t i = 0; i < j->n_under_way && !is_under_way; i++)
                is_under_way = j->under_way[i].id == r->id;
        if (!is_under_way || r->event == EVENT_COUNTED) /* whose id is a number of finds */
                return;
        if (r->event != EVENT_FINISH) {
                list_add(j->under_way, j->n_under_way, *r);
                return;
        }
        for (size_t i = 0; i < j->n_under_way; i++)
                if (j->under_way[i].id != r->id)
                        j->under_way[n++] = j->under_way[i];
        j->n_under_way = n;
}

bool campaign_journal_find(const struct campaign_journal *j, struct campaign_record *r)
{
        for (size_t i = j->n_under_way; i-- > 0;) {
                const struct campaign_record *o = &j->under_way[i];

                if (o->event == r->event && o->id == r->id && o->step == r->step && o->version == r->version && o->kind == r->kind) {
                        *r = *o;
                        return true;
                }
        }
        return false;
}

/* -- reading -- */

/* Replays the whole records of some bytes; *ret_size: their length. `j` (NULL: none) keeps those of inputs under way. `replay` may be NULL. */
static int replay_records(struct campaign_journal *j, struct slice bytes, bool is_known, campaign_replay_fn replay, void *user, size_t *ret_size)
{
        struct campaign_record record;
        size_t at = 0, n;
        int r = 0;

        while (r == 0 && decode(SLICE((const char *)bytes.data + at, bytes.size - at), &record, &n)) {
                at += n;
                record.is_known = is_known;
                r = replay ? replay(user, &record) : 0;
                if (r == 0 && j)
                        keep_under_way(j, &record);
        }
        *ret_size = at;
        return r;
}

static int replay_checkpoint(struct campaign_journal *j, struct slice bytes, const char *path, campaign_replay_fn replay, void *user)
{
        struct campaign_record first = {.event = EVENT_CHECKPOINT};
        size_t size = bytes.size - sizeof(uint64_t), n;
        struct record r = record_of(SLICE(bytes.data, size));
        struct slice records;
        int k;

        if (bytes.size < sizeof(uint64_t) || key_get_u64((const uint8_t *)bytes.data + size) != XXH3_64bits(bytes.data, size))
                return errorf(-EIO, "%s is damaged; begin the campaign anew, under another --name", path);
        first.now = record_real(&r);
        first.state = record_slice(&r, record_u64(&r));
        records = record_slice(&r, record_left(&r));
        k = record_end(&r, "a campaign's checkpoint");
        if (k == 0 && replay)
                k = replay(user, &first);
        return k < 0 ? k : replay_records(j, records, true, replay, user, &n);
}

/* *ret_begin, *ret_size: as in struct campaign_journal. */
static int replay_file(struct campaign_journal *j, int fd, const char *path, campaign_replay_fn replay, void *user, uint64_t *ret_begin,
                       uint64_t *ret_size)
{
        cleanup_blob struct blob b = {0};
        const char *bytes;
        uint64_t size;
        size_t n;
        int r = read_fd(fd, SIZE_MAX, &b);

        *ret_begin = *ret_size = HEAD_SIZE;
        if (r < 0)
                return errorf(r, "cannot read %s: %s", path, strerror(-r));
        if (b.size < HEAD_SIZE && memcmp(b.data, MAGIC, MIN(b.size, MAGIC_SIZE)) == 0)
                return 0; /* a crash while the file was made */
        if (b.size < HEAD_SIZE || memcmp(b.data, MAGIC, MAGIC_SIZE) != 0)
                return errorf(-EKEYREJECTED, "%s is no journal of a campaign, or one of another solverfs", path);
        bytes = b.data;
        size = key_get_u64((const uint8_t *)bytes + MAGIC_SIZE);
        if (size > 0) /* a checkpoint that ends beyond the file is damaged */
                r = replay_checkpoint(j, SLICE(bytes + HEAD_SIZE, size <= b.size - HEAD_SIZE ? size : 0), path, replay, user);
        if (r < 0)
                return r;
        *ret_begin = HEAD_SIZE + size;
        r = replay_records(j, SLICE(bytes + *ret_begin, b.size - *ret_begin), false, replay, user, &n);
        *ret_size = *ret_begin + n;
        return r;
}

int campaign_journal_read(const char *path, campaign_replay_fn replay, void *user)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint64_t begin, size;

        return fd < 0 ? -errno : replay_file(NULL, fd, path, replay, user, &begin, &size);
}

/* -- writing -- */

/* Truncates the file after its whole records; a new file gets its head. */
static int drop_tail(struct campaign_journal *j)
{
        static const char head[HEAD_SIZE] = MAGIC;
        int r = ftruncate(j->fd, (off_t)j->size) < 0 || lseek(j->fd, 0, SEEK_SET) < 0 ? -errno : 0;

        if (r == 0 && j->size == HEAD_SIZE)
                r = write_all(j->fd, head, HEAD_SIZE);
        if (r == 0 && lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
                r = -errno;
        return r < 0 ? errorf(r, "cannot write a campaign's journal: %s", strerror(-r)) : 0;
}

/* True if another process replaced the file before the lock was ours. */
static bool is_replaced(int fd, const char *path)
{
        struct stat ours, there;

        return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino != there.st_ino;
}

int campaign_journal_open(const char *path, struct campaign_journal **ret)
{
        cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct campaign_journal *j;

        if (fd < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) < 0 || is_replaced(fd, path))
                return errorf(-EBUSY, "the campaign is running in another process");
        j = *ret = allocate(1, sizeof(*j));
        j->path = copy_string(path);
        j->fd = steal_fd(&fd);
        return 0;
}

int campaign_journal_replay(struct campaign_journal *j, campaign_replay_fn replay, void *user)
{
        int r = replay_file(j, j->fd, j->path, replay, user, &j->begin, &j->size);

        return r < 0 ? r : drop_tail(j);
}

void campaign_journal_close(struct campaign_journal *j)
{
        if (!j)
                return;
        campaign_journal_sync(j);
        close(j->fd);
        free(j->path);
        free(j->under_way);
        free(j);
}

int campaign_journal_add(struct campaign_journal *j, const struct campaign_record *record)
{
        cleanup_buffer struct buffer b = {0};
        int r = fault_at("campaign.journal");

        if (r < 0)
                return r;
        encode(record, &b);
        r = write_all(j->fd, b.data, b.size);
        if (r < 0) { /* half a record would hide later ones */
                if (ftruncate(j->fd, (off_t)j->size) < 0 || lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
                        log_warning("cannot take back half a record of a campaign's journal: %s", strerror(errno));
                return errorf(r, "cannot write a campaign's journal: %s", strerror(-r));
        }
        j->size += b.size;
        j->is_dirty = true;
        keep_under_way(j, record);
        return 0;
}

int campaign_journal_sync(struct campaign_journal *j)
{
        if (j->is_dirty && fdatasync(j->fd) < 0)
                return errorf(-errno, "cannot save a campaign's journal: %s", strerror(errno));
        j->is_dirty = false;
        return 0;
}

uint64_t campaign_journal_size(const struct campaign_journal *j)
{
        return j->size - j->begin;
}

static void encode_checkpoint(const struct campaign_journal *j, double now, struct slice state, const struct campaign_record *known, size_t n,
                              struct buffer *ret)
{
        record_put_real(ret, now);
        record_put_u64(ret, state.size);
        buffer_add(ret, state.data, state.size);
        for (size_t i = 0; i < n; i++)
                encode(&known[i], ret);
        for (size_t i = 0; i < j->n_under_way; i++)
                encode(&j->under_way[i], ret);
        record_put_u64(ret, XXH3_64bits(ret->data, ret->size));
}

/* Like write_file_atomic(), but locks the file before it is in place. A kill leaves a file of one fixed name, which the next checkpoint overwrites. */
int campaign_journal_checkpoint(struct campaign_journal *j, double now, struct slice state, const struct campaign_record *known, size_t n)
{
        cleanup_free char *fresh = format_string("%s.new", j->path);
        cleanup_close int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        cleanup_buffer struct buffer checkpoint = {0}, b = {0};
        int r;

        encode_checkpoint(j, now, state, known, n, &checkpoint);
        buffer_adds(&b, MAGIC);
        record_put_u64(&b, checkpoint.size);
        buffer_add(&b, checkpoint.data, checkpoint.size);
        if (buffer_error(&checkpoint) < 0 || buffer_error(&b) < 0)
                return -ENOMEM;
        r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : write_all(fd, b.data, b.size);
        if (r == 0 && fsync(fd) < 0)
                r = -errno;
        if (r == 0)
                r = fault_at("campaign.checkpoint");
        if (r == 0 && rename(fresh, j->path) < 0)
                r = -errno;
        if (r < 0)
                return errorf(r, "cannot write %s: %s", fresh, strerror(-r));
        close(j->fd);
        j->fd = steal_fd(&fd);
        j->begin = j->size = b.size;
        j->is_dirty = false;
        return sync_folder_of(j->path);
}
