/* Tells the kernel what other processes changed: a cell that `solverfs run --again` measured anew has another mtime and size, and the kernel may
 * hold the old ones for good; behind an edited recipe that goes for all there is of its solver. A thread waits for writes to the store's
 * database and to its config (inotify) and looks whether one was of that kind. */
#pragma once

#include "moved.h"
#include "tree.h"

struct fuse_session;
struct notify;

int notify_start(struct tree *t, struct moved *moved, struct fuse_session *fuse, struct notify **ret);
struct notify *notify_stop(struct notify *n);
