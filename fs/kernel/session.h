/* A mount: the tree (routes.h) shown through libfuse's low-level API, answered by the engine.
 *
 * Handlers never wait. An open of a computed file that is not ready is parked with its request and answered by the engine; see the block
 * comments of kernel_cache.h (sizes), waiters.h (interrupts) and notify.h. */
#pragma once

#include "core/workspace/workspace.h"

struct session_options {
        const char *mountpoint;
        const char *
                options; /* of -o, comma-separated: cached, allow_other, allow_root, max_threads=N, and the kernel's; NULL: none */
        /* Called once when the mount answers (r 0) or could not be made (r < 0, sentence in errorf()); from the serving thread. */
        void (*ready)(void *user, int r);
        void *user;
};

/* Mounts, serves until unmounted or SIGTERM/SIGINT/SIGHUP (which it takes over, for good; a second one ends the process at once), unmounts. SIGTERM
 * detaches lazily: open files can be read to the end, waiting readers get EINTR. Call it from the process's first thread, after
 * the workspace and the engine are open and after any fork. 0 or -errno. A stale mount point (ENOTCONN, left by kill -9) is detached first;
 * one where another solverfs lives is refused: -EBUSY. */
int session_run(struct workspace *w, struct engine *e, const struct session_options *options);

/* An extended attribute of the root. getxattr() returns (ENODATA) when the kernel has been told of all changes that other processes made so far. */
#define SETTLED_XATTR "user.solverfs.settled"

/* Another one, for the owner of the mount and root: ends the readers that wait for work with EINTR, and gives ENODATA. EBUSY while files are open,
 * when ending the readers would not make the mount idle. */
#define RELEASE_XATTR "user.solverfs.release"

/* The absolute path of a mount point, also of a stale one (where stat fails with ENOTCONN). -errno without a sentence. */
int session_mountpoint(const char *dir, char ret[PATH_SIZE]);

/* Detaches a mount from outside. -EINVAL when nothing of ours is mounted there. With `lazy`, open files live on. */
int session_unmount(const char *mountpoint, bool lazy);
