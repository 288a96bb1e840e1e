/* Locks between processes, freed by a crash: open-file-description locks (fcntl F_OFD_SETLK) on files.
 * Threads: a lock belongs to its descriptor; two opens of one file exclude each other also within one process. A child made by fork
 * shares the lock until it closes its copy of the descriptor or executes another program. */
#pragma once

#include "cache/base/progress.h"

bool lock_error_is_disk(int r); /* true if `r`, the error of a function below, means that the disk is full or read-only */

/* -- by name ---------------------------------------------------------------------------------------------------- */

enum { LOCK_ALONE = false, LOCK_SHARED = true }; /* values of `shared` */
/* Opens (creating, 0600) and locks `dir/name`. -EAGAIN without a sentence: held by another. A shared lock also works on a read-only disk if the file
 * exists. Closing the descriptor frees the lock; the file stays. */
int lock_try(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_wait(const char *dir, const char *name, bool shared, int *ret_fd); /* blocks */
/* Waits for the exclusive lock. `p` (may be NULL) shows `what` meanwhile, and may end the wait: -ECANCELED. */
int lock_wait_for(const char *dir, const char *name, const struct progress *p, const char *what, int *ret_fd);
/* Removes the file (unless others share the lock), then closes it. That is safe: locking checks that the locked file still has its name. */
void lock_release_unlink(const char *dir, const char *name, int fd);
bool lock_is_held(const char *dir, const char *name); /* in any mode */
/* For files whose users hold a shared flock(): opens the file and locks it exclusively. -1: in use, or absent. */
int lock_if_idle(const char *path);

/* -- of a file that stays open, to be locked again and again, and is never removed ------------------------------------- */

int lock_open(const char *dir, const char *name, int *ret_fd);
/* For a folder of several users (1777): a new file can be written by all (0666). `shared`: a file that can only be read will do. */
int lock_open_public(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_take(int fd, bool wait); /* exclusive; -EAGAIN: held, and `wait` is false */
void lock_drop(int fd);

/* -- of any open file ------------------------------------------------------------------------------------------- */

int lock_share(int fd);       /* makes an exclusive lock a shared one, without a gap */
bool lock_is_held_fd(int fd); /* true if another open of this file holds a lock; the file need not have a name any more */
/* True if the open file still has that name: a holder may have unlinked or replaced it. */
bool fd_is_named(int fd, int dir_fd, const char *name);
