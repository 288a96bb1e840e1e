/* The folder of programs that can be executed: a read-only file (0555) for each, named by its digest.
 *
 * A reader holds a shared flock on its file; eviction (least recently used first, down to the bound) deletes only files that it can lock
 * exclusively. Safe across processes. A file whose size, mode or time is not as written, or that is of an earlier boot (it was never synced),
 * is made anew. */
#pragma once

#include <time.h>

#include "cache/base/hash.h"

struct program_folder {
        uint64_t bound;        /* bytes it keeps beyond what is in use */
        struct timespec mtime; /* of what was written since this boot */
        char dir[PATH_SIZE];
        bool is_lazy;          /* for many small files: what is there is looked at only when this process has filled the room that there was then */
        _Atomic int64_t room;  /* of a lazy one */
};

/* <store>/programs; made, unless read_only. */
int program_folder_open(struct program_folder *f, const char *store_dir, bool read_only, uint64_t bound);

/* The program as a file, held by the descriptor's lock; `content` is asked for its bytes when it is not there. */
typedef int (*program_content_fn)(void *user, const struct digest *id, struct blob *ret);
int program_folder_get(struct program_folder *f, const struct digest *id, uint64_t size, program_content_fn content, void *user,
                       int *ret_fd, char ret_path[PATH_SIZE]);
/* One in use goes with a later eviction. */
void program_folder_remove(struct program_folder *f, const struct digest *id);
