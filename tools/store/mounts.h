/* The mounts of this machine and their daemons.
 *
 * A daemon locks <store>/mounts/<digest of the mount point> from before it mounts until its process has ended. The file has the process's
 * number and the mount point. The mount's source, in /proc/self/mounts and df, is the store's folder (fs/kernel/mount.c). So the mount point
 * leads to the store, and the store to the daemon, without touching a mount that may hang. */
#pragma once

#include "cache/base/util.h"

/* Takes the lock, which the descriptor keeps until the process ends. Waits for a daemon that was just killed. -EBUSY, with a sentence: a daemon of this
 * store has the mount point. If lock_error_is_disk() is true of another error, the disk takes no lock. */
int mounts_claim(const char *store, const char *mountpoint, int *ret_fd);
/* Removes the lock's file; call it before the process ends. */
void mounts_forget(const char *store, const char *mountpoint);

/* The store mounted at exactly this path. -ENOENT: no mount of ours. */
int mounts_store(const char *mountpoint, char ret_store[PATH_SIZE]);
/* The daemon of a mount, looked for before the mount is detached: afterwards another one may be in its place. */
struct mount_daemon {
        int lock;  /* its file, open; -1: there is none */
        pid_t pid; /* 0: not known */
};
int mounts_daemon(const char *store, const char *mountpoint, struct mount_daemon *ret);
/* Tells that daemon to end, waits until it has, and closes d->lock. Calls `late` once if that takes more than two seconds: another mount namespace has
 * the mount, or something open there. */
int mounts_end(const char *store, const char *mountpoint, const struct mount_daemon *d, void (*late)(const char *mountpoint, pid_t daemon));

/* Returns when all mounts of a store show what this process has written to it: its config, snapshots, names. */
void mounts_settle(const char *store);

/* For a mount point where we see no mount. -EBUSY, with a sentence: a daemon serves it all the same, as it was detached (unmount --lazy) with files
 * open, or is in another mount namespace. Waits up to two seconds for a daemon that is about to end. */
int mounts_refuse_unseen(const char *store, const char *mountpoint);

/* Calls fn for each of our mounts on this machine; `alive`: its daemon holds the lock and was not just killed. */
int mounts_each(void (*fn)(void *user, const char *mountpoint, const char *store, bool alive), void *user);
