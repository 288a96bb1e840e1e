/* A document that is written piece by piece, and stands under its name when it is whole: until then it is a file beside it, or nothing. Standard
 * output is another target, where every piece goes at once; so is a device or a pipe that stands under the name. A link leads to the file.
 *
 * Not for several threads at a time. Errors have a sentence. */
#pragma once

#include "cache/base/util.h"

/* Where pieces go that have no file: a function that takes each. */
typedef int (*outfile_write_fn)(void *user, const struct buffer *piece);

struct outfile {
        struct buffer pending; /* add to it, then call outfile_flush() */
        /* private */
        int fd;
        char *path;              /* owned, as it was named; NULL: `write` */
        char *place, *temporary; /* owned; NULL: what stands at `path` is written to */
        outfile_write_fn write;
        void *user;
};

/* A file at `path`, whose folder is there; what stands there is replaced in the end. */
int outfile_open(const char *path, mode_t mode, struct outfile *ret);
void outfile_stream(outfile_write_fn write, void *user, struct outfile *ret);
/* Writes what is pending when that is worth it. */
int outfile_flush(struct outfile *o);
/* Writes the rest, syncs, and gives it its name. */
int outfile_commit(struct outfile *o);
/* All of it, at once. */
int outfile_write(const char *path, const struct buffer *text, mode_t mode);
void outfile_done(struct outfile *o); /* without outfile_commit() before, nothing is left */
