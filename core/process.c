#include "process.h"

#include <dirent.h>
#include <stdlib.h>

void process_each(bool (*fn)(void *user, pid_t pid), void *user)
{
        DIR *d = opendir("/proc");
        bool more = true;

        for (struct dirent *e; d && more && (e = readdir(d));) {
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: of another name */

                more = pid <= 0 || fn(user, pid);
        }
        if (d)
                closedir(d);
}
