/* A document that is written piece by piece, and stands under its name when it is whole: until then it is a file beside it, or nothing. Standard
 * output is another target, where every piece goes at once.
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
        char *path, *temporary; /* owned; NULL: `write` */
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
void outfile_done(struct outfile *o); /* without outfile_commit() before, nothing is left */
