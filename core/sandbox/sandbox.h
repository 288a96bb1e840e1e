/* The sandbox of a program: bubblewrap's command line, and the ownership of files. Part of keeper.c. */
#pragma once

#include "core/recipe/recipe.h"
#include "core/sandbox/execute.h"

/* Users of the slots when we are root, in a range that Debian's policy leaves free (61184 to 65519), and the group of them all. */
#define SANDBOX_UID_FIRST 61184
#define SANDBOX_UID_LAST  65519
#define SANDBOX_GID       SANDBOX_UID_FIRST

/* The helper's process is called so outside of a sandbox; and where it is found inside: there its name begins with a dot. */
#define SANDBOX_HELPER_NAME "solverfs-exec"
#define SANDBOX_HELPER      "/." SANDBOX_HELPER_NAME

/* Are we root in a user namespace that has these users, so that a program can be given one of its own? */
bool sandbox_has_users(void);

/* A user that no other execution on this machine has now, of whatever store: the kernel counts a user's processes (RLIMIT_NPROC), and a user
 * may signal its own. Held by an OFD lock in /run/solverfs until sandbox_release(), or the death of the holder; `slot` says where to begin
 * to look. One that was not given back as empty is passed over while any process of that user lives, whosever it is. Where
 * sandbox_has_users() is false there is nothing to lease: *ret_lock is -1. -EAGAIN when all are taken. */
int sandbox_lease(unsigned slot, uid_t *ret_uid, int *ret_lock);
/* `empty`: it is known that no process of that user is left. -1 is fine. */
void sandbox_release(int lock, bool empty);

/* Hands the scratch folder and what is bound to the user; nothing to do where sandbox_has_users() is false. */
int sandbox_hand_over(const struct execute_request *request, uid_t uid);

/* The same for a scratch folder alone, which is empty. */
int sandbox_hand_scratch(const char *path, uid_t uid);

/* Ends what is left of sandboxes whose bubblewrap was killed before they began: its inner half then waits for ever for the outer one. Reads all of
 * /proc. */
void sandbox_sweep(void);
void sandbox_sweep_once(void); /* in the life of this process: after a caller that was killed */

/* bwrap's argument vector, NULL-terminated, with the helper as the command. `runs`: a keeper's folder; its folder `case` is /case then, /scratch
 * is empty (each run has its own from there), and the sandbox ends with the helper's socket and not with the thread that made it. Free with
 * strings_free(). -ENOENT with a sentence when there is no bwrap. */
int sandbox_arguments(const struct execute_request *request, const char *runs, const char *helper, char ***ret);
DEFINE_CLEANUP(char **, strings_free)
