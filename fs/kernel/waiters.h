/* Readers parked in open().
 *
 * A cold open (in a cached mount, which has no opens, the first read of a program: session_cached.c) is answered later: its request waits here until
 * the engine's answer. A reader can be interrupted meanwhile; the kernel says so once per request (FUSE_INTERRUPT), but not why. Without an answer
 * even SIGKILL leaves the reader in uninterruptible sleep; if every interrupt is answered, a Go program's SIGURG or a shell's SIGCHLD breaks its
 * open. So the callback only sets a flag, and a thread looks at the reader's pending signals in /proc: one that ends it (SIGKILL, which is how a
 * fatal signal shows, or one that dumps core and is not caught, or INT, TERM, HUP, QUIT) is answered with EINTR. After any other signal the reader
 * waits on, and the thread looks again every quarter of a second.
 *
 * Locks: the callback may run inside fuse_req_interrupt_func() with the request's own lock held, so nothing here holds a lock of ours
 * while calling into libfuse, and the callback takes none. Threads: any. */
#pragma once

#include <fuse_lowlevel.h>

#include "core/engine/engine.h"

struct waiters;

/* The request of a parked reader; an open has only the inode. */
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
/* EINTR for every reader, now and later: the mount is going away. */
void waiters_interrupt(struct waiters *w);
/* EINTR for every reader that is parked now. */
void waiters_release(struct waiters *w);
/* waiters_interrupt(), then waits until no reader is parked. */
void waiters_drain(struct waiters *w);
