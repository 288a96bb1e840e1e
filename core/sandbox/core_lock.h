/* The file of a core, cpu<N> in the folder of slots (slot.h), and the meaning of the locks on its bytes. Shared with the helper, which lends a
 * build's cores to runs (exec_lend.c).
 *
 *   CORE_RUN    a timed run owns the core
 *   CORE_BUILD  a build has borrowed the core; held from the build's beginning to its end. A further build may be there as a guest, without the lock
 *   CORE_MOVES  builds' processes may be on the core just now; a lock that builds share
 *   CORE_TURN   the build has lent the core for so long that batches leave it alone for a while
 *
 * A run takes CORE_RUN and begins when CORE_MOVES is free. A build takes CORE_MOVES and goes on when CORE_RUN is free. Each looks at the other's lock
 * after taking its own, so that one of them gives way. The locks are OFD locks (lock.h): the helper shares the build's locks, and a crash frees them.
 * Older versions lock the whole file, which excludes all of this.
 *
 * The text of the file names the owner, for people. Anybody may write anything there, so the text is only shown. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum core_lock {
        CORE_RUN,
        CORE_BUILD,
        CORE_MOVES,
        CORE_TURN
};

int core_lock(int fd, enum core_lock which); /* 0; -EAGAIN: another open of the file has it; -errno */
void core_unlock(int fd, enum core_lock which);
bool core_is_locked(int fd, enum core_lock which); /* true if another open of the file has it */

#define CORE_NOTE_MAGIC UINT32_C(0x4c533031)

/* The owner of CORE_RUN writes the first note in the file, the owner of CORE_BUILD the second. */
struct core_note {
        uint32_t magic;
        int32_t pid;
        uint64_t since_ns, likely_ns; /* now_ns(); the likely duration, 0: not known */
        uint64_t lent_ns;             /* when a build lent the core; 0: it has not */
        uint32_t uid;
        char what[144];               /* "run kissat 1a2b3c4d5e6f case 42" */
        uint32_t pid_namespace;       /* process.h; 0: not known */
};

/* `which`: CORE_RUN or CORE_BUILD. A note that cannot be written or read is ignored. */
void core_note_write(int fd, enum core_lock which, const struct core_note *n);
bool core_note_read(int fd, enum core_lock which, struct core_note *ret);
/* Notes since when the build is without the core, in the build's note; 0: it has the core. Does nothing for a guest, as the note is its host's. */
void core_note_lent(int fd, uint64_t since_ns);
