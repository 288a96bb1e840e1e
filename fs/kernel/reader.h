/* Identifies a reader by /proc of the calling thread. Threads: any. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True for a build or a solve that solverfs started (from this process or another): a descendant of the helper. A job that waits for the
 * mount would make solverfs wait for itself. */
bool reader_is_job(pid_t reader);
/* True if its process has one of these names (NULL-terminated; cut to 15 bytes, as in /proc/<pid>/comm). */
bool reader_is_named(pid_t reader, char *const *names);
