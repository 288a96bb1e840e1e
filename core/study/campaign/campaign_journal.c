#include "core/study/campaign/campaign_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include "cache/base/fault.h"
#include "cache/base/transfer.h"
#include "cache/store/store.h"

/* A record: size(1) of the fields, the fields, checksum(4) of the fields. The file begins with its format.
 *
 * A checkpoint: its format, number(8), now(8), size(8) of the state, the state, records, checksum(8) of all before. A journal that goes on from
 * checkpoint n begins with an EVENT_CHECKPOINT of that id. One with a smaller number, or none, is older than the checkpoint: a crash came between. */
#define MAGIC      "solverfs campaign 6\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define STATE_MAGIC "solverfs checkpoint 2\n"
#define STATE_MAGIC_SIZE (sizeof(STATE_MAGIC) - 1)
#define TRIES 10 /* of a reader, while a writer makes a checkpoint */

struct campaign_journal {
        int fd;
        char *state_path;    /* owned */
        uint64_t size;       /* of the whole records */
        uint64_t checkpoint; /* its number; 0: none */
        bool is_dirty;
        struct campaign_record *open; /* owned; the records of inputs under way, from their EVENT_NEXT on */
        size_t n_open;
};

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

/* False where there is no whole record. */
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

/* -- the checkpoint -- */

struct checkpoint {
        struct blob bytes; /* owned */
        uint64_t number;   /* 0: there is none */
        double now;
        struct slice state, records;
};

static void checkpoint_done(struct checkpoint *c)
{
        blob_done(&c->bytes);
}

static int read_checkpoint(const char *path, struct checkpoint *ret)
{
        struct record r;
        int k = read_file(path, SIZE_MAX, &ret->bytes);
        const uint8_t *p = ret->bytes.data;
        size_t n = ret->bytes.size;

        if (k == -ENOENT)
                return 0;
        if (k < 0)
                return errorf(k, "cannot read %s: %s", path, strerror(-k));
        if (n < STATE_MAGIC_SIZE + sizeof(uint64_t) || memcmp(p, STATE_MAGIC, STATE_MAGIC_SIZE) != 0)
                return errorf(-EPROTONOSUPPORT, "%s is no checkpoint of a campaign, or one of another solverfs", path);
        n -= sizeof(uint64_t);
        if (key_get_u64(p + n) != XXH3_64bits(p, n))
                return errorf(-EIO, "%s is damaged; begin the campaign anew, under another --name", path);
        r = record_of(SLICE(p + STATE_MAGIC_SIZE, n - STATE_MAGIC_SIZE));
        ret->number = record_u64(&r);
        ret->now = record_real(&r);
        ret->state = record_slice(&r, record_u64(&r));
        ret->records = record_slice(&r, record_left(&r));
        return record_end(&r, "a campaign's checkpoint");
}

/* -- reading -- */

/* The whole records of some bytes; *ret_size: how many bytes they take. */
static int tell(struct slice bytes, bool is_known, campaign_replay_fn replay, void *user, size_t *ret_size)
{
        struct campaign_record record;
        size_t at = 0, n;
        int r = 0;

        while (r == 0 && decode(SLICE((const char *)bytes.data + at, bytes.size - at), &record, &n)) {
                at += n;
                record.is_known = is_known;
                if (record.event != EVENT_CHECKPOINT)
                        r = replay(user, &record);
        }
        *ret_size = at;
        return r;
}

static int tell_checkpoint(const struct checkpoint *c, campaign_replay_fn replay, void *user)
{
        const struct campaign_record first = {.event = EVENT_CHECKPOINT, .id = c->number, .now = c->now, .state = c->state};
        size_t n;
        int r = c->number > 0 ? replay(user, &first) : 0;

        return r < 0 || c->number == 0 ? r : tell(c->records, true, replay, user, &n);
}

