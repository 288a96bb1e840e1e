/* Identifies a reader by /proc of the calling thread. Threads: any. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True if the reader is a build or a run that this or another solverfs started (a descendant of the helper), or our own process or its descendant. If
 * one of these waited for the mount, solverfs would wait for itself. */
bool reader_is_job(pid_t reader);
/* True if the reader's process has one of these names (NULL-terminated list; names cut to 15 bytes, as in /proc/<pid>/comm). */
bool reader_is_named(pid_t reader, char *const *names);
