/* Mounts: which there are, and whose daemon lives.
 *
 * A daemon holds a lock on <store>/mounts/<digest of the mount point> from before it mounts until its process has ended; the file says
 * who and where. The mount's source, as /proc/self/mounts and df show it, is the store's folder (fs/kernel/mount.c): so from a mount point one
 * finds the store, and from the store the daemon, without touching a mount that may hang. */
#pragma once

#include "cache/base/util.h"

/* Takes the lock, which the descriptor keeps until the process ends. -EBUSY: a daemon of this store has that mount point. A daemon that was just
 * killed is waited for. */
int mounts_claim(const char *store, const char *mountpoint, int *ret_fd);
/* Takes the file away, before the end. */
void mounts_forget(const char *store, const char *mountpoint);

/* The store mounted at this very path; -ENOENT when nothing of ours is. */
int mounts_store(const char *mountpoint, char ret_store[PATH_SIZE]);
/* Tells the daemon, if there is one, to end, and waits until it has gone. `late` is called once when that takes more than two seconds: then another
 * mount namespace has something open there. */
int mounts_end(const char *store, const char *mountpoint, void (*late)(const char *mountpoint, pid_t daemon));

/* Returns when all mounts of a store show what this process has changed in its config. */
void mounts_settle(const char *store);

/* The process of a daemon that is no longer mounted there (unmount --lazy) and lives on because files are still open; 0: none. */
pid_t mounts_detached(const char *store, const char *mountpoint);

/* Every mount of ours on this machine; `alive`: its daemon holds its lock, and was not killed just now. */
int mounts_each(void (*fn)(void *user, const char *mountpoint, const char *store, bool alive), void *user);
