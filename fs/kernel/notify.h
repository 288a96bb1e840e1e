/* Tells the kernel what other processes changed: a cell that `solverfs run --again` measured anew has another mtime and size, and the kernel may
 * hold the old ones for good; behind an edited recipe, or a build that was done anew, that goes for all there is of its solver. A thread
 * waits for writes to the store's database and to its config (inotify) and looks whether one was of that kind. */
#pragma once

#include <fuse_lowlevel.h>

#include "fs/kernel/node_map.h"
#include "fs/tree/tree.h"

struct notify;

/* `pages`: drop pages too, since the daemon is not asked at opens (session_cached.c). */
int notify_start(struct tree *t, struct node_map *nodes, struct fuse_session *fuse, bool pages, struct notify **ret);
/* Answers a getxattr, by ENODATA, once the kernel has been told of all that was changed until now: a command that changed the config asks for it, so
 * that readers that come after the command find the mount as it left it. */
void notify_settle(struct notify *n, fuse_req_t req);
/* Answers every request that waits in notify_settle(). */
struct notify *notify_stop(struct notify *n);
