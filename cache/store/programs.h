/* Built programs. Each is a file in <store>/deltas, a zstd frame, usually a delta against a similar program (ZSTD_CCtx_refPrefix with
 * long-distance matching; measured: a neighbour of a 29 MB program costs kilobytes to a few megabytes instead of nine). To be executed or
 * read, it is put into a bounded folder, <store>/programs (program_folder.h).
 *
 * A chain is at most PROGRAMS_CHAIN links long, and shorter for large programs, so that any program decodes in a fraction of a second. If the
 * chain is full, the next program is a delta against the chain's beginning while that pays, else a keyframe (no base). A program is named by
 * its content's digest, which is verified after decoding. If it differs, the damaged program of the chain and all that build on it are
 * dropped. They count as absent (-ENOENT), and are built again.
 *
 * A program is durable when programs_put() returns, before the record of its build is. So a crash leaves at most a program without a build
 * and an unfinished file; gc removes both.
 *
 * Threads and processes: any. Errors: -ENOENT (absent or damaged: build it again), -ENOSPC, -EROFS, -EIO, -ENOMEM. All with a sentence.
 */
#pragma once

#include <sys/stat.h>

#include "cache/base/hash.h"
#include "cache/base/progress.h"

#define PROGRAMS_CHAIN 8
#define PROGRAM_MOST   (UINT64_C(1) << 30) /* bytes of one */
#define PROGRAM_TOO_LARGE "has more than 1g, which is more than the store takes"

struct programs;

/* Opens the programs of the store in `dir`. `bound`: most bytes of executable copies; only copies in use may exceed it. */
int programs_open(const char *dir, bool read_only, uint64_t bound, struct programs **ret);
struct programs *programs_close(struct programs *p);

/* Stores the file's content (from offset 0), as a delta against `near` (may be NULL) when that pays. For a program that is already stored it
 * only computes the digest. */
int programs_put(struct programs *p, int fd, const struct digest *near, struct digest *ret_id, uint64_t *ret_size);
/* True if the program and all that it builds on are there; decodes nothing. Also true if one of these cannot be read: programs_get() says why, and
 * building the program again may not help. */
bool programs_has(struct programs *p, const struct digest *id);
/* Puts the program into the folder and opens it (O_RDONLY|O_CLOEXEC, under a shared flock until closed). `ret_path` (may be NULL) gets its
 * path, valid while the descriptor is open. */
int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE]);
/* Calls fn for each file in deltas/. Stops at, and returns, fn's first non-zero value. `id` is NULL if the name is not a program's. Opens no file.
 * st_size: bytes in the store; st_mtime: when a build last made this program. */
typedef int (*programs_each_fn)(void *user, const char *name, const struct digest *id, const struct stat *st);
int programs_each(struct programs *p, programs_each_fn fn, void *user);
/* Removes these programs (sorted by bytes; absent ones are ignored) and unfinished files of killed processes. Programs that stay but are deltas
 * against a removed one are first stored again; `progress` is asked between them. */
int programs_remove(struct programs *p, const struct digest *ids, size_t n, const struct progress *progress);
/* For tests: bytes in the store, the chain's depth, the base (zeros for a keyframe). */
int programs_info(struct programs *p, const struct digest *id, uint64_t *ret_stored, unsigned *ret_depth,
                  struct digest *ret_base);

/* Decodes the program and verifies its digest. -ENOENT: absent. -EBADMSG: damaged; -EIO: the disk cannot read it; both are dropped unless look_only.
 * Other errors, with a sentence: it cannot be read, and stays. */
int programs_verify(struct programs *p, const struct digest *id, bool look_only);
