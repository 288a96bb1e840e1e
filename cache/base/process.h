/* Processes of this machine. Threads: any. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Calls fn for each process that /proc shows, until it returns false. Costs milliseconds where there are many. 0, or -errno: it cannot be
 * read. */
int process_each(bool (*fn)(void *user, pid_t pid), void *user);
