/* What a program sees: bubblewrap's command line, and whose files are whose; part of execute.c. */
#pragma once

#include "execute.h"

/* Users of the slots when we are root, in a range that Debian's policy leaves free (61184 to 65519), and the group of them all. */
#define SANDBOX_UID_FIRST 61184
#define SANDBOX_UID_LAST  65519
#define SANDBOX_GID       SANDBOX_UID_FIRST

/* Where the helper is found inside. */
#define SANDBOX_HELPER "/.solverfs-exec"

/* Are we root in a user namespace that has these users, so that a program can be given one of its own? */
bool sandbox_has_users(void);
uid_t sandbox_uid(unsigned slot);

/* Hands the scratch folder and what is bound to the slot's user; nothing to do where sandbox_has_users() is false. */
int sandbox_hand_over(const struct execute_request *request);

/* bwrap's argument vector, NULL-terminated, with the helper as the command. Free with sandbox_arguments_free(). -ENOENT with a sentence
 * when there is no bwrap. */
int sandbox_arguments(const struct execute_request *request, const char *helper, char ***ret);
void sandbox_arguments_free(char **arguments);
DEFINE_CLEANUP(char **, sandbox_arguments_free)
