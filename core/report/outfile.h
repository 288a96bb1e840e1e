/* A document that is written piece by piece and gets its name when it is whole; until then it is a temporary file in the same folder. A device, a
 * pipe and outfile_stream() have no such file: they get the pieces directly. Links are followed.
 *
 * Not for several threads at a time. Errors have a sentence. */
#pragma once

#include "cache/base/util.h"

/* Takes the pieces of a document without a file. */
typedef int (*outfile_write_fn)(void *user, const struct buffer *piece);

struct outfile {
        struct buffer pending; /* add to it, then call outfile_flush() */
        /* private */
        int fd;
        char *path;              /* owned, as given; NULL: `write` */
        char *destination, *temporary; /* owned: the file that gets the text in the end, behind any links; NULL: `path` is written to directly */
        outfile_write_fn write;
        void *user;
};

/* Opens a document for `path`, whose folder must exist; an existing file is replaced in the end. */
int outfile_open(const char *path, mode_t mode, struct outfile *ret);
void outfile_stream(outfile_write_fn write, void *user, struct outfile *ret);
/* Writes the pending text if it is at least 64 KiB. */
int outfile_flush(struct outfile *o);
/* Writes the rest, syncs and names the file. */
int outfile_commit(struct outfile *o);
/* Writes a whole document at once. */
int outfile_write(const char *path, const struct buffer *text, mode_t mode);
void outfile_done(struct outfile *o); /* without outfile_commit() before, leaves nothing */
