/* The output of a build in progress, for readers.
 *
 * A build's log is kept with its record, when the build has ended; that is the only value of build/log. Until then the same text grows in
 * <store>/building/<key in hex>. The builder holds a lock on it (cache/base/lock.h), and deletes it at the end. A file without a lock was left by a
 * killed process: it is never read, the next build of that key replaces it, and leftovers_sweep() deletes it.
 *
 * The log of a second attempt follows that of the first. After LIVE_LOG_MOST bytes the file says that the rest comes at the end, and gets no
 * more output. A full disk ends the file early, and never the build.
 *
 * Threads: any; one log by one thread at a time. */
#pragma once

#include "cache/base/hash.h"
#include "core/sandbox/execute.h"

#define LIVE_LOG_MOST (UINT64_C(16) << 20)
#define LIVE_LOG_REST "\n[... the rest is shown when the build has ended ...]\n"

struct live_log {
        struct listener listener; /* first; for build_request */
        char *dir; /* owned */
        char name[DIGEST_HEX_SIZE];
        int fd; /* -1: no file */
        uint64_t left; /* bytes that may still be written */
};
/* Begins an empty file. There is none if it cannot be written, which is logged, or if another process builds the same. `l` works all the same. */
void live_log_begin(struct live_log *l, const char *store_dir, const struct digest *build);
void live_log_say_lost(struct live_log *l, const char *why); /* a last line for readers of a log that will not be kept */
void live_log_end(struct live_log *l);                       /* deletes it */
#define cleanup_live_log cleanup(live_log_end)

/* Opens the text of a build in progress, at its beginning. -ENOENT if nobody builds it. */
int live_log_open(const char *store_dir, const struct digest *build, int *ret_fd);
bool live_log_is_growing(int fd); /* true if more may come. Ask before each read: after false, that read gets all the rest */
