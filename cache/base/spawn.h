/* Starting programs, with default signals and only the descriptors given. Threads: any. 0 or -errno. */
#pragma once

#include <sys/types.h>

#include "cache/base/util.h"

struct spawn_request {
        const int *fds; /* become its descriptors 0, 1, …; it gets no others */
        size_t n_fds;
        char *const *arguments;   /* the first one is the program's path */
        char *const *environment; /* NULL: empty */
        bool own_group;           /* it leads a process group, which can be killed as a whole */
        bool own_session;         /* it leads a session: the terminal's signals do not reach it */
};
int spawn(const struct spawn_request *q, pid_t *ret);
/* A command for /bin/sh, in a group of its own. */
int spawn_shell(const char *command, const int fds[3], char *const *environment, pid_t *ret);
/* Waits for a process that leads a group (own_group) to end. *ret_status: as in waitpid(). cancel_fd may be -1. After an error the group is killed; with
 * `kills_rest` also after success, in case it left processes behind. -ETIME: it took longer than `most_ns`. -ECANCELED: cancel_fd became readable. */
int spawn_wait(pid_t pid, uint64_t most_ns, bool kills_rest, int cancel_fd, int *ret_status);
