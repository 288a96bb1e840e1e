/* The bytes of cases: <store>/cases/<first two hex>/<sha256>, read-only; what is being written is in <store>/cases/staged. Part of cases.c.
 * Threads: any. */
#pragma once

#include <pthread.h>

#include "core/cases/cases.h"

struct case_files {
        char dir[PATH_SIZE];
        pthread_mutex_t lock;
        uint8_t *verified; /* under lock: a bit for each id whose bytes were checked against the digest */
        size_t n_verified; /* under lock: bytes of it */
};

/* Sweeps what crashes left in staged/, unless read_only. case_files_done() comes after it in any case. */
int case_files_open_folder(struct case_files *f, const char *store_dir, bool read_only);
void case_files_done(struct case_files *f);

int case_files_stage(struct case_files *f, int *ret_fd, char ret_path[PATH_SIZE]);
/* Puts the staged file where it belongs; over the one that may be there, which has the same bytes or is damaged. On disk when it returns 0. */
int case_files_place(struct case_files *f, const struct digest *d, const char *staged);
/* Bytes on the disk, and when it was placed last (seconds). */
int case_files_look(struct case_files *f, const struct digest *d, uint64_t *ret_bytes, int64_t *ret_placed);
int case_files_unlink(struct case_files *f, const struct digest *d);
/* -EILSEQ: they are gone, or not those of this case. The digest is checked once in this process, or `always`. ret_path may be NULL. */
int case_files_open(struct case_files *f, const struct case_info *info, bool always, int *ret_fd, char ret_path[PATH_SIZE]);

typedef void (*case_file_fn)(void *user, const struct digest *d, uint64_t bytes); /* `bytes` on the disk; may unlink it */
int case_files_each(struct case_files *f, case_file_fn fn, void *user);
