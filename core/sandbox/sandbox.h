/* The sandbox of a program: bubblewrap's command line, and the ownership of files. Part of keeper.c. */
#pragma once

#include "core/recipe/recipe.h"
#include "core/sandbox/execute.h"

/* Users of the slots when we are root, in a range that Debian's policy leaves free (61184 to 65519), and the group of all of them. */
#define SANDBOX_UID_FIRST 61184
#define SANDBOX_UID_LAST  65519
#define SANDBOX_GID       SANDBOX_UID_FIRST

/* The name of the helper's process outside of a sandbox; and its path inside, where the name begins with a dot. */
#define SANDBOX_HELPER_NAME "solverfs-exec"
#define SANDBOX_HELPER      "/." SANDBOX_HELPER_NAME

/* True if we are root in a user namespace that has these users, so that a program can be given one of its own. */
bool sandbox_has_users(void);

/* Leases a user that no other execution on this machine has, of whatever store: the kernel counts a user's processes (RLIMIT_NPROC), and a user may
 * signal its own. The lease is an OFD lock in /run/solverfs until sandbox_release() or the holder's death; the search begins at `slot`. A user that
 * was not released as empty is skipped while any of its processes lives. Where sandbox_has_users() is false there is nothing to lease: *ret_lock is
 * -1. -EAGAIN if all are taken. Containers without a user namespace have a /run each, so their runs may share a user and its limit of processes. */
int sandbox_lease(unsigned slot, uid_t *ret_uid, int *ret_lock);
/* `empty`: it is known that no process of that user is left. `lock` may be -1. */
void sandbox_release(int lock, bool empty);

/* Gives the scratch folder and the binds to the user; does nothing where sandbox_has_users() is false. */
int sandbox_hand_over(const struct execute_request *request, uid_t uid);

/* The same for an empty scratch folder alone. */
int sandbox_hand_scratch(const char *path, uid_t uid);

/* Ends the remains of sandboxes whose bubblewrap was killed before they began: its inner half then waits for ever for the outer one. Reads all of
 * /proc. */
void sandbox_sweep(void);
void sandbox_sweep_once(void); /* the same at the first call in this process only: for the remains of an earlier process that was killed */

/* bwrap's argument vector, NULL-terminated, with the helper as the command. `runs`: a keeper's folder. With it, its folder `case` is /case, /scratch
 * is empty (each run mounts its own), and the sandbox ends with the helper's socket, not with the thread that made it. Free with strings_free().
 * -ENODEV with a sentence if there is no bwrap, -EIO if /dev/null is not for everybody. */
int sandbox_arguments(const struct execute_request *request, const char *runs, const char *helper, char ***ret);
