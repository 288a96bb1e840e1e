/* Writing a compacted segment beside the others. */
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/store/journal_internal.h"

#define COMPACT_GROUP (UINT64_C(4) << 20) /* bytes in a group: a reader keeps a whole group in memory */

struct journal_compaction {
        struct journal *journal;
        int fd;
        struct journal_position base, at; /* `at`: where the current group begins */
        struct buffer group;
        uint64_t n_records;
};

static void compaction_free(struct journal_compaction *c)
{
        unlinkat(c->journal->dir_fd, COMPACT_NAME, 0);
        if (c->fd >= 0)
                close(c->fd);
        buffer_done(&c->group);
        free(c);
}

int journal_compact_begin(struct journal *j, struct journal_position base, struct journal_compaction **ret)
{
        struct journal_compaction *c = allocate(1, sizeof(*c));

        c->journal = j;
        c->base = base;
        c->at = (struct journal_position){base.segment + 1, JOURNAL_HEADER};
        c->fd = openat(j->dir_fd, COMPACT_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (c->fd < 0 || fchmod(c->fd, 0600) < 0) {
                int r = errorf(-errno, "cannot make %s/" COMPACT_NAME ": %s", j->dir, strerror(errno));

                compaction_free(c);
                return r;
        }
        *ret = c;
        return 0;
}

static int compact_write(struct journal_compaction *c, uint64_t offset, struct slice bytes)
{
        int r = segment_write(c->fd, offset, bytes);

        return r < 0 ? errorf(r, "cannot write %s/" COMPACT_NAME ": %s", c->journal->dir, strerror(-r)) : 0;
}

static int compact_flush(struct journal_compaction *c)
{
        int r;

        if (c->n_records == 0)
                return 0;
        journal_add_commit(&c->group, c->at, c->n_records);
        r = buffer_error(&c->group) ?: compact_write(c, c->at.offset, SLICE(c->group.data, c->group.size));
        if (r < 0)
                return r;
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

int journal_compact_finish(struct journal_compaction *c, int r, struct journal_position *ret_end)
{
        struct journal *j = c->journal;
        struct segment_header h;
        char name[24];

        segment_name(c->at.segment, name);
        if (r == 0)
                r = compact_flush(c);
        segment_header_fill(&h, c->at.segment, &c->base, c->at.offset);
        if (r == 0)
                r = compact_write(c, 0, SLICE(&h, sizeof(h)));
        if (r == 0 && (fsync(c->fd) < 0 || renameat(j->dir_fd, COMPACT_NAME, j->dir_fd, name) < 0 || fsync(j->dir_fd) < 0))
                r = errorf(-errno, "cannot put the compacted journal %s/%s in place: %s", j->dir, name, strerror(errno));
        *ret_end = c->at;
        compaction_free(c);
        return r;
}
