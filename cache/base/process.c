#include "cache/base/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

int process_each(bool (*fn)(void *user, pid_t pid), void *user)
{
        DIR *d = opendir("/proc");
        bool more = true;

        if (!d)
                return -errno;
        for (struct dirent *e; more && (e = readdir(d));) {
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: of another name */

                more = pid <= 0 || fn(user, pid);
        }
        closedir(d);
        return 0;
}
