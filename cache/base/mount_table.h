/* The mounts that this process sees. Threads: any. */
#pragma once

#include "cache/base/util.h"

#define MOUNT_TYPE "fuse.solverfs" /* of a mount of ours */

struct mount_entry {
        const char *path;   /* the mount point */
        const char *source; /* of ours: the store's folder */
        const char *type;
        uid_t user; /* who mounted it, of a FUSE mount */
};
/* Calls fn for each mount, lower ones before those on top of them, until it returns non-zero, which is then returned. */
int mount_table_each(int (*fn)(void *user, const struct mount_entry *m), void *user);
