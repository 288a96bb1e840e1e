/* Built programs: kept in <store>/deltas, a file for each, as zstd frames, each a delta against a near one (ZSTD_CCtx_refPrefix with
 * long-distance matching; measured: a neighbour of a 29 MB program costs kilobytes to a few megabytes instead of nine), and put into a
 * bounded folder, <store>/programs, to be executed or read (program_folder.h).
 *
 * A chain is at most PROGRAMS_CHAIN links long, and shorter for large programs, so that any decodes in a fraction of a second; the
 * next one is a delta against the chain's beginning while that pays, else a keyframe (no base). The content's digest is its name and is
 * verified after decoding: a program that does not come out right is dropped (with all that build on it) and reported as -ENOENT,
 * and its build is then simply done again.
 *
 * A program is durable when programs_put() returns, which is before the record of its build is. So a crash leaves at most a program of no build,
 * and a file that was not finished: gc takes both.
 *
 * Threads and processes: any. Errors: -ENOENT (not there, or damaged: it has to be built again), -ENOSPC, -EROFS, -EIO, -ENOMEM. All with a
 * sentence.
 */
#pragma once

#include <sys/stat.h>

#include "cache/base/hash.h"
#include "cache/base/progress.h"

#define PROGRAMS_CHAIN 8

struct programs;

/* Of the store in `dir`. `bound` bytes is the most the folder of programs to be executed keeps beyond what is in use. */
int programs_open(const char *dir, bool read_only, uint64_t bound, struct programs **ret);
struct programs *programs_close(struct programs *p);

/* Stores the file's content (from offset 0), as a delta against `near` when that pays (NULL: none). Storing what is already there
 * costs one hash. */
int programs_put(struct programs *p, int fd, const struct digest *near, struct digest *ret_id, uint64_t *ret_size);
bool programs_has(struct programs *p, const struct digest *id); /* with all that it builds on; nothing is decoded */
/* A file descriptor (O_RDONLY|O_CLOEXEC, shared flock held until it is closed) of the materialized program. `ret_path`, when not
 * NULL, gets its path in the folder, valid while the descriptor is open. */
int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE]);
/* Calls fn for each file of the folder, until it returns non-zero, which is then returned. `id` is NULL for a name that is no program's. Nothing is
 * opened; st_size are the bytes in the store, st_mtime is when a build stored it last, or would have. */
typedef int (*programs_each_fn)(void *user, const char *name, const struct digest *id, const struct stat *st);
int programs_each(struct programs *p, programs_each_fn fn, void *user);
/* Removes those of them (sorted by bytes) that are there, and what killed processes left half written. Programs that stay and are deltas against
 * one of them are stored anew first, between which `progress` is asked. */
int programs_remove(struct programs *p, const struct digest *ids, size_t n, const struct progress *progress);
/* Bytes in the store, the chain's depth, the base (zero when a keyframe). */
int programs_info(struct programs *p, const struct digest *id, uint64_t *ret_stored, unsigned *ret_depth,
                  struct digest *ret_base);

/* Decodes it. -EBADMSG: it did not come out right, and was dropped unless look_only; -EIO, with a sentence: it cannot be read, and so on; -ENOENT:
 * it is not there. */
int programs_verify(struct programs *p, const struct digest *id, bool look_only);
