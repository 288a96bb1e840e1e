/* Readers parked in open().
 *
 * The request of a cold open waits here for the engine's answer. (A mount of finished values sees no opens: there it is the first read of a program
 * or a scrambled input, session_cached.c.) A reader can be interrupted meanwhile. The kernel reports that once per request (FUSE_INTERRUPT), but not
 * why. Without an answer even SIGKILL leaves the reader in uninterruptible sleep; if every interrupt were answered, a Go program's SIGURG or a
 * shell's SIGCHLD would break its open. So the callback only sets a flag, and a thread reads the reader's pending signals in /proc. A signal that
 * ends the reader (SIGKILL, which stands for every fatal signal; an uncaught one that dumps core; INT, TERM, HUP, QUIT) is answered with EINTR. After
 * any other signal the reader keeps waiting, and the thread looks again every quarter of a second.
 *
 * Locks: the callback may run inside fuse_req_interrupt_func() with the request's lock held. So it takes no lock, and no lock of ours is held
 * during a call into libfuse. Threads: any. */
#pragma once

#include <fuse_lowlevel.h>

#include "core/engine/engine.h"

struct waiters;

/* A parked reader's request; of an open, only the inode is set. */
struct parked {
        fuse_ino_t ino;
        size_t size;
        off_t offset;
};

/* Called exactly once for each parked reader, on an engine thread, the waiters' thread or the caller of waiters_park(). It must reply. */
typedef void (*parked_fn)(void *user, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason);

int waiters_new(struct engine *e, parked_fn fn, void *user, struct waiters **ret);
/* Call waiters_drain() first: no reader may be parked. */
struct waiters *waiters_free(struct waiters *w);
void waiters_park(struct waiters *w, fuse_req_t req, const struct parked *p, struct query *q);
/* Answers every reader, now and later, with EINTR: the mount is going away. */
void waiters_interrupt(struct waiters *w);
/* Answers every reader that is parked now with EINTR. */
void waiters_release(struct waiters *w);
/* waiters_interrupt(), then waits until no reader is parked. */
void waiters_drain(struct waiters *w);
