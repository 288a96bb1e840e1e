/* The journal: groups as the input says, then damage as the input says. What is read back is what was written: records may be missing, no
 * other ones appear, they are in order, and without damage all are there. */
#include "cache/store/journal.h"

#include "fuzz.h"

#define RECORDS_MAX 64

struct written {
        enum journal_op op;
        struct slice table, key, frame; /* in the input */
};

struct reading {
        const struct written *records;
        size_t n, at, read;
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        enter_scratch();
        must(mkdir("journal", 0700) == 0);
        return 0;
}

static bool same(struct slice a, struct slice b)
{
        return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static int see(void *user, const struct journal_record *record)
{
        struct reading *r = user;

        if (record->op == JOURNAL_COMMIT)
                return 0;
        for (; r->at < r->n; r->at++) {
                const struct written *w = &r->records[r->at];

                if (w->op == record->op && same(w->table, record->table) && same(w->key, record->key) &&
                    same(w->frame, record->frame))
                        break;
        }
        must(r->at < r->n); /* it was written, and in this order */
        r->at++;
        r->read++;
        return 0;
}

static size_t write_groups(struct journal *j, struct input *in, struct written *records, struct journal_position *at)
{
        size_t n = 0;

        for (unsigned groups = take_byte(in) % 8; groups > 0 && n < RECORDS_MAX; groups--) {
                cleanup_buffer struct buffer group = {0};
                struct journal_position start = journal_next_group(*at);
                size_t first = n;

                for (unsigned count = take_byte(in) % 8; count > 0 && n < RECORDS_MAX; count--) {
                        struct written *w = &records[n++];

                        w->op = take_byte(in) & 1 ? JOURNAL_PUT : JOURNAL_DELETE;
                        w->table = take(in, take_byte(in) % (JOURNAL_TABLE_MAX + 1));
                        w->key = take(in, take_number(in, 2) % 481);
                        w->frame = take(in, take_number(in, 2));
                        journal_add(&group, start, w->op, w->table, w->key, w->frame);
                }
                journal_add_commit(&group, start, n - first);
                must(journal_append(j, start, SLICE(group.data, group.size)) == 0);
                *at = (struct journal_position){start.segment, start.offset + group.size};
        }
        return n;
}

static bool damage(struct input *in, uint64_t end)
{
        int fd = open("journal/00000001", O_RDWR | O_CLOEXEC);
        bool changed = false;

        if (fd < 0)
                return false; /* no group was written */
        for (unsigned n = take_byte(in) % 8; n > 0; n--) {
                off_t at = (off_t)(take_number(in, 3) % (end + 1));
                uint8_t how = take_byte(in), byte;

                if (how == 255) {
                        must(ftruncate(fd, at) == 0);
                        changed = true;
                } else if (how == 254) {
                        struct slice bytes = take(in, take_byte(in));

                        must(pwrite(fd, bytes.data, bytes.size, at) == (ssize_t)bytes.size);
                        changed = true;
                } else if (pread(fd, &byte, 1, at) == 1) {
                        byte ^= how;
                        must(pwrite(fd, &byte, 1, at) == 1);
                        changed |= how != 0;
                }
        }
        close(fd);
        return changed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct written records[RECORDS_MAX];
        struct input in = {data, size};
        bool thorough = take_byte(&in) & 1;
        struct reading reading = {.records = records};
        struct journal_position at = {0};
        struct journal_walk walk = {.upto = JOURNAL_END, .thorough = thorough, .fn = see, .user = &reading};
        struct journal *j;
        bool changed;

        must(remove_tree("journal") == 0 && mkdir("journal", 0700) == 0);
        must(journal_open("journal", &j) == 0);
        reading.n = write_groups(j, &in, records, &at);
        journal_close(j);
        changed = damage(&in, at.offset);
        if (journal_open("journal", &j) < 0)
                return 0; /* the header is damaged */
        if (journal_first(j, &walk.at, NULL) == 0 && walk.at.segment != 0) {
                int r = journal_walk(j, &walk);

                must(changed || r == 0);
                must(r == 0 || r == -EIO || r == -EBADMSG || r == -ENOENT || r == -EKEYREJECTED || r == -ESTALE);
                if (!changed)
                        must(reading.read == reading.n && walk.counts.damaged == 0 && !walk.counts.torn &&
                             journal_position_equal(walk.at, at));
                if (r == 0) { /* and again from where it ended: nothing new */
                        walk.fn = NULL;
                        journal_walk(j, &walk);
                }
        }
        journal_close(j);
        return 0;
}
