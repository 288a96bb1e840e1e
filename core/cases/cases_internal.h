/* Shared by the files of cases.h: case_files.c (the bytes), case_name.c, case_record.c, case_scan.c (logic, status and questions of a text),
 * case_unpack.c (checks and unpacks files), cases.c (the index). */
#pragma once

#include <pthread.h>

#include "core/cases/cases.h"

/* -- the bytes: <store>/cases/<first two hex>/<sha256>, read-only; files being written are in <store>/cases/staged. Threads: any -- */

struct case_files {
        char dir[PATH_SIZE];
        pthread_mutex_t lock;
        bool *verified; /* under lock; owned; by id: the bytes were checked against the digest */
        size_t n_verified; /* under lock */
};

/* Sweeps files that crashes left in staged/, unless read_only. Call case_files_done() after it in any case. */
int case_files_open_folder(struct case_files *f, const char *store_dir, bool read_only);
void case_files_done(struct case_files *f);
int case_files_stage(struct case_files *f, int *ret_fd, char ret_path[PATH_SIZE]); /* an empty file in staged/, open for reading and writing */
/* Moves the staged file to its place. A file already there has the same bytes or is damaged, and is replaced. After 0 the file is on disk. */
int case_files_place(struct case_files *f, const struct digest *d, const char *staged);
/* The file's bytes on the disk, and the time it was last placed (seconds). */
int case_files_look(struct case_files *f, const struct digest *d, uint64_t *ret_bytes, int64_t *ret_placed);
int case_files_unlink(struct case_files *f, const struct digest *d);
/* Opens the bytes. -EILSEQ: they are gone, or not those of this case. Checks the digest once per process, or `always`. ret_path may be NULL. */
int case_files_open(struct case_files *f, const struct case_info *info, bool always, int *ret_fd, char ret_path[PATH_SIZE]);
typedef void (*case_file_fn)(void *user, const struct digest *d, uint64_t bytes); /* `bytes` on the disk; may unlink it */
int case_files_each(struct case_files *f, case_file_fn fn, void *user);

/* -- names, which are paths: each is taken once, and none is a folder of another. All but the check use the caller's transaction -- */

int case_name_check(const char *name); /* -EINVAL: no file system could show it */
int case_name_find(struct store_txn *t, size_t table, const char *name, uint32_t *ret); /* -ENOENT without a sentence */
int case_name_find_folder(struct store_txn *t, size_t table, const char *path);        /* likewise */
/* 0: free. -EEXIST: taken, as a case or as a folder, or a folder on its way is a case. */
int case_name_is_free(struct store_txn *t, size_t table, const char *name);
int case_name_take(struct store_txn *t, size_t table, const char *name, uint32_t id);
int case_name_release(struct store_txn *t, size_t table, const char *name);

/* -- records -- */

/* A case with name, logic, and room for its expected answers; the rest is zero. */
struct case_info *case_info_new(struct slice name, struct slice logic, size_t n_expected);
struct case_info *case_info_renamed(const struct case_info *old, const char *name); /* a copy that is not removed */
void case_record_encode(const struct case_info *i, struct buffer *ret);
int case_record_decode(uint32_t id, struct slice bytes, struct case_info **ret); /* -EBADMSG */
bool case_record_is_removed(struct slice bytes);                                 /* decodes nothing else */

/* -- files as people give them -- */

/* True for gzip, xz, bzip2 or zstd, by the first bytes. */
bool case_is_packed(struct slice head);
/* -EINVAL: damaged; -EFBIG: larger than a case may be. After an error a part may be in `to`. */
int case_unpack(const char *name, int from, int to);
/* -EINVAL: the file begins like neither SMT-LIB nor DIMACS. */
int case_check_text(const char *name, int fd);
