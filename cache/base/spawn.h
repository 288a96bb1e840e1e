/* Starting programs, with default signals and no descriptor but those named, whatever ours are. Threads: any. 0 or -errno. */
#pragma once

#include <sys/types.h>

#include "cache/base/util.h"

struct spawn_request {
        const int *fds; /* its first descriptors */
        size_t n_fds;
        char *const *arguments;   /* the first one is the program's path */
        char *const *environment; /* NULL: empty */
        bool own_group;           /* it leads a process group, so that all it starts can be ended */
};
int spawn(const struct spawn_request *q, pid_t *ret);
/* A command for /bin/sh, in a group of its own. */
int spawn_shell(const char *command, const int fds[3], char *const *environment, pid_t *ret);
