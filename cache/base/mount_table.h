/* The mounts that this process sees. Threads: any. */
#pragma once

#include "cache/base/util.h"

#define MOUNT_TYPE "fuse.solverfs" /* type of our mounts */

struct mount_entry {
        const char *path;   /* the mount point */
        const char *source; /* our mounts: the store's folder */
        const char *type;
        uid_t user; /* of a FUSE mount: its owner */
};
/* Calls fn for each mount, lower ones before those on top of them; `m` is valid during the call. Stops at, and returns, fn's first non-zero value. 0 if
 * there is none; -errno with a sentence: the table cannot be read (-ENODEV: no /proc). */
int mount_table_each(int (*fn)(void *user, const struct mount_entry *m), void *user);
/* True if the path, as text, is at or below a mount point of MOUNT_TYPE, of any user and store; false if the table cannot be read. A job must not open a
 * file there: it might wait for itself. */
bool mount_table_has(const char *path);
