/* Tells the kernel what other processes changed: a cell that `solverfs run --again` measured anew has another mtime and size, and the kernel may
 * hold the old ones for good. A thread waits for writes to the store's database (inotify) and looks whether one was a re-measurement. */
#pragma once

#include "tree.h"

struct fuse_session;
struct notify;

int notify_start(struct tree *t, struct fuse_session *fuse, struct notify **ret);
struct notify *notify_stop(struct notify *n);
