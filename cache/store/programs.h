/* Built programs: kept in the store as zstd frames, each a delta against a near one (ZSTD_CCtx_refPrefix with long-distance
 * matching; measured: a neighbour of a 29 MB program costs kilobytes to a few megabytes instead of nine), and put into a
 * bounded folder, <store>/programs, to be executed or read (program_folder.h).
 *
 * A chain is at most PROGRAMS_CHAIN links long, and shorter for large programs, so that any decodes in a fraction of a second; the
 * next one is a delta against the chain's beginning while that pays, else a keyframe (no base). The content's digest is its name and is
 * verified after decoding: a program that does not come out right is dropped (with all that build on it) and reported as -ENOENT,
 * and its build is then simply done again.
 *
 * Threads: any. Errors as in store.h.
 */
#pragma once

#include "cache/base/hash.h"
#include "cache/store/store.h"

#define PROGRAMS_CHAIN 8

struct programs;

/* `table` is the number of a table that is not journaled; `bound` bytes is the most the folder keeps beyond what is in use. */
int programs_open(struct store *s, size_t table, uint64_t bound, struct programs **ret);
struct programs *programs_close(struct programs *p);

/* Stores the file's content (from offset 0), as a delta against `near` when that pays (NULL: none). Storing what is already there
 * costs one hash. */
int programs_put(struct programs *p, int fd, const struct digest *near, struct digest *ret_id, uint64_t *ret_size);
bool programs_has(struct programs *p, const struct digest *id);
/* A file descriptor (O_RDONLY|O_CLOEXEC, shared flock held until it is closed) of the materialized program. `ret_path`, when not
 * NULL, gets its path in the folder, valid while the descriptor is open. */
int programs_get(struct programs *p, const struct digest *id, int *ret_fd, char ret_path[PATH_SIZE]);
/* Calls fn for each program in the store, until it returns non-zero, which is then returned. */
typedef int (*programs_each_fn)(void *user, const struct digest *id);
int programs_each(struct programs *p, programs_each_fn fn, void *user);
/* Removes one; programs that are deltas against it are stored anew first. */
int programs_remove(struct programs *p, const struct digest *id);
/* Size in the store, the chain's depth, the base (zero when a keyframe). */
int programs_info(struct programs *p, const struct digest *id, uint64_t *ret_stored, unsigned *ret_depth,
                  struct digest *ret_base);
