/* Processes of this machine. Threads: any. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Calls fn for each process that /proc shows, until it returns false. Costs milliseconds where there are many. 0, or -errno: it cannot be
 * read. */
int process_each(bool (*fn)(void *user, pid_t pid), void *user);

/* The text of /proc/<pid>/<name>, as far as there is room, with a NUL behind it. Its length, or -errno. */
ssize_t process_text(pid_t pid, const char *name, char *ret, size_t size);
