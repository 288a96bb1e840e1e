/* A case being written by `cp query.smt2 <mount>/cases/`.
 *
 * cp may return before RELEASE is handled, so FLUSH (close) makes the case: its error still reaches cp, and when it returns 0 the case is on disk.
 * A shell's `> file` closes a duplicate before it has written anything. So a FLUSH of an empty file fails with ENODATA (for the writer EINVAL: shells
 * ignore it, cp reports it), but the file stays open; and a FLUSH after further writes replaces the earlier case. If a write failed, so does FLUSH,
 * and there is no case.
 * Threads: FUSE may call several functions for one file at once. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "core/cases/cases.h"

struct new_case {
        unsigned refs;
        LIST_ENTRY(new_case) others; /* in a list of the caller's */
        struct cases *cases;         /* borrowed */
        int fd;                      /* the staged file */
        char path[PATH_SIZE];
        uint64_t number; /* counted in this process; for its inode */

        pthread_mutex_t lock;
        /* under lock */
        char *name;  /* owned; "": the file was removed, and makes no further case */
        bool dirty;  /* written since the last flush */
        int failed;  /* the error of a failed write or truncation; 0 again once the file is truncated to `missing` or less */
        off_t missing; /* if failed: the least offset of bytes that may be missing */
        uint32_t id; /* the case that a flush made; 0: none yet */
        bool made;   /* this file made the case: no case had these bytes, or only a removed one */
};

int new_case_open(struct cases *cases, const char *name, struct new_case **ret); /* -EEXIST */
DECLARE_REFS(new_case) /* the last unref closes the file */
void new_case_name(struct new_case *n, char *ret, size_t size);
/* Renames the file, and the case if the file made it. -EEXIST: another case has the name. */
int new_case_rename(struct new_case *n, const char *name);
/* The same for a file that was closed, by the values that its `id` and `made` had. */
int new_case_rename_made(struct cases *cases, uint32_t id, bool made, const char *name);
/* Removes the case if the file made it; the file makes no further one. */
int new_case_remove(struct new_case *n);
/* Returns the number of bytes written, or -errno. -EFBIG: the case would become too large; -EINVAL: it does not begin as one. Both are reported at once,
 * before all of it is written. */
ssize_t new_case_write(struct new_case *n, const void *data, size_t size, off_t offset);
int new_case_truncate(struct new_case *n, off_t size);
int new_case_flush(struct new_case *n);
