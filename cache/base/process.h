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

/* The number of our PID namespace, or 0 where /proc does not tell: numbers of processes mean nothing in another one. */
uint32_t process_namespace(void);

/* Those of SIGINT, SIGTERM and SIGHUP that end this process. A signal that our caller ignores (nohup; a script's background job) stays ignored. Block
 * no others: the kernel keeps a blocked signal, even an ignored one, for whoever waits for it. */
void process_ending_signals(sigset_t *ret);