/* The number of the checkpoint that a journal's records follow. */
static uint64_t number_of(struct slice records)
{
        struct campaign_record record;
        size_t n;

        return decode(records, &record, &n) && record.event == EVENT_CHECKPOINT ? record.id : 0;
}

/* *ret_size: the bytes of whole records, the format included; 0: the file is empty, or older than the checkpoint. -ESTALE: the checkpoint is older. */
static int read_records(int fd, const char *path, const struct checkpoint *c, campaign_replay_fn replay, void *user, uint64_t *ret_size)
{
        cleanup_blob struct blob b = {0};
        struct slice records;
        size_t n;
        int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : read_fd(fd, SIZE_MAX, &b);

        *ret_size = 0;
        if (r < 0)
                return errorf(r, "cannot read %s: %s", path, strerror(-r));
        if (b.size < MAGIC_SIZE && memcmp(b.data, MAGIC, b.size) == 0)
                return tell_checkpoint(c, replay, user); /* a crash while the file was made */
        if (b.size < MAGIC_SIZE || memcmp(b.data, MAGIC, MAGIC_SIZE) != 0)
                return errorf(-EPROTONOSUPPORT, "%s is no journal of a campaign, or one of another solverfs", path);
        records = SLICE((const char *)b.data + MAGIC_SIZE, b.size - MAGIC_SIZE);
        if (number_of(records) > c->number)
                return errorf(-ESTALE, "%s.state is not the one that belongs to it; begin the campaign anew, under another --name", path);
        r = tell_checkpoint(c, replay, user);
        if (r < 0 || number_of(records) < c->number)
                return r;
        r = tell(records, false, replay, user, &n);
        *ret_size = MAGIC_SIZE + n;
        return r;
}

int campaign_journal_read(const char *path, campaign_replay_fn replay, void *user)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        cleanup_free char *state_path = format_string("%s.state", path);
        uint64_t size;
        int r = fd < 0 ? -errno : -ESTALE;

        for (unsigned i = 0; r == -ESTALE && i < TRIES; i++) {
                cleanup(checkpoint_done) struct checkpoint c = {0};

                r = read_checkpoint(state_path, &c);
                if (r == 0)
                        r = read_records(fd, path, &c, replay, user, &size);
        }
        return r;
}

/* -- writing -- */

/* Keeps the records of inputs under way. */
static void keep_open(struct campaign_journal *j, const struct campaign_record *r)
{
        bool is_open = r->event == EVENT_NEXT && r->id > 0;
        size_t n = 0;

        for (size_t i = 0; i < j->n_open && !is_open; i++)
                is_open = j->open[i].id == r->id;
        if (!is_open || r->event == EVENT_COUNTED)
                return;
        if (r->event != EVENT_FINISH) {
                list_grow(j->open, j->n_open);
                j->open[j->n_open++] = *r;
                return;
        }
        for (size_t i = 0; i < j->n_open; i++)
                if (j->open[i].id != r->id)
                        j->open[n++] = j->open[i];
        j->n_open = n;
}

bool campaign_journal_find(const struct campaign_journal *j, struct campaign_record *r)
{
        for (size_t i = j->n_open; i-- > 0;) {
                const struct campaign_record *o = &j->open[i];

                if (o->event == r->event && o->id == r->id && o->step == r->step && o->version == r->version && o->kind == r->kind) {
                        *r = *o;
                        return true;
                }
        }
        return false;
}

struct opening {
        struct campaign_journal *journal;
        campaign_replay_fn replay;
        void *user;
};

static int replay_open(void *user, const struct campaign_record *r)
{
        const struct opening *o = user;
        int k = o->replay ? o->replay(o->user, r) : 0;

        if (k == 0 && r->event != EVENT_CHECKPOINT)
                keep_open(o->journal, r);
        return k;
}

