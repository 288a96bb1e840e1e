#include "core/report/outfile.h"

#include <fcntl.h>
#include <sys/stat.h>

#define PIECE ((size_t)1 << 16)

int outfile_open(const char *path, mode_t mode, struct outfile *ret)
{
        *ret = (struct outfile){.fd = -1, .path = strdup(path)};
        if (!ret->path || asprintf(&ret->temporary, "%s.XXXXXX", path) < 0) {
                ret->temporary = NULL;
                outfile_done(ret);
                return -ENOMEM;
        }
        ret->fd = mkostemp(ret->temporary, O_CLOEXEC);
        if (ret->fd < 0 || fchmod(ret->fd, mode) < 0) {
                int r = errorf(-errno, "cannot write %s: %s", path, strerror(errno));

                if (ret->fd < 0)
                        ret->temporary[0] = '\0'; /* nothing is there to be taken away */
                outfile_done(ret);
                return r;
        }
        return 0;
}

void outfile_stream(outfile_write_fn write, void *user, struct outfile *ret)
{
        *ret = (struct outfile){.fd = -1, .write = write, .user = user};
}

static int write_pending(struct outfile *o)
{
        int r = buffer_error(&o->pending);

        if (r == 0 && o->pending.size > 0)
                r = o->path ? write_all(o->fd, o->pending.data, o->pending.size) : o->write(o->user, &o->pending);
        o->pending.size = 0;
        return r < 0 && o->path ? errorf(r, "cannot write %s: %s", o->path, strerror(-r)) : r;
}

int outfile_flush(struct outfile *o)
{
        return o->pending.size < PIECE && !o->pending.failed ? 0 : write_pending(o);
}

int outfile_commit(struct outfile *o)
{
        int r = write_pending(o);

        if (r < 0 || !o->path)
                return r;
        if (fsync(o->fd) < 0 || rename(o->temporary, o->path) < 0)
                return errorf(-errno, "cannot write %s: %s", o->path, strerror(errno));
        o->temporary[0] = '\0';
        return 0;
}

void outfile_done(struct outfile *o)
{
        if (o->fd >= 0)
                close(o->fd);
        if (o->temporary && o->temporary[0])
                unlink(o->temporary);
        free(o->path);
        free(o->temporary);
        buffer_done(&o->pending);
        *o = (struct outfile){.fd = -1};
}
