/* Processes of this machine. Threads: any. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls fn for each process in /proc, until fn returns false. Takes milliseconds if there are many. 0, or -errno: /proc cannot be read. */
int process_each(bool (*fn)(void *user, pid_t pid), void *user);

/* Reads /proc/<pid>/<name>, as far as it fits, and ends it with a NUL. Returns its length, or -errno. */
ssize_t process_text(pid_t pid, const char *name, char *ret, size_t size);

/* The number of our PID namespace, or 0 where /proc does not tell. A process's number means nothing in another namespace. */
uint32_t process_namespace(void);

/* Those of SIGINT, SIGTERM and SIGHUP that this process does not ignore; it ignores what its parent ignores (nohup; a script's background job). Code
 * that blocks signals to wait for them must not block the others: the kernel delivers a blocked signal to a waiter even if it is ignored. */
void process_ending_signals(sigset_t *ret);