static int add(struct campaign_journal *j, const struct campaign_record *record)
{
        cleanup_buffer struct buffer b = {0};
        int r;

        encode(record, &b);
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

/* Cuts the file behind its whole records; one without any begins with its format. */
static int cut(struct campaign_journal *j, uint64_t size)
{
        int r;

        j->size = MAX(size, MAGIC_SIZE);
        r = ftruncate(j->fd, (off_t)j->size) < 0 || lseek(j->fd, 0, SEEK_SET) < 0 ? -errno : write_all(j->fd, MAGIC, MAGIC_SIZE);
        if (r == 0 && lseek(j->fd, (off_t)j->size, SEEK_SET) < 0)
                r = -errno;
        if (r < 0)
                return errorf(r, "cannot write a campaign's journal: %s", strerror(-r));
        return size < MAGIC_SIZE && j->checkpoint > 0 ? add(j, &(struct campaign_record){.event = EVENT_CHECKPOINT, .id = j->checkpoint}) : 0;
}

int campaign_journal_open(const char *path, campaign_replay_fn replay, void *user, struct campaign_journal **ret)
{
        struct campaign_journal *j = *ret = allocate(1, sizeof(*j));
        cleanup(checkpoint_done) struct checkpoint c = {0};
        struct opening opening = {.journal = j, .replay = replay, .user = user};
        uint64_t size = 0;
        int r;

        j->state_path = format_string("%s.state", path);
        j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (j->fd < 0)
                r = errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        else if (flock(j->fd, LOCK_EX | LOCK_NB) < 0)
                r = errorf(-EBUSY, "the campaign is running in another process");
        else
                r = read_checkpoint(j->state_path, &c);
        j->checkpoint = c.number;
        if (r == 0)
                r = read_records(j->fd, path, &c, replay_open, &opening, &size);
        if (r == 0)
                r = cut(j, size);
        if (r < 0) {
                campaign_journal_close(j);
                *ret = NULL;
        }
        return r;
}

void campaign_journal_close(struct campaign_journal *j)
{
        if (!j)
                return;
        if (j->fd >= 0) {
                campaign_journal_sync(j);
                close(j->fd);
        }
        free(j->state_path);
        free(j->open);
        free(j);
}

int campaign_journal_add(struct campaign_journal *j, const struct campaign_record *record)
{
        int r = fault_at("campaign.journal");

        if (r == 0)
                r = add(j, record);
        if (r == 0)
                keep_open(j, record);
        return r;
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
        return j->size;
}

/* Like write_file_atomic(), but what a kill leaves has one name: the next checkpoint writes over it. */
static int write_state(const struct campaign_journal *j, const struct buffer *b)
{
        cleanup_free char *fresh = format_string("%s.new", j->state_path);
        cleanup_close int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : write_all(fd, b->data, b->size);

        if (r == 0 && (fsync(fd) < 0 || rename(fresh, j->state_path) < 0))
                r = -errno;
        return r < 0 ? errorf(r, "cannot write %s: %s", fresh, strerror(-r)) : sync_folder_of(j->state_path);
}

int campaign_journal_checkpoint(struct campaign_journal *j, double now, struct slice state, const struct campaign_record *known, size_t n)
{
        cleanup_buffer struct buffer b = {0};
        int r;

        buffer_adds(&b, STATE_MAGIC);
        record_put_u64(&b, j->checkpoint + 1);
        record_put_real(&b, now);
        record_put_u64(&b, state.size);
        buffer_add(&b, state.data, state.size);
        for (size_t i = 0; i < n; i++)
                encode(&known[i], &b);
        for (size_t i = 0; i < j->n_open; i++)
                encode(&j->open[i], &b);
        record_put_u64(&b, XXH3_64bits(b.data, b.size));
        r = buffer_error(&b);
        if (r == 0)
                r = write_state(j, &b);
        if (r < 0)
                return r;
        j->checkpoint++;
        r = fault_at("campaign.checkpoint");
        if (r == 0)
                r = cut(j, 0);
        return r < 0 ? r : campaign_journal_sync(j);
}
