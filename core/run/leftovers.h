/* What killed processes left in a store, and who takes it away: the next one that starts to work there.
 *
 * An engine holds a lock on engines/<pid> while it lives, and its scratch folders carry that number, so that whose owner is dead can be
 * told from those in use without asking anybody: a name that can be seen was made under the lock. */
#pragma once

#include "cache/base/util.h"

/* Makes `parent`/run-<our pid>-XXXXXX. */
int scratch_make(const char *parent, char ret[PATH_SIZE]);
/* Whether scratch/<name> was left by a process that is dead. Ask it after the name was seen, not before. */
bool scratch_is_left(const char *store_dir, const char *name);

/* Takes away scratch folders, the scratch of builds, claims, and the files of engines and mounts, of processes that are dead. What cannot
 * be taken away is logged and left to the next one. */
void leftovers_sweep(const char *store_dir);
