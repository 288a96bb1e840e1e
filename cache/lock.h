/* Locks between processes that a crash frees by itself: open-file-description locks (fcntl F_OFD_SETLK) on files in the store.
 * Threads: a lock belongs to its descriptor; two opens of one file exclude each other also within one process. */
#pragma once

#include "util.h"

/* Opens (creating, 0600) and locks `dir/name`. 0 with *ret_fd held; -EAGAIN when somebody else holds it; -errno. The file stays
 * behind unless lock_release_unlink() takes it away (which is safe: taking checks that the locked file is still the named one). */
int lock_try(const char *dir, const char *name, bool shared, int *ret_fd);
int lock_wait(const char *dir, const char *name, bool shared, int *ret_fd); /* blocks */
bool lock_is_held(const char *dir, const char *name);                       /* by somebody, in any mode */
void lock_release_unlink(const char *dir, const char *name, int fd);        /* unlinks, then closes */
