/* Tells the kernel what other processes changed. `solverfs run --again` changes a cell's mtime and size, but the kernel may keep the old ones for
 * good. After an edited recipe or a repeated build this holds for everything below the solver. A thread waits for writes to the store's database and
 * config (inotify), and looks for such changes. */
#pragma once

#include <fuse_lowlevel.h>

#include "fs/kernel/node_map.h"
#include "fs/tree/tree.h"

struct notify;

/* `sees_no_opens`: for a mount of finished values (session_cached.c): also drops folders' pages, and gives changed files other nodes. */
int notify_start(struct tree *t, struct node_map *nodes, struct fuse_session *fuse, bool sees_no_opens, struct notify **ret);
/* Answers a getxattr with ENODATA once the kernel knows all changes so far. A command that changed the config sends one, so that later readers see
 * the change. */
void notify_settle(struct notify *n, fuse_req_t req);
/* Ends the thread, answers every request that waits in notify_settle(), and frees `n`. */
void notify_stop(struct notify *n);
