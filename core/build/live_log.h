/* The output of a build, for somebody who looks while it goes on.
 *
 * A build's log is kept with its record, when the build has ended; that is the only value of build/log. Until then the same text grows in
 * <store>/building/<key in hex>, which the builder holds a lock on (cache/base/lock.h), and deletes in the end. A file that nobody holds was left by a
 * kill: it is never read, the next build of that key replaces it, and leftovers_sweep() deletes it.
 *
 * The log of a second attempt continues behind that of the first. Behind LIVE_LOG_MOST bytes the file says that the rest comes at the end, and grows no
 * further. A full disk ends it early, and never the build.
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
        int fd; /* -1: there is none */
        uint64_t left;
};
/* Begins it empty. There is none, and a warning, when it cannot be written; none without a warning when another process builds the same. */
void live_log_begin(struct live_log *l, const char *store_dir, const struct digest *build);
void live_log_say_lost(struct live_log *l, const char *why); /* a last line for those who look, where no log will be kept */
void live_log_end(struct live_log *l);                       /* deletes it */
#define cleanup_live_log cleanup(live_log_end)

/* The text of a build that goes on, to be read from its beginning. -ENOENT: nobody builds it. */
int live_log_open(const char *store_dir, const struct digest *build, int *ret_fd);
bool live_log_goes_on(int fd); /* asked before reading: if not, that reading has all there will be */
