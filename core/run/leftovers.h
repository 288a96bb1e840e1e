/* Deletes the leftovers of killed processes in a store. The next process that starts to work there calls it.
 *
 * An engine holds a lock on engines/<pid> while it lives, and its scratch folders carry that number. A folder is made while its owner holds the lock,
 * so one whose owner's lock is free is left over. */
#pragma once

#include "cache/base/util.h"

/* Shows others that this process lives: takes the lock engines/<our pid>, shared, as a process may have two engines; closing *ret_fd gives it back.
 * The first to take it removes the scratch folders of a killed process that had our number. */
int leftovers_own(const char *store_dir, int *ret_fd);

/* Makes `parent`/run-<our pid>-XXXXXX. */
int scratch_make(const char *parent, char ret[PATH_SIZE]);
/* True if scratch/<name> was left by a dead process. Ask after seeing the name, not before. */
bool scratch_is_left(const char *store_dir, const char *name);

/* Deletes the scratch folders, scratch of builds, claims, and files of engines and mounts that belong to dead processes. A file that cannot be
 * deleted is logged and left to the next sweep. */
void leftovers_sweep(const char *store_dir);
