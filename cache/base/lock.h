/* Locks between processes that a crash frees by itself: open-file-description locks (fcntl F_OFD_SETLK) on files in the store.
 * Threads: a lock belongs to its descriptor; two opens of one file exclude each other also within one process. A child made by fork
 * shares the descriptor and with it the lock, until it closes it or executes another program. */
#pragma once

#include "cache/base/util.h"

/* Opens (creating, 0600) and locks `dir/name`. 0 with *ret_fd held; -EAGAIN when somebody else holds it; -errno. The file stays
 * behind unless lock_release_unlink() takes it away (which is safe: taking checks that the locked file is still the named one).
 * A shared lock can be had on a read-only disk, too, when the file is there. */
int lock_try(const char *dir, const char *name, bool shared, int *ret_fd);
/* Opens a file that is to be locked, in a folder of several users (1777), where it is everybody's (0666), whoever made it. `shared`: it may be only
 * readable. */
int lock_open_public(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_wait(const char *dir, const char *name, bool shared, int *ret_fd); /* blocks */
int lock_share(int fd); /* makes an exclusive lock a shared one, without a gap */
/* For a lock taken over and over: the open file is kept and the name never goes away. */
int lock_open(const char *dir, const char *name, int *ret_fd); /* not locked yet */
int lock_take(int fd, bool wait);                              /* exclusive; -EAGAIN when it is held and we do not wait */
void lock_drop(int fd);
bool lock_is_held(const char *dir, const char *name);                /* by somebody, in any mode */
bool lock_is_held_fd(int fd);                                        /* by another open of this file; it may have lost its name */
void lock_release_unlink(const char *dir, const char *name, int fd); /* unlinks (unless others share it), then closes */
/* Is the open file still the one of that name? A holder may have unlinked or replaced it since. */
bool lock_is_named(int fd, int dir_fd, const char *name);

/* For files whose users hold them by a shared flock(): the file opened and held alone. -1: it is in use, or not there. */
int lock_idle(const char *path);
