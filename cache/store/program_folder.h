/* The folder of executable programs: a read-only file (0555) for each, named by its digest.
 *
 * A reader holds a shared flock on its file; eviction (least recently used first, down to the bound) deletes only files that it can lock
 * exclusively. Safe across processes. Files are never synced: one of an earlier boot, or whose size, mode or time has changed, is written
 * again. */
#pragma once

#include <time.h>

#include "cache/base/hash.h"

struct program_folder {
        uint64_t bound;       /* most bytes of all files; only files in use may exceed it */
        time_t mtime;         /* given to files written since this boot */
        char dir[PATH_SIZE];
        bool is_lazy;         /* for many small files: lists the folder only when this process has used up `room` */
        _Atomic int64_t room; /* of a lazy folder: bytes free when last listed, less those written since */
};

/* Opens <store>/programs; makes it unless read_only. */
int program_folder_open(struct program_folder *f, const char *store_dir, bool read_only, uint64_t bound);

/* Opens the program's file; the descriptor's lock keeps it from eviction. If the file is missing, `content` gives its bytes. If the folder is
 * read-only, they go to a file in memory. The path is valid while the descriptor is open; `ret_path` may be NULL. */
typedef int (*program_content_fn)(void *user, const struct digest *id, struct blob *ret);
int program_folder_get(struct program_folder *f, const struct digest *id, uint64_t size, program_content_fn content, void *user,
                       int *ret_fd, char ret_path[PATH_SIZE]);
/* A program in use stays until a later eviction. */
void program_folder_remove(struct program_folder *f, const struct digest *id);
