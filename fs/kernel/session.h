/* A mount: the tree (routes.h) shown through libfuse's low-level API, answered by the engine.
 *
 * Handlers never wait. An open of a computed file that is not ready is parked with its request and answered by the engine; see the block
 * comments of kernel_cache.h (sizes), waiters.h (interrupts) and notify.h. */
#pragma once

#include "core/workspace/workspace.h"

struct session_options {
        const char *mountpoint;
        const char *options; /* of -o, comma-separated: cached, allow_other, allow_root, max_threads=N, and the kernel's; NULL: none */
        /* Called once, by the serving thread: r is 0 when the mount answers, or -errno with a sentence if it could not be made. */
        void (*ready)(void *user, int r);
        void *user;
};

/* Mounts, serves until unmounted or SIGTERM/SIGINT/SIGHUP, unmounts. It handles these signals for good (SIGINT and SIGHUP unless our caller ignores
 * them); a second one ends the process at once. SIGTERM detaches lazily: open files can be read to the end, waiting readers get EINTR. Call it from the
 * process's first thread, after the workspace and the engine are open and after any fork. It first detaches a stale mount point (ENOTCONN, left by
 * kill -9). 0 or -errno; -EBUSY: another solverfs serves the mount point. */
int session_run(struct workspace *w, struct engine *e, const struct session_options *options);

/* An extended attribute of the root. getxattr() returns (with ENODATA) once the kernel knows all changes that other processes made so far. */
#define SETTLED_XATTR "user.solverfs.settled"

/* Another one, for the mount's owner and root: ends with EINTR the readers that wait for work, and returns ENODATA. EBUSY: files are open, or may
 * be in a mount of finished values, so ending the readers would not make the mount idle. */
#define RELEASE_XATTR "user.solverfs.release"

/* The absolute path of a mount point, also of a stale one (where stat fails with ENOTCONN). -errno without a sentence. */
int session_mountpoint(const char *dir, char ret[PATH_SIZE]);

/* Detaches a mount from another process. -EINVAL: no mount of ours is there. -EBUSY, without a sentence: it is in use. With `lazy`, open files stay
 * readable. */
int session_unmount(const char *mountpoint, bool lazy);
