#include "core/report/outfile.h"

#include <fcntl.h>
#include <sys/stat.h>

#define PIECE      ((size_t)1 << 16)
#define LINKS_MOST 40 /* as the kernel follows */

/* Opens a temporary file beside `destination`, whose name it gets in the end. */
static int open_beside(struct outfile *o, const char *destination, mode_t mode)
{
        const char *name = strrchr(destination, '/');

        o->destination = copy_string(destination);
        /* no longer than a name can be, as the destination's may be so long already */
        o->temporary = format_string("%.*s.solverfs-XXXXXX", (int)(name ? name + 1 - destination : 0), destination);
        o->fd = mkostemp(o->temporary, O_CLOEXEC);
        if (o->fd < 0)
                o->temporary[0] = '\0'; /* nothing to remove */
        return o->fd < 0 || fchmod(o->fd, mode) < 0 ? -errno : 0;
}

/* The file that a link leads to, which need not be there. free(). */
static char *follow(const char *path)
{
        char *destination = realpath(path, NULL) ?: copy_string(path), to[PATH_SIZE];
        ssize_t n;

        for (int links = 0; links < LINKS_MOST && (n = readlink(destination, to, sizeof(to))) > 0; links++) {
                const char *name = strrchr(destination, '/');
                char *next = format_string("%.*s%.*s", *to == '/' || !name ? 0 : (int)(name + 1 - destination), destination, (int)n, to);

                free(destination);
                destination = next;
        }
        return destination;
}

/* Writes directly to a device or a pipe, and keeps links: otherwise root could replace /dev/null. */
static int open_destination(struct outfile *o, mode_t mode)
{
        cleanup_free char *destination = follow(o->path);
        struct stat st;

        if (!*o->path)
                return -ENOENT;
        if (stat(o->path, &st) < 0 || S_ISREG(st.st_mode))
                return open_beside(o, destination, mode);
        o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return o->fd < 0 ? -errno : 0;
}

int outfile_open(const char *path, mode_t mode, struct outfile *ret)
{
        int r;

        *ret = (struct outfile){.fd = -1, .path = copy_string(path)};
        r = open_destination(ret, mode);
        if (r < 0) {
                outfile_done(ret);
                return errorf(r, "cannot write %s: %s", path, strerror(-r));
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
        if (!o->temporary)
                return 0;
        if (fsync(o->fd) < 0 || rename(o->temporary, o->destination) < 0)
                return errorf(-errno, "cannot write %s: %s", o->path, strerror(errno));
        o->temporary[0] = '\0';
        r = sync_folder_of(o->destination);
        /* some file systems cannot sync a folder, and the user's folder may be writable but not readable */
        return r == -EINVAL || r == -EOPNOTSUPP || r == -EACCES ? 0 : r;
}

void outfile_done(struct outfile *o)
{
        if (o->fd >= 0)
                close(o->fd);
        if (o->temporary && o->temporary[0])
                unlink(o->temporary);
        free(o->path);
        free(o->destination);
        free(o->temporary);
        buffer_done(&o->pending);
        *o = (struct outfile){.fd = -1};
}

int outfile_write(const char *path, const struct buffer *text, mode_t mode)
{
        struct outfile o;
        int r = outfile_open(path, mode, &o);

        if (r < 0)
                return r;
        buffer_add(&o.pending, text->data, text->size);
        r = outfile_commit(&o);
        outfile_done(&o);
        return r;
}
