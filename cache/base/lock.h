/* Locks between processes, freed by a crash: open-file-description locks (fcntl F_OFD_SETLK) on files in the store.
 * Threads: a lock belongs to its descriptor; two opens of one file exclude each other also within one process. A child made by fork
 * shares the descriptor and with it the lock, until it closes it or executes another program. */
#pragma once

#include "cache/base/progress.h"

bool lock_has_no_room(int r); /* of any lock's error: the disk is full, or read-only */

/* -- by name ---------------------------------------------------------------------------------------------------- */

enum { LOCK_ALONE = false, LOCK_SHARED = true }; /* of `shared` */
/* Opens (creating, 0600) and locks `dir/name`. 0 with *ret_fd held; -EAGAIN: held by another. A shared lock also works on a read-only disk if the file
 * exists. Closing the descriptor frees the lock; the file stays. */
int lock_try(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_wait(const char *dir, const char *name, bool shared, int *ret_fd); /* blocks */
/* Likewise, exclusive, unless `p` (may be NULL) says stop: -ECANCELED. `what`: shown meanwhile. */
int lock_wait_for(const char *dir, const char *name, const struct progress *p, const char *what, int *ret_fd);
/* Removes the file (unless others share the lock), then closes it. That is safe: locking checks that the locked file still has its name. */
void lock_release_unlink(const char *dir, const char *name, int fd);
bool lock_is_held(const char *dir, const char *name); /* in any mode */
/* For files whose users hold a shared flock(): opens the file and locks it exclusively. -1: in use, or absent. */
int lock_idle(const char *path);

/* -- of a file that stays open, to be locked again and again, and is never removed ------------------------------------- */

int lock_open(const char *dir, const char *name, int *ret_fd);
/* In a folder of several users (1777). The file is writable by all (0666), whoever made it. `shared`: a file that is only readable will do. */
int lock_open_public(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_take(int fd, bool wait); /* exclusive; -EAGAIN: held, and `wait` is false */
void lock_drop(int fd);

/* -- of any open file ------------------------------------------------------------------------------------------- */

int lock_share(int fd);       /* makes an exclusive lock a shared one, without a gap */
bool lock_is_held_fd(int fd); /* by another open of this file, which may have lost its name */
/* True if the open file still has that name: a holder may have unlinked or replaced it. */
bool fd_is_named(int fd, int dir_fd, const char *name);
