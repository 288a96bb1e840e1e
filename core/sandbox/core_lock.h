/* The file of a core, cpu<N> in the folder of slots (slot.h), and what its bytes are locked for. Shared with the helper, which lends a build's cores
 * to runs (exec_lend.c).
 *
 *   CORE_RUN    a timed run owns the core
 *   CORE_BUILD  a build has borrowed it, from its beginning to its end
 *   CORE_MOVES  the build's processes may be on it just now
 *   CORE_TURN   the build has lent it for so long that batches leave it alone for a while
 *
 * A run takes CORE_RUN and begins when CORE_MOVES is free. A build takes CORE_MOVES and goes on when CORE_RUN is free. Each looks at the other's lock
 * after it has its own, so that one of them gives way. Locks are open file descriptions' (lock.h): the helper has the build's, and a crash frees them.
 * Older versions lock the whole file, which excludes all of this.
 *
 * The text of the file says who has it, for people: anybody may write anything there, and nothing else is done with it. */
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
bool core_is_locked(int fd, enum core_lock which); /* by another open of the file */

#define CORE_NOTE_MAGIC UINT32_C(0x4c533031)

/* The owner of CORE_RUN has the first note in the file, that of CORE_BUILD the second. */
struct core_note {
        uint32_t magic;
        int32_t pid;
        uint64_t since_ns, likely_ns; /* now_ns(); how long it is likely to take, 0: not known */
        uint64_t lent_ns;             /* since when a build has lent the core, 0: it has not */
        uint32_t uid;
        char what[148];               /* "run kissat 1a2b3c4d5e6f case 42" */
};

/* `which`: CORE_RUN or CORE_BUILD. Nothing comes of a note that cannot be written or read. */
void core_note_write(int fd, enum core_lock which, const struct core_note *n);
bool core_note_read(int fd, enum core_lock which, struct core_note *ret);
void core_note_lent(int fd, uint64_t since_ns);
