/* Who reads: what /proc says of the thread that called. Threads: any. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Whether it is a build or a solve that solverfs started (of this process or another): a descendant of the helper. Waiting for it would
 * be waiting for ourselves. */
bool reader_is_job(pid_t reader);
/* Whether its process has one of these names (NULL-terminated; as /proc/<pid>/comm has them, cut to 15 bytes). */
bool reader_is_named(pid_t reader, char *const *names);
